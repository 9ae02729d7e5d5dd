from __future__ import annotations

import pytest

from webhook.cel.extent import source
from webhook.cel.mutants import mutants
from webhook.cel.program import ADMISSION, Activation, Builder, SlotTable
from webhook.cel.rewired import Mutated
from webhook.cel.tree import Tree


def compiled(text: str) -> Tree:
    builder = Builder(ADMISSION)
    builder.function("f", text, want="dyn")
    return builder.build().link(SlotTable()).trees["f"]


def changes(text: str) -> list[str]:
    tree = compiled(text)
    return [f"{source(tree, one.node)} → {one.after}" for one in mutants(tree)]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        pytest.param(
            "object.a == 1 && has(object.b)",
            [
                "object.a == 1 && has(object.b) → true",
                "object.a == 1 && has(object.b) → false",
                "object.a == 1 → true",
                "1 → 2",
                "has(object.b) → true",
            ],
            id="an operand of && is forced to be true only: false is what forcing the whole does",
        ),
        pytest.param("int(object.a) < 3", ["int(object.a) <= 3", "4"], id="boundaries"),
        pytest.param("int(object.a) - 3", ["int(object.a) + 3", "4"], id="arithmetic"),
        pytest.param("object.a in ['x', 'y']", ["without 'x'", "without 'y'"], id="list members"),
        pytest.param("object.?a.?b.orValue('x')", ["optional.none()", "object.a", "''"], id="guards and defaults"),
        pytest.param("object.a.all(x, x == '')", ["exists(…)"], id="quantifiers"),
        pytest.param("object.a ? true : false", ["false", "true"], id="constants"),
    ],
)
def test_slips_are_made_one_at_a_time(text: str, wanted: list[str]) -> None:
    made = changes(text)
    for change in wanted:
        assert any(one == change or one.endswith(f"→ {change}") for one in made), made


def test_a_text_that_a_forced_condition_covers_is_no_mutant_of_its_own() -> None:
    assert changes("object.a == 'x'") == ["object.a == 'x' → true", "object.a == 'x' → false"]


@pytest.mark.parametrize(
    "text",
    [
        "object.?a[?'b'].orValue([1, 2]).filter(x, x > 1 && x != 3).map(x, {'k': x + 1}).exists(m, m.k == 3)",
        "object.a.transformMap(k, v, v != '', v + k).size() > 1 || !has(object.b.c) || object.d[0] == 'x'",
        "object.?a.optMap(v, type(v) == map ? v : {}).orValue({}).?c.hasValue()",
    ],
)
def test_every_mutant_is_a_program_that_runs(text: str) -> None:
    builder = Builder(ADMISSION)
    builder.function("f", text)
    program = builder.build()
    slots = SlotTable()
    plain = program.link(slots)
    activation = Activation({"a": {"b": [1, 2]}, "b": {}, "d": ["x"]}, size=len(slots))
    for mutant in mutants(plain.trees["f"]):
        linked = Mutated.of(program, "me", "f", {**plain.trees, "f": mutant.tree}).link(slots)
        trace = linked.trace("f", activation)
        assert trace.error or isinstance(trace.value, bool)
