"""What is met on a walk over the expressions of a policy: steps, calls, loops."""

from __future__ import annotations

from dataclasses import dataclass, field

from webhook.cel.tree import Call, Loop, Node
from webhook.runs.lint.shape import Shape
from webhook.runs.lint.subject import Part


@dataclass(frozen=True, slots=True)
class Step:
    """One step from a value to a field or an element. `name` is "" where only the object decides.

    `soft`: `has`, `?` or an optional before it make a missing field no error. `there`: the field is, or is known to be.
    """

    part: Part
    node: Node
    operand: Node
    shape: Shape
    name: str
    soft: bool
    there: bool
    null: str = ""
    """The root that may be null here, such as `object`."""


@dataclass(frozen=True, slots=True)
class Use:
    """One call, with the shapes of its operands, and the types that guards have found out for them ("" if none)."""

    part: Part
    node: Call
    shapes: tuple[Shape, ...]
    types: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Round:
    """One loop, and the shape of what it goes through."""

    part: Part
    node: Loop
    shape: Shape


@dataclass(slots=True)
class Met:
    """All of it, in the order in which it was met."""

    steps: list[Step] = field(default_factory=list)
    uses: list[Use] = field(default_factory=list)
    loops: list[Round] = field(default_factory=list)
