"""One change of a value → the few places of the text that have to change with it; all others stay as they are.

Nothing here is trusted: `revise` reads the outcome again and holds it against what it should say.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from webhook.model.path import Path, render
from webhook.model.result import Edit
from webhook.sources.yaml import block, flow
from webhook.sources.yaml.construct import is_merge, key_text, merged
from webhook.sources.yaml.page import UNUSUAL, Page, Refused, Slot, Splice, below, parts
from webhook.sources.yaml.tree import Alias, Mapping, Node, Sequence, resolved


def change(page: Page, edit: Edit) -> list[Splice]:
    """Find what to replace for one edit. Raises Refused."""
    slots: list[Slot] = []
    node = page.root
    for depth, step in enumerate(edit.path):
        _check_own(page, [node], edit.path[:depth])
        slot = _slot(node, step, edit.path[: depth + 1])
        if slot is None:
            return _add(page, slots, node, edit.path[depth:], edit.after[0])
        slots.append(slot)
        node = slot.value
    if not slots:
        raise Refused("it would replace the whole object")
    last = slots[-1]
    if edit.after and not edit.before:
        return _insert_item(page, last.parent, last.index, edit.after[0])
    _check_own(page, below(node), edit.path)
    return _replace(page, last, edit.after[0]) if edit.after else _remove(page, slots)


def _check_own(page: Page, nodes: list[Node] | Iterator[Node], path: Path) -> None:
    """Refuse where a change would be seen at another place, or comes from one."""
    where = f"`{render(path)}`" if path else "the object"
    for node in nodes:
        if isinstance(node, Alias):
            raise Refused(f"{where} stands there as the alias `{page.text[node.start : node.end]}`")
        if alias := page.aliases.get(id(node)):
            raise Refused(f"{where} is used again as the alias `{page.text[alias.start : alias.end]}`")


def _slot(node: Node, step: str | int, path: Path) -> Slot | None:
    """Find an entry or item; None where there is none."""
    if isinstance(node, Sequence) and isinstance(step, int):
        return Slot(node, step, node.items[step]) if step < len(node.items) else None
    if not isinstance(node, Mapping):
        return None
    found = [i for i, (key, _) in enumerate(node.pairs) if not is_merge(key) and key_text(key) == step]
    if len(found) > 1:
        raise Refused(f"the key `{step}` stands there twice")
    if found:
        return Slot(node, found[0], node.pairs[found[0]][1])
    if any(step in set[str | int](_keys(value)) for key, value in node.pairs if is_merge(key)):
        raise Refused(f"`{render(path)}` comes from the merge key `<<`")
    return None


def _keys(node: Node) -> Iterator[str]:
    """Give the keys that a merge key brings."""
    for each in merged(node):
        target = resolved(each)
        if isinstance(target, Mapping):
            for key, value in target.pairs:
                yield from _keys(value) if is_merge(key) else [key_text(key)]


def _add(page: Page, slots: list[Slot], node: Node, rest: Path, value: Any) -> list[Splice]:
    """Add what is not there yet, with the parents that lead to it."""
    for step in reversed(rest[1:]):
        value = [value] if step == "-" else {step: value}
    if isinstance(node, Mapping) and isinstance(rest[0], str):
        insert = flow.insert_entry if node.flow else block.insert_entry
        return insert(page, node, rest[0], value)
    if isinstance(node, Sequence):
        return _insert_item(page, node, len(node.items), value)
    if not slots:
        raise Refused(UNUSUAL)
    return _replace(page, slots[-1], [value] if rest[0] == "-" else {rest[0]: value})


def _insert_item(page: Page, node: Node, index: int, value: Any) -> list[Splice]:
    if not isinstance(node, Sequence):
        raise Refused(UNUSUAL)
    insert = flow.insert_item if node.flow else block.insert_item
    return insert(page, node, index, value)


def _replace(page: Page, slot: Slot, value: Any) -> list[Splice]:
    """Replace a value; a collection in brackets stays in brackets."""
    old = slot.value
    bracketed = isinstance(old, Mapping | Sequence) and old.flow and isinstance(value, dict | list)
    replace = flow.replace if slot.parent.flow or bracketed else block.replace
    return replace(page, slot, value)


def _remove(page: Page, slots: list[Slot]) -> list[Splice]:
    """Take out an entry or item; a map or list without brackets that is empty then is written as such."""
    slot = slots[-1]
    if slot.parent.flow:
        return flow.remove(page, slot)
    if len(parts(slot.parent)) > 1:
        return block.remove(page, slot)
    if len(slots) == 1:
        raise Refused("nothing would be left of the object")
    return block.replace(page, slots[-2], {} if isinstance(slot.parent, Mapping) else [])
