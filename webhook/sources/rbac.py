"""May somebody do something, by the RBAC objects at hand: what the API server's RBAC authorizer would say.

Source: `plugin/pkg/auth/authorizer/rbac` of Kubernetes. Other authorizers of a cluster (nodes, webhooks) are
not known here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from webhook.engine.context import Cluster
from webhook.model.authorization import Attributes, Authorization
from webhook.model.request import Object, UserInfo

_RBAC: Final = "rbac.authorization.k8s.io/v1"
_MASTERS: Final = "system:masters"
"""Members of this group may do everything, whatever RBAC says."""


@dataclass(frozen=True, slots=True)
class RbacAuthorizer:
    """Answers from the Roles, ClusterRoles and bindings that `cluster` holds."""

    cluster: Cluster

    def __call__(self, attributes: Attributes) -> Authorization:
        """Answer. Raises NotKnown when not all bindings, or not the roles they name, are known."""
        if _MASTERS in attributes.user.groups:
            return Authorization(True)
        for binding, subject, rules in self._bound(attributes):
            if any(_allows(rule, attributes) for rule in rules):
                return Authorization(True, f"RBAC: allowed by {_described(binding, subject)}")
        return Authorization(False)

    def _bound(self, attributes: Attributes) -> Iterator[tuple[Object, Object, list[Object]]]:
        """Give the bindings that are about the user, with the subject that is, and the rules of their roles."""
        bindings = self.cluster.list(_RBAC, "ClusterRoleBinding", "", None)
        if attributes.namespace:
            bindings = [*bindings, *self.cluster.list(_RBAC, "RoleBinding", attributes.namespace, None)]
        for binding in bindings:
            namespace = str(binding["metadata"].get("namespace") or "")
            for subject in binding.get("subjects") or ():
                if _is_about(subject, attributes.user, namespace):
                    yield binding, subject, self._rules(binding["roleRef"], namespace)
                    break

    def _rules(self, role: Object, namespace: str) -> list[Object]:
        found = self.cluster.get(_RBAC, role["kind"], namespace if role["kind"] == "Role" else "", role["name"])
        rules: list[Object] = (found or {}).get("rules") or []
        return rules


def _is_about(subject: Object, user: UserInfo, namespace: str) -> bool:
    name = subject.get("name")
    match subject.get("kind"):
        case "User":
            return bool(name == user.username)
        case "Group":
            return name in user.groups
        case "ServiceAccount":
            place = subject.get("namespace") or namespace
            return bool(place) and user.username == f"system:serviceaccount:{place}:{name}"
        case _:
            return False


def _allows(rule: Object, attributes: Attributes) -> bool:
    if not _has(rule, "verbs", attributes.verb):
        return False
    if attributes.path:
        return any(_covers(str(url), attributes.path) for url in rule.get("nonResourceURLs") or ())
    names = rule.get("resourceNames") or ()
    return (
        _has(rule, "apiGroups", attributes.group)
        and _has_resource(rule, attributes)
        and (not names or attributes.name in names)
    )


def _has(rule: Object, field: str, value: str) -> bool:
    values: list[Any] = rule.get(field) or []
    return "*" in values or value in values


def _has_resource(rule: Object, attributes: Attributes) -> bool:
    if not attributes.subresource:
        return _has(rule, "resources", attributes.resource)
    resources: list[Any] = rule.get("resources") or []
    return (
        _has(rule, "resources", f"{attributes.resource}/{attributes.subresource}")
        or f"*/{attributes.subresource}" in resources
    )


def _covers(url: str, path: str) -> bool:
    return url in ("*", path) or (url.endswith("*") and path.startswith(url.rstrip("*")))


def _described(binding: Object, subject: Object) -> str:
    """Name a binding as the API server does."""
    metadata, role = binding["metadata"], binding["roleRef"]
    namespace = metadata.get("namespace")
    name = f"{metadata['name']}/{namespace}" if namespace else metadata["name"]
    who = subject["name"]
    if subject["kind"] == "ServiceAccount":
        who = f"{who}/{subject.get('namespace') or namespace or ''}"
    return f'{binding["kind"]} "{name}" of {role["kind"]} "{role["name"]}" to {subject["kind"]} "{who}"'
