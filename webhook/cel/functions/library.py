"""What a function library is made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from webhook.cel.errors import Budget
from webhook.cel.values.time import Duration, Timestamp
from webhook.cel.values.types import Uint, no_such_overload

Implementation = Callable[..., Any]
"""Takes the receiver first, then the arguments; before them the budget where the function charges."""


@dataclass(frozen=True, slots=True)
class Overload:
    """One signature, in the checker's notation: `string`, `dyn`, `list<~A>`, `optional_type<~A>`.

    `~A` is a type parameter. With a receiver, the receiver's type is the first parameter.
    """

    receiver: bool
    parameters: tuple[str, ...]
    result: str


@dataclass(frozen=True, slots=True)
class Function:
    """A function that expressions can call: `name` is unique, `strings.quote` is one name.

    No overloads means that the checker declares the function itself. `charges` says that the
    implementation takes the budget first, because what it makes can be bigger than its arguments.
    """

    name: str
    overloads: tuple[Overload, ...]
    implementation: Implementation
    charges: bool = False


@dataclass(frozen=True, slots=True)
class Library:
    """Functions that came to Kubernetes together; `since` is the minor release, such as `1.29`."""

    name: str
    since: str
    functions: tuple[Function, ...]


def method(*parameters: str, result: str) -> Overload:
    """The overload `parameters[0].f(parameters[1:])`."""
    return Overload(True, parameters, result)


def call(*parameters: str, result: str) -> Overload:
    """The overload `f(parameters)`."""
    return Overload(False, parameters, result)


_PYTHON: Final[dict[str, type]] = {
    "int": int,
    "uint": Uint,
    "double": float,
    "bool": bool,
    "string": str,
    "bytes": bytes,
    "timestamp": Timestamp,
    "duration": Duration,
}


def checked(name: str, implementation: Implementation, *overloads: Overload) -> Function:
    """A function that is only entered with argument types that one of its overloads has.

    Element types of lists are left to the implementation; type parameters are not supported.
    """
    accepted = _accepted(overloads)

    def dispatch(*arguments: Any) -> Any:
        if tuple(map(type, arguments)) in accepted:
            return implementation(*arguments)
        raise no_such_overload(name, *arguments)

    return Function(name, overloads, dispatch)


def charging(name: str, implementation: Implementation, *overloads: Overload) -> Function:
    """The same for an implementation that takes the budget first."""
    accepted = _accepted(overloads)

    def dispatch(budget: Budget, *arguments: Any) -> Any:
        if tuple(map(type, arguments)) in accepted:
            return implementation(budget, *arguments)
        raise no_such_overload(name, *arguments)

    return Function(name, overloads, dispatch, charges=True)


def _accepted(overloads: tuple[Overload, ...]) -> frozenset[tuple[type, ...]]:
    return frozenset(
        tuple(list if p.startswith("list<") else _PYTHON[p] for p in overload.parameters) for overload in overloads
    )
