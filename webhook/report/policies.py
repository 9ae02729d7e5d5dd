"""Policies in words: the list of them, and one by itself."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from webhook.model.policy import Action, Expression, Policy, Severity, Text, Validation
from webhook.report.plain import visible
from webhook.report.policy_words import facts, lookup
from webhook.report.style import Style
from webhook.report.text import count
from webhook.sources.bundled import bundled

VERSION: Final = 1

_COLOURS: Final = {Severity.CRITICAL: "red", Severity.HIGH: "red", Severity.MEDIUM: "yellow", Severity.LOW: "dim"}
_ACKNOWLEDGED: Final = re.compile(r"(?<!variables\.)\backnowledged\b(\[)?")
_CASE_BY_CASE: Final = "(said case by case)"


def list_lines(policies: Sequence[Policy], style: Style) -> Iterator[str]:
    """Write two lines a policy, the most severe first, and a line that counts."""
    ordered = sorted(policies, key=lambda one: (one.severity.rank, one.name))
    name_width = max((len(one.name) for one in ordered), default=0)
    releases_width = max((len(_releases(one)) for one in ordered), default=0)
    for one in ordered:
        severity = style(f"{one.severity.value:<8}", _COLOURS[one.severity])
        name = style(visible(f"{one.name:<{name_width}}"), "bold")
        yield f"{severity}  {name}  {_releases(one):<{releases_width}}  {visible(', '.join(_matched(one)))}".rstrip()
        if one.title:
            yield f"{'':<8}  {visible(one.title)}"
    severities = Counter(one.severity for one in ordered)
    counts = ", ".join(f"{severities[one]} {one.value}" for one in Severity if severities[one])
    yield style(f"{count(len(ordered), 'policy', 'policies')}{': ' if counts else ''}{counts}", "bold")


def _releases(policy: Policy) -> str:
    return policy.releases.text if policy.releases else "every release"


def _matched(policy: Policy) -> Iterator[str]:
    """Name what a policy is about, as kubectl does: `packages.cozystack.io/cozystack.gpu-operator`."""
    seen = set()
    for rule in policy.match.resource_rules:
        for resource in rule.resources:
            name = ".".join(filter(None, (resource, rule.api_groups[0] if len(rule.api_groups) == 1 else "*")))
            named = f"/{'|'.join(rule.resource_names)}" if rule.resource_names else ""
            if (text := name + named) not in seen:
                seen.add(text)
                yield text


def policy_lines(policy: Policy, style: Style) -> Iterator[str]:
    """Tell one policy in words, without its examples."""
    yield f"{style(visible(policy.name), 'bold')}: {visible(policy.title)}".rstrip(": ")
    yield ""
    known = [("why", [policy.why.literal or _CASE_BY_CASE])] if policy.why else []
    for name, lines in [*known, *facts(policy), *_more(policy)]:
        for line in lines:
            yield f"  {name:<{_WIDTH}}  {visible(line)}".rstrip()
            name = ""
    for title, told in (
        ("rules", _rules(policy)),
        ("patches", _patches(policy)),
        ("variables", _variables(policy)),
        ("way past", _way_past(policy)),
    ):
        indented = [f"  {visible(line)}".rstrip() for line in told]
        if indented:
            yield from ("", style(title, "bold"), *indented)


_WIDTH: Final = len("an update of what was so before")


def _more(policy: Policy) -> Iterator[tuple[str, list[str]]]:
    if policy.match_conditions:
        yield "only where", [f"{one.name}: {_code(one.expression)}" for one in policy.match_conditions]
    if policy.failure_policy.value == "Ignore":
        yield "if it cannot be evaluated", ["the request goes on"]
    yield "docs", [policy.docs] if policy.docs else []
    yield "source", list(policy.sources)
    file = Path(policy.location.file)
    own = file.is_relative_to(bundled())
    yield "written in", [f"{file.relative_to(bundled())} (bundled)" if own else str(file)]


def _rules(policy: Policy) -> Iterator[str]:
    for rule in policy.validations:
        yield f"{rule.name}: {_said(rule.message)}"
        for name, text in _about(rule):
            yield f"    {name:<9} {text}"


def _about(rule: Validation) -> Iterator[tuple[str, str]]:
    if rule.for_each:
        names = ", ".join(filter(None, (rule.for_each.as_, rule.for_each.at)))
        yield "for each", f"{names or 'element'} of {_code(rule.for_each.in_)}"
    yield "holds if", _code(rule.expression)
    if rule.field:
        yield "at", _said(rule.field)
    if rule.fix.text:
        yield "fix", _said(rule.fix.text)
    if rule.fix.patch:
        yield "", "mended by a patch that is worked out for the object"


def _patches(policy: Policy) -> Iterator[str]:
    for mutation in policy.mutations:
        yield _said(mutation.message) if mutation.message else policy.title
        yield f"    {'changes':<9} {_code(mutation.patch)}"


def _variables(policy: Policy) -> Iterator[str]:
    for variable in policy.variables:
        yield f"{variable.name} = {_code(variable.expression)}"


def _way_past(policy: Policy) -> Iterator[str]:
    """Say how a conscious choice, or an exception, gets past a policy."""
    if acknowledged := _acknowledgement(policy):
        yield f"a conscious choice: annotate the object with `cozyguard.io/acknowledge: {acknowledged}`"
    yield f"in files: annotate with `cozyguard.io/ignore: {policy.name}=REASON`, or write it as a comment"
    yield f"in a cluster: a PolicyException that names `{policy.name}`, with owner, reason and expiry"


def _acknowledgement(policy: Policy) -> str:
    """Give what the annotation has to say; "" where the policy asks for no such choice."""
    found = [match for text in _expressions(policy) for match in _ACKNOWLEDGED.finditer(text.text)]
    if not found:
        return ""
    return f"{policy.name}=VALUE" if any(match[1] for match in found) else policy.name


def _expressions(policy: Policy) -> Iterator[Expression]:
    yield from (one.expression for one in (*policy.match_conditions, *policy.variables))
    yield from (one.expression for one in policy.validations)
    yield from (one.for_each.in_ for one in policy.validations if one.for_each)
    yield from (one.patch for one in policy.mutations)


def _said(text: Text) -> str:
    return text.literal or _CASE_BY_CASE


def _code(expression: Expression) -> str:
    return " ".join(expression.text.split())


def list_document(policies: Iterable[Policy]) -> dict[str, Any]:
    """Make the document of `-o json`."""
    return {"version": VERSION, "policies": [policy_entry(one) for one in policies]}


def policy_entry(policy: Policy) -> dict[str, Any]:
    """Write one policy; `why` and `message` are "" where only an expression says them."""
    return {
        "name": policy.name,
        "title": policy.title,
        "severity": policy.severity.value,
        "category": policy.category,
        "releases": policy.releases.text if policy.releases else "",
        "why": policy.why.literal,
        "docs": policy.docs,
        "sources": list(policy.sources),
        "file": policy.location.file,
        "validationActions": [one.value for one in Action if one in policy.actions],
        "failurePolicy": policy.failure_policy.value,
        "matches": [
            {
                "apiGroups": list(rule.api_groups),
                "apiVersions": list(rule.api_versions),
                "resources": list(rule.resources),
                "resourceNames": list(rule.resource_names),
                "operations": list(rule.operations),
            }
            for rule in policy.match.resource_rules
        ],
        "matchConditions": [{"name": one.name, "expression": one.expression.text} for one in policy.match_conditions],
        "lookups": [{"name": one.name, "object": lookup(one)} for one in policy.lookups],
        "rules": [_rule_entry(one) for one in policy.validations],
        "mutations": [
            {"message": one.message.literal, "patchType": one.patch_type.value, "expression": one.patch.text}
            for one in policy.mutations
        ],
        "acknowledge": _acknowledgement(policy),
    }


def _rule_entry(rule: Validation) -> dict[str, Any]:
    return {
        "name": rule.name,
        "message": rule.message.literal,
        "expression": rule.expression.text,
        "forEach": rule.for_each.in_.text if rule.for_each else "",
        "field": rule.field.literal,
        "fix": rule.fix.text.literal,
        "reason": rule.reason.value,
    }
