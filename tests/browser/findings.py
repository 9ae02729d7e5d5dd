"""Findings as an audit has them: of several policies, namespaces, kinds and outcomes, each with its picture."""

from __future__ import annotations

from itertools import product
from typing import Final

from webhook.model.decision import Finding, FoundFix, Outcome
from webhook.model.path import parse
from webhook.model.policy import MatchResources, Policy, Severity
from webhook.model.result import Checked, Resource, Result, SetBy, Source
from webhook.runs.picture import pictured

_OUTCOMES: Final = (Outcome.DENY, Outcome.WARN, Outcome.DENY, Outcome.AUDIT, Outcome.WARN, Outcome.SKIP, Outcome.ERROR)
_KINDS: Final = (("cozystack.io/v1alpha1", "Package"), ("v1", "Pod"), ("kubevirt.io/v1", "VirtualMachine"))
_POLICIES: Final = [
    Policy(f"{area}-{what}", MatchResources(), severity=severity, docs="https://example.org/policies")
    for (area, what), severity in zip(
        product(("package", "kubevirt", "tenant"), ("known", "gpu", "quota", "limits")), [*Severity] * 3, strict=True
    )
]
_FIX: Final = FoundFix(
    "set spec.variant to container", ({"op": "replace", "path": "/spec/variant", "value": "container"},)
)


def findings(number: int, *, name: str = "object-{}", message: str = "") -> list[Result]:
    """Make so many; `{}` in a name becomes the number of the finding."""
    return [_finding(index, name.replace("{}", str(index)), message) for index in range(number)]


def _finding(index: int, name: str, message: str) -> Result:
    api_version, kind = _KINDS[index % len(_KINDS)]
    resource = Resource(api_version, kind, f"tenant-{index % 17}" if index % 17 else "", name)
    found = Finding(
        _OUTCOMES[index % len(_OUTCOMES)],
        _POLICIES[index * 5 % len(_POLICIES)],
        "variant",
        message=message or f"variant `contaner` of `{name}` does not exist in Cozystack 1.6",
        field=parse("spec.variant"),
        value="contaner",
        has_value=True,
        allowed=("container", "default", "vgpu"),
        suggestion="container",
        fix=_FIX,
        why="the operator finds no such variant: the Package stays Ready=False, and nothing is installed or updated",
    )
    obj = {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": name, "labels": {"app": "a"}},
        "spec": {"variant": "contaner", "components": {"a": {"enabled": True}}},
    }
    by = SetBy("kubectl-edit", "Update", "2026-11-30T15:15:28Z", by_hand=True)
    result = Result(found, resource, Source(str(resource)), set_by=by)
    return pictured(obj, Checked(resource, (result,)), ()).results[0]
