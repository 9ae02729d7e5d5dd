"""`kind: PolicyException` of Kyverno, for its policies whose rules are CEL."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import Field

from webhook.model.policy import Expression, NamedExpression
from webhook.sources.formats import kyverno_functions as functions
from webhook.sources.formats.base import Fault, Mapped
from webhook.sources.formats.fields import Words
from webhook.sources.formats.kyverno import ApiVersion, Metadata
from webhook.sources.formats.kyverno_spec import Conditions
from webhook.sources.formats.place import Place

_PARTIAL: Final = "excepts parts of objects, for policies that read `exceptions`, which are not read here"
_MODE: Final = "says who in Kyverno honours it; want exceptions for requests to the API server, without it"
_ENDS: Final = "is not honoured here: a PolicyException of cozyguard.io ends by itself"


class PolicyRef(Mapped):
    """A policy by kind and name, in whatever namespace."""

    name: Words
    kind: Words


class Spec(Mapped):
    """`spec` of an exception. `reportResult` says how Kyverno reports it."""

    REFUSED: ClassVar = {"images": _PARTIAL, "allowedValues": _PARTIAL, "expiresAt": _ENDS, "evaluationMode": _MODE}

    policy_refs: Annotated[list[PolicyRef], Field(min_length=1)]
    match_conditions: Conditions = []
    report_result: Literal["skip", "pass"] = "skip"
    properties: dict[str, str] = {}

    @classmethod
    def faults(cls, given: dict[str, Any]) -> Iterable[Fault]:
        """Some functions of Kyverno cannot be had here."""
        yield from functions.refused(given)


class PolicyException(Mapped):
    """A way past some policies, for requests that fulfil all conditions."""

    api_version: ApiVersion
    kind: Literal["PolicyException"]
    metadata: Metadata
    spec: Spec

    def condition(self, root: Place) -> NamedExpression:
        """Write it as a match condition of the policies: that it does not fit."""
        conditions, place = self.spec.match_conditions, root / "spec" / "matchConditions"
        name = f"not excepted by {self.metadata.name}"
        if not conditions:
            return NamedExpression(name, Expression("false", (root / "metadata" / "name").location()))
        text = " && ".join(f"({one.expression}\n)" for one in conditions)  # a comment may end an expression
        return NamedExpression(name, Expression(f"!({text})", (place / 0 / "expression").location()))
