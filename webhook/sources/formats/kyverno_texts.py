"""A policy of Kyverno's with other expressions in the place of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from webhook.model.policy import AuditAnnotation, Expression, NamedExpression, Policy, Text

Change = Callable[[Expression], Expression]


def rewritten(policy: Policy, change: Change) -> Policy:
    """Change every expression."""
    return replace(
        policy,
        match_conditions=named(policy.match_conditions, change),
        variables=named(policy.variables, change),
        validations=tuple(
            replace(one, expression=change(one.expression), message=_text(one.message, change))
            for one in policy.validations
        ),
        mutations=tuple(replace(one, patch=change(one.patch)) for one in policy.mutations),
        audit_annotations=tuple(AuditAnnotation(one.key, change(one.value)) for one in policy.audit_annotations),
    )


def named(given: tuple[NamedExpression, ...], change: Change) -> tuple[NamedExpression, ...]:
    """Change variables, or match conditions."""
    return tuple(NamedExpression(one.name, change(one.expression)) for one in given)


def _text(text: Text, change: Change) -> Text:
    return Text(text.literal, change(text.expression)) if text.expression else text
