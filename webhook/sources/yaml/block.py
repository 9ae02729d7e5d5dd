"""Changes of what is written without brackets: whole lines, at the indentation of their neighbours."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from webhook.sources.yaml import layout, write
from webhook.sources.yaml.page import UNUSUAL, Page, Refused, Slot, Splice, apart, parts
from webhook.sources.yaml.tree import Mapping, Scalar, Sequence


def insert_entry(page: Page, node: Mapping, key: str, value: Any) -> list[Splice]:
    """Add an entry at the end of a map."""
    indent = layout.column(page.text, node.pairs[0][0].start)
    return [_below(page, page.end(node), indent, write.entry(key, value, page.style))]


def insert_item(page: Page, node: Sequence, index: int, value: Any) -> list[Splice]:
    """Add an item to a list, before the one of that number."""
    lines, start = write.item(value, page.style), layout.dash(page.text, node, 0)
    indent = layout.column(page.text, start)
    if index == 0:
        return [Splice(start, start, "".join(line + "\n" + " " * indent for line in lines))]
    return [_below(page, page.end(node.items[index - 1]), indent, lines)]


def _below(page: Page, offset: int, indent: int, lines: Iterable[str]) -> Splice:
    """Add lines below the one on which an offset is."""
    at = layout.line_end(page.text, offset)
    return Splice(at, at, "".join("\n" + " " * indent + line for line in lines))


def replace(page: Page, slot: Slot, value: Any) -> list[Splice]:
    """Replace a value; the comment on the line of its key or dash stays there."""
    text, old, after = page.text, slot.value, page.after(slot)
    stop = max(page.end(old), after)
    beside = old.start < old.end and "\n" not in text[after : old.start]
    column = layout.column(text, old.start) if beside else layout.column(text, after) + 1
    head, *rest = _written(page, slot, value, column)
    tail = "".join("\n" + line for line in rest)
    if beside or old.start == old.end:
        at = layout.line_end(text, stop)
        if head and beside:  # the spaces before it stay, too
            after, head = old.start, head[1:]
        return apart(Splice(after, stop, head), Splice(at, at, tail))
    above = layout.line_start(text, old.start) - 1
    return [Splice(after, after, head), Splice(above, layout.line_end(text, stop), tail)]


def _written(page: Page, slot: Slot, value: Any, column: int) -> list[str]:
    """Write a value: what follows on the line of its key or dash, there from `column` on, then the lines below."""
    old, indent = slot.value, layout.column(page.text, page.begin(slot))
    if isinstance(value, dict | list) and value:
        lines = write.block(value, page.style)
        if isinstance(slot.parent, Sequence):
            return [f" {lines[0]}", *(" " * column + line for line in lines[1:])]
        deeper = indent + (page.style.step if isinstance(value, dict) else page.style.lists)
        return ["", *(" " * deeper + line for line in lines)]
    if isinstance(old, Scalar) and old.block and (lines := write.literal(value)):
        return [f" {lines[0]}", *(" " * (indent + page.style.step) + line if line else "" for line in lines[1:])]
    return [f" {write.flow(value, page.quote(old) if isinstance(old, Scalar) else '')}"]


def remove(page: Page, slot: Slot) -> list[Splice]:
    """Take out the lines of an entry or item; what stands first behind a dash gives its place to the next."""
    text, start = page.text, page.begin(slot)
    end = layout.line_end(text, page.end(slot.value))
    lead = text[layout.line_start(text, start) : start]
    if not lead.strip():
        return [Splice(start - len(lead), min(end + 1, len(text)))]
    if lead.strip("- ") or slot.index:
        raise Refused(UNUSUAL)
    following = page.begin(Slot(slot.parent, 1, parts(slot.parent)[1][1]))
    if layout.commented(text, end, following):
        return [Splice(layout.line_start(text, start) + len(lead.rstrip()), end)]
    return [Splice(start, following)]
