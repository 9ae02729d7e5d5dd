"""Quantities: `quantity('1Gi').add(quantity('500Mi'))`; `ordering.py` compares them.

`sign(q)` is a plain function, whatever the documentation of Kubernetes says. Source:
`pkg/cel/library/quantity.go` of the API server.
"""

from __future__ import annotations

from typing import Final

from webhook.cel.errors import CelError
from webhook.cel.functions.library import Library, call, method, text_length, typed
from webhook.cel.values.quantity import Quantity

_QUANTITY: Final = "kubernetes.Quantity"


def _is_quantity(text: str) -> bool:
    try:
        Quantity.parse(text)
    except CelError:
        return False
    return True


def _as_integer(quantity: Quantity) -> int:
    if (integer := quantity.integer) is None:
        raise CelError("cannot convert value to integer")
    return integer


LIBRARIES: Final = (
    Library(
        "quantity",
        "1.28",
        (
            typed("quantity", (call("string", result=_QUANTITY), Quantity.parse), cost=text_length),
            typed("isQuantity", (call("string", result="bool"), _is_quantity), cost=text_length),
            typed("sign", (call(_QUANTITY, result="int"), lambda quantity: quantity.sign)),
            typed("isInteger", (method(_QUANTITY, result="bool"), lambda quantity: quantity.integer is not None)),
            typed("asInteger", (method(_QUANTITY, result="int"), _as_integer)),
            typed("asApproximateFloat", (method(_QUANTITY, result="double"), lambda quantity: quantity.approximation)),
            typed(
                "add",
                (method(_QUANTITY, _QUANTITY, result=_QUANTITY), Quantity.plus),
                (method(_QUANTITY, "int", result=_QUANTITY), lambda quantity, n: quantity.plus(Quantity.of(n))),
            ),
            typed(
                "sub",
                (method(_QUANTITY, _QUANTITY, result=_QUANTITY), Quantity.minus),
                (method(_QUANTITY, "int", result=_QUANTITY), lambda quantity, n: quantity.minus(Quantity.of(n))),
            ),
        ),
    ),
)
