"""What is known about one evaluation after the fact."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from webhook.model.path import Path
from webhook.model.story import Reason


@dataclass(frozen=True, slots=True)
class Trace:
    """One evaluation, explained. Positions are line and column (from 1) in the expression's text.

    `path` is where in `object` the value that decided was read: of the part that made the result
    false, or of the reading that failed; `found` is what stands there, unless `has_found` is false.
    `elements` says where the elements of a resulting list or map stand, by index or key. The words
    are found when somebody asks for them: most denials need only the place.
    """

    value: Any = None
    error: str | None = None
    error_position: tuple[int, int] | None = None
    path: Path | None = None
    found: Any = None
    has_found: bool = False
    elements: Mapping[int | str, Path] = field(default_factory=dict)
    tell_part: Callable[[], str] = str
    tell_steps: Callable[[], Iterable[tuple[str, Any]]] = tuple
    tell_reason: Callable[[], Reason | None] = lambda: None

    @property
    def part(self) -> str:
        """The source text of the part that decided."""
        return self.tell_part()

    @property
    def reason(self) -> Reason | None:
        """What made the result what it is; None where the expression gave nothing."""
        return self.tell_reason()

    @property
    def steps(self) -> tuple[tuple[str, Any], ...]:
        """The sub-expressions and what each gave, in order."""
        return tuple(self.tell_steps())
