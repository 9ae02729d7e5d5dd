"""The source text of sub-expressions."""

from __future__ import annotations

import pytest

from webhook.cel.extent import position, source
from webhook.cel.frontend import compile_expression
from webhook.cel.tree import walk

TEXTS = {
    "(object.a || object.b) && (object.c)": [
        "(object.a || object.b) && (object.c)",
        "object.a || object.b",
        "object.b",
    ],
    "!(object.a == 'x') || true": ["!(object.a == 'x')", "object.a == 'x'", "'x'", "true"],
    "object.l.all(x, x.y == 1 && has(x.z))": ["object.l.all(x, x.y == 1 && has(x.z))", "x.y == 1", "has(x.z)", "x.y"],
    "object.?a.?b.orValue([1, 2])[0] > -3": ["object.?a.?b.orValue([1, 2])[0]", "object.?a.?b", "[1, 2]", "-3"],
    "sets.contains(object.a, ['(']) ": ["sets.contains(object.a, ['('])", "['(']"],
    "variables.a.b ? 1 : 2 // why": ["variables.a.b ? 1 : 2", "variables.a.b", "variables.a"],
    "JSONPatch{op: 'add', path: \"/a'\"}.op": ["JSONPatch{op: 'add', path: \"/a'\"}.op", '"/a\'"'],
    "{'a': object.x}['a'].y == '''multi\nline'''": ["{'a': object.x}['a'].y", "'''multi\nline'''"],
    "((1 + 2)) * (3 + (4 - 5))": ["((1 + 2)) * (3 + (4 - 5))", "3 + (4 - 5)", "4 - 5", "1 + 2"],
}


@pytest.mark.parametrize(("text", "parts"), TEXTS.items())
def test_every_part_is_found_as_it_was_written(text: str, parts: list[str]) -> None:
    tree = compile_expression(text, {"object": "dyn", "variables.a": "dyn"})
    found = [source(tree, node) for node in walk(tree.root)]
    for part in parts:
        assert part in found


def test_the_position_of_a_variable_is_where_its_name_starts() -> None:
    tree = compile_expression("true &&\n  variables.a", {"variables.a": "bool"})
    assert [position(tree, node) for node in walk(tree.root)][-1] == (2, 3)
