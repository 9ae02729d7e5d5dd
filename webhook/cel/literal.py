"""A JSON value as a CEL literal that Kubernetes takes: one literal, one type, so what is mixed is `dyn`."""

from __future__ import annotations

from typing import Any

_ESCAPES = str.maketrans({"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"})


def literal(value: Any) -> str:
    """Write a value. Elements of a list or a map that are not all scalars of one type are written as `dyn(…)`."""
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case str():
            return f"'{value.translate(_ESCAPES)}'"
        case list():
            return f"[{', '.join(_elements(value))}]"
        case dict():
            values = _elements(list(value.values()))
            return f"{{{', '.join(f'{literal(key)}: {text}' for key, text in zip(value, values, strict=True))}}}"
        case _:
            return repr(value)


def _elements(values: list[Any]) -> list[str]:
    alike = len({type(value) for value in values}) == 1 and isinstance(values[0], str | bool | int | float)
    return [literal(value) if alike else f"dyn({literal(value)})" for value in values]
