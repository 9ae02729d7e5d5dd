from __future__ import annotations

from collections.abc import Callable

Said = Callable[..., list[str]]

LIST = "object.?spec.?ignoreDependencies.orValue([])"


def test_a_key_has_no_fields(said: Said) -> None:
    components = "object.?spec.?components.orValue({})"
    assert said(f"{components}.all(c, !has(c.enabled) || c.enabled)") == [
        f"key-for-value: `c` is a key of `{components}`, and text has no field `enabled`"
    ]
    assert said(f"{components}.all(n, c, !has(c.enabled) || c.enabled)") == []


def test_a_loop_over_a_list_within_a_loop_over_the_same_runs_out_of_budget(said: Said) -> None:
    (told,) = said(f"{LIST}.all(a, {LIST}.exists_one(b, a == b))")
    assert told.startswith(f"costly-loops: goes through `{LIST}` for each of its own items, and costs more than")


def test_loops_three_deep_run_out_of_budget(said: Said) -> None:
    deep = f"{LIST}.all(a, {LIST.replace('ignoreD', 'ignoreD')}.size() < 9)"
    assert said(deep) == []
    variables = [{"name": name, "expression": LIST} for name in "xyz"]
    (told,) = said("variables.x.all(a, variables.y.all(b, variables.z.all(c, a != b + c)))", variables=variables)
    assert told.startswith("costly-loops: costs more than the budget of 1,000,000 units from about ")


def test_lists_that_are_written_out_cost_what_they_are_long(said: Said) -> None:
    assert said(f"['a', 'b'].all(a, ['c', 'd'].all(b, {LIST}.all(c, c != a + b)))") == []
