"""What a generated function sees: its helpers, and nothing else of Python."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from webhook.cel import runtime, values
from webhook.cel.errors import ERRORS
from webhook.cel.functions import FUNCTIONS
from webhook.cel.slots import UNSET
from webhook.cel.values.maps import MISSING

_VALUES = (
    *("add", "condition", "divide", "equal", "greater", "greater_equal", "index", "insert", "less", "less_equal"),
    *(
        "make_map",
        "member",
        "modulo",
        "multiply",
        "negate",
        "size",
        "subtract",
        "type_of",
        "unequal",
        "CelType",
        "Uint",
    ),
)
_RUNTIME = (
    *(
        "differ",
        "each",
        "entries_without_missing",
        "fetch",
        "first",
        "insert_all",
        "lazy",
        "no_value",
        "pairs",
        "present",
    ),
    *("read", "same", "search", "step", "unwrap", "unwrap_any", "without_missing", "within", "wrap"),
)
_PYTHON = (type, bool, dict, float, int, len, list, str)


def namespace(extra: Mapping[str, Any]) -> dict[str, Any]:
    """Make the globals of a module of generated functions; `extra` are its own names."""
    return {**_helpers(), **extra}


def function_name(name: str) -> str:
    """Give the Python name under which a generated function finds `sets.contains`."""
    return "F_" + re.sub(r"\W", "_", name)


@cache
def _helpers() -> dict[str, Any]:
    return {
        "__builtins__": {},
        "ERRORS": ERRORS,
        "MISSING": MISSING,
        "UNSET": UNSET,
        **{name: getattr(values, name) for name in _VALUES},
        **{name: getattr(runtime, name) for name in _RUNTIME},
        **{python.__name__: python for python in _PYTHON},
        **{function_name(name): function.implementation for name, function in FUNCTIONS.items()},
    }
