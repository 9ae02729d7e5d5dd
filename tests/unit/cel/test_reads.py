"""Which fields an expression can read, told without running it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from webhook.model.path import render

VARIABLES = {"gates": "object.spec.?gates.orValue([])", "op": "object.spec.components['gpu-operator'].values"}

READS = {
    "object.spec.variant == 'x'": ["spec.variant"],
    "has(object.spec.a.b)": ["spec.a.b"],
    "object.spec.l.all(x, x.y == 1 || x.z)": ['spec.l["*"].y', 'spec.l["*"].z'],
    "object.spec.l.all(i, x, x == i)": ['spec.l["*"]'],
    "object.spec.l.filter(x, x.on).map(x, x.name) == []": ['spec.l["*"].name', 'spec.l["*"].on'],
    "object.spec.l.filter(x, x.on)[0].name == ''": ['spec.l["*"].name', 'spec.l["*"].on'],
    "object.spec.transformList(k, v, v)[0] == ''": ['spec["*"]'],
    "variables.gates.all(g, g != 'x')": ['spec.gates["*"]'],
    "variables.op.?driver.?enabled.orValue(true)": ["spec.components.gpu-operator.values.driver.enabled"],
    "object.metadata.labels[object.spec.key] == 'v'": ['metadata.labels["*"]', "spec.key"],
    "object.spec.?a.optMap(a, a.b).orValue(1) == 1": ["spec.a.b"],
    "(object.spec.x ? object.a : object.b).c == 1": ["a.c", "b.c", "spec.x"],
    "object.spec == oldObject.spec": ["spec"],
    "oldObject.data.password == ''": ["data.password"],
    "object.l.all(object, object.x)": ['l["*"].x'],
    "request.operation == 'CREATE'": [],
    "request.?name.orValue('') == ''": [],
    "dyn(request).object.spec.a == 1": ["spec.a"],
    "dyn(request)['oldObject'].data.p == ''": ["data.p"],
    "dyn(request) == null": [""],
}


def test_variables_that_read_each_other_twice_are_looked_at_once(bench: Callable[..., Any]) -> None:
    variables = {"v0": "[object.a]"} | {f"v{n}": f"variables.v{n - 1} + variables.v{n - 1}" for n in range(1, 25)}
    made = bench("variables.v24 == [1]", variables=variables)
    assert made.linked.reads("f") == {("a",)}
    shallow = bench("variables.v9 == [1]", variables=variables)
    assert shallow.trace({"a": 1}).value is False


@pytest.mark.parametrize(("text", "expected"), READS.items())
def test_the_paths_an_expression_can_read_are_known(text: str, expected: list[str], bench: Callable[..., Any]) -> None:
    assert sorted(map(render, bench(text, variables=VARIABLES).linked.reads("f"))) == expected
