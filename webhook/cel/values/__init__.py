"""CEL's values in Python, and its operators.

Every operator raises `CelError` with cel-go's message and checks the common types first: these
functions are what generated code spends its time in.
"""

from webhook.cel.values.access import condition, has, index, items, member, select, size
from webhook.cel.values.arithmetic import add, divide, modulo, multiply, negate, subtract
from webhook.cel.values.compare import equal, greater, greater_equal, less, less_equal, unequal
from webhook.cel.values.maps import insert, make_map
from webhook.cel.values.optional import NONE, Optional, optional_index, optional_select
from webhook.cel.values.time import Duration, Timestamp
from webhook.cel.values.types import CelType, Uint, type_of

__all__ = [
    "NONE",
    "CelType",
    "Duration",
    "Optional",
    "Timestamp",
    "Uint",
    "add",
    "condition",
    "divide",
    "equal",
    "greater",
    "greater_equal",
    "has",
    "index",
    "insert",
    "items",
    "less",
    "less_equal",
    "make_map",
    "member",
    "modulo",
    "multiply",
    "negate",
    "optional_index",
    "optional_select",
    "select",
    "size",
    "subtract",
    "type_of",
    "unequal",
]
