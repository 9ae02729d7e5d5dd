"""What objects that nobody wrote have brought to light: for people, and for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from webhook.model.fuzz import Fuzzed, Law, Slip
from webhook.report.github import command
from webhook.report.plain import visible
from webhook.report.style import Style
from webhook.report.text import count

_WORDS: Final = {
    Law.NEVER_ERRS: "a rule errs",
    Law.IDEMPOTENT: "a mutation patches again what it has made",
    Law.SATISFIED: "what a policy has patched breaks a rule of it that held before",
}


def lines(results: Sequence[Fuzzed], style: Style, seconds: float, seed: int) -> Iterator[str]:
    """List each law that does not hold, then how many objects were tried."""
    for slip in _slips(results):
        at = slip.case.location
        place = f"{visible(at.file)}:{at.line}:{at.column}"
        yield f"{place}: {style('slip:', 'bold', 'red')} {style(_WORDS[slip.law], 'bold')}"
        yield from (f"    = {line}" for line in _details(slip))
    yield _total(results, style, seconds, seed)


def commands(results: Sequence[Fuzzed], seconds: float, seed: int) -> Iterator[str]:
    """Annotate the case of each law that does not hold, for GitHub; then how many objects were tried."""
    for slip in _slips(results):
        at = slip.case.location
        said = "\n".join((_WORDS[slip.law], *_details(slip)))
        yield command("error", at.file, (at.line, at.column, 0), "slip", said).removesuffix("\n")
    yield _total(results, Style(), seconds, seed)


def _details(slip: Slip) -> Iterator[str]:
    yield f"case: {visible(slip.case.name)}"
    for change in slip.changes:
        yield f"but:  {visible(change)}"
    for line in slip.told.splitlines():
        yield f"got:  {visible(line)}"


def _total(results: Sequence[Fuzzed], style: Style, seconds: float, seed: int) -> str:
    tried, slips = sum(one.tried for one in results), len(_slips(results))
    told = f"tried {count(tried, 'object')} on {count(len(results), 'suite')} in {seconds:.2f} s (seed {seed})"
    if not tried:
        return style(f"{told}: nothing to try, for want of cases or policies", "bold")
    if slips:
        return style(f"{told}: {count(slips, 'slip')}", "bold", "red")
    return style(f"{told}: every law holds", "bold")


def _slips(results: Sequence[Fuzzed]) -> list[Slip]:
    return [slip for one in results for slip in one.slips]


def document(results: Sequence[Fuzzed], seed: int) -> dict[str, Any]:
    """Give all of it as JSON."""
    return {
        "seed": seed,
        "tried": sum(one.tried for one in results),
        "slips": [_entry(slip) for slip in _slips(results)],
    }


def _entry(slip: Slip) -> dict[str, Any]:
    at = slip.case.location
    return {
        "law": slip.law.value,
        "file": at.file,
        "line": at.line,
        "column": at.column,
        "case": slip.case.name,
        "changes": list(slip.changes),
        "got": slip.told,
    }
