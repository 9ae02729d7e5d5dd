from collections.abc import Callable
from typing import Any

import pytest

from webhook.model.decision import Finding, FoundFix, Outcome
from webhook.model.path import parse
from webhook.model.policy import MatchResources, Policy, Severity
from webhook.model.result import Resource, Result, Source

PACKAGE = Resource("cozystack.io/v1alpha1", "Package", "", "cozystack.gpu-operator")


@pytest.fixture
def result() -> Callable[..., Result]:
    """Make the result of a variant that is spelled wrong; keywords change the finding."""

    def make(**changes: Any) -> Result:
        policy = Policy(
            changes.pop("policy", "package-variant-known"),
            MatchResources(),
            severity=Severity.HIGH,
            docs="https://example.org/variants",
        )
        source = changes.pop("source", Source("gpu.yaml", 0, 7, 12, 8, "  variant: contaner"))
        silenced = changes.pop("silenced", None)
        resource = changes.pop("resource", PACKAGE)
        settings: dict[str, Any] = {
            "message": "variant `contaner` does not exist in Cozystack 1.6",
            "field": parse("spec.variant"),
            "value": "contaner",
            "has_value": True,
            "allowed": ("container", "default", "vgpu"),
            "suggestion": "container",
            "fix": FoundFix("replace with `container`"),
            "why": "the operator finds no such variant",
        }
        finding = Finding(changes.pop("outcome", Outcome.DENY), policy, "variant", **settings | changes)
        return Result(finding, resource, source, silenced)

    return make
