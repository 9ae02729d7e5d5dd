"""What is known about one evaluation after the fact."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from webhook.model.path import Path


@dataclass(frozen=True, slots=True)
class Trace:
    """One evaluation, explained. Positions are line and column (from 1) in the expression's text.

    `path` is where in `object` the value that decided was read: of the part that made the result
    false, or of the reading that failed; `found` is what stands there, unless `has_found` is false.
    `part` is that part's source text. `elements` says where the elements of a resulting list or map
    stand, by index or key. `steps` are the sub-expressions and what each gave, in order.
    """

    value: Any = None
    error: str | None = None
    error_position: tuple[int, int] | None = None
    path: Path | None = None
    found: Any = None
    has_found: bool = False
    part: str = ""
    elements: Mapping[int | str, Path] = field(default_factory=dict)
    steps: tuple[tuple[str, Any], ...] = ()
