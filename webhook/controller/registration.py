"""Rules → the `webhooks` of both configurations, every field written out: what is left out, somebody may add."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from webhook.controller.resources import literal
from webhook.controller.rules import Entry
from webhook.model.configuration import Exempt
from webhook.model.policy import FailurePolicy, ResourceRule
from webhook.model.request import Object

VALIDATE: Final = "validate"
MUTATE: Final = "mutate"

_ALWAYS_OUT: Final = ("kube-system", "kube-node-lease")
"""Namespaces that a cluster needs to come up, and nodes to stay: no policy is worth those."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where the API server reaches us, and who we are.

    `name` is that of both webhook configurations, and of the ClusterRole and ClusterRoleBinding that come with them; ""
    where nothing is to be registered.
    `url` is used in place of the service, `/validate` and `/mutate` are added to it.
    """

    namespace: str
    name: str = "cozyguard"
    service: str = "cozyguard"
    port: int = 443
    url: str = ""
    timeout: int = 5
    """Seconds."""
    break_glass_group: str = "cozyguard:break-glass"

    @property
    def hosts(self) -> tuple[str, ...]:
        """DNS names and IP addresses that a certificate for it has to carry."""
        if self.url:
            return (urlsplit(self.url).hostname or "",)
        name = f"{self.service}.{self.namespace}"
        return (self.service, name, f"{name}.svc", f"{name}.svc.cluster.local")


def webhooks(path: str, entries: Iterable[Entry], endpoint: Endpoint, exempt: Exempt, user: str) -> list[Object]:
    """Write the webhooks of one configuration; `path` is VALIDATE or MUTATE, `user` the name of our
    service account, "" if we have none.

    They have no caBundle yet.
    """
    return [_webhook(path, entry, endpoint, exempt, user) for entry in entries]


def with_bundle(hooks: Iterable[Object], bundle: bytes) -> list[Object]:
    """Say whom to trust: certificates in PEM."""
    text = base64.b64encode(bundle).decode()
    return [hook | {"clientConfig": hook["clientConfig"] | {"caBundle": text}} for hook in hooks]


def _webhook(path: str, entry: Entry, endpoint: Endpoint, exempt: Exempt, user: str) -> Object:
    suffix = "" if entry.failure_policy is FailurePolicy.FAIL else "-ignore"
    conditions = [*_exempt(endpoint, exempt, user), *((one.name, one.expression) for one in entry.conditions)]
    hook: Object = {
        "name": f"{path}{suffix}.cozyguard.io",
        "admissionReviewVersions": ["v1"],
        "clientConfig": _client(path, endpoint),
        "failurePolicy": str(entry.failure_policy),
        "matchConditions": [{"name": name, "expression": expression} for name, expression in conditions],
        "matchPolicy": "Equivalent",
        "namespaceSelector": {"matchExpressions": [_other_namespaces(endpoint, exempt)]},
        "objectSelector": {},
        "rules": [_rule(rule) for rule in entry.rules],
        "sideEffects": "None",
        "timeoutSeconds": endpoint.timeout,
    }
    return hook | {"reinvocationPolicy": "IfNeeded"} if path == MUTATE else hook


def _client(path: str, endpoint: Endpoint) -> Object:
    if endpoint.url:
        return {"url": f"{endpoint.url.rstrip('/')}/{path}"}
    service = {"namespace": endpoint.namespace, "name": endpoint.service, "path": f"/{path}", "port": endpoint.port}
    return {"service": service}


def _other_namespaces(endpoint: Endpoint, exempt: Exempt) -> Object:
    out = sorted({*_ALWAYS_OUT, endpoint.namespace, *exempt.namespaces})
    return {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": out}


def _rule(rule: ResourceRule) -> Object:
    return {
        "apiGroups": list(rule.api_groups),
        "apiVersions": list(rule.api_versions),
        "resources": list(rule.resources),
        "operations": list(rule.operations),
        "scope": rule.scope,
    }


def _exempt(endpoint: Endpoint, exempt: Exempt, user: str) -> list[tuple[str, str]]:
    """Write who and what is never asked about: no namespaceSelector can free what has no namespace."""
    users, groups = sorted({user, *exempt.users} - {""}), sorted({endpoint.break_glass_group, *exempt.groups})
    conditions = [
        ("not-exempt-group", f"!request.?userInfo.?groups.orValue([]).exists(g, g in {literal(groups)})"),
        ("not-our-own", f"!({_our_own(endpoint.name)})"),
    ]
    if users:
        conditions.append(("not-exempt-user", f"!(request.?userInfo.?username.orValue('') in {literal(users)})"))
    return conditions


def _our_own(name: str) -> str:
    """Fit what we need to run and has no namespace: our CRDs, our rights. Our Namespace has its selector."""
    group, called = "request.resource.group", "request.?name.orValue('')"
    crds = f"{group} == 'apiextensions.k8s.io' && {called}.endsWith('.cozyguard.io')"
    rights = f"{group} == 'rbac.authorization.k8s.io' && request.?namespace.orValue('') == ''"
    return f"{crds} || {rights} && {called} == {literal(name)}"
