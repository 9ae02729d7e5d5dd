"""Rules that never come to bear, or always: constants, releases that nobody knows, resources that nobody serves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from webhook.admission.structures import is_builtin_group
from webhook.cel.tree import Call, Const, Ident, ListNode, Node, Select
from webhook.errors import did_you_mean
from webhook.model.diagnosis import Level
from webhook.model.lint import Check, Finding
from webhook.model.policy import ResourceRule
from webhook.runs.lint.met import Met
from webhook.runs.lint.subject import Part, Subject, finding

CONSTANT: Final = Check(
    "constant-rule",
    Level.ERROR,
    "a rule or a match condition that comes out the same for every request",
    "a rule that is always true finds nothing, one that is always false refuses everything; a condition that is always "
    "false switches its policy off",
)
RELEASES: Final = Check(
    "no-release",
    Level.ERROR,
    "`releases` that no known release is in",
    "the policy holds on no release of the catalogue, so it never holds",
)
RESOURCES: Final = Check(
    "no-resource",
    Level.ERROR,
    "a rule of matchConstraints that no resource satisfies",
    "the API server never asks about such a resource, so the policy finds nothing",
)

_OF_SUBRESOURCES: Final = ("bindings", "evictions", "scales", "tokenrequests", "podexecoptions")


def check(subject: Subject, met: Met) -> Iterator[Finding]:  # noqa: ARG001 - the signature of all checks
    """Find what makes a rule, a condition or the whole policy idle."""
    for part in subject.parts.values():
        if part.role == "condition" or (part.role == "validation" and part.last.isdigit()):
            yield from _constant(subject, part)
    policy = subject.policy
    if policy.releases and not any(one in policy.releases for one in subject.universe.releases):
        known = f"{subject.universe.releases[0]} to {subject.universe.releases[-1]}"
        at = subject.place("releases")
        message = f"no known release is in `{policy.releases.text}`: the catalogue has {known}"
        yield Finding(RELEASES, policy.name, at, message, "write a range such as `>=1.5`")
    for index, rule in enumerate(policy.match.resource_rules):
        at = subject.place("matchConstraints", "resourceRules", index, "resources")
        for message, fix in _unserved(subject, rule):
            yield Finding(RESOURCES, policy.name, at, message, fix)


def _constant(subject: Subject, part: Part) -> Iterator[Finding]:
    value = _Fold(subject, part).value(part.tree.root)
    if value is None or (value is False and isinstance(part.tree.root, Const) and part.role == "validation"):
        return  # a plain `false` is how people refuse all that is matched, or every element
    if part.role == "condition":
        message = (
            "this condition is always true" if value else "this condition is always false: the policy is never asked"
        )
        fix = "leave it out" if value else "ask for what the policy is about"
    else:
        message = (
            "this rule is always true: it finds nothing"
            if value
            else "this rule is always false: it refuses everything"
        )
        fix = "let it depend on the object" if value else "say in matchConstraints and matchConditions what is refused"
    yield finding(CONSTANT, subject, part, part.tree.root, message, fix)


class _Fold:
    """Computes a condition as far as it depends on no object; None where it does."""

    def __init__(self, subject: Subject, part: Part) -> None:
        self._subject = subject
        self._part = part

    def value(self, node: Node) -> bool | None:
        """Give what a condition comes to."""
        match node:
            case Const(value=bool(value)):
                return value
            case Call(function="!_", args=(inner,)):
                found = self.value(inner)
                return None if found is None else not found
            case Call(function="_&&_" | "_||_" as operator, args=(one, other)):
                deciding = operator == "_||_"
                values = self.value(one), self.value(other)
                return deciding if deciding in values else None if None in values else not deciding
            case Call(function="_?_:_", args=(condition, one, other)):
                chosen = self.value(condition)
                if chosen is not None:
                    return self.value(one if chosen else other)
                values = self.value(one), self.value(other)
                return values[0] if values[0] == values[1] else None
            case Call(function="_==_" | "_!=_" as operator, args=(one, other)):
                found = self._equal(one, other)
                return None if found is None else found == (operator == "_==_")
            case Call(function="@in", args=(Const(value=value), ListNode(elements=elements))):
                known = [one.value for one in elements if isinstance(one, Const)]
                return value in known if len(known) == len(elements) else None
            case _:
                return None

    def _equal(self, one: Node, other: Node) -> bool | None:
        if isinstance(one, Const) and isinstance(other, Const):
            alike = type(one.value) is type(other.value)
            return one.value == other.value if alike else None  # numbers of two types can be equal
        if isinstance(one, Const):
            one, other = other, one
        if not isinstance(other, Const) or not isinstance(one, Select):
            return None
        matched = self._subject.matched
        match one:
            case Select(operand=Ident(name="request"), field="operation"):
                known = matched.operations
            case Select(operand=Select(operand=Ident(name="request"), field="kind"), field="kind") if (
                not matched.others
            ):
                known = matched.names
            case _:
                return None
        return (True if len(known) == 1 else None) if other.value in known else False


def _unserved(subject: Subject, rule: ResourceRule) -> Iterator[tuple[str, str]]:
    """Tell which resources of a rule nobody serves. Of other groups than Kubernetes' own, not all kinds are known."""
    groups = rule.api_groups
    if "*" in groups or not all(map(is_builtin_group, groups)):
        return
    served = [one for one in subject.universe.kinds if one.of.group in groups]
    plurals = {one.plural for one in served}
    for name in rule.resources:
        resource = name.partition("/")[0]
        if resource != "*" and resource not in (*plurals, *_OF_SUBRESOURCES):
            near = did_you_mean(resource.lower(), plurals)
            where = ", ".join(f"`{group}`" if group else "the core group" for group in groups)
            yield (
                f"{where} has no resource `{resource}`{near}",
                "write the plural in lower case, as in `kubectl api-resources`",
            )
        elif resource != "*" and not _has_version(subject, rule, resource):
            versions = ", ".join(sorted({one.of.version for one in served if one.plural == resource}))
            yield (
                f"`{resource}` is served as {versions}, not as {', '.join(rule.api_versions)}",
                'write `apiVersions: ["*"]`',
            )


def _has_version(subject: Subject, rule: ResourceRule, resource: str) -> bool:
    versions = {
        one.of.version for one in subject.universe.kinds if one.plural == resource and one.of.group in rule.api_groups
    }
    return not versions or "*" in rule.api_versions or bool(versions & set(rule.api_versions))
