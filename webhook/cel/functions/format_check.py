"""What is wrong with a literal template of `format`, told from the types of its arguments.

The API server checks it when it compiles. Source: cel-go `ext/formatting.go`, `stringFormatValidator`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from webhook.cel.errors import Budget, CelError
from webhook.cel.functions.format import clause
from webhook.cel.values.time import Duration, Timestamp
from webhook.cel.values.types import CelType, class_of

_SAMPLES: Final = {
    "string": "NaN",
    "timestamp": Timestamp(0),
    "duration": Duration(0),
    "type": CelType("type"),
}


def template_faults(template: str, types: Sequence[str]) -> Iterator[tuple[int | None, str]]:
    """Check a literal template against the types of its arguments, as the API server does when it compiles.

    Gives the number of the argument that is wrong, or None for the template, and what is wrong.
    """
    used = position = 0
    try:
        while (percent := template.find("%", position)) >= 0:
            position = percent + 1
            if template.startswith("%", position):
                position += 1
                continue
            if used >= len(types):
                raise CelError(f"index {used} out of range")
            verb, precision, position = clause(template, position)
            try:
                if types[used] != "dyn":
                    verb(Budget(), _sample(types[used]), precision)
            except CelError as error:
                yield used, f"error during formatting: {error}"
            used += 1
    except CelError as error:
        yield None, str(error)
        return
    if used < len(types):
        yield None, f"too many arguments supplied to string.format (expected {used}, got {len(types)})"


def _sample(type_: str) -> Any:
    """Make a value of a type that every clause takes which takes the type."""
    name = type_.partition("(")[0]
    if name in _SAMPLES:
        return _SAMPLES[name]
    cls: Any = class_of(name)
    return cls.__new__(cls)
