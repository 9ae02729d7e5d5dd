"""Values as YAML and JSON text, in the manner of the document that they become part of."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from webhook.model import fragment
from webhook.sources.yaml.layout import column
from webhook.sources.yaml.tree import Mapping, Node, Sequence

_NOT_PRINTED: Final = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
"""What JSON leaves as it is inside a text, and YAML refuses or takes for the end of a line."""

_SINGLE: Final = re.compile(r"[ -~\u00a0-\u2027\u2030-\ud7ff]*")
_LITERAL: Final = re.compile(r"[!-~\u00a0-\u2027][ -~\t\n\u00a0-\u2027\u2030-\ud7ff]*")
"""What may stand in single quotes on one line, and below a `|`."""


@dataclass(frozen=True, slots=True)
class Style:
    """How a document is indented: `step` is for a map below its key, `lists` for a list; in spaces."""

    step: int = 2
    lists: int = 2


def style_of(text: str, root: Node) -> Style:
    """Learn the manner of a document from the first map and the first list that stand below a key."""
    found: dict[type, int] = {}
    for key, value in _nested(root):
        found.setdefault(type(value), column(text, value.start) - column(text, key.start))
    step = found.get(Mapping, 0)
    step = step if step > 0 else 2
    return Style(step, max(found.get(Sequence, step), 0))


def _nested(node: Node) -> Iterator[tuple[Node, Node]]:
    if isinstance(node, Mapping) and not node.flow:
        for key, value in node.pairs:
            if isinstance(value, Mapping | Sequence) and not value.flow:
                yield key, value
            yield from _nested(value)
    elif isinstance(node, Sequence) and not node.flow:
        for item in node.items:
            yield from _nested(item)


def scalar(value: Any, quote: str = "") -> str:
    """Write a value that is no collection on one line: a text in the quotes that stood there, if they can hold it."""
    if isinstance(value, str) and quote == "'" and _SINGLE.fullmatch(value):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, str) and quote:
        return _quoted(value)
    written = fragment.scalar(value)
    return _quoted(value) if isinstance(value, str) and written != value else written


def _quoted(value: str) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return _NOT_PRINTED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def flow(value: Any, quote: str = "") -> str:
    """Write any value on one line; with `"` for the quotes it is JSON."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{scalar(key, quote)}: {flow(each, quote)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(flow(each, quote) for each in value) + "]"
    return scalar(value, quote)


def block(value: Any, style: Style) -> list[str]:
    """Write a collection that is not empty as lines; empty ones and scalars take one line."""
    if isinstance(value, dict) and value:
        return [line for key, each in value.items() for line in entry(key, each, style)]
    if isinstance(value, list) and value:
        return [line for each in value for line in item(each, style)]
    return [flow(value)]


def entry(key: str, value: Any, style: Style) -> list[str]:
    """Write one entry of a map."""
    if not (isinstance(value, dict | list) and value):
        return [f"{scalar(key)}: {flow(value)}"]
    indent = style.step if isinstance(value, dict) else style.lists
    return [f"{scalar(key)}:", *(" " * indent + line for line in block(value, style))]


def item(value: Any, style: Style) -> list[str]:
    """Write one item of a list."""
    first, *rest = block(value, style)
    return [f"- {first}", *("  " + line for line in rest)]


def literal(value: Any) -> list[str]:
    """Write a text of several lines as a block scalar: its header, then its lines; nothing where it cannot be one."""
    if not isinstance(value, str) or not _LITERAL.fullmatch(value) or "\n" not in value:
        return []
    body = value.rstrip("\n")
    ends = len(value) - len(body)
    return [("|-", "|", "|+")[min(ends, 2)], *body.split("\n"), *[""] * (ends - 1)]
