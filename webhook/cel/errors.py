"""What can go wrong in CEL: while an expression is compiled, and while it is evaluated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from webhook.errors import CozyguardError

EXPRESSION_LIMIT: Final = 1_000_000
"""Cost units one evaluation of one expression may use (`PerCallLimit` of the API server)."""

POLICY_LIMIT: Final = 10_000_000
"""Cost units all expressions of one policy may use in one review (`RuntimeCELCostBudget`)."""

CHECK_EVERY: Final = 100
"""Loop steps between two looks at the deadline (`CheckFrequency` of the API server)."""


class CelError(Exception):
    """An evaluation error, as CEL defines it: `&&` and `||` absorb it when the other side decides."""


class NotKnown(CelError):
    """What an expression needs is known outside only, and is not known here.

    This is CEL's "unknown": in `&&` and `||` a deciding operand wins over it, and it wins over an
    error. `what` names the thing for people: `Package cozystack.gpu-operator`, `the user`.
    """

    def __init__(self, what: str) -> None:
        super().__init__(f"not known: {what}")
        self.what = what


class Exhausted(Exception):
    """The cost budget or the deadline is used up; nothing in an expression absorbs it."""


ERRORS: Final[tuple[type[Exception], ...]] = (
    CelError,
    KeyError,
    IndexError,
    TypeError,
    ValueError,
    OverflowError,
    ZeroDivisionError,
    RecursionError,
    AttributeError,
)
"""What generated code can raise and what counts as an evaluation error: it reads objects raw."""


def _never() -> bool:
    return False


class Budget:
    """What an evaluation may cost, and until when it may run.

    `limit` holds for one expression (`begin` starts a new one), `total` for a policy. `expired`
    is asked every `CHECK_EVERY` loop steps; it is the caller's clock.
    """

    __slots__ = ("expired", "limit", "spent", "total", "used")

    def __init__(
        self,
        limit: int = EXPRESSION_LIMIT,
        total: int = POLICY_LIMIT,
        expired: Callable[[], bool] = _never,
    ) -> None:
        self.limit = limit
        self.total = total
        self.expired = expired
        self.used = 0
        self.spent = 0

    def begin(self, cost: int = 0) -> None:
        """Start the next expression, at such a cost: what the last one used counts against the policy only."""
        self.spent += self.used
        self.used = cost

    def charge(self, cost: int) -> None:
        """Use `cost` units. Raises Exhausted when the expression or the policy has no more."""
        self.used += cost
        if self.used > self.limit:
            raise Exhausted(f"the cost limit of {self.limit} for one expression is exceeded")
        if self.spent + self.used > self.total:
            raise Exhausted(f"the cost limit of {self.total} for one policy is exceeded")

    def check(self) -> None:
        """Look at the clock. Raises Exhausted after the deadline."""
        if self.expired():
            raise Exhausted("the deadline of the request has passed")


@dataclass(frozen=True, slots=True, order=True)
class ExpressionError:
    """One fault of an expression's text; line and column count from 1 within that text."""

    line: int
    column: int
    message: str

    def __str__(self) -> str:
        return f"{self.line}:{self.column}: {self.message}"


class ExpressionErrors(CozyguardError):
    """All faults found in one expression: it cannot be compiled."""

    def __init__(self, errors: tuple[ExpressionError, ...]) -> None:
        super().__init__("\n".join(map(str, errors)))
        self.errors = errors
