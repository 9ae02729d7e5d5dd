"""One webhook of a ValidatingWebhookConfiguration or MutatingWebhookConfiguration, as the API server reads it.

https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from webhook.model.policy import FailurePolicy, MatchResources, NamedExpression

VALIDATING: Final = "ValidatingWebhookConfiguration"
MUTATING: Final = "MutatingWebhookConfiguration"
CONFIGURATIONS: Final = (VALIDATING, MUTATING)


@dataclass(frozen=True, slots=True)
class ServiceReference:
    """The Service behind which a webhook answers."""

    namespace: str
    name: str
    port: int = 443

    @property
    def host(self) -> str:
        """The name that the API server wants in the certificate."""
        return f"{self.name}.{self.namespace}.svc"


@dataclass(frozen=True, slots=True)
class Webhook:
    """Whom the API server asks, about what, and what follows when there is no answer.

    Either `service` or `url` is given. `timeout` is in seconds. `ca_bundle` is base64 of PEM, as written, or "".
    """

    name: str
    match: MatchResources
    match_conditions: tuple[NamedExpression, ...] = ()
    failure_policy: FailurePolicy = FailurePolicy.FAIL
    timeout: int = 10
    side_effects: str = "None"
    review_versions: tuple[str, ...] = ("v1",)
    reinvocation_policy: str = "Never"
    service: ServiceReference | None = None
    url: str = ""
    ca_bundle: str = ""
