from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from webhook.model.diagnosis import Diagnosis
from webhook.model.path import render
from webhook.runs.doctor.examine import examine
from webhook.runs.doctor.inventory import Held, Inventory

Object = dict[str, Any]

NAME = "kubernetes.io/metadata.name"
NOW = datetime(2026, 11, 30, tzinfo=UTC)


class Found:
    """What the doctor found about some objects."""

    def __init__(self, diagnoses: tuple[Diagnosis, ...]) -> None:
        self.diagnoses = diagnoses

    @property
    def checks(self) -> dict[str, str]:
        """Check → level."""
        return {one.check: one.level.value for one in self.diagnoses}

    def __getitem__(self, check: str) -> Diagnosis:
        [one] = [each for each in self.diagnoses if each.check == check]
        return one

    def field(self, check: str) -> str:
        return render(self[check].at)


Doctor = Callable[..., Found]
Hook = Callable[..., Object]


@pytest.fixture
def doctor() -> Doctor:
    """Examine objects, of files or of a cluster."""

    def run(*objects: Object, live: bool = False, unknown: tuple[str, ...] = ()) -> Found:
        done = examine(Inventory(map(Held, objects), live=live, unknown=unknown), NOW)
        assert done.faults == ()
        return Found(done.diagnoses)

    return run


@pytest.fixture
def hook() -> Hook:
    """Make a webhook with which nothing is wrong, and change it."""

    def make(**changes: Any) -> Object:
        webhook: Object = {
            "name": "check.example.org",
            "admissionReviewVersions": ["v1"],
            "sideEffects": "None",
            "failurePolicy": "Fail",
            "timeoutSeconds": 5,
            "clientConfig": {"url": "https://guard.example.org:8443/validate"},
            "rules": [rule("packages", group="cozystack.io")],
        }
        return {name: value for name, value in (webhook | changes).items() if value is not None}

    return make


def rule(*resources: str, group: str = "", operations: tuple[str, ...] = ("CREATE", "UPDATE")) -> Object:
    return {
        "apiGroups": [group],
        "apiVersions": ["v1"],
        "operations": list(operations),
        "resources": list(resources),
    }


@pytest.fixture(name="rule")
def rule_fixture() -> Callable[..., Object]:
    return rule


def registration(*webhooks: Object, kind: str = "ValidatingWebhookConfiguration") -> Object:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": "policy", "annotations": {"cert-manager.io/inject-ca-from": "policy-system/policy"}},
        "webhooks": list(webhooks),
    }


@pytest.fixture(name="registration")
def registration_fixture() -> Callable[..., Object]:
    return registration


@pytest.fixture
def excluding() -> Callable[..., Object]:
    """Make a namespaceSelector that leaves namespaces out."""
    return lambda *names: {"matchExpressions": [{"key": NAME, "operator": "NotIn", "values": list(names)}]}
