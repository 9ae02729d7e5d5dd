"""What every CEL has beside operators: sizes, and tests on strings. The checker declares them."""

from __future__ import annotations

from typing import Any, Final

from webhook.cel.errors import Budget, CelError
from webhook.cel.functions.library import Function, Library
from webhook.cel.values.access import size
from webhook.cel.values.arithmetic import text_cost


def _contains(budget: Budget, text: Any, part: Any) -> bool:
    if type(text) is str and type(part) is str:
        budget.charge(text_cost(len(text)) * text_cost(len(part)))
        return part in text
    raise CelError("no such overload")


def _starts_with(text: Any, prefix: Any) -> bool:
    if type(text) is str and type(prefix) is str:
        return text.startswith(prefix)
    raise CelError("no such overload")


def _ends_with(text: Any, suffix: Any) -> bool:
    if type(text) is str and type(suffix) is str:
        return text.endswith(suffix)
    raise CelError("no such overload")


LIBRARIES: Final = (
    Library(
        "standard",
        "1.0",
        (
            Function("size", (), size),
            Function("contains", (), _contains, charges=True),
            Function("startsWith", (), _starts_with),
            Function("endsWith", (), _ends_with),
        ),
    ),
)
