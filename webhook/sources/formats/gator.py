"""Suites of `gator verify`: `kind: Suite` of `test.gatekeeper.sh/v1alpha1`.

`pkg/gator/verify` of github.com/open-policy-agent/gatekeeper.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, ConfigDict, Field

from webhook.sources.formats.base import Fault, Mapped, shown
from webhook.sources.formats.fields import Line, Words
from webhook.sources.formats.user import User


def _pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"got {shown(text)}, no regular expression: {error}") from None
    return text


def _violations(value: Any) -> Any:
    if value in ("yes", "no") or (isinstance(value, int) and value >= 0):
        return value
    raise ValueError(f"got {shown(value)}, want a number, `yes` or `no`")


class Assertion(Mapped):
    """How many rules are broken whose message fits."""

    violations: Annotated[Any, AfterValidator(_violations)] = "yes"
    """A number, or `yes` or `no`, which are true and false in YAML."""
    message: Annotated[str, AfterValidator(_pattern)] | None = None


class Case(Mapped):
    """One object, and what is said about it."""

    name: Line
    object: Words
    inventory: list[Words] = []
    assertions: Annotated[list[Assertion], Field(min_length=1)]
    skip: bool = False


class Test(Mapped):
    """A template, one constraint of it, and cases."""

    REFUSED: ClassVar = {
        "expansion": "is not read here: what ExpansionTemplates generate is not looked at",
    }

    name: Line
    template: Words
    constraint: Words
    cases: list[Case] = []
    invalid: bool = False
    skip: bool = False

    @classmethod
    def faults(cls, given: dict[str, Any]) -> Iterable[Fault]:
        """A test has cases."""
        if given.get("invalid") is True:
            yield ("invalid",), "got `true`: parameters are not held to the schema of their template here"
        elif not given.get("cases"):
            yield (), "has no `cases`"


class Suite(Mapped):
    """Tests of templates; each is a `Test`, and checked by itself."""

    api_version: Literal["test.gatekeeper.sh/v1alpha1"]
    kind: Literal["Suite"]
    metadata: Any = None
    skip: bool = False
    tests: Annotated[list[Any], Field(min_length=1)]


class Request(Mapped):
    """What a case may say of a request; all else of it is not looked at."""

    model_config = ConfigDict(extra="ignore")

    operation: Literal["CREATE", "UPDATE", "DELETE", "CONNECT"] | None = None
    sub_resource: str | None = None
    object: dict[str, Any] | None = None
    old_object: dict[str, Any] | None = None
    user_info: User | None = None

    @classmethod
    def faults(cls, given: dict[str, Any]) -> Iterable[Fault]:
        """A request is about an object."""
        if not given.get("object") and not given.get("oldObject"):
            yield (), "has no `object` and no `oldObject`"


class Review(Mapped):
    """An AdmissionReview that stands for an object."""

    model_config = ConfigDict(extra="ignore")

    request: Request
