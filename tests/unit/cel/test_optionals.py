"""Optional values, as chains and as values of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from webhook.cel.values import NONE, Optional

OBJECT = {"a": {"b": 1, "n": None}, "s": "x", "n": None, "l": [1, 2], "m": {"k": "v"}}

VALUES = {
    "object.?a.?b.orValue(0)": 1,
    "object.?a.?z.orValue(0)": 0,
    "object.?a.b.orValue(0)": 1,
    "object.?z.b.c.orValue(0)": 0,
    "object.?z['b'][0].orValue(0)": 0,
    "object.?s.?b.orValue(0)": 0,
    "object.?n.?b.orValue(0)": 0,
    "object.?a.?n.orValue(0)": None,
    "object[?'a'].?b.orValue(0)": 1,
    "object.?l[1].orValue(0)": 2,
    "object.l[?5].orValue(0)": 0,
    "object.?a.?b.hasValue()": True,
    "object.?a.?z.hasValue()": False,
    "object.?a.?b.value()": 1,
    "object.?z.or(object.?s).orValue('')": "x",
    "object.?z.or(object.?y).or(object.?s).value()": "x",
    "object.?s.or(object.z.y).orValue('')": "x",
    "object.?a.optMap(a, a.b + 1).orValue(0)": 2,
    "object.?z.optMap(a, a.b + 1).orValue(0)": 0,
    "object.?a.optFlatMap(a, a.?b).orValue(0)": 1,
    "object.?a.optFlatMap(a, a.?z).orValue(0)": 0,
    "object.?a.optMap(a, a.b == 1 || a.z).orValue(false)": True,
    "has(object.?a.b)": True,
    "has(object.?z.b)": False,
    "has(object.?a.n.c)": False,
    "optional.of(1).value()": 1,
    "optional.none().orValue(2)": 2,
    "optional.ofNonZeroValue('').orValue('d')": "d",
    "object.?s == optional.of('x')": True,
    "object.?z == optional.none()": True,
    "(has(object.s) ? object.?s : optional.none()).orValue('')": "x",
    "[?object.?s, ?object.?z, dyn('y')]": ["x", "y"],
    "{?'s': object.?s, ?'z': object.?z}": {"s": "x"},
    "{'s': object.?s}['s'].orValue('')": "x",
    "[1].first().orValue(0)": 1,
    "object.l.last().value()": 2,
    "{'a': dyn('x'), ?'a': object.?zz}": {},
}

ERRORS = {
    "object.?l.?b": "unsupported index type 'string' in list",
    "object.?z.value()": "optional.none() dereference",
    "object.z.?b": "no such key: z",
    "object.s.orValue('')": "no such overload",
    "object.?a.optFlatMap(a, a.b)": "no such overload",
    "object.?z.orValue(object.y)": "no such key: y",
}


@pytest.mark.parametrize(("text", "expected"), VALUES.items())
def test_a_chain_of_optionals_gives_what_cel_go_gives(text: str, expected: Any, outcome: Callable[..., Any]) -> None:
    assert outcome(text, OBJECT) == expected


@pytest.mark.parametrize(("text", "message"), ERRORS.items())
def test_an_optional_chain_can_fail(
    text: str, message: str, outcome: Callable[..., Any], failure: Callable[[str], Any]
) -> None:
    assert outcome(text, OBJECT) == failure(message)


def test_a_chain_that_is_the_result_is_an_optional(outcome: Callable[..., Any]) -> None:
    there = outcome("object.?a.?b", OBJECT)
    assert isinstance(there, Optional)
    assert there.value == 1
    assert outcome("object.?z.?b", OBJECT) is NONE


def test_an_optional_in_a_variable_goes_on_as_a_chain(bench: Callable[..., Any]) -> None:
    made = bench(
        "variables.a.b.orValue(0) == 1 && variables.z.b == optional.none()",
        variables={"a": "object.?a", "z": "object.?z"},
    )
    assert made.outcome(OBJECT) is True
