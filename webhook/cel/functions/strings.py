"""Strings: cel-go's string library (version 2). Positions count code points.

Source: cel-go `ext/strings.go`. `format` has its own module.
"""

from __future__ import annotations

from typing import Any, Final

from webhook.cel.errors import Budget, CelError
from webhook.cel.functions import lists
from webhook.cel.functions.format import format_text
from webhook.cel.functions.library import Function, Library, call, charging, checked, method
from webhook.cel.values.arithmetic import text_cost
from webhook.cel.values.text import ESCAPES, show
from webhook.cel.values.types import no_such_overload

_SPACE: Final = (
    "\t\n\v\f\r \x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"
)
"""Unicode's White_Space, which is what Go trims; `str.strip` would take the separators U+001C to U+001F too."""

_LOWER: Final = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
_UPPER: Final = {code: code - 32 for code in range(ord("a"), ord("z") + 1)}
_ESCAPES: Final = str.maketrans(ESCAPES)


def _out_of_range(position: int) -> CelError:
    return CelError(f"index out of range: {position}")


def _char_at(text: str, position: int) -> str:
    if not 0 <= position <= len(text):
        raise _out_of_range(position)
    return text[position : position + 1]


def _index_of(budget: Budget, text: Any, part: Any, *start: Any) -> int:
    budget.charge(lists.traversal(text))
    if type(text) is list and not start:
        return lists.index_of(text, part)
    first = start[0] if start else 0
    if type(text) is not str or type(part) is not str or type(first) is not int:
        raise no_such_overload("indexOf", text, part, *start)
    if first < 0:
        raise _out_of_range(first)
    return text.find(part, min(first, len(text)))


def _last_index_of(budget: Budget, text: Any, part: Any, *end: Any) -> int:
    budget.charge(lists.traversal(text))
    if type(text) is list and not end:
        return lists.last_index_of(text, part)
    last = end[0] if end else 0
    if type(text) is not str or type(part) is not str or type(last) is not int:
        raise no_such_overload("lastIndexOf", text, part, *end)
    if not end:
        return text.rfind(part)
    if last < 0:
        raise _out_of_range(last)
    if part and last >= len(text):
        return -1
    return text.rfind(part, 0, last + len(part))


def _join(budget: Budget, parts: list[Any], separator: str = "") -> str:
    for part in parts:
        if type(part) is not str:
            raise CelError(f"join: invalid input: {show(part)}")
    length = sum(map(len, parts)) + len(separator) * max(len(parts) - 1, 0)
    budget.charge(text_cost(2 * length))
    return separator.join(parts)


def _lower(budget: Budget, text: str) -> str:
    budget.charge(text_cost(len(text)))
    return text.translate(_LOWER)


def _upper(budget: Budget, text: str) -> str:
    budget.charge(text_cost(len(text)))
    return text.translate(_UPPER)


def _replace(budget: Budget, text: str, old: str, new: str, limit: int = -1) -> str:
    count = text.count(old)
    count = count if limit < 0 else min(count, limit)
    budget.charge(text_cost(max(2 * len(text), len(text) + count * (len(new) - len(old)))))
    return text.replace(old, new, count)


def _split(budget: Budget, text: str, separator: str, limit: int = -1) -> list[str]:
    if limit == 0:
        return []
    budget.charge(text_cost(2 * len(text)))
    if separator:
        return text.split(separator, limit - 1 if limit > 0 else -1)
    if limit < 0 or limit >= len(text):
        return list(text)
    return [*text[: limit - 1], text[limit - 1 :]]


def _substring(budget: Budget, text: str, start: int, end: int | None = None) -> str:
    budget.charge(text_cost(len(text)))
    stop = len(text) if end is None else end
    if end is not None and start > end:
        raise CelError(f"invalid substring range. start: {start}, end: {end}")
    if not 0 <= start <= len(text):
        raise _out_of_range(start)
    if not 0 <= stop <= len(text):
        raise _out_of_range(stop)
    return text[start:stop]


def _trim(budget: Budget, text: str) -> str:
    budget.charge(text_cost(len(text)))
    return text.strip(_SPACE)


def _quote(budget: Budget, text: str) -> str:
    budget.charge(text_cost(len(text)))
    return f'"{text.translate(_ESCAPES)}"'


LIBRARIES: Final = (
    Library(
        "strings",
        "1.0",
        (
            checked("charAt", _char_at, method("string", "int", result="string")),
            Function(
                "indexOf",  # of the API server's lists too: a name has one function
                (
                    method("string", "string", result="int"),
                    method("string", "string", "int", result="int"),
                    method("list<~A>", "~A", result="int"),
                ),
                _index_of,
                charges=True,
            ),
            Function(
                "lastIndexOf",
                (
                    method("string", "string", result="int"),
                    method("string", "string", "int", result="int"),
                    method("list<~A>", "~A", result="int"),
                ),
                _last_index_of,
                charges=True,
            ),
            charging(
                "join",
                _join,
                method("list<string>", result="string"),
                method("list<string>", "string", result="string"),
            ),
            charging("lowerAscii", _lower, method("string", result="string")),
            charging("upperAscii", _upper, method("string", result="string")),
            charging(
                "replace",
                _replace,
                method("string", "string", "string", result="string"),
                method("string", "string", "string", "int", result="string"),
            ),
            charging(
                "split",
                _split,
                method("string", "string", result="list<string>"),
                method("string", "string", "int", result="list<string>"),
            ),
            charging(
                "substring",
                _substring,
                method("string", "int", result="string"),
                method("string", "int", "int", result="string"),
            ),
            charging("trim", _trim, method("string", result="string")),
        ),
    ),
    Library(
        "strings 2",
        "1.29",
        (
            charging("format", format_text, method("string", "list<dyn>", result="string")),
            charging("strings.quote", _quote, call("string", result="string")),
        ),
    ),
)
