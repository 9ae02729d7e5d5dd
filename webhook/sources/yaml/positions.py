"""From a field path to the place in the text that a person should look at."""

from __future__ import annotations

from dataclasses import dataclass

from webhook.model.path import Path
from webhook.sources.yaml.construct import is_merge, key_text, merged
from webhook.sources.yaml.tree import Alias, Mapping, Node, Sequence, resolved


@dataclass(frozen=True, slots=True)
class Position:
    """A place in a file: line and column count from 1, `length` is how many characters to underline on that line."""

    line: int
    column: int
    length: int


def at(text: str, line: int, start: int, end: int | None = None) -> Position:
    """Turn offsets into a position, in a text that begins on this line of its file.

    What goes on over several lines is underlined to the end of the first.
    """
    before = text.rfind("\n", 0, start) + 1
    stop = text.find("\n", start)
    stop = len(text) if stop < 0 else stop
    end = min(start + 1 if end is None else end, start + len(text[start:stop].rstrip()))
    return Position(line + text.count("\n", 0, start), start - before + 1, max(end - start, 1))


def locate(text: str, root: Node, path: Path) -> Node:
    """Find the node that a path names, or its nearest parent that exists.

    What an alias or a merge key brings stands where the alias does: people mend the place of use. A collection that
    begins on a later line than its key, or a value that is left out, is shown by its key.
    """
    shown = node = root
    for step in path:
        if isinstance(node, Alias) or (found := _child(text, node, step)) is None:
            break
        shown, node = found
    return shown


def _child(text: str, node: Node, step: str | int) -> tuple[Node, Node] | None:
    if isinstance(node, Sequence) and isinstance(step, int) and step < len(node.items):
        return node.items[step], node.items[step]
    if isinstance(node, Mapping) and isinstance(step, str):
        return _entry(text, node, step)
    return None


def _entry(text: str, node: Mapping, name: str) -> tuple[Node, Node] | None:
    """Find what to show for a key, and its value. The last one counts, as when the value is built."""
    for key, value in reversed(node.pairs):
        if is_merge(key):
            for each in reversed(merged(value)):
                target = resolved(each)
                if isinstance(target, Mapping) and (found := _entry(text, target, name)):
                    return (each, each) if isinstance(each, Alias) else found
        elif key_text(key) == name:
            return (key if _shown_by_key(text, key, value) else value), value
    return None


def _shown_by_key(text: str, key: Node, value: Node) -> bool:
    below = isinstance(value, Mapping | Sequence) and "\n" in text[key.end : value.start]
    return below or value.start == value.end
