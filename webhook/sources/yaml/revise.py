"""Changed documents: the text that says the new value, read again to be sure, and the file that holds it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final

from webhook.errors import DocumentError, UsageError
from webhook.model.result import Edit
from webhook.sources.yaml import layout
from webhook.sources.yaml.change import change
from webhook.sources.yaml.document import Document
from webhook.sources.yaml.json import as_yaml
from webhook.sources.yaml.page import Page, Refused, spliced
from webhook.sources.yaml.reading import parse
from webhook.sources.yaml.separators import Source
from webhook.sources.yaml.tree import Fault, compose

_NOT_EXACT: Final = "the text could not be changed so that it says exactly that"


def revise(source: Source, document: Document, edits: Iterable[Edit], wanted: Any) -> Source:
    """Give the source in which one document says `wanted`, to which the edits lead; all else in it stays.

    Raises Refused where no such text can be found; the document is then to be changed by hand.
    """
    start, text = _start(source, document), document.text
    for edit in edits:
        try:
            root, _ = compose(as_yaml(text) if document.json else text)
        except Fault as fault:
            raise Refused(f"its text cannot be followed: {fault.message}") from None
        if root is None:
            raise Refused(_NOT_EXACT)
        text = spliced(text, change(Page(text, root, json=document.json), edit))
    body = document.text if source.text.startswith(document.text, start) else document.text.removesuffix("\n")
    revised = replace(source, text=source.text[:start] + text + source.text[start + len(body) :])
    _check(source, revised, document.index, wanted)
    return revised


def _start(source: Source, document: Document) -> int:
    """Find where in its source a document begins. It is the whole source, but in a stream of JSON."""
    lines = source.text.split("\n")[: document.line - source.line]
    start = sum(len(line) + 1 for line in lines)
    start += source.text.startswith("\ufeff", start)
    body, line = document.text.removesuffix("\n"), layout.line_end(source.text, start)
    found = source.text.find(body, start)
    if found < 0 or source.text[start:found].strip() or found < source.text.find(body, found + 1) < line:
        raise Refused("it shares a line with another object")
    return found


def _check(before: Source, after: Source, index: int, wanted: Any) -> None:
    """Refuse a text that does not say what is wanted, or changes another document, or brings new faults."""
    old, new = list(parse(before)), list(parse(after))
    if len(old) != len(new):
        raise Refused(_NOT_EXACT)
    for one, other in zip(old, new, strict=True):
        if isinstance(one, DocumentError) or isinstance(other, DocumentError):
            if type(one) is not type(other):
                raise Refused(_NOT_EXACT)
        elif not same(other.value, wanted if one.index == index else one.value):
            raise Refused(_NOT_EXACT)


def same(a: Any, b: Any) -> bool:
    """Compare as JSON, where `true` is not 1, but 1.0 is."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(value, b[key]) for key, value in a.items())
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    return isinstance(a, bool) == isinstance(b, bool) and bool(a == b)


def replaced(data: bytes, revised: Iterable[tuple[Source, Source]]) -> bytes:
    """Put revised sources into the file that they came from; the pairs are in the file's order.

    Raises UsageError where the file is no longer what was read.
    """
    raw = data.decode(errors="surrogateescape")
    text, parts, done, line, at = raw.replace("\r\n", "\n"), [], 0, 1, 0
    for before, after in revised:
        while line < before.line:
            at, line = text.find("\n", at) + 1, line + 1
        start = at + text.startswith("\ufeff", at) if not before.json else 0
        whole = text.startswith(before.text, start)
        if not whole and text[start:] != before.text.removesuffix("\n"):
            raise UsageError(f"`{before.file}` changed while it was read: nothing is written")
        end = start + len(before.text) - (not whole)
        parts += [text[done:start], after.text if whole else after.text.removesuffix("\n")]
        done = end
    new = "".join([*parts, text[done:]])
    return (_with_endings(raw, text, new) if raw != text else new).encode(errors="surrogateescape")


def _with_endings(raw: str, text: str, new: str) -> str:
    """Give each line that was there its own line break again, and new ones that of the first line."""
    lines, old = new.split("\n"), raw.split("\n")
    usual = "\r" if old[0].endswith("\r") else ""
    matcher = difflib.SequenceMatcher(None, text.split("\n"), lines, autojunk=False)
    for op, i, _, j, k in matcher.get_opcodes():
        for index in range(j, min(k, len(lines) - 1)):  # the last one has no line break
            kept = i + index - j if op == "equal" else len(old)
            lines[index] += old[kept][len(lines[index]) :] if kept < len(old) - 1 else usual
    return "\n".join(lines)
