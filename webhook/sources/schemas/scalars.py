"""Texts, numbers and booleans against a schema, in words for people."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from webhook.admission.structures import Schema
from webhook.cel.errors import Budget, CelError
from webhook.cel.functions import FUNCTIONS
from webhook.errors import did_you_mean

_INTEGERS: Final = {"int32": 31, "int64": 63}
_WANTED: Final = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "object": "a map",
    "array": "a list",
}
_CHOICES: Final = 12
QUOTES: Final = "; put it in quotes"
"""Ends a message about what would be text if it were quoted."""

_SHOWN: Final = 60
"""Characters of a value that a message shows."""


def named(value: Any) -> str:
    """Say what kind of value it is."""
    names = {dict: "a map", list: "a list", bool: f"`{str(value).lower()}`", str: shown(value), type(None): "null"}
    return names.get(type(value)) or shown(value)


def shown(value: Any) -> str:
    """Write a value as YAML has it on one line, in backticks, shortened."""
    text = value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False, default=str)
    return f"`{text if len(text) <= _SHOWN else text[: _SHOWN - 1] + '…'}`"


def wanted(schema: Schema) -> str:
    """Say what kind of value a schema takes."""
    if schema.get("format") == "quantity":
        return "a quantity"
    if is_int_or_string(schema):
        return "a whole number or text"
    return _WANTED.get(str(schema.get("type")), "a value")


def same(one: Any, other: Any) -> bool:
    """Are two values the same to JSON, where true is no 1."""
    return bool(one == other) and json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def is_int_or_string(schema: Schema) -> bool:
    """Is it a whole number or text, which OpenAPI says in more than one way."""
    return schema.get("format") == "int-or-string" or schema.get("x-kubernetes-int-or-string") is True


def kind_fault(value: Any, schema: Schema) -> str:
    """Say what is wrong with the kind of a value, or with text and numbers that Go reads as something else."""
    if not _fits(value, schema):
        return f"got {named(value)}, want {wanted(schema)}{_hint(value, schema)}"
    format_ = schema.get("format", "")
    if isinstance(value, str) and (read := _FORMATS.get(format_)) and not read(value):
        return f"got {shown(value)}, want {_FORMAT_WORDS[format_]}"
    bits = _INTEGERS.get(format_, 63 if schema.get("type") == "integer" else 0)
    if bits and isinstance(value, int | float) and not -(1 << bits) <= value < 1 << bits:
        return f"got `{value}`, want a whole number of {bits + 1} bits"
    return ""


def value_faults(value: Any, schema: Schema, *, native: bool) -> Iterator[str]:
    """Say what is wrong with a text, number or boolean of the right kind. An empty text is nothing to a Go type."""
    options = schema.get("enum")
    if options and not any(same(value, one) for one in options) and not (native and value == ""):
        names = ", ".join(map(shown, options[:_CHOICES])) + (" …" if len(options) > _CHOICES else "")
        yield f"got {shown(value)}, want one of {names}{did_you_mean(str(value), map(str, options))}"
    if isinstance(value, str):
        yield from _text_faults(value, schema)
    elif not isinstance(value, bool):
        yield from _number_faults(value, schema)


def _hint(value: Any, schema: Schema) -> str:
    """YAML's typical trap: what looks like text is a number or a boolean."""
    return QUOTES if schema.get("type") == "string" and isinstance(value, bool | int | float) else ""


def _fits(value: Any, schema: Schema) -> bool:
    if schema.get("format") == "quantity":
        return isinstance(value, str | int | float) and not isinstance(value, bool)
    if is_int_or_string(schema):
        return isinstance(value, str) or _is_whole(value)
    match schema.get("type"):
        case "string":
            return isinstance(value, str)
        case "integer":
            return _is_whole(value)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "boolean":
            return isinstance(value, bool)
        case None:
            return True
        case _:
            return False


def _is_whole(value: Any) -> bool:
    return not isinstance(value, bool) and (isinstance(value, int) or (isinstance(value, float) and value.is_integer()))


def _text_faults(value: str, schema: Schema) -> Iterator[str]:
    if len(value) < (least := schema.get("minLength", 0)):
        yield f"got {len(value)} characters, want {least} at least"
    if len(value) > (most := schema.get("maxLength", len(value))):
        yield f"got {len(value)} characters, want {most} at most"
    if (pattern := schema.get("pattern")) and not _matches(value, pattern):
        yield f"got {shown(value)}, want text that matches `{pattern}`"


def _number_faults(value: float, schema: Schema) -> Iterator[str]:
    beyond = "more than" if schema.get("exclusiveMinimum") else "at least"
    if value < (least := schema.get("minimum", value)) or (value == least and beyond == "more than"):
        yield f"got `{value}`, want {beyond} {least}"
    below = "less than" if schema.get("exclusiveMaximum") else "at most"
    if value > (most := schema.get("maximum", value)) or (value == most and below == "less than"):
        yield f"got `{value}`, want {below} {most}"
    if (step := schema.get("multipleOf")) and value % step:
        yield f"got `{value}`, want a multiple of {step}"


def _matches(text: str, pattern: str) -> bool:
    """Search as the API server does, in RE2's language. A pattern that is none has been refused with its definition."""
    try:
        return bool(FUNCTIONS["matches"].implementation(Budget(), text, pattern))
    except CelError:
        return True


def _is_readable(function: str, text: str) -> bool:
    try:
        FUNCTIONS[function].implementation(text)
    except CelError:
        return False
    return True


def _is_quantity(text: str) -> bool:
    return bool(FUNCTIONS["isQuantity"].implementation(Budget(), text))


def _is_base64(text: str) -> bool:
    try:
        base64.b64decode(text.replace("\n", "").replace("\r", ""), validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


_FORMATS: Final[Mapping[str, Callable[[str], bool]]] = {
    "byte": _is_base64,
    "date-time": lambda text: _is_readable("timestamp", text),
    "quantity": _is_quantity,
}
_FORMAT_WORDS: Final = {
    "byte": "base64",
    "date-time": "a time as in RFC 3339, such as `2026-01-31T12:00:00Z`",
    "quantity": "a quantity, such as `500m` or `2Gi`",
}
