"""Programs: lazy variables, shared slots, pickling, and what loading one imports."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from webhook.cel.activation import Activation
from webhook.cel.errors import ERRORS, ExpressionErrors, NotKnown
from webhook.cel.program import ADMISSION, Builder, Program, SlotTable


def test_a_variable_is_computed_once_and_only_when_it_is_read(bench: Callable[..., Any]) -> None:
    made = bench("object.skip || variables.l == variables.l", variables={"l": "object.l.map(x, x + 1)"})
    activation = made.activation({"l": [1, 2], "skip": False})
    assert made.linked.functions["f"](activation) is True
    assert activation.slots == [[2, 3]]
    unread = made.activation({"skip": True})
    assert made.linked.functions["f"](unread) is True
    assert unread.slots != [[2, 3]]


def test_a_variable_that_fails_matters_only_where_it_is_read(bench: Callable[..., Any]) -> None:
    variables = {
        "op": "object.spec.components['gpu-operator'].values",
        "driverOn": "has(variables.op.driver) && variables.op.driver.enabled",
    }
    made = bench("object.spec.variant != 'container' || !variables.driverOn", variables=variables)
    assert made.value({"spec": {"variant": "default"}}) is True
    trace = made.trace({"spec": {"variant": "container"}})
    assert trace.error == "no such key: components (in variables.op, read by variables.driverOn)"
    assert trace.error_position == (1, 40)
    assert trace.path == ("spec", "components")


def test_a_variable_that_fails_is_tried_once(bench: Callable[..., Any]) -> None:
    made = bench("variables.v || variables.v || true", variables={"v": "object.x"})
    activation = made.activation({})
    assert made.linked.functions["f"](activation) is True
    failure = activation.failures[0]
    made.linked.functions["f"](activation)
    assert activation.failures[0] is failure


def test_equal_variables_of_different_policies_share_a_slot() -> None:
    first, second = Builder(ADMISSION), Builder(ADMISSION)
    first.variable("a", "object.spec.gates")
    first.variable("b", "variables.a.map(x, x)")
    second.variable("other", "object.?spec.orValue({})")
    second.variable("gates", "object . spec.gates")
    second.variable("copy", "variables.gates.map(x, x)")
    slots = SlotTable()
    first.build().link(slots)
    assert len(slots) == 2
    second.build().link(slots)
    assert len(slots) == 3


def test_something_outside_is_fetched_once_and_may_be_not_known() -> None:
    builder = Builder(ADMISSION)
    builder.outside("gpu", "Package cozystack.gpu-operator", "dyn")
    builder.function("f", "lookups.gpu.?spec.?variant.orValue('default') == 'default'")
    slots = SlotTable()
    function = builder.build().link(slots).functions["f"]
    asked = []

    def fetch(key: str, activation: Activation) -> Any:
        asked.append(key)
        return None

    activation = Activation({}, size=len(slots), fetch=fetch)
    assert function(activation) is True
    assert function(activation) is True
    assert asked == ["Package cozystack.gpu-operator"]
    with pytest.raises(NotKnown, match=r"Package cozystack\.gpu-operator"):
        function(Activation({}, size=len(slots)))


def test_parameters_come_in_call_order(bench: Callable[..., Any]) -> None:
    made = bench("string(at) + ':' + gate", parameters={"gate": "string", "at": "int"}, want="string")
    assert made.value({}, "HostDevices", 3) == "3:HostDevices"


@pytest.mark.parametrize(
    ("text", "want", "message"),
    [
        ("1", "bool", "got int, want bool"),
        ("object.x", "string", r"got dyn, want string; write string\(…\)"),
        ("'a'", "list", "got string, want list"),
        ("[1]", "list", ""),
        ("object.x", "bool", ""),
        ("null", "dyn", ""),
    ],
)
def test_an_expression_has_to_give_the_type_that_is_wanted(text: str, want: str, message: str) -> None:
    builder = Builder(ADMISSION)
    if not message:
        builder.function("f", text, want=want)
        return
    with pytest.raises(ExpressionErrors, match=message):
        builder.function("f", text, want=want)


def test_a_variable_sees_earlier_ones_only() -> None:
    builder = Builder(ADMISSION)
    with pytest.raises(ExpressionErrors, match=r"no variable `variables\.b`"):
        builder.variable("a", "variables.b")
    builder.variable("b", "1")
    builder.variable("a", "variables.b + 1")


def test_variables_have_the_type_that_was_inferred() -> None:
    builder = Builder(ADMISSION)
    builder.variable("names", "['a', 'b']")
    with pytest.raises(ExpressionErrors, match="`==` cannot be applied to"):
        builder.function("f", "variables.names == 'a'")


def test_a_program_survives_pickling_whole() -> None:
    builder = Builder(ADMISSION)
    builder.variable("l", "object.l")
    builder.function("f", "variables.l.all(x, x > 1)")
    program: Program = pickle.loads(pickle.dumps(builder.build()))  # noqa: S301 - our own
    slots = SlotTable()
    linked = program.link(slots)
    activation = Activation({"l": [2, 1]}, size=len(slots))
    assert linked.functions["f"](activation) is False
    assert linked.trace("f", activation).path == ("l", 1)


def test_running_a_pickled_program_imports_neither_the_cel_library_nor_pydantic() -> None:
    builder = Builder(ADMISSION)
    builder.function("f", "object.l.all(x, x > 1)")
    script = (
        "import pickle, sys; from webhook.cel.program import *;"
        f"program = pickle.loads({pickle.dumps(builder.build())!r}); slots = SlotTable();"
        "assert program.link(slots).functions['f'](Activation({'l': [2]}, size=0));"
        "print([m for m in sys.modules if m.split('.')[0] in ('cel_expr_python', 'google', 'pydantic')])"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"


def test_null_stands_for_the_namespace_of_a_cluster_scoped_object(bench: Callable[..., Any]) -> None:
    bare = bench("!('sandbox' in namespaceObject.metadata.labels)")
    assert bare.trace({}).error == "no such key: metadata"
    with pytest.raises(ERRORS):
        bare.value({})
    guarded = (
        "namespaceObject == null || !has(namespaceObject.metadata.labels) || "
        "!('sandbox' in namespaceObject.metadata.labels)"
    )
    assert bench(guarded).value({}) is True
    assert bench(guarded).value({}, namespaceObject={"metadata": {"labels": {"sandbox": ""}}}) is False
