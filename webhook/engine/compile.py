"""Policy → CompiledPolicy: every expression becomes a function, every fault a located error."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from webhook.cel.errors import ExpressionErrors
from webhook.cel.program import ADMISSION, Builder, Program
from webhook.errors import DocumentError, DocumentErrors
from webhook.model.policy import Expression, Location, Lookup, PatchType, Policy, Text, Validation

TYPES: Final[Mapping[str, str]] = {
    **ADMISSION,
    "release": "map(string, dyn)",
    "acknowledged": "map(string, string)",
    "authorizer": "kubernetes.authorization.Authorizer",
    "authorizer.requestResource": "kubernetes.authorization.ResourceCheck",
}
"""What every expression may read, with its CEL type; `variables.…` and `lookups.…` come on top."""


SUGGESTION: Final = "suggestion"
"""What the expressions of a fix may read besides: the near match among the allowed values, or null."""


_PATCHES: Final = {PatchType.JSON_PATCH: "list", PatchType.APPLY_CONFIGURATION: "Object"}
"""The type of a mutation's expression."""


@dataclass(frozen=True, slots=True)
class CompiledPolicy:
    """A policy and its program. The program's functions are named by `name_of`."""

    policy: Policy
    program: Program


def name_of(role: str, *place: str | int) -> str:
    """Name a function of a program after what it is for: `validation.0.message`."""
    return ".".join((role, *map(str, place)))


@dataclass(frozen=True, slots=True)
class _Wanted:
    """One expression to compile: the function's name, the result type and forEach's identifiers."""

    name: str
    expression: Expression
    type: str
    parameters: Mapping[str, str]


def compile_policy(policy: Policy) -> CompiledPolicy:
    """Compile every expression. Raises DocumentErrors with all faults of all of them."""
    types = {**TYPES, "params": "dyn"} if policy.reads_params else TYPES
    builder, errors = Builder(types, lenient=policy.kyvernos), []
    for wanted in _lookup_functions(policy.lookups):
        errors += _add(builder, wanted)
    for lookup in policy.lookups:
        builder.outside(lookup.name, lookup_key(policy, lookup), _lookup_type(lookup))
    if not policy.conditions_read_variables:
        errors += _add_conditions(builder, policy)
    for variable in policy.variables:
        try:
            builder.variable(variable.name, variable.expression.text)
        except ExpressionErrors as faults:
            errors += _located(variable.expression, faults)
    if policy.conditions_read_variables:
        errors += _add_conditions(builder, policy)
    for wanted in _functions(policy):
        errors += _add(builder, wanted)
    if errors:
        raise DocumentErrors(errors)
    return CompiledPolicy(policy, builder.build())


def _add_conditions(builder: Builder, policy: Policy) -> Iterator[DocumentError]:
    for index, condition in enumerate(policy.match_conditions):
        yield from _add(builder, _Wanted(name_of("condition", index), condition.expression, "bool", {}))


def expressions(policy: Policy) -> Iterator[tuple[str, Expression]]:
    """Give every expression of a policy under the name of its function or variable, in the order of writing."""
    for index, condition in enumerate(policy.match_conditions):
        yield name_of("condition", index), condition.expression
    for wanted in _lookup_functions(policy.lookups):
        yield wanted.name, wanted.expression
    for variable in policy.variables:
        yield f"variables.{variable.name}", variable.expression
    for wanted in _functions(policy):
        yield wanted.name, wanted.expression


def within(expression: Expression, line: int, column: int) -> Location:
    """Turn a place within the text into one in the file."""
    at = expression.location
    if not at.line:
        return at
    if expression.made_from:
        return replace(within(expression.made_from, *_before(expression, line, column)), path=at.path)
    if not expression.written:
        return replace(at, line=at.line + line - 1, column=at.column + column - 1)
    lines = expression.text.split("\n")
    before = expression.written[: _aligned(expression, sum(len(one) + 1 for one in lines[: line - 1]) + column - 1)]
    start = before.rfind("\n") + 1
    column = len(before) - start + 1
    return replace(at, line=at.line + before.count("\n"), column=column if start else at.column + column - 1)


def _before(expression: Expression, line: int, column: int) -> tuple[int, int]:
    """Find line and column in the text that an expression was made from; of what was put in, where it was put."""
    from difflib import SequenceMatcher  # here: only a fault needs it

    text = expression.made_from.text if expression.made_from else ""
    offset = sum(len(one) + 1 for one in expression.text.split("\n")[: line - 1]) + column - 1
    blocks = SequenceMatcher(None, text, expression.text, autojunk=False).get_matching_blocks()
    old, new, size = max(
        (block for block in blocks if block.b <= offset), key=lambda one: one.b, default=(0, offset, 0)
    )
    before = text[: old + min(offset - new, size)]
    return before.count("\n") + 1, len(before) - before.rfind("\n")


def _aligned(expression: Expression, offset: int) -> int:
    """Find the place of a character in what is written: both have the same ones, but for blanks and escapes."""
    place = 0
    for character in expression.text[:offset]:
        if not character.isspace():
            place = expression.written.find(character, place) + 1
    rest = expression.text[offset : offset + 1].strip()
    return expression.written.find(rest, place)


def lookup_key(policy: Policy, lookup: Lookup) -> str:
    """Name a lookup so that equal ones of different policies are one; computed names stay the policy's own."""
    computed = lookup.object_name.expression or lookup.namespace.expression
    own = f"{policy.origin} {policy.name}" if computed else ""
    selector = (
        [[r.key, r.operator, *r.values] for r in lookup.label_selector.requirements] if lookup.label_selector else None
    )
    return json.dumps(
        [
            own,
            own and lookup.name,
            lookup.api_version,
            lookup.kind,
            lookup.namespace.literal,
            lookup.object_name.literal,
            selector,
        ]
    )


def _lookup_type(lookup: Lookup) -> str:
    return "dyn" if lookup.object_name else "list(dyn)"


def _lookup_functions(lookups: tuple[Lookup, ...]) -> Iterator[_Wanted]:
    for lookup in lookups:
        for role, text in (("name", lookup.object_name), ("namespace", lookup.namespace)):
            if text.expression:
                yield _Wanted(name_of("lookup", lookup.name, role), text.expression, "string", {})


def _functions(policy: Policy) -> Iterator[_Wanted]:
    for index, validation in enumerate(policy.validations):
        yield from _validation_functions(index, validation)
    yield from _text_function("why", (), policy.why, {})
    for index, mutation in enumerate(policy.mutations):
        yield _Wanted(name_of("mutation", index), mutation.patch, _PATCHES[mutation.patch_type], {})
        yield from _text_function("mutation", (index, "message"), mutation.message, {})
    for annotation in policy.audit_annotations:
        yield _Wanted(name_of("annotation", annotation.key), annotation.value, "string", {})


def _validation_functions(index: int, validation: Validation) -> Iterator[_Wanted]:
    parameters: dict[str, str] = {}
    if each := validation.for_each:
        yield _Wanted(name_of("validation", index, "each"), each.in_, "dyn", {})
        parameters = {name: "dyn" for name in (each.as_, each.at) if name}
    yield _Wanted(name_of("validation", index), validation.expression, "bool", parameters)
    for role, text in (("message", validation.message), ("field", validation.field)):
        yield from _text_function("validation", (index, role), text, parameters)
    if validation.allowed:
        yield _Wanted(name_of("validation", index, "allowed"), validation.allowed, "list", parameters)
    mending = {**parameters, SUGGESTION: "dyn"}
    yield from _text_function("validation", (index, "fix"), validation.fix.text, mending)
    if validation.fix.patch:
        yield _Wanted(name_of("validation", index, "patch"), validation.fix.patch, "list", mending)


def _text_function(
    role: str, place: tuple[str | int, ...], text: Text, parameters: Mapping[str, str]
) -> Iterator[_Wanted]:
    if text.expression:
        yield _Wanted(name_of(role, *place), text.expression, "string", parameters)


def _add(builder: Builder, wanted: _Wanted) -> list[DocumentError]:
    try:
        builder.function(wanted.name, wanted.expression.text, parameters=wanted.parameters, want=wanted.type)
    except ExpressionErrors as faults:
        return _located(wanted.expression, faults)
    return []


def _located(expression: Expression, faults: ExpressionErrors) -> list[DocumentError]:
    located = ((within(expression, fault.line, fault.column), fault.message) for fault in faults.errors)
    return [DocumentError(at.file, at.line, at.column, at.path, message) for at, message in located]
