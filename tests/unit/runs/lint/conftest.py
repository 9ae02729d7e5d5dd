from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from webhook.engine.compile import compile_policy
from webhook.model.lint import Finding
from webhook.runs.lint.examine import lint
from webhook.sources import policies
from webhook.sources.policy_files import PolicyFile

PACKAGES = {"apiGroups": ["cozystack.io"], "apiVersions": ["*"], "resources": ["packages"], "operations": ["CREATE"]}


def policy(*expressions: str | dict[str, Any], name: str = "a", rules: Any = PACKAGES, **spec: Any) -> dict[str, Any]:
    """Make a policy; `rules` are one rule or several of matchConstraints."""
    given = rules if isinstance(rules, list) else [rules]
    validations = [one if isinstance(one, dict) else {"expression": one, "message": "no"} for one in expressions]
    return {
        "apiVersion": "cozyguard.io/v1alpha1",
        "kind": "AdmissionPolicy",
        "metadata": {"name": name},
        "spec": {
            "title": "t",
            "severity": "low",
            "category": "c",
            "matchConstraints": {"resourceRules": given},
            **({"validations": validations} if validations else {}),
            **spec,
        },
    }


def findings(*documents: dict[str, Any]) -> tuple[Finding, ...]:
    """Lint policies that are in no file."""
    text = "\n---\n".join(map(json.dumps, documents))
    loaded = policies.read([PolicyFile("policy.yaml", text.encode(), strict=True, root="policy.yaml")])
    assert not loaded.errors
    return lint([compile_policy(one) for one in (*loaded.policies, *loaded.unbound)]).findings


@pytest.fixture
def said() -> Callable[..., list[str]]:
    """Give what lint says of one policy, as `code: message`."""

    def make(*expressions: str | dict[str, Any], **spec: Any) -> list[str]:
        return [f"{one.check.code}: {one.message}" for one in findings(policy(*expressions, **spec))]

    return make


@pytest.fixture
def together() -> Callable[..., list[str]]:
    """Give what lint says of several policies, as `policy: code: message`; each is a name and what `policy` takes."""

    def make(**specs: dict[str, Any]) -> list[str]:
        documents = [policy(*spec.pop("rules_", ()), name=name, **spec) for name, spec in specs.items()]
        return [f"{one.policy}: {one.check.code}: {one.message}" for one in findings(*documents)]

    return make
