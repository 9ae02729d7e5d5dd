"""What generated functions call beside CEL's operators: loops that pay, slots, optional chains, errors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from webhook.cel.errors import CHECK_EVERY, ERRORS, Budget, CelError, NotKnown
from webhook.cel.values import NONE, Optional, equal, has, insert, items, make_map, member, select, unequal
from webhook.cel.values.arithmetic import text_cost
from webhook.cel.values.lookup import lookup
from webhook.cel.values.maps import MAPS, MISSING

if TYPE_CHECKING:
    from webhook.cel.activation import Activation


_PLAIN: Final = frozenset({list, dict})
_LONG: Final = frozenset({str, bytes, list, dict})


def each(budget: Budget, value: Any, cost: int) -> Iterable[Any]:
    """Go through a list, or the keys of a map; `cost` is what one step costs.

    Raises CelError when there is nothing to go through, Exhausted when the budget or the time is.
    """
    if type(value) in _PLAIN and (length := len(value)) <= CHECK_EVERY:  # the usual case, all in line
        used = budget.used = budget.used + length * cost
        if used > budget.limit or budget.spent + used > budget.total:
            budget.charge(0)
        return value  # type: ignore[no-any-return]  # a list, or a dict
    entries = items(value)
    if len(value) > CHECK_EVERY:
        return _paid(budget, iter(entries), cost)
    budget.charge(len(value) * cost)
    return entries


def pairs(budget: Budget, value: Any, cost: int) -> Iterable[tuple[Any, Any]]:
    """Go through index and element of a list, or key and value of a map, as `each`."""
    entries = enumerate(items(value)) if type(value) not in MAPS else value.items()
    if len(value) > CHECK_EVERY:
        return _paid(budget, iter(entries), cost)
    budget.charge(len(value) * cost)
    return entries


def _paid(budget: Budget, entries: Iterator[Any], cost: int) -> Iterator[Any]:
    while chunk := list(islice(entries, CHECK_EVERY)):
        budget.check()
        budget.charge(len(chunk) * cost)
        yield from chunk


def first(earlier: Exception | None, later: Exception) -> Exception:
    """Choose the error that `&&`, `||`, `all` and `exists` end with: unknown before error, left before right."""
    if earlier is None or (isinstance(later, NotKnown) and not isinstance(earlier, NotKnown)):
        return later
    return earlier


def present(value: Any, field: str) -> bool:
    """`has(value.field)` where `value` may be the request, whose parts can be not known."""
    return step(value, field) is not MISSING if _open(value) else has(value, field)


def step(value: Any, key: Any) -> Any:
    """One step of an optional chain: what stands under the key, or MISSING. Raises as `lookup`."""
    if value is MISSING:
        return MISSING
    if type(value) is Optional:
        return step(value.value, key) if value.has_value else MISSING
    if _open(value):
        try:
            return value[key]
        except KeyError:
            return MISSING
    return lookup(value, key)


def _open(value: Any) -> bool:
    """Is it a map whose `__missing__` may say that something is not known."""
    return isinstance(value, dict) and type(value) not in MAPS


def read(value: Any, field: str) -> Any:
    """`value.field`, where `value` may be the request."""
    return value[field] if _open(value) else select(value, field)


def same(budget: Budget, a: Any, b: Any) -> bool:
    """`a == b`; what is long costs a tenth of the shorter one's length, as in the API server. Raises as `equal`."""
    _pay_comparison(budget, a, b)
    return equal(a, b)


def differ(budget: Budget, a: Any, b: Any) -> bool:
    """`a != b`, at the same cost. Raises as `unequal`."""
    _pay_comparison(budget, a, b)
    return unequal(a, b)


def _pay_comparison(budget: Budget, a: Any, b: Any) -> None:
    if type(a) in _LONG and type(b) in _LONG and (more := text_cost(min(len(a), len(b))) - 1) > 0:
        budget.charge(more)


def within(budget: Budget, value: Any, container: Any) -> bool:
    """`value in container`; a list costs what it is long, as in the API server. Raises as `member`, or Exhausted."""
    if type(container) is list:
        budget.charge(len(container))
    return member(value, container)


def search(budget: Budget, value: Any, container: Any) -> bool:
    """The same where the checker does not know that it is a list.

    The API server charges one unit then, however long it is; we add a tenth of its length, so that no
    loop of loops goes through long lists for nothing.
    """
    if type(container) is list:
        budget.charge(len(container) // 10)
    return member(value, container)


def insert_all(container: dict[Any, Any], entries: Any) -> dict[Any, Any]:
    """Add what one step of transformMapEntry gives. Raises CelError for a key that is there already."""
    for key in items(entries):
        container = insert(container, key, entries[key])
    return container


def without_missing(elements: list[Any]) -> list[Any]:
    """Leave the optional elements out that have no value."""
    return [element for element in elements if element is not MISSING]


def entries_without_missing(entries: dict[Any, Any]) -> dict[Any, Any]:
    """Leave the optional entries out that have no value."""
    return make_map((key, value) for key, value in entries.items() if value is not MISSING)


def wrap(value: Any) -> Optional:
    """Make an optional of the end of a chain."""
    return NONE if value is MISSING else Optional.of(value)


def unwrap(value: Any) -> Any:
    """Give an optional's value, or MISSING. Raises CelError for what is no optional."""
    if type(value) is not Optional:
        raise CelError("no such overload")
    return value.value if value.has_value else MISSING


def unwrap_any(value: Any) -> Any:
    """Give an optional's value, or MISSING; and what is no optional as it is."""
    return unwrap(value) if type(value) is Optional else value


def no_value() -> Any:
    """`optional.none().value()`."""
    return NONE.value


def lazy(activation: Activation, slot: int, function: Callable[[Activation], Any]) -> Any:
    """Compute a variable that is read for the first time; the slot keeps the value, or the error."""
    return _memoised(activation, slot, function, activation)


def fetch(activation: Activation, slot: int, key: str) -> Any:
    """Ask the engine for something outside that is read for the first time."""
    return _memoised(activation, slot, partial(activation.fetch, key), activation)


def _memoised(activation: Activation, slot: int, function: Callable[[Any], Any], argument: Any) -> Any:
    if (failure := activation.failures.get(slot)) is not None:
        raise failure.with_traceback(None)
    try:
        value = activation.slots[slot] = function(argument)
    except ERRORS as error:
        activation.failures[slot] = error
        raise
    return value
