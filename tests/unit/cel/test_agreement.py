"""Hypothesis makes expressions and objects; the fast function, its twin and two other engines have to agree.

The other engines are asked only what they answer as the API server does: see `docs/cel-differences.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import pytest
from cel_expr_python import cel
from cel_expr_python.ext import ext_optional
from celpy import Environment
from celpy.adapter import json_to_cel
from celpy.evaluation import CELEvalError
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from webhook.cel.errors import ExpressionErrors
from webhook.cel.values import Optional, equal

_T = TypeVar("_T")

SCALARS = st.none() | st.booleans() | st.integers(-2, 3) | st.sampled_from([0.5, 1.0, "", "a", "b", "x"])
KEYS = st.sampled_from(["a", "b", "k"])
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.fixed_dictionaries(
    {},
    optional={
        "s": st.sampled_from(["", "a", "xa"]) | SCALARS,
        "i": st.integers(-2, 3) | SCALARS,
        "t": st.booleans() | SCALARS,
        "l": st.lists(SCALARS, max_size=4) | VALUES,
        "m": st.dictionaries(KEYS, VALUES, max_size=3) | VALUES,
        "c": st.lists(st.dictionaries(KEYS, VALUES, max_size=3), max_size=3) | VALUES,
    },
)


@st.composite
def expressions(draw: Callable[..., Any], *, presence: bool = True) -> str:
    """Write an expression over `object`; without `presence` there is no `has` and no optional in it."""
    return Writer(draw, presence).bool(3, ())


class Writer:
    """Writes expressions of a wanted kind; `depth` bounds them, `names` are the loop variables around."""

    def __init__(self, draw: Callable[..., Any], presence: bool) -> None:
        self.draw = draw
        self.presence = presence

    def pick(self, choices: Sequence[_T]) -> _T:
        chosen: _T = self.draw(st.sampled_from(choices))
        return chosen

    def one_of(self, *choices: Callable[[], str]) -> str:
        return self.pick(choices)()

    def bool(self, depth: int, names: tuple[str, ...]) -> str:
        def value() -> str:
            return self.value(depth - 1, names)

        def truth() -> str:
            return self.bool(depth - 1, names)

        if depth == 0:
            return self.one_of(
                lambda: "true",
                lambda: "object.t",
                lambda: "object.i == 1",
                lambda: "object.z",
                lambda: self.pick([*names, "object.t"]),
            )
        presence = [
            lambda: f"dyn({value()}) in dyn({value()})",
            lambda: f"has({self.path(names)}.{self.key()})",
            lambda: f"{self.chain(names)}.hasValue()",
            lambda: f"{self.chain(names)}.orValue(dyn({truth()}))",
            lambda: f"{self.chain(names)} == optional.none()",
        ]
        return self.one_of(
            lambda: f"({truth()} && {truth()})",
            lambda: f"({truth()} || {truth()} || {truth()})",
            lambda: f"!({truth()})",
            lambda: f"({truth()} ? {truth()} : {truth()})",
            lambda: f"dyn({value()}) {self.pick(['==', '!=', '<', '>='])} dyn({value()})",
            lambda: f"dyn({value()}) == 1",
            lambda: f"dyn({value()}) != 'a'",
            lambda: f"dyn({value()}) in ['', 'a']",
            lambda: f"{self.path(names)}.startsWith('a')",
            lambda: self.loop(self.pick(["all", "exists", "exists_one"]), depth, names),
            lambda: self.pair_loop(depth, names),
            lambda: self.pick([*names, "object.t"]),
            *(presence if self.presence else []),
        )

    def value(self, depth: int, names: tuple[str, ...]) -> str:
        if depth <= 0:
            return self.one_of(lambda: self.path(names), lambda: self.pick(["1", "'a'", "null", "2.5"]))

        def value() -> str:
            return self.value(depth - 1, names)

        return self.one_of(
            lambda: self.path(names),
            lambda: f"(dyn({value()}) + dyn({value()}))",
            lambda: f"({self.bool(depth - 1, names)} ? dyn({value()}) : dyn({value()}))",
            lambda: f"size({self.path(names)})",
            lambda: f"[dyn({value()}), dyn({value()})]",
            lambda: f"{{'k': dyn({value()})}}",
            lambda: f"dyn({value()})[0]",
            lambda: self.loop("filter", depth, names),
            lambda: self.loop("map", depth, names),
            *([lambda: f"{self.chain(names)}.orValue(dyn({value()}))"] if self.presence else []),
        )

    def loop(self, macro: str, depth: int, names: tuple[str, ...]) -> str:
        name = f"v{len(names)}"
        inner = (*names, name)
        body = self.value(depth - 1, inner) if macro == "map" else self.bool(depth - 1, inner)
        return f"{self.path(names)}.{macro}({name}, {body})"

    def pair_loop(self, depth: int, names: tuple[str, ...]) -> str:
        pair = (f"k{len(names)}", f"v{len(names)}")
        macro = self.pick(["all", "exists", "existsOne"])
        return f"{self.path(names)}.{macro}({', '.join(pair)}, {self.bool(depth - 1, (*names, *pair))})"

    def path(self, names: tuple[str, ...]) -> str:
        root = self.pick(["object.s", "object.i", "object.l", "object.m", "object.c", *names * 2])
        return root + self.pick(["", "", ".a", "['b']", "[0]", ".a.k"])

    def chain(self, names: tuple[str, ...]) -> str:
        return self.path(names) + self.pick([".?a", "[?0]", ".?a.b", ".?a.?k", "[?'k'].a"])

    def key(self) -> str:
        return self.pick(["a", "b", "k"])


FEW = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))


@settings(FEW, max_examples=400)
@given(text=expressions(), obj=OBJECTS)
def test_a_function_and_its_twin_agree(text: str, obj: Any, bench: Any) -> None:
    made = compiled(bench, text)
    made.outcome(obj)  # compares the kinds of outcome
    trace = made.trace(obj)
    if trace.error is None:
        assert same(trace.value, made.value(obj))
    assert trace.path is None or isinstance(trace.path, tuple)


@FEW
@given(text=expressions(presence=False), obj=OBJECTS)
def test_cel_cpp_agrees_where_no_presence_is_tested(text: str, obj: Any, bench: Any) -> None:
    made = compiled(bench, text)
    expected = CEL_CPP.compile(text).eval(data={"object": obj})
    agree(made, obj, None if expected.type() == cel.Type.ERROR else (expected.plain_value(),))


# cel-python is wrong about null, about numbers of different types and about macros with two variables
PLAIN = (
    "object.c.all(c, c.name != 'b' || c.image.startsWith('r/'))",
    "object.c.exists(c, c.flag && c.name == 'a')",
    "object.c.exists_one(c, c.name == 'a')",
    "object.c.filter(c, c.flag).map(c, c.name + ':' + c.image) == ['a:r/a']",
    "object.z || object.c.all(c, !c.flag)",
    "object.z && object.c.all(c, !c.flag)",
    "object.c[1].flag ? object.c[0].name == 'a' : size(object.c) > 1",
    "object.c.map(c, object.m[c.name]) == [1, 2]",
    "'b' in object.m && object.m.b > 1 && object.m.all(k, k in ['a', 'b'])",
)
CONTAINERS = st.fixed_dictionaries(
    {}, optional={"name": KEYS, "image": st.sampled_from(["r/a", "q/b"]), "flag": st.booleans()}
)


@pytest.mark.parametrize("text", PLAIN)
@settings(FEW, max_examples=10)
@given(containers=st.lists(CONTAINERS, max_size=3), numbers=st.dictionaries(KEYS, st.integers(0, 3)))
def test_cel_python_agrees_about_plain_rules(text: str, containers: Any, numbers: Any, bench: Any) -> None:
    obj = {"c": containers, "m": numbers}
    program = CEL_PYTHON.program(CEL_PYTHON.compile(text))
    try:
        expected = (program.evaluate({"object": json_to_cel(obj)}),)
    except CELEvalError:
        expected = None
    agree(bench(text), obj, expected)


CEL_PYTHON = Environment()  # made once: it changes the recursion limit

CEL_CPP = cel.NewEnv(
    variables={"object": cel.Type.DYN},
    config=cel.NewEnvConfigFromYaml("extensions: [{name: two-var-comprehensions}]"),
    extensions=[ext_optional.ExtOptional()],
)


def compiled(bench: Any, text: str) -> Any:
    try:
        return bench(text)
    except ExpressionErrors:
        assume(False)


def agree(made: Any, obj: Any, expected: tuple[Any] | None) -> None:
    trace = made.trace(obj)
    made.outcome(obj)
    if expected is None:
        assert trace.error is not None
    else:
        assert trace.error is None
        assert same(trace.value, expected[0])


def same(a: Any, b: Any) -> bool:
    if isinstance(a, Optional):
        return equal(a, b)
    return type(a) is not bool or a is b or bool(b) is a
