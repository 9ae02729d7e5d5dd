"""Puts what the CEL library says about a wrong expression into plain words, with a position and a way out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from webhook.cel.errors import ExpressionError
from webhook.cel.messages import MESSAGES
from webhook.errors import did_you_mean

DEPTH: Final = 64
"""How many levels an expression has at most, which all that goes through a tree can go; in Kubernetes, about 250."""

_FAULT = re.compile(r"ERROR: <input>:(-?\d+):(-?\d+): (.*?)(?: \[[A-Z_]+\])?$", re.MULTILINE)
TOO_DEEP: Final = ExpressionError(1, 1, "the expression is nested too deep; move parts of it into variables")

_ESCAPED: Final = " is no escape in CEL: write `\\\\` for a backslash, or a raw text, `r'…'`"

_FOLLOWS: Final = "'*error*'"
"""What the library calls the type of an expression in which it has found a fault."""

_TOO_LONG: Final = re.compile(r"codepoint limit\. input size: (\d+), limit: (\d+)")
_TOO_BIG: Final = ExpressionError(1, 1, "the expression is too big; move parts of it into variables")


def faults(report: str, text: str, names: Iterable[str], functions: Iterable[str]) -> tuple[ExpressionError, ...]:
    """Read the library's report about `text`. `names` and `functions` are what there is to choose from."""
    if "recursion" in report:
        return (TOO_DEEP,)
    if "node count" in report:
        return (_TOO_BIG,)
    if size := _TOO_LONG.search(report):
        return (ExpressionError(1, 1, f"the expression is too long: got {size[1]} characters, want at most {size[2]}"),)
    lines = text.splitlines()
    found = set()
    for line, column, message in _FAULT.findall(report):
        if _FOLLOWS in message or int(line) > max(1, len(lines)):
            continue  # the library stumbles over a fault that it has told already
        place = _Place(lines[int(line) - 1] if 0 < int(line) <= len(lines) else "", int(column) - 1)
        column, words = _Writer(place, tuple(names), tuple(functions)).plain(message)
        found.add(ExpressionError(max(1, int(line)), max(1, column + 1), words))
    if escapes := [fault for fault in found if fault.message.endswith(_ESCAPED)]:
        found = {min(escapes)}  # where the text around it ends is told wrongly from there on
    return tuple(sorted(found)) or (ExpressionError(1, 1, report.partition("\n")[0]),)


@dataclass(frozen=True, slots=True)
class _Place:
    """A line of the text and an offset in it."""

    line: str
    offset: int

    @property
    def before(self) -> str:
        return self.line[: self.offset]

    @property
    def after(self) -> str:
        return self.line[self.offset :]


class _Writer:
    """Rewrites one message of the library."""

    def __init__(self, place: _Place, names: Sequence[str], functions: Sequence[str]) -> None:
        self._place = place
        self._names = names
        self._functions = functions

    def plain(self, message: str) -> tuple[int, str]:
        """Give the offset in the line to point at, and the words."""
        for pattern, write in self._PATTERNS:
            if match := re.match(pattern, message):
                words = write(self, *match.groups())
                return self._place.offset, words
        return self._place.offset, message[:1].lower() + message[1:]

    def _unknown(self, name: str) -> str:
        if self._place.after.startswith("("):
            if name in self._functions:
                return self._misplaced(name)
            return f"no function `{name}`{did_you_mean(name, self._functions)}"
        first = name.partition(".")[0]
        if self._place.after.startswith("."):  # the place of `a.b` is its dot
            start = self._place.line.rfind(first, 0, self._place.offset)
            self._place = replace(self._place, offset=max(0, start))
        if first not in ("variables", "lookups"):
            return f"no variable `{first}`{did_you_mean(first, self._names)}"
        if first == name:
            return f"`{name}` is no value: write `{name}.<name>`"
        of, own = name.split(".")[:2]
        known = [other.removeprefix(f"{of}.") for other in self._names if other.startswith(f"{of}.")]
        return f"no variable `{of}.{own}`{did_you_mean(own, known, f'{of}.')}"

    def _misplaced(self, name: str) -> str:
        if self._place.before.endswith(f".{name}"):
            return f"`{name}` is no method: write `{name}(…)`"
        return f"`{name}` is a method: write `….{name}(…)`"

    def _no_field(self, field: str, message: str) -> str:
        operand = re.search(r"[\w.]+$", self._place.before) if self._place.after.startswith(".") else None
        of = operand[0] if operand else message
        return f"`{of}` has no field `{field}`{did_you_mean(field, MESSAGES.get(message, ()))}"

    def _no_overload(self, function: str, arguments: str) -> str:
        operator = _operator(function)
        types = _split(arguments)
        if operator is None:
            return f"`{function}` does not take ({', '.join(types)})"
        return f"`{operator}` cannot be applied to {' and '.join(types)}"

    def _has(self) -> str:
        before = self._place.before.rpartition("has(")[2].strip()
        key = re.match(r"\[\s*([^\]]+?)\s*\]", self._place.after)
        advice = f": write `{key[1]} in {before}`" if key and before else ""
        return f"has() takes a field such as `a.b`, not an index{advice}"

    def _unexpected(self, found: str) -> str:
        if found == "<EOF>" or not self._place.after.strip():
            return "the expression ends too early"
        return f"cannot read the expression from `{found.strip()}` on"

    def _unclosed(self, found: str) -> str:
        if escape := re.search(r"\\[^\\]$", found):
            self._place = replace(self._place, offset=self._place.offset + escape.start())
            return f"`{escape[0]}`{_ESCAPED}"
        quoted = found[:1] in "'\""
        return f"the text that begins with `{found}` is not closed" if quoted else f"`{found}` means nothing in CEL"

    def _no_number(self, kind: str) -> str:
        number = re.match(r"-?[\w.]+", self._place.after)
        return f"`{number[0] if number else ''}` is too big for {'an int' if kind == 'int' else f'a {kind}'}"

    def _wanted(self, want: str, got: str) -> str:
        return f"got {got}, want {want}"

    _PATTERNS: Final[tuple[tuple[str, Callable[..., str]], ...]] = (
        (r"undeclared reference to '(.*)' \(in container", _unknown),
        (r"undefined field '(.*)' not found in struct '(.*)'", _no_field),
        (r"found no matching overload for '(.*)' applied to '\((.*)\)'", _no_overload),
        (r"has\(\) argument must be a field selection|invalid argument to has\(\) macro", _has),
        (r"Syntax error: (?:mismatched|extraneous) input '(.*)' expecting", _unexpected),
        (r"Syntax error: no viable alternative at input '(.*)'", _unexpected),
        (r"Syntax error: token recognition error at: '(.*)'$", _unclosed),
        (r"invalid (?:hex )?(int|uint) literal", _no_number),
        (r"expected type '(.*)' but found '(.*)'", _wanted),
    )


def _operator(function: str) -> str | None:
    """Give the sign of an operator: `<` for `_<_`, `in` for `@in`; None for a function's name."""
    if function == "_[_]":
        return "[]"
    if function == "_?_:_":
        return "?:"
    if function.startswith(("_", "@", "-_", "!_")):
        return function.strip("_@")
    return None


def _split(arguments: str) -> list[str]:
    """Split a list of types at the commas that stand outside parentheses; a free type parameter is `any`."""
    plain = re.sub(r"T%\d+", "any", arguments.replace(", ", ",")).replace("google.protobuf.Timestamp", "timestamp")
    plain = plain.replace("google.protobuf.Duration", "duration")
    return re.findall(r"[^,(]+(?:\((?:[^()]|\([^()]*\))*\))?", plain)
