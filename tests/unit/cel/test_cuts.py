"""Expressions that are compiled in parts mean what they mean in one piece."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from webhook.cel import cuts
from webhook.cel.errors import ExpressionErrors
from webhook.cel.fingerprint import fingerprint
from webhook.cel.frontend import compile_expression
from webhook.cel.tree import Tree, walk

NAMES = {"object": "dyn", "oldObject": "dyn", "variables.x": "dyn", "lookups.y": "dyn"}
LEVELS = 60

ALIKE = [
    "object.a.b.c == 1 + 2 * 3 - 4 % 5",
    "-object.a < !object.b && object.c in [1, 2] ? 'a' : object.d ? 'b' : 'c'",
    "(object.a || object.b) && (object.c || !(object.d && object.e))",
    "object.list.all(x, x.a.b.exists(y, y.c == x.d.e && object.list.size() > 1))",
    "object.list.map(x, x > 1, x + 1).filter(x, x in object.other.list)[0]",
    "object.map.all(k, v, k.startsWith('a') && v.b.c == 1)",
    "object.?a.?b[?0].optMap(v, v.c.d + 1).orValue(1 + object.e.f)",
    "has(object.a.b.c) && has(object.a[0].b) && !has(object.list.map(x, x.a)[0].b)",
    "[?object.?a, object.d.e, dyn(lists.range(3)[1])].map(x, [x])",
    "{'a': object.b.c.d, ?'b': object.?e}.size()",
    "Object{spec: Object.spec{a: [Object.spec.a{b: object.c.d + 1}], ?e: object.?f.?g}}",
    "JSONPatch{op: 'add', path: '/a/' + jsonpatch.escapeKey(object.a.b + 'c'), value: object.d.e}.path",
    "'%s and %d'.format([object.a.b, object.c.d + 1]).replace('a', 'b').upperAscii().trim()",
    "quantity(object.a.b).isLessThan(quantity('1Gi').add(quantity('1')))\n  // why\n  && object.c.d ==\n 'a?b:(c'",
    """r'\\d(' + "a'b" + '''c"(d''' == object.a.b + '\U0001f600' + object.c.d""",
]


@pytest.mark.parametrize("text", ALIKE)
def test_an_expression_in_small_parts_is_the_same_tree(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The parts are as small as they can be, and are joined because the text is longer than the parser goes."""
    whole = compile_expression(text, NAMES)
    monkeypatch.setattr(cuts, "_HEIGHT", 2)
    joined = compile_expression(f"{text} // sortBy", NAMES)
    assert len(cuts.parts(text)) > 2
    assert fingerprint(joined.root, {}) == fingerprint(whole.root, {})
    assert _places(joined) == _places(whole)


def _places(tree: Tree) -> list[tuple[str, tuple[int, int]]]:
    return [(type(node).__name__, tree.position(node)) for node in walk(tree.root)]


DEEP: dict[str, tuple[str, Any]] = {
    "sum": (" + ".join(["1"] * LEVELS), LEVELS),
    "difference": (" - ".join(["1"] * LEVELS), 2 - LEVELS),
    "text": (" + ".join(["'a'"] * LEVELS), "a" * LEVELS),
    "ladder": ("".join(f"object.i == {i} ? '{i}' : " for i in range(LEVELS - 2)) + "'none'", "40"),
    "ladder of loops": ("".join(f"[{i}].exists(x, x == object.i) ? {i} : " for i in range(50)) + "0", 40),
    "fields": ("object" + ".?a" * LEVELS + ".orValue(2)", 2),
    "indexes": ("[" * LEVELS + "7" + "]" * LEVELS + "[0]" * 2 + ".size()", 1),
    "methods": ("' a'" + ".replace('a', 'b').trim()" * (LEVELS // 2), "b"),
    "calls": ("dyn(" * LEVELS + "1" + ")" * LEVELS, 1),
    "parentheses": ("(" * LEVELS + "1" + ")" * LEVELS, 1),
    "junctions": ("(true && (false || " * (LEVELS // 2) + "true" + "))" * (LEVELS // 2), True),
    "negations": ("!(" * LEVELS + "true" + ")" * LEVELS, True),
    "loops": ("[1].all(x, " * 20 + "true" + ")" * 20, True),
    "chain of loops": ("[3]" + ".map(x, x + 1)" * 25, [28]),
}


@pytest.mark.parametrize(("text", "value"), DEEP.values(), ids=list(DEEP))
def test_what_is_deep_is_computed_and_explained(bench: Callable[..., Any], text: str, value: Any) -> None:
    """`outcome` runs the twin as well."""
    assert bench(text).outcome({"i": 40}) == value


@pytest.mark.parametrize(
    "text",
    [
        "[1].all(x, " * 60 + "true" + ")" * 60,
        "(" * 3000 + "1" + ")" * 3000,
        "object" + ".a" * 5000,
        "-" * 100 + "1" + " + 1" * 70,
        "true ? 1 : " * 2000 + "2",
    ],
)
def test_what_is_deeper_is_refused_by_name(bench: Callable[..., Any], text: str) -> None:
    with pytest.raises(ExpressionErrors, match="1:1: the expression is nested too deep"):
        bench(text)


def test_the_faults_of_all_parts_are_told_where_they_are() -> None:
    text = "'a' +\n" * 40 + "objekt.b +\n  [1].sortBy(x, siz(x))[0] + sise"
    with pytest.raises(ExpressionErrors) as caught:
        compile_expression(text, NAMES)
    assert [str(error) for error in caught.value.errors] == [
        "41:1: no variable `objekt`; did you mean `object`?",
        "42:20: no function `siz`; did you mean `size`?",
        "42:30: no variable `sise`",
    ]


def test_a_variable_that_cannot_be_computed_cannot_be_asked_for(bench: Callable[..., Any]) -> None:
    variables = {"bad": "object.nothing.a", "none": "null"}
    assert bench("has(variables.none) && variables.?none.hasValue()", variables=variables).outcome({}) is True
    for text in ("has(variables.bad)", "variables.?bad"):
        assert bench(text, variables=variables).outcome({}).message == "no such key: nothing (in variables.bad)"
