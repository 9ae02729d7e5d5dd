from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from webhook.controller.registration import MUTATE, VALIDATE, Endpoint, webhooks
from webhook.controller.rules import registration as rules
from webhook.model.configuration import Configuration
from webhook.runs.doctor.inventory import Held, Inventory
from webhook.runs.doctor.own import own
from webhook.sources import catalog, policies

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
SHELL = {
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "ValidatingWebhookConfiguration",
    "metadata": {"name": "cozyguard", "labels": {"app.kubernetes.io/name": "cozyguard"}},
}
WRITTEN = SHELL | {"webhooks": [{"name": "validate.cozyguard.io"}]}


def lease(name: str, seconds_ago: float = 5, leaf: str = "aa", policies: str = "52") -> dict[str, Any]:
    labels = {"app.kubernetes.io/name": "cozyguard", "app.kubernetes.io/component": "replica"}
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {
            "name": name,
            "namespace": "cozyguard",
            "labels": labels if name != "cozyguard-controller" else {},
            "annotations": {"cozyguard.io/leaf": leaf, "cozyguard.io/policies": policies},
        },
        "spec": {
            "leaseDurationSeconds": 40,
            "renewTime": f"{NOW - timedelta(seconds=seconds_ago):%Y-%m-%dT%H:%M:%S.%fZ}",
        },
    }


LEADER = lease("cozyguard-controller")
A, B = lease("cozyguard-replica-a"), lease("cozyguard-replica-b")


def found(*objects: dict[str, Any], unknown: tuple[str, ...] = ()) -> dict[str, str]:
    inventory = Inventory(map(Held, objects), live=True, unknown=unknown)
    return {one.check: one.message for one in own(inventory, "cozyguard", NOW)}


def test_what_we_register_for_the_bundled_policies_locks_nobody_out(doctor: Any) -> None:
    loaded = policies.load([policies.bundled()]).policies
    made = rules(loaded, catalog.newest().version, Configuration(), NOW)
    for path, entries, kind in (
        (VALIDATE, made.validating, "ValidatingWebhookConfiguration"),
        (MUTATE, made.mutating, "MutatingWebhookConfiguration"),
    ):
        user = "system:serviceaccount:cozyguard:cozyguard"
        hooks = webhooks(path, entries, Endpoint(namespace="cozyguard"), Configuration().exempt, user)
        assert hooks
        assert doctor(SHELL | {"kind": kind, "webhooks": hooks}).checks == {"ca-bundle": "remark"}


def test_an_installation_that_is_well_is_silent() -> None:
    assert found(WRITTEN, LEADER, A, B) == {}


def test_of_another_tool_nothing_of_ours_is_expected() -> None:
    assert found(SHELL | {"metadata": {"name": "other"}}) == {}


def test_shells_that_nobody_has_filled_are_found() -> None:
    assert found(SHELL, LEADER, A)["not-registered"] == "registers no webhooks"
    assert "not-registered" not in found(SHELL, WRITTEN | {"kind": "MutatingWebhookConfiguration"}, LEADER, A)


def test_a_leader_that_is_missing_or_late_is_found() -> None:
    assert found(WRITTEN, A) == {"leader": "no replica has ever led: there is no Lease `cozyguard-controller`"}
    late = lease("cozyguard-controller", 41)
    assert found(WRITTEN, late, A)["leader"] == "no replica leads: the last one renewed it on 2026-11-30 11:59:19 UTC"


def test_replicas_that_are_silent_are_found() -> None:
    assert list(found(WRITTEN, LEADER)) == ["replicas-silent"]
    assert list(found(WRITTEN, LEADER, lease("cozyguard-replica-a", 41))) == ["replicas-silent"]
    assert found(WRITTEN, LEADER, A, lease("cozyguard-replica-b", 41, leaf="bb")) == {}


def test_without_the_right_to_see_leases_nothing_is_said_of_them() -> None:
    assert found(WRITTEN, unknown=("Lease",)) == {}


def test_replicas_that_serve_different_things_are_found() -> None:
    other = lease("cozyguard-replica-c", leaf="bb")
    assert found(WRITTEN, LEADER, A, B, other) == {"leaf": "serves other certificates than 2 of 3 replicas do"}
    fewer = lease("cozyguard-replica-c", policies="51")
    assert found(WRITTEN, LEADER, A, B, fewer) == {"policies-differ": "serves other policies than 2 of 3 replicas do"}


def installed(kind: str, *conditions: dict[str, str]) -> dict[str, Any]:
    status = {"conditions": list(conditions)} if conditions else {}
    return {"apiVersion": "cozyguard.io/v1alpha1", "kind": kind, "metadata": {"name": "mine"}, "status": status}


@pytest.mark.parametrize(
    ("conditions", "message"),
    [
        (({"type": "Ready", "status": "True"},), None),
        ((), "has not been looked at by any replica"),
        (
            ({"type": "Ready", "status": "False", "message": "spec.validations[0]: no\nsuch"},),
            "is not in force as it is written: spec.validations[0]: no such",
        ),
    ],
)
def test_a_policy_that_is_not_ready_is_found(conditions: tuple[dict[str, str], ...], message: str | None) -> None:
    assert found(WRITTEN, LEADER, A, installed("AdmissionPolicy", *conditions)).get("policy") == message


@pytest.mark.parametrize(
    ("reason", "status", "level"),
    [("Expired", "False", "remark"), ("NoSuchPolicy", "False", "warning"), ("InForce", "True", None)],
)
def test_an_exception_that_lets_nothing_pass_is_found(reason: str, status: str, level: str | None) -> None:
    exception = installed("PolicyException", {"type": "Active", "status": status, "reason": reason})
    inventory = Inventory(map(Held, (WRITTEN, LEADER, A, exception)), live=True)
    assert [one.level for one in own(inventory, "cozyguard", NOW)] == ([level] if level else [])


def test_a_right_that_is_missing_is_named() -> None:
    def review(allowed: bool) -> dict[str, Any]:
        attributes = {"group": "cozystack.io", "resource": "packages", "verb": "watch"}
        spec = {"user": "system:serviceaccount:cozyguard:cozyguard", "resourceAttributes": attributes}
        return {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "metadata": {},
            "spec": spec,
            "status": {"allowed": allowed},
        }

    assert found(WRITTEN, LEADER, A, review(True)) == {}
    told = found(WRITTEN, LEADER, A, review(False))
    assert told == {"rights": "`system:serviceaccount:cozyguard:cozyguard` may not watch packages.cozystack.io"}


def test_a_policy_in_force_whose_requests_are_not_sent_is_found(hook: Any, rule: Any) -> None:
    sent = SHELL | {"webhooks": [hook(name="validate.cozyguard.io", rules=[rule("packages", group="cozystack.io")])]}

    def policy(*resources: str, **spec: Any) -> dict[str, Any]:
        constraints = {"resourceRules": [rule(*resources, group="cozystack.io", operations=("CREATE",))]}
        ready = installed("AdmissionPolicy", {"type": "Ready", "status": "True"})
        return ready | {"spec": {"matchConstraints": constraints, **spec}}

    assert found(sent, LEADER, A, policy("packages")) == {}
    assert found(sent, LEADER, A, policy("*")) == {}
    assert found(sent, LEADER, A, policy("packages", "packagesources", releases=">=1.7")) == {}
    assert found(sent, LEADER, A, policy("packages", "packagesources"))["not-sent"] == (
        "is in force, and the API server is not told to ask about CREATE of `packagesources` (cozystack.io)"
    )
