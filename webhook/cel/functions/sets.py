"""Lists as sets: `sets.contains(a, b)`, `sets.equivalent(a, b)`, `sets.intersects(a, b)`.

Every pair of elements may have to be compared, which is what is charged. Source: cel-go `ext/sets.go`.
"""

from __future__ import annotations

from typing import Any, Final

from webhook.cel.errors import Budget
from webhook.cel.functions.library import Library, call, charging
from webhook.cel.values.access import member


def _contains(budget: Budget, elements: list[Any], wanted: list[Any]) -> bool:
    budget.charge(1 + len(elements) * len(wanted))
    return all(member(element, elements) for element in wanted)


def _equivalent(budget: Budget, a: list[Any], b: list[Any]) -> bool:
    return _contains(budget, a, b) and _contains(budget, b, a)


def _intersects(budget: Budget, a: list[Any], b: list[Any]) -> bool:
    budget.charge(1 + len(a) * len(b))
    return any(member(element, b) for element in a)


_OVERLOAD: Final = call("list<~A>", "list<~A>", result="bool")

LIBRARIES: Final = (
    Library(
        "sets",
        "1.29",
        (
            charging("sets.contains", _contains, _OVERLOAD),
            charging("sets.equivalent", _equivalent, _OVERLOAD),
            charging("sets.intersects", _intersects, _OVERLOAD),
        ),
    ),
)
