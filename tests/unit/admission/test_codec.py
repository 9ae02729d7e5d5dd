"""AdmissionReviews: what is answered, and how what cannot be answered is refused."""

from __future__ import annotations

import base64
import copy
import json
from http import HTTPStatus
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from webhook.admission import codec
from webhook.errors import ReviewError
from webhook.model.request import GroupVersionKind, GroupVersionResource

REVIEW: dict[str, Any] = {
    "apiVersion": "admission.k8s.io/v1",
    "kind": "AdmissionReview",
    "request": {
        "uid": "f0e1d2c3",
        "kind": {"group": "cozystack.io", "version": "v1alpha1", "kind": "Package"},
        "resource": {"group": "cozystack.io", "version": "v1alpha1", "resource": "packages"},
        "requestKind": {"group": "cozystack.io", "version": "v1alpha1", "kind": "Package"},
        "requestResource": {"group": "cozystack.io", "version": "v1alpha1", "resource": "packages"},
        "name": "cozystack.gpu-operator",
        "operation": "CREATE",
        "userInfo": {"username": "ada", "groups": ["system:authenticated"]},
        "object": {"apiVersion": "cozystack.io/v1alpha1", "kind": "Package"},
        "oldObject": None,
        "dryRun": True,
        "options": {"kind": "CreateOptions"},
    },
}


def test_a_review_is_read_as_the_api_server_wrote_it() -> None:
    request = codec.decode(orjson.dumps(REVIEW))
    assert request.uid == "f0e1d2c3"
    assert request.kind == GroupVersionKind("cozystack.io", "v1alpha1", "Package")
    assert request.resource == GroupVersionResource("cozystack.io", "v1alpha1", "packages")
    assert request.request_resource is request.resource
    assert (request.name, request.namespace, request.subresource) == ("cozystack.gpu-operator", "", "")
    assert request.user is not None
    assert request.user.groups == ("system:authenticated",)
    assert request.dry_run
    assert request.old_object is None


def test_what_the_user_sent_is_kept_apart_from_what_it_was_converted_to() -> None:
    review = copy.deepcopy(REVIEW)
    review["request"]["requestResource"]["version"] = "v1alpha2"
    request = codec.read(review)
    assert (request.resource.version, request.request_resource.version) == ("v1alpha1", "v1alpha2")


@pytest.mark.parametrize(
    ("path", "value", "named"),
    [
        (["kind"], "Pod", "AdmissionReview"),
        (["apiVersion"], "admission.k8s.io/v1beta1", "v1beta1"),
        (["request"], None, "request"),
        (["request", "uid"], None, "uid"),
        (["request", "uid"], "", "uid"),
        (["request", "operation"], "PATCH", "`PATCH`"),
        (["request", "kind"], "Package", "request.kind"),
        (["request", "resource"], None, "request.resource"),
        (["request", "resource", "group"], 7, "group"),
        (["request", "requestResource"], ["packages"], "request.requestResource"),
        (["request", "userInfo"], None, "request.userInfo"),
        (["request", "userInfo", "groups"], "admins", "groups"),
        (["request", "userInfo", "groups"], [1], "groups"),
        (["request", "object"], None, "request.object"),
        (["request", "object"], "text", "request.object"),
        (["request", "oldObject"], [], "request.oldObject"),
    ],
)
def test_a_review_that_cannot_be_answered_is_a_bad_request_that_names_the_field(
    path: list[str], value: Any, named: str
) -> None:
    review = copy.deepcopy(REVIEW)
    parent: Any = review
    for key in path[:-1]:
        parent = parent[key]
    parent[path[-1]] = value
    with pytest.raises(ReviewError) as raised:
        codec.read(review)
    assert raised.value.status == HTTPStatus.BAD_REQUEST
    assert named in str(raised.value)


def test_a_delete_carries_no_object() -> None:
    review = copy.deepcopy(REVIEW)
    review["request"] |= {"operation": "DELETE", "object": None, "oldObject": {"kind": "Package"}}
    assert codec.read(review).object is None


@given(
    st.binary(max_size=200)
    | st.recursive(st.none() | st.booleans() | st.text() | st.integers(0, 9), st.lists).map(json.dumps).map(str.encode)
)
def test_any_bytes_are_either_a_request_or_a_review_error(body: bytes) -> None:
    with pytest.raises(ReviewError):
        codec.decode(body)


def test_allowed_is_answered_with_the_uid_escaped_as_json_wants_it() -> None:
    answer = json.loads(codec.encode_allowed('a"b\\c'))
    assert answer == {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "response": {"uid": 'a"b\\c', "allowed": True},
    }


def test_a_patch_is_sent_in_base64_with_its_type() -> None:
    operations = ({"op": "add", "path": "/a~1b", "value": "é"},)
    answer = json.loads(codec.encode("u", codec.response(allowed=True, patch=operations)))["response"]
    assert answer["patchType"] == "JSONPatch"
    assert json.loads(base64.b64decode(answer["patch"])) == list(operations)


def test_nothing_is_said_of_a_patch_when_nothing_changes_or_the_request_is_refused() -> None:
    operations = ({"op": "remove", "path": "/a"},)
    assert "patchType" not in codec.response(allowed=True)
    assert "patch" not in codec.response(allowed=False, patch=operations)


def test_a_denial_has_status_reason_code_and_details() -> None:
    status = codec.status("no", "Forbidden", HTTPStatus.FORBIDDEN, {"kind": "Package"})
    answer = json.loads(codec.encode("u", codec.response(allowed=False, status=status, warnings=("w",))))["response"]
    assert answer == {
        "uid": "u",
        "allowed": False,
        "status": {
            "status": "Failure",
            "message": "no",
            "reason": "Forbidden",
            "code": 403,
            "details": {"kind": "Package"},
        },
        "warnings": ["w"],
    }


def test_audit_annotations_keep_one_slash_for_the_api_server_to_put_in() -> None:
    answer = codec.response(allowed=True, audit_annotations={"policy-a/why": "because"})
    assert answer["auditAnnotations"] == {"policy-a.why": "because"}
