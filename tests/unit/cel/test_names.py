from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webhook.cel.frontend import compile_expression
from webhook.cel.literal import literal
from webhook.cel.names import free_names, reached, renamed
from webhook.cel.program import Activation, Builder, SlotTable

TYPES = {"object": "dyn", "release": "map(string, dyn)", "variables.release": "dyn", "variables.x": "dyn"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("release.a == 1", "R.a == 1"),
        ("'release' == release.a", "'release' == R.a"),
        ("has(release.a) && release.b in object.release", "has(R.a) && R.b in object.release"),
        ("[1].exists(release, release == 1) && 'a' in release", "[1].exists(release, release == 1) && 'a' in R"),
        ("variables.release == release.a", "variables.release == R.a"),
        (
            "object.?a.optMap(v, v == release.a).orValue('ä' in release)",
            "object.?a.optMap(v, v == R.a).orValue('ä' in R)",
        ),
    ],
)
def test_a_name_is_replaced_where_it_is_that_name_and_nothing_else(text: str, expected: str) -> None:
    assert renamed(compile_expression(text, TYPES), {"release": "R"}) == expected


def test_a_name_of_two_parts_is_replaced_as_a_whole() -> None:
    types = TYPES | {"lookups.a": "dyn", "lookups.lookups": "dyn"}
    tree = compile_expression("lookups.a.b == (lookups . a == null) || lookups.lookups.?a.hasValue()", types)
    assert renamed(tree, {"lookups.a": "A", "lookups.lookups": "L"}) == "A.b == (A == null) || L.?a.hasValue()"


def test_names_are_those_that_nothing_inside_binds() -> None:
    tree = compile_expression("object.a.all(object, object == variables.x) && release.b", TYPES)
    assert free_names(tree) == {"object", "variables.x", "release"}


def test_names_are_followed_through_variables() -> None:
    trees = {
        "rule": compile_expression("variables.x == 1", TYPES),
        "variables.x": compile_expression("release.a", TYPES),
        "other": compile_expression("object.b == 1", TYPES),
    }
    assert reached(trees, "rule") == {"variables.x", "release"}


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(values)
def test_a_value_written_as_a_literal_is_that_value(value: Any) -> None:
    builder = Builder({})
    builder.function("it", literal(value), want="dyn")
    table = SlotTable()
    linked = builder.build().link(table)
    assert json.dumps(linked.functions["it"](Activation(size=len(table)))) == json.dumps(value)
