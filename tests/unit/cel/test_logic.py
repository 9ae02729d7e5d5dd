"""`&&`, `||`, `!` and `?:` decide with cel-go's rules which operand counts, whatever else fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from webhook.cel.errors import NotKnown

OBJECT = {"yes": True, "no": False, "text": "x", "list": [1]}

# object.a is missing and fails with `no such key: a`, object.b likewise
TRUTH = {
    "object.yes && object.yes": True,
    "object.yes && object.no": False,
    "object.a && object.no": False,
    "object.no && object.a": False,
    "object.a && object.yes": "no such key: a",
    "object.yes && object.a": "no such key: a",
    "object.a && object.b": "no such key: a",
    "object.a && object.b && object.no": False,
    "object.yes && object.a && object.b": "no such key: a",
    "object.a || object.yes": True,
    "object.yes || object.a": True,
    "object.a || object.no": "no such key: a",
    "object.no || object.a": "no such key: a",
    "object.no || object.no": False,
    "object.a || object.b || object.yes": True,
    "(object.a || object.no) && object.no": False,
    "(object.a && object.yes) || object.yes": True,
    "type(object.text) == string && object.a": "no such key: a",
    "type(object.a) == string && object.no": False,
    "[object].exists(v, type(v) == map && v.no) || object.yes": True,
    "object.text && object.yes": "no such overload",
    "object.text && object.no": False,
    "object.text || object.yes": True,
    "!object.yes": False,
    "!object.text": "no such overload",
    "!object.a": "no such key: a",
    "object.yes ? 1 : object.a": 1,
    "object.no ? object.a : dyn(2)": 2,
    "object.a ? 1 : 2": "no such key: a",
    "object.text ? 1 : 2": "no such overload",
    "object.yes ? (object.a || object.yes) : object.no": True,
    "[object.yes && object.no, object.a || object.yes]": [False, True],
}


@pytest.mark.parametrize(("text", "expected"), TRUTH.items())
def test_an_operand_that_decides_wins_over_errors(
    text: str, expected: Any, outcome: Callable[..., Any], failure: Callable[[str], Any]
) -> None:
    assert outcome(text, OBJECT) == (failure(expected) if isinstance(expected, str) else expected)


class Request(dict[str, Any]):
    """A request whose user nobody knows."""

    def __missing__(self, key: str) -> Any:
        if key == "userInfo":
            raise NotKnown("the user")
        raise KeyError(key)


UNKNOWN = {
    "request.userInfo.username == 'x' || object.yes": True,
    "object.yes || request.userInfo.username == 'x'": True,
    "request.userInfo.username == 'x' && object.no": False,
    "request.userInfo.username == 'x' || object.a": NotKnown,
    "object.a || request.userInfo.username == 'x'": NotKnown,
    "object.a && request.userInfo.username == 'x'": NotKnown,
    "object.a && request.userInfo.username == 'x' && object.no": False,
    "object.list.all(i, request.userInfo.username == 'x')": NotKnown,
    "object.list.exists(i, request.userInfo.username == 'x' || i == 1)": True,
    "has(request.userInfo)": NotKnown,
    "request.?userInfo.?uid.orValue('') == ''": NotKnown,
    "has(request.namespace)": False,
}


@pytest.mark.parametrize(("text", "expected"), UNKNOWN.items())
def test_what_is_not_known_wins_over_errors_and_loses_to_what_decides(
    text: str, expected: Any, bench: Callable[..., Any]
) -> None:
    made = bench(text)
    if expected is NotKnown:
        with pytest.raises(NotKnown, match="the user"):
            made.value(OBJECT, request=Request(name="x"))
        assert made.trace(OBJECT, request=Request(name="x")).error == "not known: the user"
    else:
        assert made.value(OBJECT, request=Request(name="x")) is expected


def test_a_long_chain_is_one_block_deep(outcome: Callable[..., Any]) -> None:
    chain = " && ".join(["object.yes"] * 300)
    assert outcome(chain, OBJECT) is True


def test_deep_nesting_is_written_in_functions_of_its_own(outcome: Callable[..., Any]) -> None:
    text = "object.yes"
    for name in "abcdefghi":
        text = f"object.list.all({name}, (object.a || {name} == 1) && ({text}))"
    assert outcome(text, OBJECT) is True
