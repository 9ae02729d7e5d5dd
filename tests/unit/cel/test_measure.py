from __future__ import annotations

from typing import Any

import pytest

from webhook.cel.extent import source
from webhook.cel.measure import ELEMENTS, Record, points
from webhook.cel.program import ADMISSION, Activation, Builder, SlotTable
from webhook.cel.rewired import Measured


def found(text: str, *objects: Any, want: str = "bool", root: tuple[str, ...] | None = None) -> dict[str, set[str]]:
    """Evaluate an expression for each object, and tell by the text of its points what they gave."""
    builder = Builder(ADMISSION)
    builder.variable("same", "object.x")
    builder.function("f", text, want=want)
    program = builder.build()
    slots = SlotTable()
    tree = program.link(slots).trees["f"]
    record = Record(tree, points(tree, root))
    linked = Measured.of(program, "me", {"f": record}).link(slots)
    for obj in objects:
        linked.functions["f"](Activation(obj, size=len(slots)))
    return {
        source(tree, point.node): {outcome for node, outcome in record.reached if node == point.node.id}
        for point in record.points
    }


def test_each_operand_of_a_junction_is_a_point() -> None:
    assert found("object.a == 1 && object.b == 2 && object.c == 3", {"a": 1, "b": 1}) == {
        "object.a == 1 && object.b == 2 && object.c == 3": {"false"},
        "object.a == 1": {"true"},
        "object.b == 2": {"false"},
        "object.c == 3": set(),
    }


def test_a_choice_has_the_outcomes_of_its_condition() -> None:
    reached = found("(object.a == 1 ? object.b : object.c) == 1", {"a": 1, "b": 1}, {"a": 2, "c": 2})
    assert reached["object.a == 1"] == {"true", "false"}


def test_has_is_a_point_wherever_it_stands_and_a_negation_is_none_beside_it() -> None:
    assert found("!has(object.a)", {"a": 1}) == {"!has(object.a)": {"false"}}
    assert found("[has(object.a)] == [true]", {"a": 1})["has(object.a)"] == {"true"}


def test_an_optional_chain_is_one_point() -> None:
    assert found("object.?a.?b.orValue(1) == 1", {"a": {}}, {"a": {"b": 2}}) == {
        "object.?a.?b.orValue(1) == 1": {"true", "false"},
        "object.?a.?b": {"present", "absent"},
    }


def test_the_predicate_of_a_macro_is_a_point() -> None:
    assert found("object.a.exists(x, x > 1)", {"a": [1, 2]})["x > 1"] == {"true", "false"}
    assert found("object.a.filter(x, x > 1) == []", {"a": [1]})["x > 1"] == {"false"}


@pytest.mark.parametrize("nothing", [{}, {"a": []}, {"a": None}])
def test_a_list_to_go_through_has_elements_or_none(nothing: dict[str, Any]) -> None:
    assert found("object.?a", nothing, want="dyn", root=ELEMENTS)["object.?a"] == {"none"}
    assert found("object.?a", {"a": [1]}, want="dyn", root=ELEMENTS)["object.?a"] == {"elements"}


def test_what_errs_has_come_out_in_no_way() -> None:
    assert found("object.a == 1 || true", {})["object.a == 1"] == set()


def test_what_is_measured_gives_what_it_gives_otherwise() -> None:
    assert found("variables.same == 1", {"x": 1}, {"x": 2}) == {"variables.same == 1": {"true", "false"}}
