"""May somebody do something: `authorizer.group('').resource('pods').check('create').allowed()`.

Source: `pkg/cel/library/authz.go` of the API server.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from webhook.cel.errors import CelError
from webhook.cel.functions.library import Function, Library, method, typed
from webhook.cel.values.arithmetic import text_cost
from webhook.cel.values.authorizer import Authorizer, GroupCheck, PathCheck, ResourceCheck
from webhook.cel.values.formats import FORMATS
from webhook.model.authorization import Attributes
from webhook.model.request import UserInfo

_PREFIX: Final = "kubernetes.authorization."
_AUTHORIZER: Final = f"{_PREFIX}Authorizer"
_PATH_CHECK: Final = f"{_PREFIX}PathCheck"
_GROUP_CHECK: Final = f"{_PREFIX}GroupCheck"
_RESOURCE_CHECK: Final = f"{_PREFIX}ResourceCheck"
_DECISION: Final = f"{_PREFIX}Decision"

_CHECK_COST: Final = 350_000
"""So that an expression can ask twice, as in the API server."""


def _path(authorizer: Authorizer, path: str) -> PathCheck:
    if not path.strip():
        raise CelError("path must not be empty")
    return PathCheck(authorizer.ask, Attributes(authorizer.user, path=path))


def _group(authorizer: Authorizer, group: str) -> GroupCheck:
    return GroupCheck(authorizer.ask, Attributes(authorizer.user, group=group))


def _service_account(authorizer: Authorizer, namespace: str, name: str) -> Authorizer:
    if FORMATS["dns1123Subdomain"].faults(name):
        raise CelError("Invalid service account name")
    if FORMATS["dns1123Label"].faults(namespace):
        raise CelError("Invalid service account namespace")
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}")
    return replace(authorizer, user=UserInfo(f"system:serviceaccount:{namespace}:{name}", groups))


def _resource(group: GroupCheck, resource: str) -> ResourceCheck:
    if not resource.strip():
        raise CelError("resource must not be empty")
    return ResourceCheck(group.ask, replace(group.attributes, resource=resource))


def _check_cost(*_: object) -> int:
    return _CHECK_COST


def _selector_cost(_: ResourceCheck, selector: str) -> int:
    """The API server's: a list, the text read once, and a requirement for every two characters."""
    return 10 + text_cost(len(selector)) + -(-len(selector) // 2) * 50


def _narrowed(name: str, field: str) -> Function:
    return typed(
        name,
        (
            method(_RESOURCE_CHECK, "string", result=_RESOURCE_CHECK),
            lambda check, value: check.having(**{field: value}),
        ),
        cost=_selector_cost if field.endswith("selector") else None,
    )


LIBRARIES: Final = (
    Library(
        "authorizer",
        "1.27",
        (
            typed("path", (method(_AUTHORIZER, "string", result=_PATH_CHECK), _path)),
            typed("group", (method(_AUTHORIZER, "string", result=_GROUP_CHECK), _group)),
            typed("serviceAccount", (method(_AUTHORIZER, "string", "string", result=_AUTHORIZER), _service_account)),
            typed("resource", (method(_GROUP_CHECK, "string", result=_RESOURCE_CHECK), _resource)),
            _narrowed("subresource", "subresource"),
            _narrowed("namespace", "namespace"),
            _narrowed("name", "name"),
            typed(
                "check",
                (method(_PATH_CHECK, "string", result=_DECISION), PathCheck.check),
                (method(_RESOURCE_CHECK, "string", result=_DECISION), ResourceCheck.check),
                cost=_check_cost,
            ),
            typed("allowed", (method(_DECISION, result="bool"), lambda decision: decision.answer.allowed)),
            typed("reason", (method(_DECISION, result="string"), lambda decision: decision.answer.reason)),
            typed("errored", (method(_DECISION, result="bool"), lambda decision: bool(decision.answer.error))),
            typed("error", (method(_DECISION, result="string"), lambda decision: decision.answer.error)),
        ),
    ),
    Library(
        "authorizer selectors",
        "1.31",
        (_narrowed("fieldSelector", "field_selector"), _narrowed("labelSelector", "label_selector")),
    ),
)
