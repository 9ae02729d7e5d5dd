"""`jsonpatch.escapeKey(s)`: a key as it stands in the path of a JSON Patch operation (RFC 6901)."""

from __future__ import annotations

from typing import Final

from webhook.cel.errors import Budget
from webhook.cel.functions.library import Library, call, charging
from webhook.cel.values.arithmetic import text_cost


def _escape_key(budget: Budget, key: str) -> str:
    budget.charge(text_cost(2 * len(key)))
    return key.replace("~", "~0").replace("/", "~1")


LIBRARIES: Final = (
    Library(
        "jsonpatch",
        "1.32",
        (charging("jsonpatch.escapeKey", _escape_key, call("string", result="string")),),
    ),
)
