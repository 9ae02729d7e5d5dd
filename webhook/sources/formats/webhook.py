"""Kubernetes' webhook configurations, read as the API server reads them, of whatever tool they are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from webhook.model import policy as model
from webhook.model import webhook
from webhook.sources.formats.base import Fault, Mapped, entries
from webhook.sources.formats.match import LabelSelector, ResourceRule
from webhook.sources.formats.place import KEY, Place
from webhook.sources.formats.rules import MAX_CONDITIONS, MatchCondition, each


class Service(Mapped):
    """`clientConfig.service`."""

    namespace: str
    name: str
    path: str = ""
    port: Annotated[int, Field(ge=1, le=65535)] = 443


class ClientConfig(Mapped):
    """Where the webhook answers: a Service of the cluster, or a URL."""

    AT_MOST_ONE: ClassVar = (("service", "url"),)

    service: Service | None = None
    url: str = ""
    ca_bundle: str = ""

    @classmethod
    def faults(cls, given: dict[str, Any]) -> Iterable[Fault]:
        """One of the two has to be there."""
        if not ({"service", "url"} & given.keys()):
            yield (), "names nobody to ask, want `service` or `url`"


class Webhook(Mapped):
    """One entry of `webhooks`. What `v1` no longer takes as `sideEffects` is read all the same, to be told about."""

    UNIQUE: ClassVar = {"matchConditions": "name"}

    name: str
    client_config: ClientConfig
    rules: list[ResourceRule] = []
    failure_policy: Literal["Fail", "Ignore"] = "Fail"
    match_policy: Literal["Exact", "Equivalent"] = "Equivalent"
    namespace_selector: LabelSelector | None = None
    object_selector: LabelSelector | None = None
    side_effects: Literal["None", "NoneOnDryRun", "Some", "Unknown"]
    timeout_seconds: Annotated[int, Field(ge=1, le=30)] = 10
    admission_review_versions: Annotated[list[str], Field(min_length=1)]
    match_conditions: Annotated[list[MatchCondition], Field(max_length=MAX_CONDITIONS)] = []
    reinvocation_policy: Literal["Never", "IfNeeded"] = "Never"

    @classmethod
    def faults(cls, given: dict[str, Any]) -> Iterable[Fault]:
        """A rule of a webhook knows no names: a policy's does."""
        for index, rule in entries(given, "rules"):
            if "resourceNames" in rule:
                yield ("rules", index, "resourceNames", KEY), "unknown field; want `matchConditions` on `request.name`"

    def build(self, place: Place) -> webhook.Webhook:
        """Make the model's word of it."""
        client = self.client_config
        service = client.service
        return webhook.Webhook(
            name=self.name,
            match=model.MatchResources(
                resource_rules=tuple(rule.build() for rule in self.rules),
                namespace_selector=self.namespace_selector.build() if self.namespace_selector else None,
                object_selector=self.object_selector.build() if self.object_selector else None,
                match_policy=self.match_policy,
            ),
            match_conditions=each(self.match_conditions, place / "matchConditions"),
            failure_policy=model.FailurePolicy(self.failure_policy),
            timeout=self.timeout_seconds,
            side_effects=self.side_effects,
            review_versions=tuple(self.admission_review_versions),
            reinvocation_policy=self.reinvocation_policy,
            service=webhook.ServiceReference(service.namespace, service.name, service.port) if service else None,
            url=client.url,
            ca_bundle=client.ca_bundle,
        )


class WebhookConfiguration(Mapped):
    """Either kind. `metadata` is not looked at: what tools write there is theirs."""

    UNIQUE: ClassVar = {"webhooks": "name"}

    api_version: Literal["admissionregistration.k8s.io/v1"]
    kind: Literal["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"]
    metadata: dict[str, Any] = {}
    webhooks: list[Webhook] = []

    @classmethod
    def faults(cls, given: dict[str, Any]) -> Iterable[Fault]:
        """Only what mutates can be asked again."""
        if given.get("kind") == webhook.VALIDATING:
            for index, entry in entries(given, "webhooks"):
                if "reinvocationPolicy" in entry:
                    yield ("webhooks", index, "reinvocationPolicy", KEY), "unknown field in what only validates"

    def build(self, root: Place) -> tuple[webhook.Webhook, ...]:
        """Make the model's words of the webhooks."""
        return each(self.webhooks, root / "webhooks")
