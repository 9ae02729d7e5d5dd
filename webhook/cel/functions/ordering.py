"""Which of two quantities, or of two versions, is greater: `a.isGreaterThan(b)`, `a.compareTo(b)`.

Sources: `pkg/cel/library/quantity.go`, `semverlib.go` of the API server.
"""

from __future__ import annotations

from typing import Any, Final, Protocol

from webhook.cel.functions.library import Function, Implementation, Library, method, typed


class _Ordered(Protocol):
    """A quantity or a version; the overloads see to it that both are of one type."""

    def compare(self, other: Any, /) -> int: ...


def _is_less_than(a: _Ordered, b: _Ordered) -> bool:
    return a.compare(b) < 0


def _is_greater_than(a: _Ordered, b: _Ordered) -> bool:
    return a.compare(b) > 0


def _compare_to(a: _Ordered, b: _Ordered) -> int:
    return a.compare(b)


def _comparison(name: str, result: str, implementation: Implementation) -> Function:
    return typed(
        name,
        (method("kubernetes.Quantity", "kubernetes.Quantity", result=result), implementation),
        (method("kubernetes.Semver", "kubernetes.Semver", result=result, since="1.33"), implementation),
    )


LIBRARIES: Final = (
    Library(
        "ordering",
        "1.28",
        (
            _comparison("isLessThan", "bool", _is_less_than),
            _comparison("isGreaterThan", "bool", _is_greater_than),
            _comparison("compareTo", "int", _compare_to),
        ),
    ),
)
