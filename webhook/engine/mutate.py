"""Mutations → a changed object. Each sees what the ones before it have made."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from webhook.admission.structures import Structure
from webhook.cel.program import Activation
from webhook.cel.values import Optional
from webhook.engine.apply import apply_configuration
from webhook.engine.compile import name_of
from webhook.engine.evaluate import EVALUATION_FAILURES, Verdict, of_error
from webhook.engine.patch import apply, difference
from webhook.engine.policyset import LinkedMutation, LinkedPolicy
from webhook.model.decision import Change
from webhook.model.policy import PatchType
from webhook.model.request import Object


def mutate(
    policy: LinkedPolicy,
    obj: Object,
    activate: Callable[[Object], Activation],
    structure: Callable[[], Structure],
) -> tuple[Object, list[Change], list[Verdict]]:
    """Carry out the mutations of one policy. One that cannot be evaluated or applied changes nothing.

    `structure` tells how the object is built, which only an ApplyConfiguration asks; it may raise NotKnown or CelError.
    """
    changes: list[Change] = []
    verdicts: list[Verdict] = []
    activation = activate(obj)
    for mutation in policy.mutations:
        try:
            given = mutation.patch(activation)
            after = _after(policy, mutation, obj, given, structure) if given else obj
        except EVALUATION_FAILURES as error:
            verdicts.append(of_error(error, function=mutation.name))
            continue
        if made := difference(obj, after):
            secret = policy.may_tell_secret(mutation.name, obj)
            changes.append(Change(policy.policy, _message(policy, mutation, activation, obj), made, secret))
            obj, activation = after, activate(after)
    return obj, changes, verdicts


def _after(
    policy: LinkedPolicy, mutation: LinkedMutation, obj: Object, given: Any, structure: Callable[[], Structure]
) -> Object:
    if mutation.mutation.patch_type is PatchType.JSON_PATCH:
        return apply(obj, plain(given), native=policy.policy.native)
    return apply_configuration(obj, plain(given), structure())


def _message(policy: LinkedPolicy, mutation: LinkedMutation, activation: Activation, obj: Object) -> str:
    """Say what was changed and why; a text that cannot be computed, or tells a secret, falls back on the title."""
    name = name_of(mutation.name, "message")
    function = policy.text(name)
    if function is not None and not policy.may_tell_secret(name, obj):
        with suppress(*EVALUATION_FAILURES):
            return str(function(activation))
    return mutation.mutation.message.literal or policy.policy.title or policy.policy.name


def plain(value: Any) -> Any:
    """Turn a CEL value into JSON: an optional that is none is left out of its map or list."""
    if isinstance(value, Optional):
        return plain(value.value) if value.has_value else None
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, int) and not isinstance(value, bool):
        return int(value)
    return value if isinstance(value, str | float | bool) or value is None else str(value)
