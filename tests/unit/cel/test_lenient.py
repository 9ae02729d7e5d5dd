from __future__ import annotations

from typing import Any

import pytest

from webhook.cel.errors import ERRORS, CelError
from webhook.cel.program import Activation, Builder, Linked, SlotTable


def linked(text: str, *, lenient: bool) -> Linked:
    builder = Builder({"object": "dyn"}, lenient=lenient)
    builder.variable("same", "object.a")
    builder.variable("maybe", "object.?a")
    builder.function("f", text, want="dyn")
    return builder.build().link(SlotTable())


def run(text: str, obj: Any, *, lenient: bool = True) -> Any:
    return linked(text, lenient=lenient).functions["f"](Activation(object=obj, size=9))


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("object.a.orValue(0)", 1),
        ("object.?a.orValue(0)", 1),
        ("object.?b.orValue(0)", 0),
        ("variables.same.orValue(0)", 1),
        ("variables.maybe.orValue(0)", 1),
        ("[1, 2].map(x, object.a.orValue(x) + object.?b.orValue(x))", [2, 3]),
        ("{'k': object.a.orValue(0)}", {"k": 1}),
        ("object.?b.orValue(object.a.orValue(0))", 1),
        ("object.?a.optMap(x, object.a.orValue(0) + x).orValue(0)", 2),
    ],
)
def test_a_value_that_is_no_optional_counts_as_one_that_is_there(text: str, want: Any) -> None:
    assert run(text, {"a": 1}) == want


def test_what_is_not_there_stays_an_error() -> None:
    with pytest.raises(ERRORS):
        run("object.b.orValue(0)", {"a": 1})


def test_elsewhere_it_is_an_error_as_in_kubernetes() -> None:
    with pytest.raises(CelError, match="no such overload"):
        run("object.a.orValue(0)", {"a": 1}, lenient=False)


def test_an_explanation_says_where_the_value_stands() -> None:
    rule = linked("object.a.orValue(0) == 0", lenient=True)
    trace = rule.trace("f", Activation(object={"a": 1}, size=9))
    assert (trace.value, trace.path) == (False, ("a",))
    assert rule.reads("f") == {("a",)}


def test_a_variable_of_the_same_text_that_is_not_lenient_is_another() -> None:
    def fingerprint(*, lenient: bool) -> str:
        builder = Builder({"object": "dyn"}, lenient=lenient)
        builder.variable("v", "object.a.orValue(0)")
        return builder.build().units["variables.v"].fingerprint

    assert fingerprint(lenient=True) != fingerprint(lenient=False)
