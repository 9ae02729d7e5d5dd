"""`judge`: one policy, written as YAML, asked about one object by the real pipeline."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, Protocol

import pytest

from webhook.admission.plurals import Plurals
from webhook.admission.synthesize import Circumstances, synthesize
from webhook.cel.errors import NotKnown
from webhook.engine.compile import compile_policy
from webhook.engine.context import DEFAULT_CONFIGURATION, Context
from webhook.engine.pipeline import review
from webhook.engine.policyset import PolicySet
from webhook.model.configuration import Configuration
from webhook.model.decision import Decision
from webhook.model.release import Minor, Release
from webhook.model.request import Object, UserInfo
from webhook.model.selector import LabelSelector
from webhook.sources.policies import read
from webhook.sources.policy_files import PolicyFile

MATCH_ALL = """
  matchConstraints:
    resourceRules:
    - {apiGroups: ["*"], apiVersions: ["*"], resources: ["*"], operations: ["*"]}
"""


def policies(*specs: str, kind: str = "AdmissionPolicy") -> PolicySet:
    """Compile and link policies, each given as the YAML of its `spec`; the first is called `p0`."""
    documents = []
    for index, spec in enumerate(specs):
        body = textwrap.indent(textwrap.dedent(spec).strip(), "  ")
        rules = "" if "matchConstraints" in spec else MATCH_ALL
        head = f"apiVersion: cozyguard.io/v1alpha1\nkind: {kind}\nmetadata: {{name: p{index}}}\n"
        documents.append(f"{head}spec:{rules or chr(10)}{body}\n")
    return policies_of("---\n".join(documents))


def policies_of(text: str) -> PolicySet:
    """Compile and link the policies of a whole YAML text."""
    loaded = read([PolicyFile("policy.yaml", text.encode(), strict=True, root="policy.yaml")])
    assert not loaded.errors, [str(error) for error in loaded.errors]
    return PolicySet.link(map(compile_policy, loaded.policies))


class Objects:
    """The other objects there are; `None` stands for "nobody knows"."""

    def __init__(self, objects: Sequence[Object] | None) -> None:
        self.objects = objects

    def get(self, api_version: str, kind: str, namespace: str, name: str) -> Object | None:
        found = [one for one in self.list(api_version, kind, namespace, None) if one["metadata"]["name"] == name]
        return found[0] if found else None

    def list(self, api_version: str, kind: str, namespace: str, selector: LabelSelector | None) -> list[Object]:
        if self.objects is None:
            raise NotKnown(kind)
        return [
            one
            for one in self.objects
            if one["kind"] == kind
            and one["metadata"].get("namespace", "") == (namespace or one["metadata"].get("namespace", ""))
            and (selector is None or selector.matches(one["metadata"].get("labels", {})))
        ]

    def namespace(self, name: str) -> Object:
        return {"metadata": {"name": name, "labels": {"kubernetes.io/metadata.name": name}}}


class Judge(Protocol):
    """What the fixture gives: see `judge`."""

    def __call__(
        self,
        policy: str | PolicySet,
        obj: Object,
        *,
        operation: str = ...,
        old: Object | None = ...,
        objects: Sequence[Object] | None = ...,
        user: str | None = ...,
        groups: Sequence[str] = ...,
        configuration: Configuration = ...,
        release: str = ...,
        skip_unknown: bool = ...,
        expired: Callable[[], bool] = ...,
        most_explained: int = ...,
        **phases: Any,
    ) -> Decision: ...


@pytest.fixture
def judge() -> Judge:
    """Ask the pipeline about one object, as `check` does."""

    def ask(
        policy: str | PolicySet,
        obj: Object,
        *,
        operation: str = "CREATE",
        old: Object | None = None,
        objects: Sequence[Object] | None = (),
        user: str | None = "ada",
        groups: Sequence[str] = (),
        configuration: Configuration = DEFAULT_CONFIGURATION,
        release: str = "1.6",
        skip_unknown: bool = True,
        expired: Callable[[], bool] = lambda: False,
        most_explained: int = sys.maxsize,
        **phases: Any,
    ) -> Decision:
        known = None if user is None else UserInfo(user, tuple(groups))
        request = synthesize(obj, Plurals(()), Circumstances(operation=operation, user=known), old)
        context = Context(
            release=Release(Minor.parse(release), {"version": release, "packages": {}, "gpu": {}}),
            cluster=Objects(objects),
            configuration=configuration,
            now=datetime(2026, 11, 30, tzinfo=UTC),
            expired=expired,
            skip_unknown=skip_unknown,
            most_explained=most_explained,
        )
        chosen = policies(policy) if isinstance(policy, str) else policy
        return review(chosen, request, context, **phases)

    return ask


@pytest.fixture
def load() -> Callable[[str], PolicySet]:
    """Link the policies of a whole YAML text."""
    return policies_of


@pytest.fixture
def link() -> Callable[..., PolicySet]:
    """Link several policies, each given as the YAML of its `spec`."""
    return policies
