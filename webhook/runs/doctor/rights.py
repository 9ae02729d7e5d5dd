"""What `serve` asks of the API server in a cluster, as questions to RBAC."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from webhook.cluster.discovery import Resources
from webhook.cluster.resources import (
    ADMISSION_POLICIES,
    LEASES,
    MUTATING_WEBHOOKS,
    POLICY_EXCEPTIONS,
    SECRETS,
    VALIDATING_WEBHOOKS,
    Resource,
)
from webhook.cluster.wants import Scope, wanted
from webhook.engine.policyset import PolicySet
from webhook.model.request import Object
from webhook.runs.doctor.inventory import Held
from webhook.sources import compiled
from webhook.sources.bundled import bundled

_WATCH = ("list", "watch")


def reviews(
    account: tuple[str, str],
    registration: str,
    secrets: Iterable[str],
    policies: Iterable[Held],
    served: Resources,
) -> Iterator[Object]:
    """Write a SubjectAccessReview for each verb that a service account needs.

    `account` is its namespace and name, `secrets` are those that it keeps certificates in, `policies` the
    AdmissionPolicies of the cluster. What is looked up and not served is no question: nobody can grant it.
    """
    namespace = account[0]
    scopes = sorted({*_bundled(), *_installed(policies)})
    needs: list[tuple[Resource, str, str, str, tuple[str, ...]]] = [
        (ADMISSION_POLICIES, "", "", "", _WATCH),
        (ADMISSION_POLICIES, "status", "", "", ("patch",)),
        (POLICY_EXCEPTIONS, "", "", "", _WATCH),
        (POLICY_EXCEPTIONS, "status", "", "", ("patch",)),
        (VALIDATING_WEBHOOKS, "", "", registration, (*_WATCH, "patch")),
        (MUTATING_WEBHOOKS, "", "", registration, (*_WATCH, "patch")),
        (LEASES, "", namespace, "", (*_WATCH, "get", "create", "update", "patch", "delete")),
        *((SECRETS, "", namespace, name, (*_WATCH, "update")) for name in secrets),
        *((SECRETS, "", namespace, "", ("create",)) for _ in secrets),
        *(
            (resource, "", scope.namespace, scope.name, _WATCH)
            for scope in scopes
            if (resource := served.find(scope.api_version, scope.kind))
        ),
    ]
    for resource, subresource, place, name, verbs in needs:
        for verb in verbs:
            yield _review(account, resource, subresource, place, name, verb)


def _bundled() -> Iterable[Scope]:
    return wanted(PolicySet.link(compiled.load([bundled()]).policies))


def _installed(policies: Iterable[Held]) -> Iterator[Scope]:
    """Read the lookups of policies that may be broken."""
    for policy in policies:
        for lookup in policy.list("spec", "lookups"):
            match lookup:
                case {"apiVersion": str(api_version), "kind": str(kind)}:
                    namespace, name = lookup.get("namespace"), lookup.get("objectName")
                    yield Scope(api_version, kind, _text(namespace), _text(name))


def _review(
    account: tuple[str, str], resource: Resource, subresource: str, namespace: str, name: str, verb: str
) -> Object:
    attributes = {
        "group": resource.group,
        "resource": resource.plural,
        "subresource": subresource,
        "namespace": namespace,
        "name": name,
        "verb": verb,
    }
    place, called = account
    return {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {
            "user": f"system:serviceaccount:{place}:{called}",
            "groups": ["system:serviceaccounts", f"system:serviceaccounts:{place}", "system:authenticated"],
            "resourceAttributes": {key: value for key, value in attributes.items() if value},
        },
    }


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
