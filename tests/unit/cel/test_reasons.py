"""Why an expression is true or false, as an outline: the parts that decided, and what was read of the object."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from webhook.model.path import render
from webhook.model.story import Junction, Reason

OBJECT = {"spec": {"variant": "contaner", "gates": ["Snapshot", "HostDevices"], "n": 3}}
VARIABLES = {
    "variant": "object.spec.?variant.orValue('default')",
    "isContainer": "variables.variant == 'container'",
}

OUTLINES: dict[str, list[str]] = {
    "object.spec.variant == 'vgpu'": ["False: object.spec.variant == 'vgpu'", "  spec.variant: contaner"],
    "object.spec.n > 3 || object.spec.variant == 'vgpu'": [
        "False, any: object.spec.n > 3 || object.spec.variant == 'vgpu'",
        "  False: object.spec.n > 3",
        "    spec.n: 3",
        "  False: object.spec.variant == 'vgpu'",
        "    spec.variant: contaner",
    ],
    "object.spec.n == 3 && object.spec.variant == 'vgpu'": [
        "False, all: object.spec.n == 3 && object.spec.variant == 'vgpu'",
        "  False: object.spec.variant == 'vgpu'",
        "    spec.variant: contaner",
    ],
    "object.spec.n > 3 || object.spec.n == 3": [
        "True, any: object.spec.n > 3 || object.spec.n == 3",
        "  True: object.spec.n == 3",
        "    spec.n: 3",
    ],
    "!(object.spec.n == 3)": ["False: !(object.spec.n == 3)", "  spec.n: 3"],
    "variables.isContainer": [
        "False: variables.isContainer",
        "  False: variables.variant == 'container'",
        "    spec.variant: contaner",
    ],
    "variables.isContainer || !variables.isContainer && variables.isContainer": [
        "False, any: variables.isContainer || !variables.isContainer && variables.isContainer",
        "  False: variables.isContainer",
        "    False: variables.variant == 'container'",
        "      spec.variant: contaner",
        "  False, all: !variables.isContainer && variables.isContainer",
        "    False: variables.isContainer",
    ],
    "object.spec.n == 3 ? object.spec.variant == 'vgpu' : true": [
        "False: object.spec.n == 3 ? object.spec.variant == 'vgpu' : true",
        "  True: object.spec.n == 3",
        "    spec.n: 3",
        "  False: object.spec.variant == 'vgpu'",
        "    spec.variant: contaner",
    ],
    "object.spec.gates.all(g, g != 'HostDevices')": [
        "False: object.spec.gates.all(g, g != 'HostDevices')",
        "  False: g != 'HostDevices'",
        "    spec.gates[1]: HostDevices",
    ],
    "object.spec.gates.exists(g, g == 'Sidecar')": [
        "False: object.spec.gates.exists(g, g == 'Sidecar')",
        "  spec.gates: ['Snapshot', 'HostDevices']",
    ],
    "object.spec.?components.hasValue()": ["False: object.spec.?components.hasValue()", "  spec.components: nothing"],
    "object.spec.?components.optMap(c, c != null).orValue(false)": [
        "False: object.spec.?components.optMap(c, c != null).orValue(false)",
        "  spec.components: nothing",
    ],
}


@pytest.mark.parametrize(("text", "outline"), OUTLINES.items(), ids=str)
def test_what_decided_is_told_down_to_what_was_read(text: str, outline: list[str], bench: Callable[..., Any]) -> None:
    reason = bench(text, variables=VARIABLES).trace(OBJECT).reason
    assert list(_lines(reason)) == outline


def test_an_error_has_no_outline(bench: Callable[..., Any]) -> None:
    assert bench("object.spec.zz == 'x'").trace(OBJECT).reason is None


def _lines(reason: Reason, indent: str = "") -> Iterator[str]:
    if reason.path:
        yield f"{indent}{render(reason.path)}: {'nothing' if reason.absent else reason.value}"
    else:
        junction = f", {Junction(reason.junction).value}" if reason.junction else ""
        yield f"{indent}{reason.value}{junction}: {reason.text}"
    for part in reason.because:
        yield from _lines(part, indent + "  ")
