"""The registry of functions, and what the checker makes of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from webhook.cel.environment import environment
from webhook.cel.functions import FUNCTIONS, LIBRARIES, Overload
from webhook.cel.values import CelType

LITERALS = {
    "int": "1",
    "uint": "1u",
    "double": "1.5",
    "bool": "true",
    "string": "'a'",
    "bytes": "b'a'",
    "timestamp": "timestamp(0)",
    "duration": "duration('1s')",
    "dyn": "dyn(1)",
    "~A": "1",
    "optional_type<~A>": "optional.of(1)",
    "kubernetes.Quantity": "quantity('1')",
    "kubernetes.Semver": "semver('1.0.0')",
    "kubernetes.URL": "url('/')",
    "kubernetes.NamedFormat": "format.uuid()",
    "kubernetes.authorization.Authorizer": "authorizer",
    "kubernetes.authorization.PathCheck": "authorizer.path('/')",
    "kubernetes.authorization.GroupCheck": "authorizer.group('')",
    "kubernetes.authorization.ResourceCheck": "authorizer.group('').resource('pods')",
    "kubernetes.authorization.Decision": "authorizer.path('/').check('get')",
    "net.IP": "ip('::1')",
    "net.CIDR": "cidr('::/0')",
}
CALLED = [
    (function.name, overload)
    for function in FUNCTIONS.values()
    for overload in function.overloads
    if not function.name.startswith("@")
]


def literal(type_: str) -> str:
    """Write a value of the type."""
    return f"[{literal(type_[5:-1])}]" if type_.startswith("list<") else LITERALS[type_]


def text(name: str, overload: Overload) -> str:
    """Write a call of the function."""
    if name == "format":
        return "'%d'.format([1])"  # the template is checked against the arguments
    arguments = list(map(literal, overload.parameters))
    receiver = f"{arguments.pop(0)}." if overload.receiver else ""
    return f"{receiver}{name}({', '.join(arguments)})"


def test_a_name_has_one_function() -> None:
    names = Counter(function.name for library in LIBRARIES for function in library.functions)
    assert [name for name, count in names.items() if count > 1] == []
    assert set(names) == set(FUNCTIONS)


@pytest.mark.parametrize(("name", "overload"), CALLED, ids=lambda value: value if isinstance(value, str) else "")
def test_the_checker_takes_every_overload(name: str, overload: Overload) -> None:
    checked = environment({"authorizer": "kubernetes.authorization.Authorizer"}).compile(text(name, overload))
    assert "error" not in checked.return_type().name().lower()


@pytest.mark.parametrize(("name", "overload"), CALLED, ids=lambda value: value if isinstance(value, str) else "")
def test_every_overload_gives_a_value_of_the_type_that_it_says(
    outcome: Callable[..., Any], name: str, overload: Overload
) -> None:
    """An argument that the function refuses for what it is, such as `ip('a')`, has passed by its type."""
    value = outcome(f"type({text(name, overload)})")
    if isinstance(value, CelType):
        assert overload.result.startswith(("dyn", "~", value.name.removeprefix("google.protobuf.").lower(), value.name))
    else:
        assert not value.message.startswith("no such overload:")


@pytest.mark.parametrize("expression", ["['a'].sum()", "[[1]].min()", "1.upperAscii()", "sets.contains([1], ['a'])"])
def test_the_checker_refuses_what_no_overload_takes(expression: str) -> None:
    with pytest.raises(Exception, match="found no matching overload"):
        environment({}).compile(expression)
