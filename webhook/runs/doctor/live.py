"""The objects of a cluster that the doctor looks at: no more of them than it takes, and never a key."""

from __future__ import annotations

import asyncio
import os
import ssl
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Final
from urllib.parse import urlsplit

from webhook.cluster.access import Access
from webhook.cluster.client import Client
from webhook.cluster.discovery import Resources
from webhook.cluster.faults import ApiError
from webhook.cluster.resources import (
    ADMISSION_POLICIES,
    DEPLOYMENTS,
    LEASES,
    MUTATING_WEBHOOKS,
    NAMESPACES,
    PODS,
    POLICY_EXCEPTIONS,
    SECRETS,
    SERVICES,
    VALIDATING_WEBHOOKS,
    Resource,
)
from webhook.model.diagnosis import Diagnosis, Examination, Level
from webhook.model.request import Object
from webhook.runs.doctor import own
from webhook.runs.doctor.certificates import CERTIFICATE, kept_secrets, secret_names
from webhook.runs.doctor.examine import examine, in_order
from webhook.runs.doctor.inventory import Held, Inventory, Registered
from webhook.runs.doctor.rights import reviews
from webhook.runs.doctor.workload import Workload, behind
from webhook.runs.doctor.x509 import decoded

OWN_NAMESPACE: Final = "cozyguard"

_WORKLOADS: Final = (
    SERVICES,
    DEPLOYMENTS,
    Resource("apps", "v1", "statefulsets", "StatefulSet", namespaced=True),
    Resource("apps", "v1", "daemonsets", "DaemonSet", namespaced=True),
    PODS,
    Resource("policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", namespaced=True),
    Resource("autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler", namespaced=True),
)
_EVERYWHERE: Final = (VALIDATING_WEBHOOKS, MUTATING_WEBHOOKS, NAMESPACES, ADMISSION_POLICIES, POLICY_EXCEPTIONS)
_REVIEWS: Final = Resource(
    "authorization.k8s.io", "v1", "subjectaccessreviews", "SubjectAccessReview", namespaced=False
)
_PATIENCE: Final = 5.0
"""Seconds to connect to a webhook."""


async def examine_cluster(access: Access, namespace: str, now: datetime) -> Examination:
    """Examine a cluster. `namespace` is our own, "" to find it by what is registered.

    Raises UsageError for credentials that cannot be used, Unreachable when the cluster does not answer, and ApiError
    when it refuses more than single kinds.
    """
    async with await Client.connect(access) as client:
        reader = _Reader(client)
        inventory = await reader.inventory(namespace)
        found = examine(inventory, now)
        more = [*own.own(inventory, reader.own_namespace, now), *await _unanswered(inventory)]
        return replace(found, diagnoses=in_order((*found.diagnoses, *more)))


class _Reader:
    """Collects objects, and the kinds that may not be read; `own_namespace` is known once there is an inventory."""

    def __init__(self, client: Client) -> None:
        self.own_namespace = ""
        self._client = client
        self._held: list[Held] = []
        self._unknown: set[str] = set()

    async def inventory(self, namespace: str) -> Inventory:
        for resource in _EVERYWHERE:
            await self._list(resource)
        asked = [each for each in self._so_far().registered() if isinstance(each, Registered)]
        services = {each.webhook.service for each in asked if each.webhook.service}
        for name in sorted({service.namespace for service in services}):
            for resource in _WORKLOADS:
                await self._list(resource, name)
        for service in services:
            for workload in behind(service, self._so_far()):
                for name in secret_names(workload):
                    await self._certificate(service.namespace, name)
        await self._own(asked, namespace)
        return self._so_far()

    async def _own(self, asked: Iterable[Registered], namespace: str) -> None:
        """Read what only our own installation has."""
        registrations = own.registrations(self._so_far())
        named = {each.webhook.service for each in asked if each.held in registrations and each.webhook.service}
        found = {service.namespace for service in named}
        self.own_namespace = namespace or (found.pop() if len(found) == 1 else OWN_NAMESPACE)
        if not registrations:
            return
        await self._list(LEASES, self.own_namespace)
        workloads = [workload for service in named for workload in behind(service, self._so_far())]
        if workloads:
            await self._rights(registrations[0], workloads[0])

    async def _rights(self, registration: Held, workload: Workload) -> None:
        account = str(workload.held.get("spec", "template", "spec").get("serviceAccountName") or "default")
        questions = reviews(
            (self.own_namespace, account),
            registration.resource.name,
            kept_secrets(workload),
            self._so_far().list("AdmissionPolicy"),
            await Resources.load(self._client),
        )
        try:
            answers = await asyncio.gather(*(self._client.create(_REVIEWS.path(), each) for each in questions))
        except ApiError as error:
            self._excuse(own.REVIEW, error)
        else:
            self._held += map(Held, answers)

    async def _list(self, resource: Resource, namespace: str = "") -> None:
        """List a kind. One that may not be read is remembered; of one that is not served there is nothing."""
        try:
            async for page in self._client.pages(resource.path(namespace)):
                self._held += map(Held, page.items)
        except ApiError as error:
            self._excuse(resource.kind, error)

    async def _certificate(self, namespace: str, name: str) -> None:
        """Read a Secret, and forget at once all of it but the certificate."""
        try:
            secret = await self._client.get(SECRETS.path(namespace, name))
        except ApiError as error:
            self._excuse("Secret", error)
            return
        self._held.append(Held(_without_keys(secret)))

    def _excuse(self, kind: str, error: ApiError) -> None:
        """Pass over what is refused for one kind, and raise what is not about it."""
        if error.is_forbidden:
            self._unknown.add(kind)
        elif not error.is_not_found:
            raise error

    def _so_far(self) -> Inventory:
        return Inventory(self._held, live=True, unknown=self._unknown)


def _without_keys(secret: Object) -> Object:
    """Take its name and its certificate; annotations may hold all of it once more."""
    metadata, data = secret["metadata"], secret.get("data") or {}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": metadata["name"], "namespace": metadata["namespace"]},
        "data": {CERTIFICATE: data[CERTIFICATE]} if CERTIFICATE in data else {},
    }


async def _unanswered(inventory: Inventory) -> list[Diagnosis]:
    """Connect to the webhooks that are asked by URL, each address once. Behind a Service only the cluster can look."""
    found: list[Diagnosis] = []
    seen: set[str] = set()
    for each in inventory.registered():
        if isinstance(each, Registered) and each.webhook.url and (at := urlsplit(each.webhook.url).netloc) not in seen:
            seen.add(at)
            if words := await _refusal(each):
                found.append(
                    each.find(
                        Level.WARNING,
                        "no-answer",
                        ("clientConfig", "url"),
                        f"does not answer at `{at}`, seen from here: {words}",
                        "when the API server sees the same, every call fails, and failurePolicy decides",
                        "start what answers there; the way out meanwhile is to delete the webhook configuration, which "
                        "needs no webhook for that",
                    )
                )
    return found


async def _refusal(registered: Registered) -> str:
    """Shake hands as the API server does; say what went wrong, "" if nothing did."""
    url = urlsplit(registered.webhook.url)
    try:
        trust = ssl.create_default_context(cadata=decoded(registered.webhook.ca_bundle).decode() or None)
        connecting = asyncio.open_connection(url.hostname, url.port or 443, ssl=trust)
        _, writer = await asyncio.wait_for(connecting, _PATIENCE)
    except TimeoutError:
        return f"no answer within {_PATIENCE:.0f} s"
    except (OSError, ValueError) as error:
        return _words(error)
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
    return ""


def _words(error: OSError | ValueError) -> str:
    """Say why there is no connection: a certificate's fault, the system's own words, or what Python makes of it."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return error.verify_message
    if isinstance(error, OSError) and error.errno is not None and error.errno > 0:
        return os.strerror(error.errno).lower()
    return str(error).lower()
