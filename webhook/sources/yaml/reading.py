"""Text in, documents out; whatever cannot be read comes out as an error beside them."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Any, Final

import yaml_rs

from webhook.errors import DocumentError, DocumentErrors
from webhook.sources.yaml import json, positions
from webhook.sources.yaml.agreement import readers_agree
from webhook.sources.yaml.construct import construct
from webhook.sources.yaml.document import Document
from webhook.sources.yaml.limits import is_sound
from webhook.sources.yaml.separators import Source, split, split_yaml
from webhook.sources.yaml.tree import Fault, compose

_CONTROL: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]")
_BYTE: Final = re.compile("[\udc80-\udcff]")
_SPACE_TO_LINE_END: Final = re.compile(r"[^\S\n]*\n?")
_FLOW: Final = re.compile(r"\{[^}]|\[ *[\[{]|\[[^\]\n]*\n")
"""What can nest without end on a few columns: maps in braces, lists in lists, lists over several lines."""
_ONE_WORD: Final = re.compile(r"\S*")
"""In these, a key that goes on over two lines (a comma is missing, say) is one with a space to the fast reader."""


def read(text: str | bytes, file: str) -> tuple[Document, ...]:
    """Read all documents of a text. Raises DocumentErrors with every fault of every document."""
    data = text.encode() if isinstance(text, str) else text
    found: list[Document] = []
    errors: list[DocumentError] = []
    for source in split(io.BytesIO(data), file):
        for each in [source] if isinstance(source, DocumentError) else parse(source):
            if isinstance(each, DocumentError):
                errors.append(each)
            else:
                found.append(each)
    if errors:
        raise DocumentErrors(errors)
    return tuple(found)


def parse(source: Source) -> Iterator[Document | DocumentError]:
    """Read one source: what is empty gives nothing, and what kubectl reads but should not be written gives both."""
    if source.json:
        yield from _parse_json(source)
    elif (value := fast(source.text)) is not None:
        yield Document(source.file, source.index, source.line, source.text, value)
    else:
        yield from exact(source)


def fast(text: str) -> dict[str, Any] | None:
    """Read an object with the fast reader, or give None: not sure, or nothing that it could read."""
    if not readers_agree(text):
        return None
    try:
        value = yaml_rs.loads(text, parse_datetime=False)
    except (yaml_rs.YAMLDecodeError, TypeError):  # TypeError: a key that Python cannot hash
        return None
    if not isinstance(value, dict) or (_FLOW.search(text) and not is_sound(value, _ONE_WORD)):
        return None
    return value


def exact(source: Source) -> Iterator[Document | DocumentError]:
    """Read by kubectl's rules alone."""
    try:
        _check_characters(source.text)
        root, rest = compose(source.text)
        found = construct(root) if root else None
    except Fault as fault:
        yield _error(source, fault)
        return
    if rest:
        yield _error(source, Fault(rest, "got more after the end of the document, want `---` before it"))
    if found:
        yield from (_error(source, fault) for fault in found.faults)
        if found.value is not None:
            yield Document(source.file, source.index, source.line, source.text, found.value)


def _parse_json(source: Source) -> Iterator[Document | DocumentError]:
    """Read a stream of JSON; one that breaks off after its first object or before is YAML from there on."""
    index, end = 0, 0
    try:
        _check_bytes(source.text)
        for element in json.elements(source.text):
            yield from (_error(source, fault) for fault in element.faults)
            if element.value is not None:
                line = source.line + source.text.count("\n", 0, element.start)
                text = source.text[element.start : element.end]
                yield Document(source.file, index, line, text, element.value, json=True)
            index, end = index + 1, element.end
    except Fault as fault:
        yield _error(source, fault)
    except json.NoJSON as problem:
        if index > 1:
            yield _error(source, Fault(problem.offset, f"got no JSON, want one object after the other: {problem}"))
            return
        rest = _SPACE_TO_LINE_END.sub("", source.text[end:], count=1)
        line = source.line + source.text.count("\n", 0, len(source.text) - len(rest))
        for each in split_yaml(iter([rest]), source.file, line, index):
            yield from [each] if isinstance(each, DocumentError) else parse(each)


def _check_characters(text: str) -> None:
    """Raise Fault for what may not be in YAML."""
    _check_bytes(text)
    if found := _CONTROL.search(text):
        raise Fault(found.start(), f"got the control character U+{ord(found[0]):04X}, want text without")


def _check_bytes(text: str) -> None:
    """Raise Fault for a byte that was no UTF-8 (see `separators`)."""
    if not text.isascii() and (found := _BYTE.search(text)):
        raise Fault(found.start(), f"got the byte 0x{ord(found[0]) - 0xDC00:02X}, want text in UTF-8")


def _error(source: Source, fault: Fault) -> DocumentError:
    """Say where in the file a fault is."""
    place = positions.at(source.text, source.line, fault.offset)
    message = fault.message
    if fault.earlier:
        what, offset = fault.earlier
        message += f" ({what} on line {positions.at(source.text, source.line, offset).line})"
    return DocumentError(source.file, place.line, place.column, message=message)
