"""Lists: the API server's own functions, and cel-go's list library (version 3).

What compares every element with every other is charged as that, as in the API server. Sources:
`pkg/cel/library/lists.go` of the API server, `ext/lists.go` of cel-go.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, Final

from webhook.cel.errors import Budget, CelError
from webhook.cel.functions.library import Function, Library, Overload, call, charging, method
from webhook.cel.values.arithmetic import add
from webhook.cel.values.compare import is_equal, less
from webhook.cel.values.maps import MAPS
from webhook.cel.values.time import Duration, Timestamp
from webhook.cel.values.types import Uint, no_such_overload

_COMPARABLE: Final = {
    int: "int",
    Uint: "uint",
    float: "double",
    bool: "bool",
    Duration: "duration",
    Timestamp: "timestamp",
    str: "string",
    bytes: "bytes",
}
_SUMMABLE: Final = {int: "int", Uint: "uint", float: "double", Duration: "duration"}
_ZEROS: Final = {int: 0, Uint: Uint(0), float: 0.0, Duration: Duration(0)}

_MADE: Final = 10
"""The cost of a list that is made, whatever its length."""

RANGE_LIMIT: Final = 1_000_000
"""How long a list `lists.range` makes at most, as in cel-go."""


def traversal(value: Any) -> int:
    """The cost of going through a value once: a tenth for a character or byte, one for any other scalar."""
    kind = type(value)
    if kind is str or kind is bytes:
        return len(value) // 10
    if kind is list:
        return sum(map(traversal, value))
    if kind in MAPS:
        return sum(traversal(key) + traversal(element) for key, element in value.items())
    return 1


def index_of(elements: list[Any], element: Any) -> int:
    """The first position of an element, or -1."""
    for position, candidate in enumerate(elements):
        if is_equal(candidate, element):
            return position
    return -1


def last_index_of(elements: list[Any], element: Any) -> int:
    """The last position of an element, or -1."""
    for position in range(len(elements) - 1, -1, -1):
        if is_equal(elements[position], element):
            return position
    return -1


def _below(a: Any, b: Any) -> bool:
    """Is `a < b`; what cannot be ordered is not, which is how min, max and isSorted see NaN and mixed types."""
    if type(b) not in _COMPARABLE or type(a) not in _COMPARABLE:
        raise CelError("no such overload")
    try:
        return less(a, b)
    except CelError:
        return False


def _of_comparables(name: str, elements: list[Any]) -> None:
    if elements and type(elements[0]) not in _COMPARABLE:
        raise no_such_overload(name, elements)


def _is_sorted(budget: Budget, elements: list[Any]) -> bool:
    budget.charge(traversal(elements))
    _of_comparables("isSorted", elements)
    return not any(_below(after, before) for before, after in pairwise(elements))


def _min(budget: Budget, elements: list[Any]) -> Any:
    budget.charge(traversal(elements))
    return _extreme("min", elements, _below)


def _max(budget: Budget, elements: list[Any]) -> Any:
    budget.charge(traversal(elements))
    return _extreme("max", elements, lambda a, b: _below(b, a))


def _extreme(name: str, elements: list[Any], beats: Callable[[Any, Any], bool]) -> Any:
    if not elements:
        raise CelError(f"{name} called on empty list")
    _of_comparables(name, elements)
    best = elements[0]
    for element in elements[1:]:
        if beats(element, best):
            best = element
    return best


def _sum(budget: Budget, elements: list[Any]) -> Any:
    budget.charge(traversal(elements))
    if not elements:
        return 0
    total = _ZEROS.get(type(elements[0]))
    if total is None:
        raise no_such_overload("sum", elements)
    for element in elements:
        total = add(budget, total, element)
    return total


def _includes(budget: Budget, value: Any, element: Any) -> bool:
    budget.charge(traversal(value))
    if type(value) is list:
        return any(is_equal(candidate, element) for candidate in value)
    return is_equal(value, element)


def _distinct(budget: Budget, elements: list[Any]) -> list[Any]:
    budget.charge(_MADE + _self_comparison(elements))
    kept: list[Any] = []
    for element in elements:
        if not any(is_equal(element, other) for other in kept):
            kept.append(element)
    return kept


def _flatten(budget: Budget, elements: Any, depth: Any = 1) -> list[Any]:
    if type(elements) is not list or type(depth) is not int:
        raise no_such_overload("flatten", elements, depth)
    if depth < 0:
        raise CelError("level must be non-negative")
    budget.charge(_MADE)
    return _flat(budget, elements, depth)


def _flat(budget: Budget, elements: list[Any], depth: int) -> list[Any]:
    budget.charge(len(elements))
    flat: list[Any] = []
    for element in elements:
        if type(element) is list and depth:
            flat.extend(_flat(budget, element, depth - 1))
        else:
            flat.append(element)
    return flat


def _range(budget: Budget, length: int) -> list[int]:
    if length < 0:
        raise CelError(f"lists.range: size must be non-negative, got {length}")
    if length > RANGE_LIMIT:
        raise CelError(f"lists.range: size {length} exceeds maximum allowed ({RANGE_LIMIT})")
    budget.charge(_MADE + length)
    return list(range(length))


def _reverse(budget: Budget, elements: list[Any]) -> list[Any]:
    budget.charge(_MADE + len(elements))
    return elements[::-1]


def _slice(budget: Budget, elements: list[Any], start: int, end: int) -> list[Any]:
    asked = f"cannot slice({start}, {end})"
    if start < 0 or end < 0:
        raise CelError(f"{asked}, negative indexes not supported")
    if start > end:
        raise CelError(f"{asked}, start index must be less than or equal to end index")
    if end > len(elements):
        raise CelError(f"{asked}, list is length {len(elements)}")
    budget.charge(_MADE + end - start)
    return elements[start:end]


def _sort(budget: Budget, elements: list[Any]) -> list[Any]:
    return _sort_by(budget, elements, elements)


def _sort_by(budget: Budget, elements: list[Any], keys: list[Any]) -> list[Any]:
    """What the macro `elements.sortBy(e, key)` ends in; `keys` is `elements.map(e, key)`."""
    budget.charge(_MADE + _self_comparison(keys))
    if not keys:
        return elements
    if type(keys[0]) not in _COMPARABLE:
        raise CelError("list elements must be comparable")
    if any(type(key) is not type(keys[0]) for key in keys):
        raise CelError("list elements must have the same type")
    order = sorted(range(len(keys)), key=keys.__getitem__)  # Python orders each of these types as CEL does
    return [elements[position] for position in order]


def _self_comparison(elements: list[Any]) -> int:
    cost = 2 * len(elements) ** 2
    return cost + cost // 20 if elements and type(elements[0]) in {str, bytes} else cost


def _each(types: dict[Any, str], result: str = "{}") -> tuple[Overload, ...]:
    return tuple(method(f"list<{name}>", result=result.format(name)) for name in types.values())


LIBRARIES: Final = (
    Library(
        "kubernetes lists",
        "1.0",
        (
            charging("isSorted", _is_sorted, *_each(_COMPARABLE, "bool")),
            charging("min", _min, *_each(_COMPARABLE)),
            charging("max", _max, *_each(_COMPARABLE)),
            charging("sum", _sum, *_each(_SUMMABLE)),
        ),
    ),
    Library(
        "kubernetes lists 1",
        "1.37",
        (Function("includes", (method("dyn", "dyn", result="bool"),), _includes, charges=True),),
    ),
    Library(
        "lists",
        "1.34",
        (
            charging("distinct", _distinct, method("list<~A>", result="list<~A>")),
            Function(
                "flatten",
                (
                    method("list<list<~A>>", result="list<~A>"),
                    method("list<dyn>", "int", result="list<dyn>"),
                ),
                _flatten,
                charges=True,
            ),
            charging("lists.range", _range, call("int", result="list<int>")),
            charging("reverse", _reverse, method("list<~A>", result="list<~A>")),
            charging("slice", _slice, method("list<~A>", "int", "int", result="list<~A>")),
            charging("sort", _sort, *_each(_COMPARABLE, "list<{}>")),
            charging(
                "@sortByAssociatedKeys",
                _sort_by,
                *(method("list<~A>", f"list<{name}>", result="list<~A>") for name in _COMPARABLE.values()),
            ),
        ),
    ),
)
