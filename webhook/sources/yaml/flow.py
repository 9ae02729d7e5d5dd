"""Changes of what is written in brackets, in YAML and in JSON: parts and the commas between them."""

from __future__ import annotations

from typing import Any

from webhook.sources.yaml import layout, write
from webhook.sources.yaml.page import Page, Slot, Splice, apart, parts
from webhook.sources.yaml.tree import Mapping, Sequence


def insert_entry(page: Page, node: Mapping, key: str, value: Any) -> list[Splice]:
    """Add an entry at the end of a map."""
    quote = page.quote(node.pairs[0][0] if node.pairs else page.root)
    return _append(page, node, f"{write.scalar(key, quote)}: {write.flow(value, quote)}")


def insert_item(page: Page, node: Sequence, index: int, value: Any) -> list[Splice]:
    """Add an item to a list, before the one of that number."""
    written = write.flow(value, page.quote(node))
    if index == len(node.items):
        return _append(page, node, written)
    start = node.items[index].start
    return [Splice(start, start, f"{written},{_line_of_its_own(page, start) or ' '}")]


def _append(page: Page, node: Mapping | Sequence, written: str) -> list[Splice]:
    """Add a part behind the last: on its line, or on one more where each part has its own."""
    if not parts(node):
        return [Splice(node.end - 1, node.end - 1, written)]
    text, (first, last) = page.text, parts(node)[-1]
    end, gap = page.end(last), _line_of_its_own(page, first.start)
    behind = layout.skip(text, end)
    comma = text.startswith(",", behind)
    at = layout.line_end(text, behind if comma else end)
    if not gap or text[end:at].strip(", \t").startswith(("}", "]")):
        return [Splice(end, end, f",{gap or ' '}{written}")]
    if comma:
        return [Splice(at, at, f"{gap}{written},")]
    return apart(Splice(end, end, ","), Splice(at, at, f"{gap}{written}"))


def _line_of_its_own(page: Page, start: int) -> str:
    """Give the line break and indentation before a part that begins a line, "" if it does not."""
    begin = layout.line_start(page.text, start)
    lead = page.text[begin:start]
    return "\n" + lead if begin and not lead.strip() else ""


def replace(page: Page, slot: Slot, value: Any) -> list[Splice]:
    """Replace a value."""
    old = slot.value
    quote = page.quote(old) or (page.quote(slot.parent) if isinstance(value, dict | list) else "")
    written = write.flow(value, quote)
    if old.start < old.end:
        return [Splice(old.start, old.end, written)]
    after = page.after(slot)
    return [Splice(after, after, f" {written}")]


def remove(page: Page, slot: Slot) -> list[Splice]:
    """Take out a part, with one of the commas beside it; comments between the others stay."""
    text, all_parts = page.text, parts(slot.parent)
    start, end = all_parts[slot.index][0].start, page.end(all_parts[slot.index][1])
    behind = layout.skip(text, end)
    comma = behind + 1 if text.startswith(",", behind) else end
    if slot.index < len(all_parts) - 1:
        following = all_parts[slot.index + 1][0].start
        return [Splice(start, comma if layout.commented(text, comma, following) else following)]
    before = page.end(all_parts[slot.index - 1][1]) if slot.index else start
    if not slot.index or layout.commented(text, before, start):
        return [Splice(start, end if layout.commented(text, end, comma) else comma)]
    return [Splice(before, end)]
