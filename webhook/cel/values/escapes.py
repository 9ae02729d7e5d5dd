"""Percent escapes in URLs. Go does not escape the same characters in each part of a URL."""

from __future__ import annotations

import re
import string
from typing import Final

from webhook.cel.errors import CelError
from webhook.cel.values.text import quote

_UNRESERVED: Final = string.ascii_letters + string.digits + "-_.~"
PATH: Final = frozenset((_UNRESERVED + "$&+,/:;=@").encode())
HOST: Final = frozenset((_UNRESERVED + "!$&'()*+,;=:[]<>\"").encode())
USER: Final = frozenset((_UNRESERVED + "$&+,;=").encode())
FRAGMENT: Final = frozenset((_UNRESERVED + "$&+,/:;=?@!()*").encode())
"""What may stand unescaped in each part."""

_ESCAPE: Final = re.compile(rb"%[0-9A-Fa-f]{2}")
_NO_ESCAPE: Final = re.compile(rb"%(?![0-9A-Fa-f]{2}).{0,2}", re.DOTALL)


def unescaped(text: str) -> str:
    """Undo every escape. Raises CelError for what is none."""
    if "%" not in text:
        return text
    raw = text.encode(errors="surrogateescape")
    if bad := _NO_ESCAPE.search(raw):
        raise _bad_escape(bad[0])
    return _ESCAPE.sub(lambda match: bytes.fromhex(match[0][1:].decode()), raw).decode(errors="surrogateescape")


def escaped(text: str, plain: frozenset[int]) -> str:
    """Escape all but the plain characters."""
    raw = text.encode(errors="surrogateescape")
    return "".join(chr(byte) if byte in plain else f"%{byte:02X}" for byte in raw)


def written(text: str, plain: frozenset[int], encoded: re.Pattern[str]) -> str:
    """Give a part as Go writes it: as it was, if that is well escaped. Raises CelError."""
    plain_text = unescaped(text)
    return text if encoded.fullmatch(text) else escaped(plain_text, plain)


def unescaped_host(text: str, *, zone: bool = False) -> str:
    """Undo the escapes of a host, of which only few are allowed. Raises CelError."""
    raw = text.encode()
    position = 0
    while position < len(raw):
        if raw[position] == ord("%"):
            escape = raw[position : position + 3]
            byte = _byte(escape)
            if escape != b"%25" and (byte not in HOST and byte != ord(" ") if zone else byte < 0x80):
                raise _bad_escape(escape)
            position += 3
            continue
        if raw[position] < 0x80 and raw[position] not in HOST:
            raise CelError(f"invalid character {quote(chr(raw[position]))} in host name")
        position += 1
    return unescaped(text)


def _byte(escape: bytes) -> int:
    if not _ESCAPE.fullmatch(escape):
        raise _bad_escape(escape)
    return int(escape[1:], 16)


def _bad_escape(escape: bytes) -> CelError:
    return CelError(f"invalid URL escape {quote(escape.decode(errors='surrogateescape'))}")
