"""What objects that nobody wrote have brought to light: for people, and for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from webhook.model.fuzz import Fuzzed, Law, Slip
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
    for one in results:
        for slip in one.slips:
            yield from _lines(slip, style)
    tried, slips = sum(one.tried for one in results), sum(len(one.slips) for one in results)
    told = f"tried {count(tried, 'object')} on {count(len(results), 'suite')} in {seconds:.2f} s (seed {seed}): "
    yield style(
        told + (count(slips, "slip") if slips else "every law holds"), *(("bold", "red") if slips else ("bold",))
    )


def _lines(slip: Slip, style: Style) -> Iterator[str]:
    at = slip.case.location
    place = f"{visible(at.file)}:{at.line}:{at.column}"
    yield f"{place}: {style('slip:', 'bold', 'red')} {style(_WORDS[slip.law], 'bold')}"
    yield f"    = case: {visible(slip.case.name)}"
    for change in slip.changes:
        yield f"    = but:  {visible(change)}"
    for line in slip.told.splitlines():
        yield f"    = got:  {visible(line)}"


def document(results: Sequence[Fuzzed], seed: int) -> dict[str, Any]:
    """Give all of it as JSON."""
    return {
        "seed": seed,
        "tried": sum(one.tried for one in results),
        "slips": [_entry(slip) for one in results for slip in one.slips],
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
