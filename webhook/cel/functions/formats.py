"""Formats: `format.dns1123Label().validate(s)`, `format.named('uuid').value()`.

Source: `pkg/cel/library/format.go` of the API server.
"""

from __future__ import annotations

from typing import Final

from webhook.cel.functions.library import Function, Library, call, method, typed
from webhook.cel.values.arithmetic import text_cost
from webhook.cel.values.formats import FORMATS, NamedFormat
from webhook.cel.values.optional import NONE, Optional

_FORMAT: Final = "kubernetes.NamedFormat"


def _named(name: str) -> Optional:
    return Optional.of(FORMATS[name]) if name in FORMATS else NONE


def _validate(format_: NamedFormat, text: str) -> Optional:
    faults = format_.faults(text)
    return Optional.of(faults) if faults else NONE


def _validate_cost(format_: NamedFormat, text: str) -> int:
    return text_cost(len(text) + 1) * format_.cost


def _constant(name: str, format_: NamedFormat) -> Function:
    return typed(f"format.{name}", (call(result=_FORMAT), lambda: format_))


LIBRARIES: Final = (
    Library(
        "format",
        "1.31",
        (
            typed("format.named", (call("string", result=f"optional_type<{_FORMAT}>"), _named)),
            *(_constant(name, format_) for name, format_ in FORMATS.items()),
            typed(
                "validate",
                (method(_FORMAT, "string", result="optional_type<list<string>>"), _validate),
                cost=_validate_cost,
            ),
        ),
    ),
)
