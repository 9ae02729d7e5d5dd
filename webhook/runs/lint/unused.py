"""What is declared and read by nobody."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from webhook.cel.names import free_names
from webhook.model.diagnosis import Level
from webhook.model.lint import Check, Finding
from webhook.runs.lint.met import Met
from webhook.runs.lint.subject import Subject

VARIABLE: Final = Check(
    "unused-variable",
    Level.WARNING,
    "a variable that nothing reads",
    "it costs nothing and misleads readers; often a rule was meant to read it",
)
LOOKUP: Final = Check(
    "unused-lookup",
    Level.WARNING,
    "a lookup that nothing reads",
    "the server keeps a copy of such objects for it, and the policy needs rights to read them",
)
PARAMS: Final = Check(
    "unused-params",
    Level.WARNING,
    "paramKind without an expression that reads `params`",
    "the policy is evaluated once for each parameter, and says the same each time",
)


def check(subject: Subject, met: Met) -> Iterator[Finding]:  # noqa: ARG001 - the signature of all checks
    """Find variables, lookups and params that no expression reads, be it through variables that are."""
    read = _read(subject)
    policy = subject.policy
    for variable in policy.variables:
        if f"variables.{variable.name}" not in read:
            at = variable.expression.location
            yield Finding(
                VARIABLE, policy.name, at, f"nothing reads `variables.{variable.name}`", "take it out, or read it"
            )
    for lookup in policy.lookups:
        if f"lookups.{lookup.name}" not in read:
            at = lookup.location or policy.location
            yield Finding(LOOKUP, policy.name, at, f"nothing reads `lookups.{lookup.name}`", "take it out, or read it")
    if policy.reads_params and "params" not in read:
        yield Finding(PARAMS, policy.name, subject.place("paramKind"), "nothing reads `params`", "take paramKind out")


def _read(subject: Subject) -> frozenset[str]:
    """Give the names that conditions, rules, messages and the like read, themselves or through variables."""
    found: set[str] = set()
    waiting = [name for name, part in subject.parts.items() if part.role != "variables"]
    while waiting:
        new = free_names(subject.trees[waiting.pop()]) - found
        found |= new
        waiting += [one for one in new if one in subject.trees]
    return frozenset(found)
