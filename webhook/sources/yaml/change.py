"""One change of a value → the few places of the text that have to change with it; all others stay as they are.

Nothing here is trusted: `revise` reads the outcome again and holds it against what it should say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from webhook.model.path import Path, render
from webhook.model.result import Edit
from webhook.sources.yaml import layout, write
from webhook.sources.yaml.construct import is_merge, key_text, merged
from webhook.sources.yaml.tree import Alias, Mapping, Node, Scalar, Sequence, resolved


class Refused(Exception):
    """Why a text cannot be changed: for people, who then do it by hand."""


@dataclass(frozen=True, slots=True, order=True)
class Splice:
    """Replace the characters from `start` up to `end` by a text."""

    start: int
    end: int
    text: str = ""


def spliced(text: str, splices: Iterable[Splice]) -> str:
    """Apply splices that do not overlap, the last first, so that offsets stay true."""
    for each in sorted(splices, reverse=True):
        text = text[: each.start] + each.text + text[each.end :]
    return text


@dataclass(frozen=True, slots=True)
class _Slot:
    """A place that holds a value: entry or item number `index` of `parent`."""

    parent: Mapping | Sequence
    index: int
    value: Node


_UNUSUAL: Final = "it is written in a form that cannot be edited"


def change(text: str, root: Node, edit: Edit, *, json: bool = False) -> list[Splice]:
    """Find what to replace in the text of a document for one edit. Raises Refused."""
    return _Page(text, root, json=json).change(edit)


class _Page:
    """A text with its tree."""

    def __init__(self, text: str, root: Node, *, json: bool) -> None:
        self.text = text
        self.json = json
        self.root = root
        self.style = write.style_of(text, root)
        self.shared = dict(_shared(text, root))

    def change(self, edit: Edit) -> list[Splice]:
        """Go down to where the edit is, and do it there."""
        slots: list[_Slot] = []
        node = self.root
        for depth, step in enumerate(edit.path):
            self.check_own(node, edit.path[:depth])
            if (slot := self.slot(node, step, edit.path[: depth + 1])) is None:
                return self.add(slots, node, edit.path[depth:], edit.after[0])
            slots.append(slot)
            node = slot.value
        if not slots:
            raise Refused("it would replace the whole object")
        last = slots[-1]
        if edit.after and not edit.before:
            return self.insert_item(last.parent, last.index, edit.after[0])
        self.check_own(node, edit.path, inside=True)
        return self.set(last, edit.after[0]) if edit.after else self.remove(slots)

    def check_own(self, node: Node, path: Path, *, inside: bool = False) -> None:
        """Refuse where a change would be seen at another place, or comes from one."""
        where = f"`{render(path)}`" if path else "the object"
        if isinstance(node, Alias):
            raise Refused(f"{where} stands there as the alias `{self.text[node.start : node.end]}`")
        for each in _below(node) if inside else [node]:
            if id(each) in self.shared:
                raise Refused(f"{where} is used again as the alias `{self.shared[id(each)]}`")

    def slot(self, node: Node, step: str | int, path: Path) -> _Slot | None:
        """Find an entry or item; None where there is none."""
        if isinstance(node, Sequence) and isinstance(step, int):
            return _Slot(node, step, node.items[step]) if step < len(node.items) else None
        if not isinstance(node, Mapping):
            return None
        found = [i for i, (key, _) in enumerate(node.pairs) if not is_merge(key) and key_text(key) == step]
        if len(found) > 1:
            raise Refused(f"the key `{step}` stands there twice")
        if found:
            return _Slot(node, found[0], node.pairs[found[0]][1])
        if any(step in set[str | int](_keys(value)) for key, value in node.pairs if is_merge(key)):
            raise Refused(f"`{render(path)}` comes from the merge key `<<`")
        return None

    def add(self, slots: list[_Slot], node: Node, rest: Path, value: Any) -> list[Splice]:
        """Add what is not there yet, with the parents that lead to it."""
        for step in reversed(rest[1:]):
            value = [value] if step in ("-", 0) else {step: value}
        if isinstance(node, Mapping) and isinstance(rest[0], str):
            return self.insert_entry(node, rest[0], value)
        if isinstance(node, Sequence):
            return self.insert_item(node, len(node.items), value)
        if not slots:
            raise Refused(_UNUSUAL)
        return self.set(slots[-1], [value] if rest[0] in ("-", 0) else {rest[0]: value})

    def insert_entry(self, node: Mapping, key: str, value: Any) -> list[Splice]:
        """Add an entry at the end of a map."""
        if node.flow:
            quote = self.quote(node.pairs[0][0] if node.pairs else self.root)
            return self.insert_flow(node, f"{write.scalar(key, quote)}: {write.flow(value, quote)}")
        lines = write.entry(key, value, self.style)
        return self.below(layout.end(self.text, node), layout.column(self.text, self.first(node)), lines)

    def insert_item(self, node: Node, index: int, value: Any) -> list[Splice]:
        """Add an item to a list before the one of that number."""
        assert isinstance(node, Sequence)  # noqa: S101 - the path said so
        if node.flow:
            return self.insert_flow(node, write.flow(value, self.quote(node)), index)
        lines, start = write.item(value, self.style), layout.dash(self.text, node, 0)
        indent = layout.column(self.text, start)
        if index == 0:
            text = "".join(line + "\n" + " " * indent for line in lines)
            return [Splice(start, start, text)]
        return self.below(layout.end(self.text, node.items[index - 1]), indent, lines)

    def below(self, offset: int, indent: int, lines: Iterable[str]) -> list[Splice]:
        """Add lines below the one on which an offset is."""
        at = layout.line_end(self.text, offset)
        return [Splice(at, at, "".join("\n" + " " * indent + line for line in lines))]

    def first(self, node: Mapping) -> int:
        """Give the offset of the first key of a map without braces."""
        return node.pairs[0][0].start

    def insert_flow(self, node: Mapping | Sequence, written: str, index: int | None = None) -> list[Splice]:
        """Add to a collection in brackets: on the same line, or on one more where each part has its own."""
        parts = list(_parts(node))
        if not parts:
            opened = node.end - 1
            return [Splice(opened, opened, written)]
        if index is not None and index < len(parts):
            start = parts[index][0].start
            gap = self.line_of_its_own(start)
            return [Splice(start, start, f"{written},{gap or ' '}")]
        end = layout.end(self.text, parts[-1][1])
        gap, behind = self.line_of_its_own(parts[-1][0].start), layout.skip(self.text, end)
        comma = self.text.startswith(",", behind)
        if not gap:
            return [Splice(end, end, f", {written}")]
        at = layout.line_end(self.text, behind) if comma else layout.line_end(self.text, end)
        if self.text[end:at].strip(", \t").startswith(("}", "]")):
            return [Splice(end, end, f",{gap}{written}")]
        if comma:
            return [Splice(at, at, f"{gap}{written},")]
        return _apart(Splice(end, end, ","), Splice(at, at, f"{gap}{written}"))

    def line_of_its_own(self, start: int) -> str:
        """Give the line break and indentation before a part that begins a line, "" if it does not."""
        begin = layout.line_start(self.text, start)
        return "\n" + self.text[begin:start] if begin and not self.text[begin:start].strip() else ""

    def quote(self, node: Node) -> str:
        """Tell the quotes of a text, or of the first text in a collection; "" where it has none."""
        if self.json:
            return '"'
        first = next((each for each in _below(node) if isinstance(each, Scalar)), node)
        mark = self.text[first.start : first.start + 1]
        return mark if mark in ("'", '"') else ""

    def set(self, slot: _Slot, value: Any) -> list[Splice]:
        """Replace a value."""
        old, stop = slot.value, layout.end(self.text, slot.value)
        if slot.parent.flow or (isinstance(old, Mapping | Sequence) and old.flow and value):
            return [self.set_flow(slot, value)]
        after, indent = self.after(slot), layout.column(self.text, self.begin(slot))
        head, *rest = self.lines(slot, value, indent)
        tail = "".join("\n" + line for line in rest)
        if "\n" not in self.text[after : old.start]:
            at = layout.line_end(self.text, max(stop, after))
            return _apart(Splice(after, max(stop, after), head), Splice(at, at, tail))
        below = layout.line_start(self.text, old.start) - 1
        return [Splice(after, after, head), Splice(below, layout.line_end(self.text, stop), tail)]

    def lines(self, slot: _Slot, value: Any, indent: int) -> list[str]:
        """Write a new value: what follows on the line of its key or dash, then the lines below."""
        old = slot.value
        if isinstance(value, dict | list) and value:
            if isinstance(slot.parent, Sequence):
                first, *rest = write.block(value, self.style)
                return [f" {first}", *(" " * (indent + 2) + line for line in rest)]
            deeper = indent + (self.style.step if isinstance(value, dict) else self.style.lists)
            return ["", *(" " * deeper + line for line in write.block(value, self.style))]
        if isinstance(old, Scalar) and old.block and (lines := write.literal(value)):
            return [f" {lines[0]}", *(" " * (indent + self.style.step) + line if line else "" for line in lines[1:])]
        return [f" {write.flow(value, self.quote(old) if isinstance(old, Scalar) else '')}"]

    def set_flow(self, slot: _Slot, value: Any) -> Splice:
        old = slot.value
        written = write.flow(value, self.quote(old) or self.quote(slot.parent) * isinstance(value, dict | list))
        if old.start < old.end:
            return Splice(old.start, old.end, written)
        after = self.after(slot)
        return Splice(after, after, f" {written}")

    def after(self, slot: _Slot) -> int:
        """Give the offset behind the colon or dash of a slot."""
        if isinstance(slot.parent, Sequence):
            return slot.value.start if slot.parent.flow else self.begin(slot) + 1
        if (found := layout.colon(self.text, slot.parent.pairs[slot.index][0])) is None:
            raise Refused(_UNUSUAL)
        return found

    def begin(self, slot: _Slot) -> int:
        """Give the offset of the key or dash of a slot."""
        if isinstance(slot.parent, Mapping):
            return slot.parent.pairs[slot.index][0].start
        return slot.value.start if slot.parent.flow else layout.dash(self.text, slot.parent, slot.index)

    def remove(self, slots: list[_Slot]) -> list[Splice]:
        """Take out an entry or item; what is empty then is written as such."""
        slot = slots[-1]
        count = len(list(_parts(slot.parent)))
        if slot.parent.flow:
            return [self.remove_flow(slot, count)]
        if count == 1:
            if len(slots) == 1:
                raise Refused("nothing would be left of the object")
            return self.set(slots[-2], {} if isinstance(slot.parent, Mapping) else [])
        return [self.remove_lines(slot, last=slot.index == count - 1)]

    def remove_lines(self, slot: _Slot, *, last: bool) -> Splice:
        """Take out whole lines; what stands first behind a dash gives its place to the next."""
        start, end = self.begin(slot), layout.line_end(self.text, layout.end(self.text, slot.value))
        lead = self.text[layout.line_start(self.text, start) : start]
        if not lead.strip():
            return Splice(start - len(lead), min(end + 1, len(self.text)))
        if lead.strip("- ") or slot.index or last:
            raise Refused(_UNUSUAL)
        following = self.begin(_Slot(slot.parent, 1, list(_parts(slot.parent))[1][1]))
        if layout.commented(self.text, end, following):
            return Splice(layout.line_start(self.text, start) + len(lead.rstrip()), end)
        return Splice(start, following)

    def remove_flow(self, slot: _Slot, count: int) -> Splice:
        """Take out a part between brackets, with one of the commas beside it."""
        parts = list(_parts(slot.parent))
        start, end = parts[slot.index][0].start, layout.end(self.text, parts[slot.index][1])
        behind = layout.skip(self.text, end)
        comma = behind + 1 if self.text.startswith(",", behind) else end
        if slot.index < count - 1:
            following = parts[slot.index + 1][0].start
            return Splice(start, comma if layout.commented(self.text, comma, following) else following)
        if slot.index == 0 or layout.commented(self.text, before := layout.end(self.text, parts[-2][1]), start):
            return Splice(start, end if layout.commented(self.text, end, comma) else comma)
        return Splice(before, end)


def _apart(first: Splice, second: Splice) -> list[Splice]:
    """Give two splices, as one where they meet."""
    if first.end == second.start:
        return [Splice(first.start, second.end, first.text + second.text)]
    return [first, second]


def _parts(node: Mapping | Sequence) -> Iterator[tuple[Node, Node]]:
    """Give where each entry or item begins and ends."""
    return iter(node.pairs) if isinstance(node, Mapping) else ((item, item) for item in node.items)


def _below(node: Node) -> Iterator[Node]:
    """Walk over a node and all that is written inside."""
    yield node
    if isinstance(node, Mapping | Sequence):
        for first, last in _parts(node):
            yield from _below(first)
            if last is not first:
                yield from _below(last)


def _shared(text: str, root: Node) -> Iterator[tuple[int, str]]:
    """Tell which nodes aliases name, by identity."""
    for node in _below(root):
        if isinstance(node, Alias):
            yield id(node.target), text[node.start : node.end]


def _keys(node: Node) -> Iterator[str]:
    """Give the keys that a merge key brings."""
    for each in merged(node):
        target = resolved(each)
        if isinstance(target, Mapping):
            for key, value in target.pairs:
                yield from _keys(value) if is_merge(key) else [key_text(key)]
