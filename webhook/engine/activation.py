"""What the expressions of one review read: the CEL variables, bound once for all policies."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from webhook.cel.errors import Budget, NotKnown
from webhook.cel.program import Activation
from webhook.cel.values.authorizer import UNKNOWN_USER, Authorizer
from webhook.engine.compile import name_of
from webhook.engine.context import Context
from webhook.engine.match import is_namespace
from webhook.engine.policyset import LinkedLookup, PolicySet
from webhook.model.authorization import Attributes
from webhook.model.policy import Text
from webhook.model.request import AdmissionRequest, Object

ACKNOWLEDGE: Final = "cozyguard.io/acknowledge"
_NOTHING: Final[dict[str, str]] = {}


class _WithoutUser(dict[str, Any]):
    """The variable `request` where nobody knows who asks: reading `userInfo` says so."""

    def __missing__(self, key: str) -> Any:
        if key == "userInfo":
            raise NotKnown("the user")
        raise KeyError(key)


class _UnknownNamespace(dict[str, Any]):
    """The variable `namespaceObject` where nobody could read namespaces: reading it says so."""

    def __missing__(self, key: str) -> Any:
        raise NotKnown(f"`{key}` of the Namespace")


def activate(
    policies: PolicySet,
    request: AdmissionRequest,
    context: Context,
    *,
    obj: Object | None,
    old: Object | None,
    params: Object | None = None,
) -> Activation:
    """Bind the variables for `obj` and `old`, which need not be the request's own (after a mutation, say).

    Those that few expressions read are bound when the first does.
    """
    return Activation(
        object=obj,
        oldObject=old,
        request=request.cel if request.user is not None else _WithoutUser(request.cel),
        params=params,
        release=context.release.facts,
        authorizer=partial(_authorizer, request, context),
        budget=Budget(expired=context.expired),
        size=policies.slots,
        fetch=partial(_fetch, policies, context),
        late=partial(_late, request, context),
    )


def _late(request: AdmissionRequest, context: Context, name: str, activation: Activation) -> Any:
    if name == "namespaceObject":
        return _namespace_object(request, context)
    return _acknowledged(activation.object if activation.object is not None else activation.oldObject)


def _namespace_object(request: AdmissionRequest, context: Context) -> Object | None:
    """Kubernetes: null for cluster-scoped objects, and for Namespaces themselves."""
    if not request.namespace or is_namespace(request):
        return None
    try:
        return context.cluster.namespace(request.namespace)
    except NotKnown:
        return _UnknownNamespace()


def _authorizer(request: AdmissionRequest, context: Context) -> Authorizer:
    user = request.user or UNKNOWN_USER
    requested = Attributes(
        user,
        group=request.resource.group,
        resource=request.resource.resource,
        subresource=request.subresource,
        namespace=request.namespace,
        name=request.name,
    )
    return Authorizer(context.authorizer, user, requested)


def _acknowledged(obj: Object | None) -> dict[str, str]:
    """Read the annotation `cozyguard.io/acknowledge: "policy-a, policy-b=value"`."""
    metadata = (obj or _NOTHING).get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    text = annotations.get(ACKNOWLEDGE) if isinstance(annotations, dict) else None
    if not isinstance(text, str):
        return _NOTHING
    entries = (entry.partition("=") for entry in text.split(",") if entry.strip())
    return {policy.strip(): value.strip() for policy, _, value in entries}


def _fetch(policies: PolicySet, context: Context, key: str, activation: Activation) -> Any:
    linked = policies.lookups[key]
    lookup = linked.lookup
    namespace = _text(linked, "namespace", lookup.namespace, activation)
    if not lookup.object_name:
        return context.cluster.list(lookup.api_version, lookup.kind, namespace, lookup.label_selector)
    name = _text(linked, "name", lookup.object_name, activation)
    return context.cluster.get(lookup.api_version, lookup.kind, namespace, name)


def _text(linked: LinkedLookup, role: str, text: Text, activation: Activation) -> str:
    function = linked.owner.text(name_of("lookup", linked.lookup.name, role))
    return text.literal if function is None else str(function(activation))
