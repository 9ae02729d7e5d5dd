"""The twin: where the value stands that made an expression false, which part it was, and what an error says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from webhook.cel.activation import Activation
from webhook.cel.errors import NotKnown
from webhook.model.path import render

OBJECT = {
    "metadata": {"name": "kv", "labels": {"a.b/c": "d"}},
    "spec": {
        "variant": "contaner",
        "gates": ["Snapshot", "HostDevices"],
        "n": None,
        "containers": [
            {"name": "a", "image": "r/a", "securityContext": {"privileged": False}},
            {"name": "b", "securityContext": {"privileged": True}},
        ],
    },
}
VARIABLES = {
    "variant": "object.spec.?variant.orValue('default')",
    "gates": "object.spec.?gates.orValue([])",
    "all": "variables.gates + ['Extra']",
    "isContainer": "variables.variant == 'container'",
    "missing": "object.spec.components",
    "chained": "variables.missing.kubevirt",
}

# expression → path, part (the whole expression when None)
FALSE: dict[str, tuple[str | None, str | None]] = {
    "object.spec.variant == 'container'": ("spec.variant", None),
    "'container' == object.spec.variant": ("spec.variant", None),
    "object.spec.variant in ['container', 'vgpu']": ("spec.variant", None),
    "size(object.spec.gates) < 2": ("spec.gates", None),
    "object.metadata.labels['a.b/c'] == 'x'": ('metadata.labels["a.b/c"]', None),
    # the part that decided
    "object.metadata.name == 'kv' && object.spec.variant == 'x'": ("spec.variant", "object.spec.variant == 'x'"),
    "object.zz == 1 && object.spec.variant == 'x'": ("spec.variant", "object.spec.variant == 'x'"),
    "object.metadata.name == 'x' || object.spec.variant == 'x'": ("spec.variant", "object.spec.variant == 'x'"),
    "object.spec.variant == 'x' || oldObject != null": ("spec.variant", "object.spec.variant == 'x'"),
    "!(object.metadata.name == 'kv' && object.spec.variant == 'contaner')": ("spec.variant", None),
    "!(object.metadata.name == 'kv') || false": ("metadata.name", "!(object.metadata.name == 'kv')"),
    "object.metadata.name == 'kv' ? object.spec.variant == 'x' : true": ("spec.variant", "object.spec.variant == 'x'"),
    # has
    "has(object.spec.workloads)": ("spec.workloads", None),
    "!has(object.spec.variant)": ("spec.variant", None),
    # optional chains: the path of the field that is not there
    "object.spec.?workloads.orValue('') == 'x'": ("spec.workloads", None),
    "object.?zz.?y.hasValue()": ("zz.y", None),
    "object.spec.?gates[0].orValue('') == 'x'": ("spec.gates[0]", None),
    "object.spec.?variant.optMap(v, v == 'x').orValue(true)": ("spec.variant", None),
    # variables
    "variables.variant == 'x'": ("spec.variant", None),
    "variables.isContainer": ("spec.variant", "variables.variant == 'container'"),
    "!variables.isContainer && variables.variant == 'default'": ("spec.variant", "variables.variant == 'default'"),
    # loops: the element that decided
    "object.spec.containers.all(c, c.name == 'a')": ("spec.containers[1].name", "c.name == 'a'"),
    "object.spec.containers.all(c, !c.?securityContext.?privileged.orValue(false))": (
        "spec.containers[1].securityContext.privileged",
        "!c.?securityContext.?privileged.orValue(false)",
    ),
    "object.spec.containers.all(i, c, i < 2 && c.name != 'b')": ("spec.containers[1].name", "c.name != 'b'"),
    "object.spec.gates.all(object, object == 'Snapshot')": ("spec.gates[1]", "object == 'Snapshot'"),
    "object.metadata.labels.all(k, k == 'x')": ('metadata.labels["a.b/c"]', "k == 'x'"),
    "object.metadata.labels.all(k, v, v == 'x')": ('metadata.labels["a.b/c"]', "v == 'x'"),
    "!object.spec.gates.exists(g, g == 'HostDevices')": ("spec.gates[1]", None),
    "object.spec.gates.exists(g, g == 'x')": ("spec.gates", None),
    "object.spec.gates.exists_one(g, true)": ("spec.gates", None),
    "object.spec.containers.all(c, object.spec.gates.all(g, g != 'HostDevices' || c.name == 'x'))": (
        "spec.containers[0].name",
        "c.name == 'x'",
    ),
    # lists that were put together
    "variables.all.all(g, g != 'HostDevices')": ("spec.gates[1]", "g != 'HostDevices'"),
    "variables.all.all(g, g != 'Extra')": (None, "g != 'Extra'"),
    "(['x'] + object.spec.gates).all(g, g != 'HostDevices')": ("spec.gates[1]", "g != 'HostDevices'"),
    "object.spec.gates.filter(g, g != 'Snapshot').all(g, g != 'HostDevices')": ("spec.gates[1]", "g != 'HostDevices'"),
    "object.spec.containers.map(c, c.name).all(n, n != 'b')": ("spec.containers[1].name", "n != 'b'"),
    "[object.spec.variant, object.metadata.name].all(x, x != 'kv')": ("metadata.name", "x != 'kv'"),
    "[?object.?zz, object.metadata.name].all(x, x != 'kv')": ("metadata.name", "x != 'kv'"),
    "object.spec.containers.sortBy(c, c.name).all(c, c.name != 'b')": (
        "spec.containers[1].name",
        "c.name != 'b'",
    ),
    "{'a': object.spec.variant}.all(k, v, v != 'contaner')": ("spec.variant", "v != 'contaner'"),
    "variables.all[1] == 'x'": ("spec.gates[1]", None),
    "false": (None, None),
    "request.operation == 'x'": (None, None),
}


@pytest.mark.parametrize(("text", "path", "part"), [(text, *expected) for text, expected in FALSE.items()])
def test_a_false_result_is_blamed_on_a_part_and_a_path(
    text: str, path: str | None, part: str | None, bench: Callable[..., Any]
) -> None:
    trace = bench(text, variables=VARIABLES).trace(OBJECT, request={"operation": "CREATE"})
    assert trace.value is False
    assert (None if trace.path is None else render(trace.path)) == path
    assert trace.part == (part or text)


FAILED = {
    "object.spec.components.x == 1": ("no such key: components", (1, 12), "spec.components", "object.spec.components"),
    "object.spec.gates[5] == 'x'": ("index out of bounds: 5", (1, 18), "spec.gates[5]", "object.spec.gates[5]"),
    "object.spec.n > 1": ("no such overload", (1, 15), "spec.n", "object.spec.n > 1"),
    "object.spec.containers.all(c, c.image != '')": (
        "no such key: image",
        (1, 32),
        "spec.containers[1].image",
        "c.image",
    ),
    "object.metadata.name == 'x' ||\n  object.spec.zz": ("no such key: zz", (2, 14), "spec.zz", "object.spec.zz"),
    "variables.chained.x == 1": (
        "no such key: components (in variables.missing, read by variables.chained)",
        (1, 1),
        "spec.components",
        "object.spec.components",
    ),
    "object.spec.variant": None,
}


@pytest.mark.parametrize(("text", "expected"), [(text, e) for text, e in FAILED.items() if e])
def test_an_error_says_what_was_read_and_where(text: str, expected: Any, bench: Callable[..., Any]) -> None:
    message, position, path, part = expected
    trace = bench(text, variables=VARIABLES).trace(OBJECT)
    assert trace.error == message
    assert trace.error_position == position
    assert render(trace.path) == path
    assert trace.part == part


def test_what_stands_at_the_path_is_told_from_what_does_not(bench: Callable[..., Any]) -> None:
    there = bench("object.spec.n != null").trace(OBJECT)
    assert (there.found, there.has_found) == (None, True)
    missing = bench("has(object.spec.x)").trace(OBJECT)
    assert (missing.found, missing.has_found) == (None, False)


def test_a_parameter_has_the_path_that_the_caller_gives(bench: Callable[..., Any]) -> None:
    made = bench(
        "!variables.isContainer || gate != 'HostDevices'",
        variables={"isContainer": "true"},
        parameters={"gate": "dyn", "at": "int"},
    )
    trace = made.trace(OBJECT, "HostDevices", 1, paths=(("spec", "gates", 1), None))
    assert (trace.path, trace.found, trace.part) == (("spec", "gates", 1), "HostDevices", "gate != 'HostDevices'")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("object.spec.gates", {0: "spec.gates[0]", 1: "spec.gates[1]"}),
        ("object.spec.?gates.orValue([])", {0: "spec.gates[0]", 1: "spec.gates[1]"}),
        ("object.spec.?gates", {0: "spec.gates[0]", 1: "spec.gates[1]"}),
        ("variables.all", {0: "spec.gates[0]", 1: "spec.gates[1]"}),
        ("object.spec.containers.filter(c, c.name == 'b')", {0: "spec.containers[1]"}),
        ("object.metadata.labels", {"a.b/c": 'metadata.labels["a.b/c"]'}),
        ("object.spec.?zz.orValue([])", {}),
        ("object.spec.variant", {}),
    ],
)
def test_the_elements_of_a_result_know_where_they_stand(
    text: str, expected: dict[Any, str], bench: Callable[..., Any]
) -> None:
    trace = bench(text, variables=VARIABLES).trace(OBJECT)
    assert {key: render(path) for key, path in trace.elements.items()} == expected


def test_a_long_chain_of_variables_is_looked_through_in_no_time(bench: Callable[..., Any]) -> None:
    """Each is asked for its path more than once: without a memory that would be twice as often at every link."""
    whole = "optMap(v, type(v) == map ? v : {}).orValue({})"
    chain = {"a0": f"oldObject.?a.{whole}"} | {f"a{n}": f"variables.a{n - 1}.?a.{whole}" for n in range(1, 40)}

    trace = bench("variables.a39.?a.orValue('') == 'x'", variables=chain).trace({}, oldObject={"a": {}})

    assert trace.value is False
    assert trace.path is None


def test_steps_tell_what_each_sub_expression_gave(bench: Callable[..., Any]) -> None:
    trace = bench("object.spec.variant == 'x' || object.spec.zz").trace(OBJECT)
    assert [text for text, _ in trace.steps] == ["object.spec.variant", "object.spec.variant == 'x'", "object.spec.zz"]
    assert trace.steps[0][1] == "contaner"
    assert str(trace.steps[2][1]) == "no such key: zz"


def test_tracing_uses_a_budget_of_its_own(bench: Callable[..., Any]) -> None:
    made = bench("object.spec.gates.all(g, g == 'x')")
    activation = made.activation(OBJECT)
    made.linked.trace("f", activation)
    assert activation.budget.used == 0


def test_an_unknown_is_traced_as_such(bench: Callable[..., Any]) -> None:
    def fetch(key: str, activation: Activation) -> Any:
        raise NotKnown(key)

    trace = bench("object.spec.variant == 'x' || lookups.gpu.spec == 1", outside={"gpu": "Package gpu"}).trace(
        OBJECT, fetch=fetch
    )
    assert trace.error == "not known: Package gpu"
    assert trace.path is None
