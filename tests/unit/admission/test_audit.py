from __future__ import annotations

from typing import Any

import pytest

from webhook.admission import audit
from webhook.admission.audit import NotJudged
from webhook.errors import ReviewError

POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "ml"}}


def event(verb: str = "create", code: int = 201, **parts: Any) -> dict[str, Any]:
    return {
        "apiVersion": "audit.k8s.io/v1",
        "kind": "Event",
        "level": "RequestResponse",
        "auditID": "1",
        "stage": "ResponseComplete",
        "verb": verb,
        "requestURI": "/api/v1/namespaces/ml/pods",
        "user": {"username": "dev-1", "groups": ["devs"]},
        "objectRef": {"resource": "pods", "namespace": "ml", "name": "p", "apiVersion": "v1"},
        "responseStatus": {"code": code},
        "requestObject": POD,
    } | parts


def test_a_create_is_the_request_that_admission_saw() -> None:
    made = audit.request(event(), None)
    assert (made.operation, made.kind.kind, made.resource.resource) == ("CREATE", "Pod", "pods")
    assert (made.namespace, made.name, made.object, made.old_object) == ("ml", "p", POD, None)
    assert made.user
    assert (made.user.username, made.user.groups) == ("dev-1", ("devs",))
    assert made.cel["operation"] == "CREATE"
    assert made.cel["userInfo"] == {"username": "dev-1", "groups": ["devs"]}


def test_who_is_impersonated_is_who_asks() -> None:
    made = audit.request(event(impersonatedUser={"username": "other"}), None)
    assert made.user
    assert made.user.username == "other"


def test_an_update_has_the_old_object_that_is_handed_in() -> None:
    old = POD | {"spec": {}}
    made = audit.request(event("update", 200), old)
    assert (made.operation, made.object, made.old_object) == ("UPDATE", POD, old)


def test_a_patch_is_judged_by_what_it_made() -> None:
    patched = event("patch", 200, requestObject={"spec": {"x": 1}}, responseObject=POD)
    assert audit.request(patched, POD).object == POD
    assert audit.operation(event("patch", 201)) == "CREATE"


def test_a_delete_has_the_old_object_alone() -> None:
    gone = event("delete", 200, requestObject={"kind": "DeleteOptions"})
    made = audit.request(gone, POD)
    assert (made.operation, made.kind.kind, made.object, made.old_object) == ("DELETE", "Pod", None, POD)


@pytest.mark.parametrize("old", [None, POD])
def test_without_the_object_nothing_is_judged(old: Any) -> None:
    bare = event("update", 200)
    del bare["requestObject"]
    with pytest.raises(NotJudged, match="does not hold the object: its level has to be Request"):
        audit.request(bare, old)


def test_what_a_subresource_takes_was_no_object_of_another_kind_before() -> None:
    scale = event("update", 200, requestObject={"apiVersion": "autoscaling/v1", "kind": "Scale"})
    scale["objectRef"] = scale["objectRef"] | {"subresource": "scale"}
    with pytest.raises(NotJudged, match="as it was before"):
        audit.request(scale, POD)


@pytest.mark.parametrize("verb", ["update", "delete"])
def test_without_the_old_object_no_change_is_judged(verb: str) -> None:
    with pytest.raises(NotJudged, match="as it was before"):
        audit.request(event(verb, 200), None)


@pytest.mark.parametrize(
    "other",
    [
        event("get", 200),
        event("deletecollection", 200),
        event(stage="RequestReceived"),
        event(code=403),
        event(code=409),
        event(responseStatus=None),
    ],
)
def test_there_is_nothing_to_judge_of_what_changed_nothing(other: dict[str, Any]) -> None:
    assert audit.operation(other) is None


@pytest.mark.parametrize("part", ["user", "objectRef"])
def test_an_event_without_its_parts_says_which(part: str) -> None:
    with pytest.raises(ReviewError, match=f"{part}: missing"):
        audit.request(event() | {part: None}, None)
