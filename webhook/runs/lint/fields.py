"""Expressions against the schemas of the kinds that a policy matches: fields that are not there, types that differ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from webhook.cel.functions import FUNCTIONS
from webhook.cel.tree import Call, Const, ListNode, Node
from webhook.errors import did_you_mean
from webhook.model.diagnosis import Level
from webhook.model.lint import Check, Finding
from webhook.model.path import render
from webhook.runs.lint.met import Met, Step, Use
from webhook.runs.lint.patches import Change, changes
from webhook.runs.lint.shape import OBJECT, Shape
from webhook.runs.lint.subject import Part, Subject, finding

UNKNOWN: Final = Check(
    "unknown-field",
    Level.ERROR,
    "a field that no matched kind has",
    "the API server keeps no such field: a rule that waits for it never sees one, and one that reads it fails",
)
WRONG: Final = Check(
    "wrong-type",
    Level.ERROR,
    "a value of another type than the schema says",
    "such a call fails, and such a comparison is never true, whatever object comes",
)
PERHAPS: Final = Check(
    "perhaps-wrong-type",
    Level.WARNING,
    "a call that takes text, of a field that may hold a number",
    "people write `cpu: 8` as well as `cpu: '8'`: with a number the rule fails, and the object is fine",
)

VALUE: Final = Check(
    "unknown-value",
    Level.ERROR,
    "a text that the schema does not list for the field",
    "the API server takes no other value, so such a comparison is never true",
)

_EQUALITY: Final = ("_==_", "_!=_")
_ORDER: Final = ("_<_", "_<=_", "_>_", "_>=_")
_NUMBERS: Final = frozenset({"int", "uint", "double"})
_WORDS: Final = {
    "string": "text", "int": "a whole number", "double": "a number", "bool": "true or false", "map": "a map",
    "list": "a list",
}  # fmt: skip
_ON_TEXT: Final = ("startsWith", "endsWith", "contains", "matches")
"""Functions of text whose signatures are the checker's own."""
_CONTAINERS: Final = {"size": {"string", "bytes", "list", "map"}, "@in": {"list", "map"}}


def check(subject: Subject, met: Met) -> Iterator[Finding]:
    """Find fields that no matched kind has, and values that cannot be what they are taken for."""
    for step in met.steps:
        if step.name and step.shape.has_no(step.name):
            yield _unknown(subject, step)
    for use in met.uses:
        yield from _misused(subject, use)
        yield from _unlisted(subject, use)
    for part in subject.parts.values():
        if part.role == "mutation" or part.last == "patch":
            for change in changes(part):
                yield from _changed(subject, part, change)


def _unknown(subject: Subject, step: Step) -> Finding:
    kinds = ", ".join(sorted(subject.matched.names)) if step.shape.root in ("object", "oldObject") else ""
    of = f"{kinds} has" if kinds else f"`{step.part.text(step.operand)}` has"
    names = step.shape.names()
    near = did_you_mean(step.name, names)
    fix = "write the name as the schema has it" if near else "see what there is: " + ", ".join(sorted(set(names))[:8])
    return finding(UNKNOWN, subject, step.part, step.node, f"{of} no field `{step.name}`{near}", fix)


def _changed(subject: Subject, part: Part, change: Change) -> Iterator[Finding]:
    """Follow the place of a change as far as it is known what is there."""
    matched = subject.matched
    shape = Shape(True, matched.structures(matched.names), others=matched.others, root="object", whole=OBJECT)
    for index, step in enumerate(change.place):
        if shape.has_no(step):
            near = did_you_mean(step, shape.names())
            message = f"changes `{render(change.place[: index + 1])}`, and there is no field `{step}`{near}"
            yield finding(UNKNOWN, subject, part, change.node, message, "write the name as the schema has it")
            return
        shape = shape.element() if step.isdigit() or step == "-" else shape.at(step)


def _misused(subject: Subject, use: Use) -> Iterator[Finding]:
    function = use.node.function
    for number, (operand, shape) in enumerate(zip(use.node.operands, use.shapes, strict=True)):
        kinds = shape.kinds if not use.types[number] else frozenset()
        if not kinds or not shape.structures:
            continue
        wanted = _wanted(use, number)
        if not wanted or kinds <= wanted:
            continue
        text, got = use.part.text(operand), " or ".join(sorted(_WORDS.get(one, one) for one in kinds))
        if kinds & wanted:
            if function not in (*_EQUALITY, *_ORDER):
                message = f"`{text}` is {got}, and `{function}` fails unless it is {_listed(wanted)}"
                fix = f"wrap it: `string({text})`" if "string" in wanted else "look at `type(…)` before"
                yield finding(PERHAPS, subject, use.part, operand, message, fix)
        elif function in _EQUALITY:
            outcome = "true" if function == "_!=_" else "false"
            message = f"`{text}` is {got}, and is compared with {_listed(wanted)}: always {outcome}"
            yield finding(WRONG, subject, use.part, use.node, message, f"compare it with {got}")
        else:
            message = f"`{text}` is {got}, want {_listed(wanted)} for `{function.strip('_@')}`"
            yield finding(WRONG, subject, use.part, operand, message, "convert it, or read another field")


def _unlisted(subject: Subject, use: Use) -> Iterator[Finding]:
    """Find comparisons with texts that a field cannot be."""
    if use.node.function not in (*_EQUALITY, "@in") or len(use.node.operands) != 2:
        return
    for shape, other in zip(use.shapes, reversed(use.node.operands), strict=True):
        compared = other.elements if isinstance(other, ListNode) and use.node.function == "@in" else (other,)
        for one in compared if (options := shape.options) else ():
            if isinstance(one, Const) and isinstance(one.value, str) and one.value not in options:
                near = did_you_mean(one.value, options)
                message = f"`{use.part.text(use.node)}`: the field is never `{one.value}`{near}"
                fix = "it can be " + ", ".join(sorted(filter(None, options)))
                yield finding(VALUE, subject, use.part, one, message, fix)


def _listed(kinds: frozenset[str]) -> str:
    return " or ".join(sorted(_WORDS.get(one, one) for one in kinds if one not in ("uint", "bytes")))


def _wanted(use: Use, number: int) -> frozenset[str]:
    """Give the types that an operand may have; none where anything goes."""
    function, operands = use.node.function, use.node.operands
    if function in _EQUALITY or function in _ORDER:
        kinds = _of_other(use, operands[1 - number], 1 - number)
        return kinds | _NUMBERS if kinds & _NUMBERS else kinds
    if function in _CONTAINERS:
        return frozenset(_CONTAINERS[function]) if number == len(operands) - 1 else frozenset()
    if function in _ON_TEXT:
        return frozenset({"string"})
    declared = FUNCTIONS.get(function)
    overloads = [one for one in (declared.overloads if declared else ()) if len(one.parameters) == len(operands)]
    found = {one.parameters[number].partition("<")[0] for one in overloads}
    anything = any(one in ("dyn", "optional_type") or one.startswith("~") for one in found)
    return frozenset() if anything else frozenset(found)


def _of_other(use: Use, other: Node, number: int) -> frozenset[str]:
    """Give the types of what an operand is compared with."""
    if isinstance(other, Const):
        return frozenset() if other.value is None else frozenset({use.part.tree.type_of(other)})
    kind = use.part.tree.type_of(other).partition("(")[0]
    if isinstance(other, Call) and kind in _WORDS:
        return frozenset({kind})
    return use.shapes[number].kinds
