"""`-o html`: everything that was found, on a page for people. It is read without scripts, and searched with its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from itertools import accumulate, islice
from typing import Final, TextIO

from webhook.errors import DocumentError
from webhook.model.policy import Severity
from webhook.model.result import Checked, Setup
from webhook.report.html import finding
from webhook.report.html.finding import ALL, Entry
from webhook.report.html.heat import Heat
from webhook.report.html.page import asset, data, page, text
from webhook.report.plain import visible
from webhook.report.summary import Summary
from webhook.report.text import count

MOST: Final = 10_000
LARGEST: Final = 2**25
"""Findings that are listed, and characters that they take: the worst of all; the others are counted."""
_FAULTS: Final = 500
_WORDS: Final = 500
"""Faults that are listed, and characters of each."""
_BETWEEN: Final = "<!---->\n"
"""Stands between two findings: the script tells them apart by it."""


class HtmlReport:
    """Writes the page at the end. Until then it holds the worst findings, each as it will be written."""

    def __init__(self, out: TextIO) -> None:
        """Write to `out`."""
        self._out = out
        self._entries: list[Entry] = []
        self._size = 0
        self._found: Counter[str] = Counter()
        self._heat = Heat()
        self._faults: list[DocumentError] = []

    def begin(self, setup: Setup) -> None:
        """Keep what the run works with."""
        self._setup = setup

    def add(self, checked: Checked) -> None:
        """Take one object."""
        for entry in (*map(finding.of_result, checked.results), *map(finding.of_patch, checked.patches)):
            self._heat.add(entry)
            self._found[entry.look.name] += 1
            self._entries.append(entry)
            self._size += len(entry.html)
        if len(self._entries) > 2 * MOST or self._size > 2 * LARGEST:
            self._keep_worst()

    def add_fault(self, fault: DocumentError) -> None:
        """Take one fault of the input."""
        self._faults.append(fault)

    def end(self, summary: Summary, seconds: float) -> None:
        """Write the page."""
        self._keep_worst()
        head = f"{summary.resources_denied:,} of {summary.resources:,} objects denied"
        script = asset("findings.js") if self._entries else ""
        for part in page(f"cozyguard: {head}", self._body(summary, head, seconds), script):
            self._out.write(part)

    def _keep_worst(self) -> None:
        self._entries.sort(key=lambda entry: entry.rank)
        sizes = accumulate(len(entry.html) for entry in self._entries)
        fitting = [size for size in islice(sizes, MOST) if size <= LARGEST]
        del self._entries[len(fitting) :]
        self._size = fitting[-1] if fitting else 0

    def _body(self, summary: Summary, head: str, seconds: float) -> Iterator[str]:
        setup, now = self._setup, datetime.now(UTC)
        policies = count(setup.policies, "policy", "policies")
        yield f'<header><p class="brand">cozyguard</p><h1>{text(head)}</h1>\n'
        yield f"<p>Cozystack {text(setup.release)} · {policies} · {seconds:.1f} s · "
        yield f'<time datetime="{now:%Y-%m-%dT%H:%MZ}">{now:%Y-%m-%d %H:%M} UTC</time></p></header>\n<main>\n'
        yield f'<ul class="counts">{"".join(_tiles(self._found, summary))}</ul>\n'
        yield from _errors("Policies that do not load", setup.policy_errors)
        yield from _errors("What could not be checked", self._faults)
        yield from self._heat.html()
        yield from self._findings()
        yield "</main>\n"

    def _findings(self) -> Iterator[str]:
        yield '<section aria-labelledby="findings"><h2 id="findings">Findings</h2>\n'
        left = self._found.total() - len(self._entries)
        if left:
            yield f"<p>The {len(self._entries):,} worst are listed; {left:,} more are counted above.</p>\n"
        if not self._entries:
            yield "<p>There are none.</p>\n</section>\n"
            return
        yield from _controls(self._entries)
        yield '<noscript id="all">'
        yield from (entry.html + _BETWEEN for entry in self._entries)
        yield '</noscript>\n<div id="list"></div>\n'
        yield '<button type="button" id="more" hidden>Show more</button>\n</section>\n'
        yield data("index", _index(self._entries))


def _tiles(found: Counter[str], summary: Summary) -> Iterator[str]:
    """Write the counts: objects first, then what was found."""
    yield f"<li><b>{summary.resources:,}</b> {'object' if summary.resources == 1 else 'objects'}</li>"
    for look in ALL:
        if number := found[look.name]:
            yield f'<li class="{look.name}"><b>{number:,}</b> {look.one if number == 1 else look.many}</li>'


def _errors(title: str, errors: Iterable[DocumentError]) -> Iterator[str]:
    listed = list(errors)
    if not listed:
        return
    yield f'<section><h2>{title}</h2>\n<ul class="errors">\n'
    for error in listed[:_FAULTS]:
        place = f"{error.file}:{error.line}:{error.column}" if error.line else error.file
        path = f"<code>{text(error.path)}</code> " if error.path else ""
        yield f"<li><code>{text(place)}</code> {path}{text(error.message, _WORDS)}</li>\n"
    if (left := len(listed) - _FAULTS) > 0:
        yield f"<li>and {left:,} more</li>\n"
    yield "</ul></section>\n"


def _controls(entries: Iterable[Entry]) -> Iterator[str]:
    """Write the form that chooses among the findings, for the script to show."""
    listed = list(entries)
    yield '<form id="chosen" hidden autocomplete="off"><label class="wide-field">Search '
    yield '<input type="search" name="text" spellcheck="false" placeholder="words of a finding"></label>\n'
    for name, of in _CHOICES.items():
        yield f'<label>{name.capitalize()} <select name="{name}"><option value="">all</option>'
        for value, number in _offered(Counter(map(of, listed)), _ORDERS.get(name)):
            yield f'<option value="{text(value)}">{text(value, 60)} ({number:,})</option>'
        yield "</select></label>\n"
    yield '<label>Sort by <select name="sort"><option value="">severity</option>'
    yield "".join(f'<option value="{name}">{name}</option>' for name in ("policy", "namespace", "kind", "name"))
    yield "</select></label></form>\n"
    yield '<div class="status"><p id="shown" role="status"></p>'
    yield '<button type="reset" id="clear" form="chosen" hidden>Clear</button></div>\n'


_CHOICES: Final[dict[str, Callable[[Entry], str]]] = {
    "outcome": lambda entry: entry.look.word,
    "severity": lambda entry: entry.policy.severity.value,
    "policy": lambda entry: visible(entry.policy.name),
    "namespace": lambda entry: entry.namespace,
    "kind": lambda entry: visible(entry.resource.kind),
}
"""What the page offers to choose by, and where it is found."""

_ORDERS: Final = {"outcome": [look.word for look in ALL], "severity": [one.value for one in Severity]}


def _offered(found: Counter[str], order: list[str] | None) -> list[tuple[str, int]]:
    """Sort what there is to choose: in an order of its own, else the most frequent first."""
    return [(value, found[value]) for value in order if value in found] if order else found.most_common()


def _index(entries: Iterable[Entry]) -> list[list[str]]:
    """Give the script what it chooses and sorts by, in the order of the findings."""
    return [[*(of(entry) for of in _CHOICES.values()), visible(entry.resource.name)] for entry in entries]
