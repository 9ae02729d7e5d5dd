"""Conditions and validations → verdicts. Whatever an expression raises ends here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Any, Final

from webhook.cel.errors import CHECK_EVERY, ERRORS, CelError, Exhausted, NotKnown
from webhook.cel.program import Activation
from webhook.cel.values import Optional, equal
from webhook.engine.policyset import Function, LinkedPolicy, LinkedValidation


class Status(Enum):
    """What happened to one rule, before anybody asks what to do about it."""

    PASS = auto()
    FAIL = auto()
    ERROR = auto()
    SKIP = auto()


@dataclass(frozen=True, slots=True)
class Verdict:
    """One rule (and element) for one object. `rule` is None where the policy as a whole could not be judged.

    `element` is the forEach index or key, `value` what it holds, and `parameters` what the rule's
    functions take besides the activation. `error` is what was raised, in the function of that name.
    """

    status: Status
    rule: LinkedValidation | None = None
    element: str | int | None = None
    value: Any = None
    parameters: tuple[Any, ...] = ()
    error: Exception | None = None
    function: str = ""


EVALUATION_FAILURES: Final[tuple[type[Exception], ...]] = (*ERRORS, Exhausted)
"""Everything that a function made from an expression raises."""


def of_error(error: Exception, rule: LinkedValidation | None = None, function: str = "") -> Verdict:
    """Make the verdict of a rule that raised: it is skipped when something outside is not known."""
    status = Status.SKIP if isinstance(error, NotKnown) else Status.ERROR
    return Verdict(status, rule, error=error, function=function)


def start(activation: Activation) -> None:
    """Give the next policy its own budget."""
    activation.budget.spent = activation.budget.used = 0


def conditions(policy: LinkedPolicy, activation: Activation) -> bool | Verdict:
    """Test the match conditions: one that is false wins over one that errors, as in Kubernetes."""
    failed: Verdict | None = None
    for index, condition in enumerate(policy.conditions):
        try:
            if not _holds(condition, activation):
                return False
        except EVALUATION_FAILURES as error:
            failed = failed or of_error(error, function=f"condition.{index}")
    return failed or True


def all_false(conditions: tuple[Function, ...], activation: Activation) -> bool:
    """Are all of these false, without doubt. One that fails is not: `conditions` tells how."""
    try:
        for condition in conditions:
            if condition(activation) is not False:
                return False
    except EVALUATION_FAILURES:
        return False
    return True


def all_hold(checks: tuple[Function, ...], activation: Activation) -> bool:
    """Are all of these true. False when one is not, or fails: `validations` tells which, and how."""
    try:
        for check in checks:
            if check(activation) is not True:
                return False
    except EVALUATION_FAILURES:
        return False
    return True


def validations(policy: LinkedPolicy, activation: Activation, *, passes: bool = False) -> list[Verdict]:
    """Evaluate every rule; verdicts that a rule holds are returned only when `passes` asks for them."""
    verdicts: list[Verdict] = []
    for rule in policy.validations:
        if rule.each is not None:
            verdicts += _each(rule, rule.each, activation)
            continue
        try:
            verdicts.append(Verdict(Status.PASS if _holds(rule.check, activation) else Status.FAIL, rule))
        except EVALUATION_FAILURES as error:
            verdicts.append(of_error(error, rule, rule.name))
    return verdicts if passes else [verdict for verdict in verdicts if verdict.status is not Status.PASS]


def _holds(function: Function, activation: Activation, parameters: Sequence[Any] = ()) -> bool:
    value = function(activation, *parameters)
    if value is True or value is False:
        return bool(value)
    raise CelError("the expression gives no boolean")


def _each(rule: LinkedValidation, each: Function, activation: Activation) -> Iterator[Verdict]:
    try:
        entries = elements(each(activation))
    except EVALUATION_FAILURES as error:
        yield of_error(error, rule, f"{rule.name}.each")
        return
    for number, (key, value) in enumerate(entries, start=1):
        parameters = parameters_of(rule, key, value)
        try:
            if number % CHECK_EVERY == 0:
                activation.budget.check()
            status = Status.PASS if _holds(rule.check, activation, parameters) else Status.FAIL
            yield Verdict(status, rule, key, value, parameters)
        except EVALUATION_FAILURES as error:
            yield replace(of_error(error, rule, rule.name), element=key, value=value, parameters=parameters)
            if isinstance(error, Exhausted):
                return  # the rest would only run into the same wall


def elements(value: Any) -> list[tuple[Any, Any]]:
    """Enumerate forEach's elements as (index or key, value): null and none count as empty."""
    if isinstance(value, Optional):
        value = value.value if value.has_value else None
    if value is None:
        return []
    if isinstance(value, list):
        return list(enumerate(value))
    if isinstance(value, dict):
        return list(value.items())
    raise CelError("`forEach.in` gives neither a list nor a map")


def parameters_of(rule: LinkedValidation, key: Any, value: Any) -> tuple[Any, ...]:
    """Order forEach's identifiers as the functions take them: `as`, then `at`, those that are named."""
    each = rule.validation.for_each
    if each is None:
        return ()
    return (*((value,) if each.as_ else ()), *((key,) if each.at else ()))


def fails(rule: LinkedValidation, activation: Activation, verdict: Verdict) -> bool:
    """Does the rule fail with this activation too, for the element that the verdict is about."""
    try:
        if rule.each is None:
            return not _holds(rule.check, activation)
        return any(
            not _holds(rule.check, activation, parameters_of(rule, key, value))
            for key, value in elements(rule.each(activation))
            if _same(key, value, verdict)
        )
    except EVALUATION_FAILURES:
        return False


def _same(key: Any, value: Any, verdict: Verdict) -> bool:
    """Is this the verdict's element: an entry of a map by its key, of a list by its `name`, else by its value."""
    if isinstance(verdict.element, str):
        return bool(key == verdict.element)
    if isinstance(value, dict) and isinstance(verdict.value, dict) and isinstance(value.get("name"), str):
        return bool(value["name"] == verdict.value.get("name"))
    return equal(value, verdict.value)
