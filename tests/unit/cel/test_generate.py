"""What expressions give: operators over whatever an object holds, as the API server's cel-go does it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

OBJECT = {
    "n": None,
    "t": True,
    "i": 1,
    "d": 1.5,
    "one": 1.0,
    "s": "x",
    "big": 2**63 - 1,
    "l": [1, 2, 3],
    "names": ["a", "b"],
    "m": {"k": "v", "a.b/c": {"d": 1}},
    "nested": [[1], [True]],
}

VALUES = {
    # fields and indexes
    "object.m.k": "v",
    "object.m['a.b/c'].d": 1,
    "object.l[0]": 1,
    "object.l[2.0]": 3,
    "object.l[object.i]": 2,
    "object['s']": "x",
    "object.m[object.names[0] == 'a' ? 'k' : 'z']": "v",
    # has: null and scalars have no fields, a missing parent is an error
    "has(object.m.k)": True,
    "has(object.m.z)": False,
    "has(object.n.z)": False,
    "has(object.s.z)": False,
    "has(object.i.z)": False,
    "has(object.n)": True,
    # equality
    "object.i == 1": True,
    "object.t == 1": False,
    "object.t == object.i": False,
    "object.i == object.one": True,
    "object.one == 1.0": True,
    "dyn(1) == 1.0": True,
    "dyn(1u) == 1": True,
    "object.n == null": True,
    "object.z2 == null || object.n == null": True,
    "object.s == 'x'": True,
    "'x' != object.n": True,
    "object.l == [1, 2, 3]": True,
    "object.nested == [[dyn(1)], [dyn(1)]]": False,
    "object.m == {'k': 'v'}": False,
    "object.t == true": True,
    "object.i == true": False,
    "object.i != 2": True,
    "object == oldObject": False,
    # order
    "object.i < 2": True,
    "object.i < 1.5": True,
    "1.5 > object.i": True,
    "1 < 2.0": True,
    "1u <= 1": True,
    "object.s < 'y'": True,
    "'a' < '\\u00e9'": True,
    "'\\uffff' < '\\U00010000'": True,
    # membership
    "object.i in [1, 2]": True,
    "object.t in [1, 2]": False,
    "object.one in object.l": True,
    "object.s in ['x', 'y']": True,
    "object.s in ['a', 'b', 'c', 'd', 'e', 'x']": True,
    "object.l in ['a', 'b', 'c', 'd', 'e', 'x']": False,
    "object.n in []": False,
    "'k' in object.m": True,
    "'b' in object.names": True,
    "string(object.i) in object.m": False,
    "object.n in object.m": False,
    "object.l in object.m": False,
    # arithmetic
    "object.i + 1": 2,
    "object.d * 2.0": 3.0,
    "object.s + 'y'": "xy",
    "object.l + [4]": [1, 2, 3, 4],
    "7 / -2": -3,
    "-7 % 3": -1,
    "-object.i": -1,
    "1.0 / 0.0": float("inf"),
    # functions
    "size(object.l)": 3,
    "object.m.size()": 2,
    "size('\\U0001F600')": 1,
    "object.s.startsWith('x')": True,
    "object.s.endsWith('y')": False,
    "object.s.contains('x')": True,
    "'a-b'.matches('^[a-z]-')": True,
    "type(object.m) == map": True,
    "type(object.n) == null_type": True,
    "type(1) == int && type(type(1)) == type": True,
    "string(object.i) + 'a'": "1a",
    "sets.contains(object.names, ['a'])": True,
    # literals
    "{'a': object.i}": {"a": 1},
    "{1: 'a', 2: 'b'}[1]": "a",
    "{1: 'a'}[dyn(1.0)]": "a",
    "{true: 'a'}[true]": "a",
    "{'a': 1, 'a': 2}": {"a": 2},
    "b'\\xff' == b'\\xff'": True,
    "dyn([]) == {}": False,
    # patches
    "Object{spec: Object.spec{replicas: object.i}}": {"spec": {"replicas": 1}},
    "JSONPatch{op: 'add', path: '/' + jsonpatch.escapeKey('a/b~'), value: {'a': 1}}": {
        "op": "add",
        "path": "/a~1b~0",
        "value": {"a": 1},
    },
    "[JSONPatch{op: 'remove', path: '/a'}]": [{"op": "remove", "path": "/a"}],
    "Object{?spec: object.?zz, metadata: Object.metadata{name: 'n'}}": {"metadata": {"name": "n"}},
}

ERRORS = {
    "object.z": "no such key: z",
    "dyn(1).a": "no such key: a",  # Python warns of such code, and is not heard
    "object.m.z": "no such key: z",
    "object.s.z": "no such key: z",
    "object.n.z": "no such key: z",
    "has(object.z.y)": "no such key: z",
    "has(object.l.y)": "unsupported index type 'string' in list",
    "object.l[3]": "index out of bounds: 3",
    "object.l[-1]": "index out of bounds: -1",
    "object.l['a']": "unsupported index type 'string' in list",
    "object.l[1.5]": "unsupported index value 1.5 in list",
    "object.m[0]": "no such key: 0",
    "object.m[true]": "no such key: true",
    "object.s < 1": "no such overload",
    "object.t < 1": "no such overload",
    "object.n > 1.0": "no such overload",
    "object.s + 1": "no such overload",
    "object.big + 1": "integer overflow",
    "object.big * 2": "integer overflow",
    "-(-9223372036854775807 - 1)": "integer overflow",
    "1u - 2u": "unsigned integer overflow",
    "object.i / 0": "division by zero",
    "object.i % 0": "modulus by zero",
    "'x' in object.s": "no such overload",
    "object.i in object.i": "no such overload",
    "size(object.i)": "no such overload: size(int)",
    "object.i.startsWith('x')": "no such overload",
    "object.s.matches(object.i)": "no such overload",
    "oldObject.x": "no such key: x",
}


@pytest.mark.parametrize(("text", "expected"), VALUES.items())
def test_an_expression_gives_what_cel_go_gives(text: str, expected: Any, outcome: Callable[..., Any]) -> None:
    value = outcome(text, OBJECT)
    assert value == expected
    assert type(value) is type(expected)


@pytest.mark.parametrize(("text", "message"), ERRORS.items())
def test_an_evaluation_error_has_the_words_of_cel_go(
    text: str, message: str, outcome: Callable[..., Any], failure: Callable[[str], Any]
) -> None:
    assert outcome(text, OBJECT) == failure(message)


def test_a_field_name_with_escapes_is_the_name_itself(outcome: Callable[..., Any]) -> None:
    """Kubernetes unescapes `__dash__` where it has a schema, which admission policies have not."""
    assert outcome("object.a__dash__b", {"a__dash__b": 1, "a-b": 2}) == 1


def test_a_generated_function_sees_its_helpers_only(bench: Callable[..., Any]) -> None:
    function = bench("object.x").linked.functions["f"]
    assert function.__globals__["__builtins__"] == {}
    assert not {"open", "eval", "__import__", "getattr"} & set(function.__globals__)


@pytest.mark.parametrize("name", ["class", "None", "c", "B", "S", "t1", "ERRORS", "print"])
def test_no_name_in_an_expression_meets_a_name_in_the_code(name: str, outcome: Callable[..., Any]) -> None:
    assert outcome(f"object.l.map({name}, {name} + 1)", OBJECT) == [2, 3, 4]


def test_text_in_an_expression_stays_text(outcome: Callable[..., Any]) -> None:
    hostile = "'); import os; ('"
    assert outcome(f'object["{hostile}"] == "{hostile}"', {hostile: hostile}) is True


TYPED: dict[str, Any] = {
    "map": {"a": 1},
    "list": [1],
    "string": "text",
    "int": 1,
    "double": 1.5,
    "bool": True,
    "null_type": None,
}


@pytest.mark.parametrize("name", [*TYPED, "uint", "bytes", "type"])
def test_a_test_of_a_type_is_true_for_that_type_and_no_other(name: str, outcome: Callable[..., Any]) -> None:
    for actual, value in TYPED.items():
        assert outcome(f"type(object) == {name}", value) is (actual == name)
        assert outcome(f"{name} != type(object)", value) is (actual != name)
