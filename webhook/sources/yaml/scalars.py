"""What a scalar means: go-yaml v2's rules (`resolve.go`), then JSON's, as kubectl applies them one after the other.

kubectl turns YAML into JSON with `sigs.k8s.io/yaml`, which reads with go-yaml v2: YAML 1.1's booleans
(`on`, `y`, `NO`) and octals (`0777`) beside YAML 1.2's (`0o7`), no sexagesimal numbers, no dates. The API
server then reads that JSON: a whole number that fits into 64 bits is an integer, however it was written.
"""

from __future__ import annotations

import base64
import binascii
import re
import struct
from decimal import Decimal
from typing import Final

Scalar = str | int | float | bool | None

STR: Final = "tag:yaml.org,2002:str"
MERGE: Final = "tag:yaml.org,2002:merge"
_BOOL: Final = "tag:yaml.org,2002:bool"
_INT: Final = "tag:yaml.org,2002:int"
_FLOAT: Final = "tag:yaml.org,2002:float"
_NULL: Final = "tag:yaml.org,2002:null"
_BINARY: Final = "tag:yaml.org,2002:binary"
_TIMESTAMP: Final = "tag:yaml.org,2002:timestamp"
KNOWN_TAGS: Final = frozenset({"!", STR, MERGE, _BOOL, _INT, _FLOAT, _NULL, _BINARY, _TIMESTAMP})

_WORDS: Final[dict[str, tuple[str, Scalar]]] = {
    **dict.fromkeys(["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"], (_BOOL, True)),
    **dict.fromkeys(["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"], (_BOOL, False)),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), (_NULL, None)),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), (_FLOAT, float("nan"))),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), (_FLOAT, float("inf"))),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), (_FLOAT, float("-inf"))),
}
_INTEGER = re.compile(r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|(0|[1-9][0-9]*))", re.ASCII)
_DECIMAL = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", re.ASCII)
_FRACTION = re.compile(r"\.[0-9]+(?:_[0-9]+)*(?:[eE][-+]?[0-9]+(?:_[0-9]+)*)?", re.ASCII)
"""Underscores are ignored anywhere in a number; in one that begins with the point, between digits only."""
_INT64: Final = range(-(2**63), 2**63)
_INFINITIES: Final = (float("inf"), float("-inf"))
_MAX_UINT64: Final = 2**64 - 1
_PLAIN_FLOAT_LIMIT: Final = 1e21
"""From here on Go writes a float with an exponent, which the API server reads as a float again."""


def resolve(text: str, tag: str | None, *, plain: bool) -> Scalar:
    """Give the value of a scalar as the API server will see it.

    `plain` says that neither quotes nor a block style made it text. Raises ValueError for what kubectl refuses: a
    text that is not what its tag says, invalid base64, numbers that JSON cannot hold.
    """
    value = _tagged(text, tag) if tag else _resolve_plain(text)[1] if plain else text
    return normal(value) if isinstance(value, int | float) else value


def key(text: str, tag: str | None, *, plain: bool) -> str:
    """Give the text that a scalar becomes as a key. Raises ValueError where kubectl has none (null, huge numbers)."""
    value = _tagged(text, tag) if tag else _resolve_plain(text)[1] if plain else text
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _float_key(value)
    if value is None or value not in _INT64:
        raise ValueError(f"got `{text or 'nothing'}` as a key, want text: write it in quotes")
    return str(value)


def normal(number: float) -> int | float:
    """Give a number as it is once it went through JSON: whole numbers of 64 bits are integers, all others floats.

    Raises ValueError for infinity and not-a-number, and for whole numbers that no float can hold.
    """
    if isinstance(number, bool):
        return number
    if isinstance(number, int):
        return number if number in _INT64 else _as_float(number)
    if number != number or number in _INFINITIES:
        raise ValueError(f"got the number `{number}`, want one that JSON can hold")
    if number.is_integer() and abs(number) < _PLAIN_FLOAT_LIMIT:
        whole = int(Decimal(repr(number)))  # the shortest digits, filled up with zeros, as Go writes them
        return whole if whole in _INT64 else number
    return number


def _as_float(number: int) -> float:
    try:
        return float(number)
    except OverflowError:
        raise ValueError("got a number that is too large, want one that JSON can hold") from None


def _tagged(text: str, tag: str) -> Scalar:
    """Apply an explicit tag: `!!str 12`, `!!float 3`, `!!binary aGk=`. Any other tag makes text of it."""
    if tag == _BINARY:
        return _decode(text)
    if tag not in (_BOOL, _INT, _FLOAT, _NULL):
        return text
    found, value = _resolve_plain(text)
    if found == tag:
        return value
    if tag == _FLOAT and found == _INT and isinstance(value, int) and value in _INT64:
        return float(value)
    raise ValueError(f"got `{text}`, which is no {tag.rpartition(':')[2]} as its tag says")


def _resolve_plain(text: str) -> tuple[str, Scalar]:
    if text in _WORDS:
        return _WORDS[text]
    if not text or text[0] not in "+-.0123456789":
        return STR, text
    if text[0] == "." and not _FRACTION.fullmatch(text):
        return STR, text
    digits = text.replace("_", "")
    if (match := _INTEGER.fullmatch(digits)) and (integer := _integer(match)) is not None:
        return _INT, integer
    if _DECIMAL.fullmatch(digits) and abs(number := float(digits)) != float("inf"):
        return _FLOAT, number
    return STR, text


def _integer(match: re.Match[str]) -> int | None:
    """Read an integer if it fits into 64 bits, with a sign or without one."""
    sign, hexadecimal, binary, octal, decimal = match.groups()
    digits, base = next((d, b) for d, b in ((hexadecimal, 16), (binary, 2), (octal, 8), (decimal, 10)) if d)
    if len(digits) > 64:
        return None
    value = int(digits, base)
    if sign:
        value = -value if sign == "-" else value
        return value if value in _INT64 else None
    return value if value <= _MAX_UINT64 else None


def _decode(text: str) -> str:
    try:
        data = base64.b64decode(text.replace("\n", "").replace("\r", ""), validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("got a `!!binary` value that is no base64") from None
    # Go's JSON encoder writes one U+FFFD for each byte that is not UTF-8.
    return re.sub("[\udc80-\udcff]", "\ufffd", data.decode(errors="surrogateescape"))


def _float_key(value: float) -> str:
    """Write a float as Go's `strconv.FormatFloat(value, 'g', -1, 32)`: the shortest text that gives this float32."""
    try:
        value = _single(value)
    except OverflowError:
        value = float("inf") if value > 0 else float("-inf")
    if value != value or value in _INFINITIES:
        return ".nan" if value != value else ".inf" if value > 0 else "-.inf"
    places = next(n for n in range(9) if _single(float(f"{value:.{n}e}")) == value)
    scientific = f"{value:.{places}e}"
    exponent = int(scientific.partition("e")[2])
    return f"{value:.{max(places - exponent, 0)}f}" if -4 <= exponent < 6 else scientific


def _single(value: float) -> float:
    return float(struct.unpack("f", struct.pack("f", value))[0])
