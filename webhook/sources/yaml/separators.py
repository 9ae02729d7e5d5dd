"""Where one document ends and the next begins, as kubectl sees it (`YAMLReader` in `k8s.io/apimachinery`).

A line that begins with `---` separates, wherever it stands; nothing but a comment may follow on it. Files are read in
pieces, so that one of any length needs no more memory than its longest document.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final

from webhook.errors import DocumentError

PIECE: Final = 1 << 20
_SEPARATOR: Final = "---"


@dataclass(frozen=True, slots=True)
class Source:
    """The text of one document and where it stands; small, and cheap to send to another process.

    `index` counts the documents of the file from 0, empty ones too; `line` is that of the first character, from 1. With
    `json` the text is a whole file that begins as JSON: a stream of any number of documents.
    """

    file: str
    index: int
    line: int
    text: str
    json: bool = False


def split(stream: BinaryIO, file: str, piece: int = PIECE) -> Iterator[Source | DocumentError]:
    """Cut a file into documents, reading `piece` bytes at a time.

    A byte that is no UTF-8 becomes a lone surrogate, for the reader to report.
    """
    head = stream.read(piece)
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        yield DocumentError(file, 1, 1, message="got UTF-16, want UTF-8: save the file again with that encoding")
    elif head.lstrip().startswith(b"{"):
        yield Source(file, 0, 1, _decode(head + stream.read()), json=True)
    else:
        yield from split_yaml(_pieces(head, stream, piece), file)


def split_yaml(pieces: Iterator[str], file: str, line: int = 1, index: int = 0) -> Iterator[Source | DocumentError]:
    """Cut YAML into documents; each piece but the last ends with a separator's line."""
    opened = False
    body = ""
    for piece in pieces:
        start = 0
        while (end := _next_separator(piece, start)) >= 0:
            body = piece[start:end]
            if body or opened:
                yield Source(file, index, line, body.removeprefix("\ufeff"))
                index += 1
            # The separator that ends a document belongs to nobody; one more after it begins an empty document.
            opened = not (body or opened)
            line += body.count("\n")
            start = piece.find("\n", end) + 1 or len(piece)
            if (extra := piece[end + len(_SEPARATOR) : start].strip()) and not extra.startswith("#"):
                message = f"got `{extra}` after `---`, want nothing there: kubectl refuses it"
                yield DocumentError(file, line, len(_SEPARATOR) + 1, message=message)
            line += 1
        body = piece[start:]
    if body or opened:
        # kubectl ends every line, also the last one, which matters to a block scalar.
        yield Source(file, index, line, body.removeprefix("\ufeff").removesuffix("\n") + "\n")


def _next_separator(text: str, start: int) -> int:
    if text.startswith(_SEPARATOR, start):
        return start
    found = text.find(f"\n{_SEPARATOR}", start)
    return found + 1 if found >= 0 else -1


def _pieces(head: bytes, stream: BinaryIO, piece: int) -> Iterator[str]:
    """Read on, and cut after the last separator that came in whole."""
    size = piece
    while block := stream.read(size):
        cut = head.rfind(b"\n---")
        end = head.find(b"\n", cut + 1) + 1 if cut >= 0 else 0
        if end:
            yield _decode(head[:end])
            head, size = head[end:], piece
        else:
            size = len(head)
        head += block
    yield _decode(head)


def _decode(data: bytes) -> str:
    return data.decode(errors="surrogateescape").replace("\r\n", "\n")
