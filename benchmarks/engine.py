"""The engine alone, on one core: bytes of a review in, bytes of the answer out, no network.

`python -m benchmarks.engine`. Each figure is the best of several rounds, in microseconds: on a shared machine the
best round is the one that was disturbed least.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, Final

import orjson

from benchmarks import objects
from benchmarks.machine import machine
from webhook.admission import codec
from webhook.engine.compile import CompiledPolicy
from webhook.engine.context import Context
from webhook.engine.pipeline import review
from webhook.engine.policyset import PolicySet
from webhook.model.decision import Decision
from webhook.model.request import AdmissionRequest, Object
from webhook.server import response
from webhook.sources import catalog, compiled
from webhook.sources.bundled import bundled
from webhook.sources.objects import ObjectStore

POD_SECURITY: Final = Path(__file__).parent / "policies" / "pod-security"
EXAMPLES: Final = Path(__file__).parent.parent / "examples" / "reviews"
_ROUNDS, _ROUND_SECONDS = 7, 0.2


def main() -> None:
    """Print all tables."""
    os.sched_setaffinity(0, {0})
    print(f"## engine only, one core\n\n{machine()}\n")
    security = compiled.load([POD_SECURITY]).policies
    gpu = compiled.load([bundled()]).policies
    context = Context(release=catalog.newest(), cluster=ObjectStore([], closed_world=True))
    gc.collect()
    gc.freeze()
    _stages(security, context)
    _bundled(gpu, context)
    _rules(security, context)
    _growth(security, context)


def _stages(policies: Sequence[CompiledPolicy], context: Context) -> None:
    rules = sum(len(one.policy.validations) for one in policies)
    print(f"### {len(policies)} Pod Security policies, {rules} rules: µs by stage\n")
    print("| Pod | verdict | parse JSON | decode | match and evaluate | encode | all | reviews/s |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    linked = PolicySet.link(policies)
    for name, size in objects.SIZES.items():
        clean = objects.pod(Random(1), size)
        broken = orjson.loads(orjson.dumps(clean))
        broken["spec"]["hostNetwork"] = True
        for verdict, pod in (("allowed", clean), ("denied", broken)):
            body = orjson.dumps(objects.review(pod))
            request = codec.decode(body)
            decision = _judge(linked, request, context)
            assert decision.allowed is (verdict == "allowed"), decision
            figures = [
                best(orjson.loads, body),
                best(codec.decode, body),
                best(_judge, linked, request, context),
                best(response.encode, request, decision),
                best(_answer, linked, body, context),
            ]
            cells = " | ".join(f"{figure:,.1f}" for figure in figures)
            print(f"| {name} | {verdict} | {cells} | {1e6 / figures[-1]:,.0f} |")
    print()


def _bundled(policies: Sequence[CompiledPolicy], context: Context) -> None:
    print(f"### {len(policies)} bundled policies, the reviews of `examples/`: µs\n")
    print("| review | all | reviews/s |\n| --- | ---: | ---: |")
    linked = PolicySet.link(policies)
    for file in sorted(EXAMPLES.glob("*.json")):
        body = file.read_bytes()
        figure = best(partial(_answer, mutate=file.stem == "patch"), linked, body, context)
        print(f"| {file.stem} | {figure:,.1f} | {1e6 / figure:,.0f} |")
    print()


def _rules(policies: Sequence[CompiledPolicy], context: Context) -> None:
    print("### each policy alone, 3 KB Pod: µs to match and evaluate\n")
    print("| policy | rules | µs |\n| --- | ---: | ---: |")
    request = _request(objects.pod(Random(1), 3_000))
    for one in policies:
        linked = PolicySet.link([one])
        figure = best(_judge, linked, request, context)
        print(f"| {one.policy.name} | {len(one.policy.validations)} | {figure:.1f} |")
    print()


def _growth(policies: Sequence[CompiledPolicy], context: Context) -> None:
    print("### more policies, 3 KB Pod: µs to match and evaluate\n")
    print("| policies | all of them match | none of them matches |\n| ---: | ---: | ---: |")
    request = _request(objects.pod(Random(1), 3_000))
    for count in (1, 10, 100, 1000):
        matching = PolicySet.link(_copies(policies, count))
        others = PolicySet.link(_copies(policies, count, resource="services"))
        figures = [best(_judge, one, request, context) for one in (matching, others)]
        print(f"| {count:,} | {figures[0]:,.1f} | {figures[1]:,.1f} |")
    print()


def _copies(policies: Sequence[CompiledPolicy], count: int, resource: str = "pods") -> Iterable[CompiledPolicy]:
    """Make as many policies as wanted, by turns from those given, each under a name of its own."""
    for index in range(count):
        one = policies[index % len(policies)]
        rules = tuple(replace(rule, resources=(resource,)) for rule in one.policy.match.resource_rules)
        match = replace(one.policy.match, resource_rules=rules)
        yield CompiledPolicy(replace(one.policy, name=f"{one.policy.name}-{index}", match=match), one.program)


def _request(pod: Object) -> AdmissionRequest:
    return codec.read(objects.review(pod))


def _judge(policies: PolicySet, request: AdmissionRequest, context: Context) -> Decision:
    return review(policies, request, context, mutate=False)


def _answer(policies: PolicySet, body: bytes, context: Context, *, mutate: bool = False) -> bytes:
    request = codec.decode(body)
    return response.encode(request, review(policies, request, context, mutate=mutate, validate=not mutate))


def best(function: Callable[..., Any], *arguments: Any) -> float:
    """Return the µs of one call, in the best of several rounds."""
    function(*arguments)
    count = 1
    while (spent := _timed(function, arguments, count)) < _ROUND_SECONDS / 4:
        count *= 2
    count = max(1, int(count * _ROUND_SECONDS / spent))
    return min(_timed(function, arguments, count) for _ in range(_ROUNDS)) / count * 1e6


def _timed(function: Callable[..., Any], arguments: Sequence[Any], count: int) -> float:
    started = time.perf_counter()
    for _ in range(count):
        function(*arguments)
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
