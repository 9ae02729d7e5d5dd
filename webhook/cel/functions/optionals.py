"""Optional values. The checker's own extension declares all but `unwrap`; optMap and optFlatMap are macros.

Source: cel-go `cel/library.go`.
"""

from __future__ import annotations

from typing import Any, Final

from webhook.cel.errors import Budget, CelError
from webhook.cel.functions.library import Function, Library, call, charging, method
from webhook.cel.values.optional import NONE, Optional
from webhook.cel.values.time import EARLIEST, SECOND, Duration, Timestamp
from webhook.cel.values.types import no_such_overload

_ZEROS: Final = (Duration(0), Timestamp(EARLIEST * SECOND))


def _none() -> Optional:
    return NONE


def _of_non_zero_value(value: Any) -> Optional:
    """None for null and for the empty or zero value of a type, as Go has them (a timestamp's is the year 1)."""
    if type(value) is Optional or (value and value not in _ZEROS):
        return Optional.of(value)
    return NONE


def _has_value(optional: Any) -> bool:
    if type(optional) is Optional:
        return optional.has_value
    raise no_such_overload("hasValue", optional)


def _value(optional: Any) -> Any:
    if type(optional) is Optional:
        return optional.value
    raise no_such_overload("value", optional)


def _or(optional: Any, other: Any) -> Any:
    if type(optional) is Optional:
        return optional if optional.has_value else other
    raise CelError("no such overload")


def _or_value(optional: Any, value: Any) -> Any:
    if type(optional) is Optional:
        return optional.value if optional.has_value else value
    raise CelError("no such overload")


def _unwrap(budget: Budget, optionals: list[Any]) -> list[Any]:
    budget.charge(len(optionals))
    if all(type(optional) is Optional for optional in optionals):
        return [optional.value for optional in optionals if optional.has_value]
    raise no_such_overload("optional.unwrap", optionals)


def _first(elements: Any) -> Optional:
    if type(elements) is list:
        return Optional.of(elements[0]) if elements else NONE
    raise no_such_overload("first", elements)


def _last(elements: Any) -> Optional:
    if type(elements) is list:
        return Optional.of(elements[-1]) if elements else NONE
    raise no_such_overload("last", elements)


LIBRARIES: Final = (
    Library(
        "optional",
        "1.28",
        (
            Function("optional.of", (), Optional.of),
            Function("optional.none", (), _none),
            Function("optional.ofNonZeroValue", (), _of_non_zero_value),
            Function("hasValue", (), _has_value),
            Function("value", (), _value),
            Function("or", (), _or),
            Function("orValue", (), _or_value),
        ),
    ),
    Library(
        "optional lists",
        "1.34",
        (
            Function("first", (), _first),
            Function("last", (), _last),
            charging("optional.unwrap", _unwrap, call("list<optional_type<~A>>", result="list<~A>")),
            charging("unwrapOpt", _unwrap, method("list<optional_type<~A>>", result="list<~A>")),
        ),
    ),
)
