"""One set of rules by three engines: our generated functions, cel-cpp's evaluator, and PyPI's cel-python.

`python -m benchmarks.cel_engines`. Rules and Pods are the same for all; each engine gets the object in the form
that a review has it in, parsed JSON, and what it needs to bind it is part of the price. A figure is the best of
several rounds, in microseconds for one object and all rules.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from random import Random
from typing import Any, Final

import celpy
from cel_expr_python import cel
from cel_expr_python.ext import ext_optional
from celpy.adapter import json_to_cel

from benchmarks.machine import machine
from benchmarks.objects import SIZES, pod
from webhook.cel.program import ADMISSION, Activation, Builder, SlotTable
from webhook.model.request import Object

PLAIN: Final = (
    "!has(object.spec.hostNetwork) || object.spec.hostNetwork == false",
    "!has(object.spec.hostPID) || object.spec.hostPID == false",
    (
        "object.spec.containers.all(c, !has(c.securityContext) || !has(c.securityContext.privileged)"
        " || c.securityContext.privileged == false)"
    ),
    "!has(object.spec.volumes) || object.spec.volumes.all(v, !has(v.hostPath))",
    "object.spec.containers.all(c, !has(c.ports) || c.ports.all(p, !has(p.hostPort) || p.hostPort == 0))",
    (
        "object.spec.containers.all(c, !has(c.securityContext) || !has(c.securityContext.procMount)"
        " || c.securityContext.procMount == 'Default')"
    ),
    (
        "object.spec.containers.all(c, has(c.securityContext)"
        " && has(c.securityContext.allowPrivilegeEscalation)"
        " && c.securityContext.allowPrivilegeEscalation == false)"
    ),
    (
        "!has(object.metadata.annotations) || object.metadata.annotations.all(k, !k.startsWith('apparmor.example.org/')"
        " || object.metadata.annotations[k] in ['runtime/default', 'localhost'])"
    ),
)
"""Rules that all three engines can run: no optional values, which cel-python does not know."""

OPTIONAL: Final = (
    "!object.spec.?hostIPC.orValue(false)",
    "object.spec.?securityContext.?seccompProfile.?type.orValue('RuntimeDefault') in ['RuntimeDefault', 'Localhost']",
    "object.spec.containers.all(c, c.?securityContext.?runAsUser.orValue(1) != 0)",
    (
        "(object.spec.containers + object.spec.?initContainers.orValue([])).all(c,"
        " c.?securityContext.?seLinuxOptions.?type.orValue('') in ['', 'container_t'])"
    ),
)
"""Rules with optional values, for the other two."""

_ROUNDS, _SECONDS = 7, 0.2
Evaluate = Callable[[Object], Any]


def main() -> None:
    """Print the table."""
    os.sched_setaffinity(0, {0})
    engines = (*_engines(PLAIN, "8 rules"), *_engines(PLAIN + OPTIONAL, "12 rules", python=False))
    print(f"## CEL engines, one core\n\n{machine()}\n")
    print(f"| engine | {' | '.join(SIZES)} |\n| --- |{' --- |' * len(SIZES)}")
    for name, evaluate in engines:
        figures = (_best(evaluate, pod(Random(1), size)) for size in SIZES.values())
        print(f"| {name} | {' | '.join(f'{figure:,.1f}' for figure in figures)} |")


def _engines(rules: tuple[str, ...], label: str, *, python: bool = True) -> tuple[tuple[str, Evaluate], ...]:
    return (
        (f"generated Python, {label}", _generated(rules)),
        (f"cel-cpp, the object bound once, {label}", _cel_cpp(rules)),
        *([(f"cel-python, {label}", _cel_python(rules))] if python else []),
    )


def _generated(rules: tuple[str, ...]) -> Evaluate:
    builder = Builder(ADMISSION)
    for number, rule in enumerate(rules):
        builder.function(str(number), rule)
    slots = SlotTable()
    functions = tuple(builder.build().link(slots).functions.values())

    def evaluate(obj: Object) -> list[Any]:
        activation = Activation(obj, size=len(slots))
        return [function(activation) for function in functions]

    return evaluate


def _cel_cpp(rules: tuple[str, ...]) -> Evaluate:
    env = cel.NewEnv(variables={"object": cel.Type.DYN}, extensions=[ext_optional.ExtOptional()])
    programs = [env.compile(rule) for rule in rules]

    def evaluate(obj: Object) -> list[Any]:
        activation = env.Activation({"object": obj})
        return [program.eval(activation).plain_value() for program in programs]

    return evaluate


def _cel_python(rules: tuple[str, ...]) -> Evaluate:
    environment = celpy.Environment()
    programs = [environment.program(environment.compile(rule)) for rule in rules]

    def evaluate(obj: Object) -> list[Any]:
        activation: Mapping[str, Any] = {"object": json_to_cel(obj)}
        return [program.evaluate(activation) for program in programs]

    return evaluate


def _best(evaluate: Evaluate, obj: Object) -> float:
    """Give the microseconds of one call, in the round that was disturbed least. All rules must hold."""
    assert all(evaluate(obj))
    best = float("inf")
    for _ in range(_ROUNDS):
        calls, start = 0, time.perf_counter()
        while (spent := time.perf_counter() - start) < _SECONDS:
            evaluate(obj)
            calls += 1
        best = min(best, spent / calls)
    return best * 1e6


if __name__ == "__main__":
    main()
