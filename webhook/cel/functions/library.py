"""What a function library is made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from webhook.cel.errors import Budget
from webhook.cel.values.arithmetic import text_cost
from webhook.cel.values.authorizer import Authorizer, Decision, GroupCheck, PathCheck, ResourceCheck
from webhook.cel.values.formats import NamedFormat
from webhook.cel.values.network import CIDR, IP
from webhook.cel.values.quantity import Quantity
from webhook.cel.values.semver import Semver
from webhook.cel.values.time import Duration, Timestamp
from webhook.cel.values.types import Uint, no_such_overload
from webhook.cel.values.url import URL

Implementation = Callable[..., Any]
"""Takes the receiver first, then the arguments; before them the budget where the function charges."""


@dataclass(frozen=True, slots=True)
class Overload:
    """One signature, in the checker's notation: `string`, `dyn`, `list<~A>`, `optional_type<~A>`.

    `~A` is a type parameter. With a receiver, the receiver's type is the first parameter. `since` is the
    minor release of Kubernetes that brought it, where that is not the one of its library.
    """

    receiver: bool
    parameters: tuple[str, ...]
    result: str
    since: str = ""


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


def method(*parameters: str, result: str, since: str = "") -> Overload:
    """The overload `parameters[0].f(parameters[1:])`."""
    return Overload(True, parameters, result, since)


def call(*parameters: str, result: str, since: str = "") -> Overload:
    """The overload `f(parameters)`."""
    return Overload(False, parameters, result, since)


_PYTHON: Final[dict[str, type]] = {
    "int": int,
    "uint": Uint,
    "double": float,
    "bool": bool,
    "string": str,
    "bytes": bytes,
    "timestamp": Timestamp,
    "duration": Duration,
    "kubernetes.Quantity": Quantity,
    "kubernetes.Semver": Semver,
    "kubernetes.URL": URL,
    "kubernetes.NamedFormat": NamedFormat,
    "kubernetes.authorization.Authorizer": Authorizer,
    "kubernetes.authorization.PathCheck": PathCheck,
    "kubernetes.authorization.GroupCheck": GroupCheck,
    "kubernetes.authorization.ResourceCheck": ResourceCheck,
    "kubernetes.authorization.Decision": Decision,
    "net.IP": IP,
    "net.CIDR": CIDR,
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


def typed(name: str, *cases: tuple[Overload, Implementation], cost: Callable[..., int] | None = None) -> Function:
    """A function of Kubernetes' own libraries: each overload has its implementation, which sees no budget.

    `cost` tells from the arguments what a call costs; one unit otherwise.
    """
    implementations = {_types(overload): implementation for overload, implementation in cases}

    def dispatch(budget: Budget, *arguments: Any) -> Any:
        implementation = implementations.get(tuple(map(type, arguments)))
        if implementation is None:
            raise no_such_overload(name, *arguments)
        budget.charge(cost(*arguments) if cost else 1)
        return implementation(*arguments)

    return Function(name, tuple(overload for overload, _ in cases), dispatch, charges=True)


def text_length(text: str, *_: Any) -> int:
    """The cost of a function that reads its first argument, a string, once."""
    return text_cost(len(text))


def _accepted(overloads: tuple[Overload, ...]) -> frozenset[tuple[type, ...]]:
    return frozenset(map(_types, overloads))


def _types(overload: Overload) -> tuple[type, ...]:
    return tuple(list if p.startswith("list<") else _PYTHON[p] for p in overload.parameters)
