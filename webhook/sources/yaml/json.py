"""JSON files: any number of objects one after the other, as Go's decoder reads a stream."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from webhook.sources.yaml.construct import construct
from webhook.sources.yaml.limits import TOO_DEEP, is_sound
from webhook.sources.yaml.scalars import normal
from webhook.sources.yaml.tree import Fault, compose

_SPACE: Final = re.compile(r"[ \t\r\n]*")
_HALF: Final = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
_CONTROL: Final = re.compile(r"[\t\x7f-\x9f]")


@dataclass(frozen=True, slots=True)
class Element:
    """One object of a stream: its value, where it stands, and what is wrong with it although kubectl reads it."""

    value: Any
    start: int
    end: int
    faults: tuple[Fault, ...]


class NoJSON(Exception):
    """From this offset on the text is no JSON."""

    def __init__(self, offset: int, message: str) -> None:
        """Keep the place beside the message."""
        super().__init__(message)
        self.offset = offset


def elements(text: str) -> Iterator[Element]:
    """Read one object after the other. Raises NoJSON where the text stops being that, and Fault for bad values."""
    decoder = _Decoder()
    start = _skip(text, 0)
    while start < len(text):
        value, end = decoder.read(text, start)
        yield Element(value, start, end, _duplicates(text[start:end], start) if decoder.duplicates else ())
        start = _skip(text, end)


def as_yaml(text: str) -> str:
    """Replace what JSON may hold and YAML may not by something as long: only places are read from the result."""
    return _CONTROL.sub(" ", _HALF.sub(r"\\u0020", text))


class _Decoder:
    def __init__(self) -> None:
        self.duplicates = False
        self.decoder = json.JSONDecoder(
            object_pairs_hook=self.object, parse_int=_integer, parse_float=_float, parse_constant=_refuse
        )

    def read(self, text: str, start: int) -> tuple[Any, int]:
        """Read one value, and check what the decoder lets through."""
        self.duplicates = False
        try:
            value, end = self.decoder.raw_decode(text, start)
        except json.JSONDecodeError as error:
            raise NoJSON(error.pos, error.msg) from None
        except RecursionError:
            raise Fault(start, TOO_DEEP) from None
        except ValueError as error:
            raise Fault(start, str(error)) from None
        if not is_sound(value):
            raise Fault(start, TOO_DEEP)
        if half := _HALF.search(text, start, end):
            _check_pairs(value, half.start())
        return value, end

    def object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        """Make a map, and note whether a key came twice."""
        result = dict(pairs)
        self.duplicates |= len(result) != len(pairs)
        return result


def _skip(text: str, start: int) -> int:
    found = _SPACE.match(text, start)
    return found.end() if found else start


def _duplicates(text: str, start: int) -> tuple[Fault, ...]:
    """Find the keys that came twice; the YAML reader knows the places."""
    root, _ = compose(as_yaml(text))
    faults = construct(root).faults if root else []
    return tuple(
        Fault(each.offset + start, each.message, each.earlier and (each.earlier[0], each.earlier[1] + start))
        for each in faults
    )


def _check_pairs(value: Any, offset: int) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise Fault(offset, r"got one half of a surrogate pair (`\ud800` to `\udfff`), want both") from None


def _integer(text: str) -> int | float:
    return int(text) if len(text) < 19 else normal(int(text) if len(text) < 21 else float(text))


def _float(text: str) -> int | float:
    return normal(float(text))


def _refuse(text: str) -> NoReturn:
    raise ValueError(f"got `{text}`, want a number that JSON can hold")
