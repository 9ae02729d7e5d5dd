"""`params`: the objects that a policy is evaluated with, found as the API server finds them.

`CollectParams` in `pkg/admission/plugin/policy/generic/policy_dispatcher.go` of k8s.io/apiserver.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from webhook.admission.plurals import Plurals
from webhook.admission.structures import DEFINITION
from webhook.cel.errors import CelError, NotKnown
from webhook.engine.context import Cluster
from webhook.model.policy import Params
from webhook.model.request import AdmissionRequest, GroupVersionKind, Object

_KNOWN: Final = Plurals(())


def params_of(params: Params, request: AdmissionRequest, cluster: Cluster) -> Sequence[Object]:
    """Give the objects; none where the policy passes without.

    Raises NotKnown, and CelError where there has to be one and is none. For a Namespace they are those in it.

    An object without a namespace is of a cluster-scoped kind, whichever namespace was asked for.
    """
    namespace = params.namespace or request.namespace
    if not namespace and _lives_in_namespaces(params, cluster):
        raise CelError(
            f"params are {params.kind}s of the request's namespace, and it has none; "
            "write `paramRef.namespace`, or match namespaced resources alone"
        )
    found = _named(params, namespace, cluster) if params.name else _selected(params, namespace, cluster)
    if not found and params.required:
        missing = f"no params: there is no {_described(params, namespace)}, and parameterNotFoundAction is `Deny`"
        raise CelError(f"{missing} ({params.location})" if params.location.file else missing)
    return found


def _lives_in_namespaces(params: Params, cluster: Cluster) -> bool:
    """Does the kind live in namespaces, as far as that is known."""
    group, _, version = params.api_version.rpartition("/")
    kind = GroupVersionKind(group, version, params.kind)
    known = _KNOWN.namespaced(kind)
    if known is None:
        with suppress(NotKnown):
            known = Plurals(cluster.list(*DEFINITION, "", None)).namespaced(kind)
    return known is True


def _named(params: Params, namespace: str, cluster: Cluster) -> list[Object]:
    found = cluster.get(params.api_version, params.kind, namespace, params.name)
    return [found] if found is not None else []


def _selected(params: Params, namespace: str, cluster: Cluster) -> list[Object]:
    found = cluster.list(params.api_version, params.kind, namespace, params.selector)
    if found or not namespace or _lives_in_namespaces(params, cluster):
        return found
    everywhere = cluster.list(params.api_version, params.kind, "", params.selector)
    return [one for one in everywhere if not one["metadata"].get("namespace")]


def _described(params: Params, namespace: str) -> str:
    if not params.name:
        return f"{params.kind} that the selector picks" + (f" in namespace {namespace}" if namespace else "")
    return f"{params.kind} {namespace}/{params.name}" if namespace else f"{params.kind} {params.name}"
