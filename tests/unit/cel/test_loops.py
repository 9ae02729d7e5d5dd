"""Macros over lists and maps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from webhook.cel.errors import Budget, Exhausted

OBJECT = {
    "l": [1, 2, 3],
    "mixed": [{"x": 1}, {"y": 2}, {"x": 3}],
    "m": {"a": 1, "b": 2},
    "s": "text",
    "n": None,
    "flags": ["no", True],
    "odd": ["no", False],
}

VALUES = {
    "object.l.all(x, x > 0)": True,
    "object.l.all(x, x < 3)": False,
    "[].all(x, x)": True,
    "object.l.exists(x, x == 2)": True,
    "object.l.exists(x, x == 9)": False,
    "object.l.exists_one(x, x == 2)": True,
    "object.l.exists_one(x, x > 1)": False,
    "object.l.filter(x, x != 2)": [1, 3],
    "object.l.map(x, x * 2)": [2, 4, 6],
    "object.l.map(x, x > 1, x * 2)": [4, 6],
    # a loop over a map goes through its keys
    "object.m.all(k, k in ['a', 'b'])": True,
    "object.m.map(k, object.m[k])": [1, 2],
    "object.m.filter(k, k == 'b')": ["b"],
    # two variables: index and element, key and value
    "object.l.all(i, x, i + 1 == x)": True,
    "object.l.exists(i, x, i == 2 && x == 3)": True,
    "object.l.existsOne(i, x, x > 2)": True,
    "object.l.exists_one(i, x, x > 1)": False,
    "object.m.all(k, v, k != '' && v > 0)": True,
    "object.l.transformList(i, x, i * x)": [0, 2, 6],
    "object.l.transformList(i, x, i > 0, x)": [2, 3],
    "object.m.transformList(k, v, k + string(v))": ["a1", "b2"],
    "object.m.transformMap(k, v, v + 1)": {"a": 2, "b": 3},
    "object.m.transformMap(k, v, v > 1, k)": {"b": "b"},
    "object.l.transformMap(i, x, x)": {0: 1, 1: 2, 2: 3},
    "object.m.transformMapEntry(k, v, {string(v): k})": {"1": "a", "2": "b"},
    "object.m.transformMapEntry(k, v, v > 1, {k: v})": {"b": 2},
    "object.l.sortBy(x, -x)": [3, 2, 1],
    "object.mixed.filter(x, has(x.x)).sortBy(x, -x.x).map(x, x.x)": [3, 1],
    # errors of elements count only where no element decides
    "object.mixed.exists(x, x.x == 3)": True,
    "object.mixed.all(x, x.x == 2)": False,
    "object.odd.all(x, x)": False,
    "object.odd.exists(x, !x)": True,
    "object.odd.all(x, x || object.l[0] == 1)": True,
    "object.odd.exists(x, x && object.l[0] == 2)": False,
    "object.l.all(x, object.l.exists(y, y == x))": True,
    "object.l.map(x, object.l.filter(y, y < x)).map(ys, size(ys))": [0, 1, 2],
    "object.l.map(x, object.l.map(x, x))": [[1, 2, 3], [1, 2, 3], [1, 2, 3]],
    "object.l.all(object, object > 0)": True,
}

ERRORS = {
    "object.mixed.all(x, x.x > 0)": "no such key: x",
    "object.mixed.exists(x, x.x == 9)": "no such key: x",
    "object.mixed.exists_one(x, x.x == 1)": "no such key: x",
    "object.mixed.map(x, x.x)": "no such key: x",
    "object.s.all(x, true)": "no such overload",
    "object.n.all(x, true)": "no such overload",
    "object.z.all(x, true)": "no such key: z",
    "object.flags.all(x, x)": "no such overload",
    "object.flags.filter(x, x)": "no such overload",
    "object.m.transformMapEntry(k, v, {'same': v})": "insert failed: key same already exists",
}


@pytest.mark.parametrize(("text", "expected"), VALUES.items())
def test_a_macro_gives_what_cel_go_gives(text: str, expected: Any, outcome: Callable[..., Any]) -> None:
    assert outcome(text, OBJECT) == expected


@pytest.mark.parametrize(("text", "message"), ERRORS.items())
def test_an_error_in_a_loop_ends_it_unless_an_element_decides(
    text: str, message: str, outcome: Callable[..., Any], failure: Callable[[str], Any]
) -> None:
    assert outcome(text, OBJECT) == failure(message)


UNIQUE = "variables.l.all(a, variables.l.exists_one(b, b.s == a.s))"


def test_a_loop_in_a_loop_over_a_long_list_ends_with_cost(bench: Callable[..., Any]) -> None:
    made = bench(UNIQUE, variables={"l": "object.l"})
    selectors = [{"s": f"10DE:{number:04X}"} for number in range(3000)]
    with pytest.raises(Exhausted, match="cost limit of 1000000 for one expression"):
        made.value({"l": selectors})
    assert made.value({"l": selectors[:20]}) is True
    assert "cost limit" in made.trace({"l": selectors}).error


@pytest.mark.parametrize("value", ["x", "string(x)", "dyn(x)"])
def test_looking_through_a_long_list_in_a_loop_ends_with_cost(value: str, bench: Callable[..., Any]) -> None:
    made = bench(f"object.l.all(x, {value} in object.l || true)")
    with pytest.raises(Exhausted, match="cost limit of 1000000 for one expression"):
        made.value({"l": [str(number) for number in range(4000)]})
    assert made.value({"l": [str(number) for number in range(300)]}) is True
    assert made.value({"l": {str(number): number for number in range(4000)}}) is True


def test_variables_that_double_a_text_end_with_cost(bench: Callable[..., Any]) -> None:
    variables = {"v0": "object.s"} | {f"v{n}": f"variables.v{n - 1} + variables.v{n - 1}" for n in range(1, 41)}
    made = bench("variables.v40", variables=variables)
    with pytest.raises(Exhausted, match="cost limit"):
        made.value({"s": "x" * 1000})


def test_one_policy_has_a_limit_over_all_its_expressions(bench: Callable[..., Any]) -> None:
    made = bench("object.l.all(x, x >= 0)")
    activation = made.activation({"l": [1] * 90}, budget=Budget(total=1500))
    for _ in range(3):
        made.linked.functions["f"](activation)
    with pytest.raises(Exhausted, match="for one policy"):
        made.linked.functions["f"](activation)


def test_a_long_loop_looks_at_the_deadline_every_hundred_steps(bench: Callable[..., Any]) -> None:
    answers = iter([False, False, True])
    budget = Budget(expired=lambda: next(answers))
    made = bench("object.l.map(x, x)")
    with pytest.raises(Exhausted, match="deadline"):
        made.linked.functions["f"](made.activation({"l": [0] * 10_000}, budget=budget))
    assert budget.used == 3 + 2 * 100 * 13


def test_a_loop_that_stops_early_pays_for_what_it_looked_at(bench: Callable[..., Any]) -> None:
    made = bench("object.l.exists(x, x == 0)")
    activation = made.activation({"l": [0] * 100_000})
    assert made.linked.functions["f"](activation) is True
    assert activation.budget.used < 1000


COSTS = {
    "object.l.all(x, x >= 0)": 53,
    "object.l.exists(x, x < 0)": 63,
    "object.l.exists_one(x, x == 3)": 26,
    "object.l.map(x, x)": 133,
    "object.l.filter(x, x >= 0)": 153,
    "object.l.map(x, [x])": 233,
    "object.l.map(x, {'a': x})": 433,
    "object.l.all(i, x, i == x)": 63,
    "object.l.transformMap(i, x, x)": 43,
    "object.l.transformMapEntry(i, x, {i: x})": 343,
    "object.l.all(x, object.l.all(y, y >= 0))": 563,
    "object.l.all(x, has(object.m.k) && object.m.k == 'v')": 93,
    "object.l.all(x, object.?m.?k.orValue('') == 'v')": 73,
    "object.l.all(x, object.?s.optMap(s, s == 'x').orValue(true))": 123,
    "object.l.all(x, x in [1, 2, 3] || true)": 43,
    "object.l.all(x, string(x) != 'a')": 63,
    "object.l.all(x, quantity(string(x)).isLessThan(quantity('20')))": 83,
    "object.l.all(x, object.s.matches('^x$'))": 63,
    "object.l.all(x, object.s.startsWith('x'))": 63,
    "object.l.exists(x, object.s.endsWith('a text of thirty characters or'))": 93,
    "object.l.all(x, object.l.indexOf(9) == 9)": 163,
    "object.l.all(x, object.text.trim() == 'x' || true)": 1063,
    "object.l.all(x, object.text.contains('x') || true)": 1053,
    "object.l.all(x, object.text.find('wo') == 'wo')": 1073,
    "object.l.all(x, object.text == object.text)": 1073,
    "object.l.all(x, object.l != object.l || object.text == object.s || true)": 133,
    "object.l.all(x, [1, 2].distinct().size() == 2)": 243,
}
"""What each costs in k8s.io/apiserver 1.37, for a list of the numbers 0 to 9."""


@pytest.mark.parametrize(("text", "cost"), COSTS.items())
def test_a_loop_costs_what_it_costs_in_the_api_server(text: str, cost: int, bench: Callable[..., Any]) -> None:
    made = bench(text)
    activation = made.activation({"l": list(range(10)), "m": {"k": "v"}, "s": "x", "text": "word " * 200})
    made.linked.functions["f"](activation)
    assert activation.budget.used == pytest.approx(cost, rel=0.1)
