"""Mutants that no case noticed: a line each with its place, for people; all of it for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from webhook.model.coverage import percent
from webhook.model.mutation import Mutation, Survivor
from webhook.report.plain import visible
from webhook.report.style import Style
from webhook.report.text import count


def share(results: Sequence[Mutation]) -> float:
    """Give how many mutants were killed or are explained, in percent."""
    made = sum(one.made for one in results)
    return percent(made - sum(len(one.survivors) for one in results), made)


def lines(results: Sequence[Mutation], style: Style, seconds: float, want: int | None = None) -> Iterator[str]:
    """List the survivors, then how many were killed; `want` is the least share that is enough, in percent."""
    for one in results:
        for survivor in one.survivors:
            yield from _lines(survivor, style)
    made, lived = sum(one.made for one in results), sum(len(one.survivors) for one in results)
    explained = sum(one.explained for one in results)
    told = f"killed {made - lived - explained} of {count(made, 'mutant')} of "
    told += count(len(results), "policy", "policies") + (f", {explained} explained," if explained else "")
    told += f" in {seconds:.2f} s"
    enough = want is None or share(results) >= want
    told += f": {share(results):g} %" + ("" if enough else f", want {want} %")
    yield style(told, *(("bold",) if enough else ("bold", "red")))


def _lines(survivor: Survivor, style: Style) -> Iterator[str]:
    at = survivor.location
    yield (
        f"{visible(at.file)}:{at.line}:{at.column}: {style('survived', 'yellow')}: "
        f"{visible(survivor.change)} {style(f'({at.path})', 'dim')}"
    )
    if survivor.hint:
        yield f"    = killed by: {visible(survivor.hint)}"


def document(results: Sequence[Mutation]) -> dict[str, Any]:
    """Give all of it as JSON."""
    return {
        "made": sum(one.made for one in results),
        "survived": sum(len(one.survivors) for one in results),
        "explained": sum(one.explained for one in results),
        "percent": share(results),
        "policies": [_policy(one) for one in results],
    }


def _policy(one: Mutation) -> dict[str, Any]:
    return {
        "policy": one.policy.name,
        "file": one.policy.location.file,
        "made": one.made,
        "explained": one.explained,
        "survivors": [_survivor(survivor) for survivor in one.survivors],
    }


def _survivor(one: Survivor) -> dict[str, Any]:
    at = one.location
    return {"line": at.line, "column": at.column, "path": at.path, "change": one.change, "hint": one.hint}
