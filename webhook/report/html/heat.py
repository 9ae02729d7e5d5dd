"""The heat map: which policies find something in which namespaces, as a table that can be read and clicked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from webhook.report.html.finding import ALL, BROKEN, Entry, Look
from webhook.report.html.page import text

_COLUMNS: Final = 24
"""Namespaces with a column of their own; the others share one."""
_ROWS: Final = 100
_DEGREES: Final = 4

_Cell = tuple[str, str]
"""Policy and namespace."""


class Heat:
    """Counts findings by policy and namespace as they come, and the worst of each."""

    def __init__(self) -> None:
        """Nothing so far."""
        self._counts: Counter[_Cell] = Counter()
        self._worst: dict[_Cell, Look] = {}
        self._policies: Counter[str] = Counter()
        self._namespaces: Counter[str] = Counter()

    def add(self, entry: Entry) -> None:
        """Count one, if it says that something is broken."""
        if entry.look not in BROKEN:
            return
        cell = entry.policy.name, entry.namespace
        self._counts[cell] += 1
        self._worst[cell] = min(self._worst.get(cell, entry.look), entry.look, key=ALL.index)
        self._policies[cell[0]] += 1
        self._namespaces[cell[1]] += 1

    def html(self) -> Iterator[str]:
        """Write the table; nothing where nothing is broken."""
        if not self._counts:
            return
        shown = [name for name, _ in self._namespaces.most_common(_COLUMNS)]
        others = len(self._namespaces) - len(shown)
        most = max(self._counts.values())
        yield '<section><h2 id="heat">Where</h2>\n<div class="heat-map" tabindex="0" '
        yield 'role="region" aria-labelledby="heat"><table class="heat"><thead><tr><th scope="col">policy</th>'
        yield from (f'<th scope="col"><span>{text(name, 40)}</span></th>' for name in shown)
        yield f'<th scope="col"><span>{others} others</span></th>' if others else ""
        yield '<th scope="col" class="number">all</th></tr></thead>\n<tbody>\n'
        for policy, total in self._policies.most_common(_ROWS):
            yield f'<tr><th scope="row">{text(policy, 60)}</th>'
            yield from (self._cell(policy, name, most) for name in shown)
            if others:
                yield f'<td class="number">{total - sum(self._counts[policy, name] for name in shown) or ""}</td>'
            yield f'<td class="number">{total:,}</td></tr>\n'
        yield "</tbody></table></div>\n"
        if (left := len(self._policies) - _ROWS) > 0:
            yield f"<p>and {left} more policies</p>\n"
        yield "</section>\n"

    def _cell(self, policy: str, namespace: str, most: int) -> str:
        if not (number := self._counts[policy, namespace]):
            return "<td></td>"
        degree = -(-number * _DEGREES // most)
        look = self._worst[policy, namespace]
        return (
            f'<td class="{look.name} degree{degree}"><button type="button" data-policy="{text(policy)}" '
            f'data-namespace="{text(namespace)}" aria-label="{number} of {text(policy)} in {text(namespace)}, '
            f'at worst {look.word}">{number:,}</button></td>'
        )
