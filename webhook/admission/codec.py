"""AdmissionReview (`admission.k8s.io/v1`): bytes to a request, a decision to bytes."""

from __future__ import annotations

from base64 import b64encode
from http import HTTPStatus
from typing import Any, Final

import orjson

from webhook.errors import ReviewError
from webhook.model.request import (
    DELETE,
    OPERATIONS,
    AdmissionRequest,
    GroupVersionKind,
    GroupVersionResource,
    Object,
    UserInfo,
)

API_VERSION: Final = "admission.k8s.io/v1"
_HEAD: Final = b'{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":'
_NOT_IN_CEL: Final = frozenset({"uid", "object", "oldObject"})
"""What the CEL variable `request` does not have, although the review has (`CreateAdmissionRequest`)."""
_ALLOWED_TAIL: Final = b',"allowed":true}}'


def decode(body: bytes) -> AdmissionRequest:
    """Read the bytes of an AdmissionReview. Raises ReviewError (HTTP 400) that names the field at fault."""
    try:
        review = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise ReviewError(f"the body is not JSON: {str(error).lower()}") from None
    return read(review)


def read(review: Any) -> AdmissionRequest:
    """Read a parsed AdmissionReview. Raises ReviewError that names the field at fault."""
    if type(review) is not dict or review.get("kind") != "AdmissionReview":
        raise ReviewError("the body is no AdmissionReview: want kind `AdmissionReview`")
    if review.get("apiVersion") != API_VERSION:
        raise ReviewError(f"apiVersion: got `{review.get('apiVersion')}`, want `{API_VERSION}`")
    request = review.get("request")
    if type(request) is not dict:
        raise ReviewError("request: missing, want the AdmissionRequest to answer")
    uid, operation = request.get("uid"), request.get("operation")
    if type(uid) is not str or not uid:
        raise ReviewError("request.uid: missing, so no answer could be matched to this request")
    if operation not in OPERATIONS:
        raise ReviewError(f"request.operation: got `{operation}`, want one of {', '.join(OPERATIONS)}")
    kind, resource = _part(request, "kind"), _resource(_part(request, "resource"))
    sent = request.get("requestResource") or request["resource"]
    return AdmissionRequest(
        uid=uid,
        operation=operation,
        kind=GroupVersionKind(_text(kind, "group"), _text(kind, "version"), _text(kind, "kind")),
        resource=resource,
        request_resource=resource if sent == request["resource"] else _resource(_part(request, "requestResource")),
        subresource=_text(request, "subResource"),
        name=_text(request, "name"),
        namespace=_text(request, "namespace"),
        user=_user(_part(request, "userInfo")),
        object=_object(request, "object", required=operation != DELETE),
        old_object=_object(request, "oldObject", required=False),
        dry_run=request.get("dryRun") is True,
        cel={key: value for key, value in request.items() if key not in _NOT_IN_CEL},
    )


def _part(parent: Object, key: str) -> Object:
    value = parent.get(key)
    if type(value) is dict:
        return value
    raise ReviewError(f"request.{key}: {'missing' if value is None else 'got no object'}, want an object")


def _resource(part: Object) -> GroupVersionResource:
    return GroupVersionResource(_text(part, "group"), _text(part, "version"), _text(part, "resource"))


def _text(parent: Object, key: str) -> str:
    value = parent.get(key)
    if type(value) is str:
        return value
    if value is None:
        return ""
    raise ReviewError(f"{key}: got {orjson.dumps(value)[:40].decode(errors='replace')}, want a string")


def _object(request: Object, key: str, *, required: bool) -> Object | None:
    value = request.get(key)
    if type(value) is dict:
        return value
    if value is None and not required:
        return None
    raise ReviewError(f"request.{key}: {'missing' if value is None else 'got no object'}, want the object")


def _user(info: Object) -> UserInfo:
    groups = info.get("groups") or ()
    if (type(groups) is not list and groups != ()) or not all(type(group) is str for group in groups):
        raise ReviewError("request.userInfo.groups: want a list of strings")
    return UserInfo(_text(info, "username"), tuple(groups), _text(info, "uid"), info.get("extra") or {})


def encode_allowed(uid: str) -> bytes:
    """Answer yes, with nothing to add: put together from parts made beforehand."""
    return _HEAD + orjson.dumps(uid) + _ALLOWED_TAIL


def encode(uid: str, response: Object) -> bytes:
    """Answer with a whole `AdmissionResponse`, without its uid."""
    return _HEAD + orjson.dumps(uid) + b"," + orjson.dumps(response)[1:] + b"}"


def response(
    *,
    allowed: bool,
    status: Object | None = None,
    warnings: tuple[str, ...] = (),
    patch: tuple[Object, ...] = (),
    audit_annotations: dict[str, str] | None = None,
) -> Object:
    """Make an `AdmissionResponse`: no patch and no patchType when nothing changes.

    The API server puts the webhook's name and a slash before each audit annotation's key and
    refuses a second slash, hence the dot.
    """
    answer: Object = {"allowed": allowed}
    if status is not None and not allowed:
        answer["status"] = status
    if patch and allowed:
        answer["patchType"] = "JSONPatch"
        answer["patch"] = b64encode(orjson.dumps(patch)).decode()
    if audit_annotations:
        answer["auditAnnotations"] = {key.replace("/", "."): text for key, text in audit_annotations.items()}
    if warnings:
        answer["warnings"] = list(warnings)
    return answer


def status(message: str, reason: str, code: HTTPStatus, details: Object) -> Object:
    """Make the `metav1.Status` of a denial."""
    return {"status": "Failure", "message": message, "reason": reason, "code": int(code), "details": details}
