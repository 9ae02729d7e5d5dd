"""`'%s has %d'.format([name, count])`.

The API server runs version 2 of cel-go's string library, whose doubles go through Go's printer for
English: `%f` groups thousands, `%e` is written `1.234568×10⁰⁶`, and the number after the dot is the
*width* of `%e`. Source: cel-go `ext/formatting.go`, whose documentation has narrow spaces that no answer has.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, Final

from webhook.cel.errors import Budget, CelError
from webhook.cel.values.arithmetic import text_cost
from webhook.cel.values.maps import MAPS
from webhook.cel.values.text import double, quote, show
from webhook.cel.values.time import Duration, Timestamp
from webhook.cel.values.types import CelType, Uint, type_of

_CLAUSE: Final = re.compile(r"(\.([0-9]*))?(.?)", re.DOTALL)
_SUPERSCRIPT: Final = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
_NOT_NUMBERS: Final = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_LONGEST_DOUBLE: Final = 500
"""More characters than any double has before the dot, thousands grouped."""


def format_text(budget: Budget, template: str, arguments: list[Any]) -> str:
    """Put the arguments into the template, each at its clause. Raises CelError with cel-go's messages.

    Every part is paid for before it is made.
    """
    budget.charge(text_cost(len(template)))
    parts: list[str] = []
    used = position = 0
    while (percent := template.find("%", position)) >= 0:
        parts.append(template[position:percent])
        position = percent + 1
        if template.startswith("%", position):
            parts.append("%")
            position += 1
            continue
        if used >= len(arguments):
            raise CelError(f"index {used} out of range")
        verb, precision, position = clause(template, position)
        try:
            parts.append(verb(budget, arguments[used], precision))
        except CelError as error:
            raise CelError(f"error during formatting: {error}") from None
        used += 1
    parts.append(template[position:])
    return "".join(parts)


_Verb = Callable[[Budget, Any, int], str]


def clause(template: str, position: int) -> tuple[_Verb, int, int]:
    """The verb, the precision (6 where none is written) and the end of the clause that begins here."""
    if position == len(template):
        raise CelError("unexpected end of string")
    match = _CLAUSE.match(template, position)
    assert match is not None  # noqa: S101 - the expression matches the empty string
    dot, precision, letter = match.groups()
    try:
        if dot and not letter:
            raise CelError("error while parsing precision: could not find end of precision specifier")
        width = _precision(precision) if dot else 6
        if letter not in _VERBS:
            raise CelError(f'unrecognized formatting clause "{letter}"')
    except CelError as error:
        raise CelError(f"could not parse formatting clause: {error}") from None
    return _VERBS[letter], width, match.end()


def _precision(digits: str) -> int:
    if digits and len(digits) < 19:
        return int(digits)
    reason = "value out of range" if digits else "invalid syntax"
    raise CelError(
        "error while parsing precision: error while converting precision to integer: "
        f'strconv.Atoi: parsing "{digits}": {reason}'
    )


def _wrong(clause: str, value: Any) -> CelError:
    return CelError(f"{clause}, was given {type_of(value).name}")


def _string(budget: Budget, value: Any, _precision: int) -> str:
    kind = type(value)
    if kind is float:
        return double(value)
    if kind in {Timestamp, Duration}:
        return str(value)
    if kind in _NESTED:
        return _NESTED[kind](budget, value)
    raise _wrong(
        "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, "
        "and timestamps",
        value,
    )


def _decimal(_budget: Budget, value: Any, _precision: int) -> str:
    if type(value) in {int, Uint}:
        return str(int(value))
    raise _wrong("decimal clause can only be used on integers", value)


def _fixed(budget: Budget, value: Any, precision: int) -> str:
    number = _number("fixed-point clause can only be used on doubles", value)
    budget.charge(text_cost(_LONGEST_DOUBLE + precision))
    return _unusual(number) or f"{number:,.{precision}f}"


def _scientific(budget: Budget, value: Any, width: int) -> str:
    number = _number("scientific clause can only be used on doubles", value)
    budget.charge(text_cost(width))
    return (_unusual(number) or _power_of_ten(number)).rjust(width)


def _power_of_ten(number: float) -> str:
    mantissa, exponent = f"{number:.6e}".split("e")
    sign = "-" if exponent.startswith("-") else ""
    return f"{mantissa}×10{(sign + exponent[1:]).translate(_SUPERSCRIPT)}"


def _number(clause: str, value: Any) -> float:
    if type(value) is float:
        return value + 0.0  # the printer shows no sign on zero
    if type(value) is str and value in _NOT_NUMBERS:
        return _NOT_NUMBERS[value]
    raise _wrong(clause, value)


def _unusual(number: float) -> str:
    if number != number:
        return "NaN"
    return ("∞" if number > 0 else "-∞") if math.isinf(number) else ""


def _binary(_budget: Budget, value: Any, _precision: int) -> str:
    if type(value) in {int, Uint, bool}:
        return f"{int(value):b}"
    raise _wrong("only integers and bools can be formatted as binary", value)


def _octal(_budget: Budget, value: Any, _precision: int) -> str:
    if type(value) in {int, Uint}:
        return f"{int(value):o}"
    raise _wrong("octal clause can only be used on integers", value)


def _hex(budget: Budget, value: Any, _precision: int) -> str:
    if type(value) in {int, Uint}:
        return f"{int(value):x}"
    if type(value) in {str, bytes}:
        budget.charge(text_cost(2 * len(value)))
        return (value.encode() if type(value) is str else value).hex()
    raise _wrong("only integers, byte buffers, and strings can be formatted as hex", value)


def _upper_hex(budget: Budget, value: Any, precision: int) -> str:
    return _hex(budget, value, precision).upper()


_VERBS: Final[dict[str, _Verb]] = {
    "s": _string,
    "d": _decimal,
    "f": _fixed,
    "e": _scientific,
    "b": _binary,
    "o": _octal,
    "x": _hex,
    "X": _upper_hex,
}


def _element(budget: Budget, value: Any) -> str:
    """A value inside a list or a map: written so that CEL could read it."""
    kind = type(value)
    budget.charge(1)
    if kind is str:
        return quote(_text(budget, value))
    if kind is bytes:
        return "b" + quote(_utf8(budget, value))
    if kind is float:
        return f"{value:.6f}" if math.isfinite(value) else f'"{double(value)}"'
    if kind is Timestamp:
        return f'timestamp("{value}")'
    if kind is Duration:
        return f'duration("{value}")'
    if kind in _NESTED:
        return _NESTED[kind](budget, value)
    raise CelError(f"no formatting function for {type_of(value).name}")


def _list(budget: Budget, value: list[Any]) -> str:
    return f"[{', '.join([_element(budget, element) for element in value])}]"


def _map(budget: Budget, value: dict[Any, Any]) -> str:
    entries = sorted((_key(budget, key), _element(budget, element)) for key, element in value.items())
    return f"{{{', '.join(f'{key}:{element}' for key, element in entries)}}}"


def _key(budget: Budget, key: Any) -> str:
    if type(key) is float:
        raise CelError("no formatting function for map key of type double")
    return _element(budget, key)


def _text(budget: Budget, value: str) -> str:
    budget.charge(text_cost(len(value)))
    return value


def _short(_budget: Budget, value: Any) -> str:
    return value.name if type(value) is CelType else show(value)


def _utf8(budget: Budget, value: bytes) -> str:
    budget.charge(text_cost(len(value)))
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise CelError(
            'could not convert argument "invalid UTF-8 in bytes, cannot convert to string" to string'
        ) from None


_NESTED: Final[dict[type, Callable[[Budget, Any], str]]] = {
    str: _text,
    bytes: _utf8,
    **dict.fromkeys((int, Uint, bool, type(None), CelType), _short),
    list: _list,
    **dict.fromkeys(MAPS, _map),
}
"""Types that look the same at the top and inside a list or a map, but for the quotes of strings."""
