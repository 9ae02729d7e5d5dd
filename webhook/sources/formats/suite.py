"""`kind: PolicyTest`: what a case can give and expect."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import AfterValidator, Field

from webhook.sources.formats.base import Fault, Mapped, shown
from webhook.sources.formats.fields import FieldPath, Line, Moment, ReleaseName, Words

_REGULAR_EXPRESSION: Final = re.compile(r"/(.*)/", re.DOTALL)


def pattern(message: str) -> re.Pattern[str] | None:
    """Compile a message written as `/regular expression/`; None for plain text. Raises ValueError."""
    if not (match := _REGULAR_EXPRESSION.fullmatch(message)):
        return None
    try:
        return re.compile(match[1])
    except re.error as error:
        raise ValueError(f"got {shown(message)}, no regular expression: {error}") from None


def _message(text: str) -> str:
    pattern(text)
    return text


Object = dict[str, Any]


class Operation(Mapped):
    """One JSON Patch operation (RFC 6902)."""

    op: Literal["add", "remove", "replace", "move", "copy", "test"]
    path: str
    value: Any = None
    from_: Annotated[str | None, Field(alias="from")] = None


class Expectation(Mapped):
    """What must be true of the decision."""

    outcome: Literal["allow", "deny", "warn", "audit", "error", "skip", "notMatched", "invalid"] | None = None
    policy: Words | None = None
    rule: Words | None = None
    field: FieldPath | None = None
    message: Annotated[Words, AfterValidator(_message)] | None = None
    reason: Words | None = None
    patch: list[Operation] | None = None
    patched: Object | None = None
    warnings: list[str] | None = None
    audit_annotations: dict[str, str] | None = None

    AT_MOST_ONE: ClassVar[tuple[tuple[str, ...], ...]] = (("patch", "patched"),)

    @classmethod
    def faults(cls, given: dict[str, Any]) -> Iterable[Fault]:
        """An expectation expects something."""
        if not given.keys() - {"policy", "rule"}:
            yield (), "expects nothing, want an `outcome` at least"


class Circumstances(Mapped):
    """What a request depends on besides its object: of one case, or the default of all."""

    operation: Literal["CREATE", "UPDATE", "DELETE", "CONNECT"] | None = None
    subresource: Words | None = None
    user: Words | None = None
    groups: list[Words] | None = None
    namespace_labels: dict[str, str] | None = None
    lookups: list[Object] | None = None
    params: Object | list[Object] | None = None
    """Objects for `paramRef`, beside the `lookups`."""
    release: ReleaseName | None = None
    time: Moment | None = None


class Case(Circumstances):
    """One request and what is expected of it."""

    name: Line
    object: Object | None = None
    object_file: Words | None = None
    old_object: Object | None = None
    expect: Expectation

    AT_MOST_ONE: ClassVar[tuple[tuple[str, ...], ...]] = (("object", "objectFile"),)

    @classmethod
    def faults(cls, given: dict[str, Any]) -> Iterable[Fault]:
        """A case is about an object, and an operation has the objects that it is made with."""
        objects = {"object", "objectFile"} & given.keys()
        operation = given.get("operation")
        if not objects and "oldObject" not in given:
            yield (), "has no object, want `object` or `objectFile`, or `oldObject` for DELETE"
        elif objects and operation == "DELETE":
            yield ("operation",), "DELETE has no new object, want `oldObject` alone"
        elif "oldObject" in given and operation == "CREATE":
            yield ("operation",), "CREATE has no `oldObject`"
        elif operation == "UPDATE" and "oldObject" not in given:
            yield ("operation",), "UPDATE needs the `oldObject` too"


class Mutant(Mapped):
    """A mutant that no case can kill, and why."""

    policy: Words | None = None
    at: FieldPath
    change: Line | None = None
    why: Line


class Unreached(Mapped):
    """An outcome of a part of a policy that no case can reach, and why."""

    policy: Words | None = None
    at: FieldPath
    outcome: Line | None = None
    why: Line


class PolicyTest(Mapped):
    """A suite: the policies under test and their cases."""

    api_version: Literal["cozyguard.io/v1alpha1"]
    kind: Literal["PolicyTest"]
    metadata: dict[str, Any] = {}
    policies: Annotated[list[Words], Field(min_length=1)] = ["."]
    defaults: Circumstances = Circumstances()
    cases: Annotated[list[Case], Field(min_length=1)]
    mutants: list[Mutant] = []
    unreached: list[Unreached] = []

    UNIQUE: ClassVar[Mapping[str, str]] = {"cases": "name"}
