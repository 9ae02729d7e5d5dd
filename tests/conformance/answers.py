"""What our engine has decided, in the words of the API server's own policies, held against what that has answered.

The API server goes through policies and bindings in any order and tells a client of the first denial alone, so of ours
it has to be the first one of some policy. Its words for what cannot be evaluated are its own; that it was this
expression has to be in them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from tests.conformance.native import Answer
from webhook.engine.decide import refuses
from webhook.model.decision import Decision, Finding, Outcome
from webhook.model.policy import Action, Origin, Reason
from webhook.model.request import Object

_FAILURE: Final = "validation.policy.admission.k8s.io/validation_failure"
_WARNINGS: Final = 4096
_WARNING: Final = 256
_FORBIDDEN: Final = 403
_NEVER_ALIKE: Final = ("uid", "creationTimestamp", "managedFields", "generation", "resourceVersion")


@dataclass(frozen=True)
class Said:
    """One finding as the API server tells it: what comes before its words, and the words."""

    finding: Finding
    intro: str

    def fits(self, text: str) -> bool:
        """Is this what the API server says; of what could not be evaluated its reason is not compared."""
        if not text.startswith(self.intro):
            return False
        words = text.removeprefix(self.intro)
        if self.finding.outcome is Outcome.ERROR or _unevaluated(self.finding):
            return any(part in words for part in _parts(self.finding))
        return words == self.finding.message or _in_any_order(words) == _in_any_order(self.finding.message)

    def __str__(self) -> str:
        return f"{self.intro}{self.finding.message}"


def _in_any_order(text: str) -> list[str]:
    """Give the words of a text, sorted: the API server goes through a map in another order each time."""
    return sorted(text.replace(",", " ").replace(";", " ").split())


def disagreements(theirs: Answer, annotations: Mapping[str, str], ours: Decision, stored: Object) -> Iterator[str]:
    """Say in what an answer differs from a decision. `stored`: what the API server makes of the object we made."""
    if theirs.allowed != ours.allowed:
        yield "verdict"
    elif not theirs.allowed:
        yield from _denial(theirs, ours)
    elif _alike(theirs.body) != _alike(stored):
        yield "object"
    if ours.allowed or not _of_mutations(ours):
        yield from _warnings(theirs, ours)
        yield from _annotations(annotations, ours)


def told(ours: Decision) -> str:
    """Write a decision down for people who look for what is different."""
    lines = [f"{'allowed' if ours.allowed else 'refused'}, {json.dumps(ours.object)}, {ours.audit_annotations}"]
    lines += [f"{one.outcome} {'/'.join(_told(one))}: {one.message}" for one in ours.findings]
    return "\n  ".join(lines)


def _denial(theirs: Answer, ours: Decision) -> Iterator[str]:
    causes = [cause["message"] for cause in theirs.body.get("details", {}).get("causes", ())]
    fitting = [said for said in _denials(ours) if causes and said.fits(causes[0])]
    if not fitting:
        yield "message"
        return
    reasons = {said.finding.reason for said in fitting}
    if _of_mutations(ours):
        reasons = {Reason.INVALID, Reason.FORBIDDEN}
    if theirs.body.get("reason") not in {reason.value for reason in reasons}:
        yield "reason"
    codes = {_FORBIDDEN} if _of_mutations(ours) else {int(reason.status) for reason in reasons}
    if theirs.code not in codes:
        yield "code"


def _of_mutations(ours: Decision) -> bool:
    return any(refuses(one) and one.policy.origin is Origin.MUTATING_ADMISSION_POLICY for one in ours.findings)


def _denials(ours: Decision) -> Iterator[Said]:
    """Give what a client may be told: the first denial of each binding, each one where there are several params."""
    for _, found in groupby(sorted(filter(refuses, ours.findings), key=_binding), key=_binding):
        ordered = sorted(found, key=lambda one: (_index(one) is None, _index(one) or 0))
        told = ordered if ordered[0].policy.params else ordered[:1]
        for finding in told:
            validating = finding.policy.origin is Origin.VALIDATING_ADMISSION_POLICY
            kind = "ValidatingAdmissionPolicy" if validating else "policy"
            start = f"{kind} '{finding.policy.name}' with binding '{finding.policy.binding}' denied request: "
            yield Said(finding, start)


def _warnings(theirs: Answer, ours: Decision) -> Iterator[str]:
    """Compare warnings; where there are too many characters of them the API server cuts each."""
    intro = "Validation failed for ValidatingAdmissionPolicy '{}' with binding '{}': "
    wanted = [
        Said(one, intro.format(one.policy.name, one.policy.binding))
        for one in ours.findings
        if Action.WARN in one.policy.actions and one.outcome in (Outcome.WARN, Outcome.DENY) and not one.ignored
    ]
    given = [text for text in theirs.warnings if text.startswith("Validation failed for")]
    if sum(map(len, map(str, wanted))) + sum(map(len, given)) > _WARNINGS:
        return
    yield from (f"warning: ours lacks {text}" for text in given if not any(said.fits(text) for said in wanted))
    yield from (f"warning: only ours has {said}" for said in wanted if not any(map(said.fits, given)))


def _annotations(theirs: Mapping[str, str], ours: Decision) -> Iterator[str]:
    """Compare audit annotations. Of several failures the API server's own annotation holds the last one alone."""
    policies = {one.split("/")[0] for one in ours.evaluated}
    own = {key: _sorted(text) for key, text in theirs.items() if key.split("/")[0] in policies}
    wanted = {key: _sorted(text) for key, text in ours.audit_annotations.items() if key != "validation_failure"}
    if own != wanted:
        yield f"audit annotations: {own}, ours {wanted}"
    failures = json.loads(ours.audit_annotations.get("validation_failure", "[]"))
    entries = json.loads(theirs.get(_FAILURE, "[]"))
    if bool(entries) != bool(failures):
        yield f"validation_failure: {entries}, ours {failures}"
    for entry in entries:
        if not any(_same(entry, failure, ours) for failure in failures):
            yield f"validation_failure: {entry} is not among {failures}"


def _sorted(text: str) -> list[str]:
    """Values of several bindings are joined, and these come in any order."""
    return sorted(text.split(", "))


def _same(entry: Object, failure: Object, ours: Decision) -> bool:
    """Is an entry of theirs one of ours, which says `rule` where they say `expressionIndex`."""
    rule = failure["rule"]
    if rule.isdecimal() and int(rule) != entry["expressionIndex"]:
        return False
    if (entry["policy"], entry["binding"]) != (failure["policy"], failure["binding"]):
        return False
    if sorted(entry["validationActions"]) != failure["validationActions"]:
        return False
    found = [one for one in ours.findings if _told(one) == (failure["policy"], failure["binding"], rule)]
    return any(Said(one, "").fits(entry["message"]) for one in found)


def _told(finding: Finding) -> tuple[str, str, str]:
    return finding.policy.name, finding.policy.binding, finding.rule


def _binding(finding: Finding) -> tuple[str, str, str]:
    return finding.policy.origin, finding.policy.name, finding.policy.binding


def _index(finding: Finding) -> int | None:
    return int(finding.rule) if finding.rule.isdecimal() else None


def _unevaluated(finding: Finding) -> bool:
    return finding.message.startswith("the rule could not be evaluated")


def _parts(finding: Finding) -> tuple[str, ...]:
    """Give what one of has to be in the words: what could not be evaluated, or that the budget is spent."""
    policy, (what, _, number) = finding.policy, finding.rule.partition(".")
    if finding.rule == "params":
        return ("failed to configure binding",)
    if finding.rule.isdecimal():
        text = policy.validations[int(finding.rule)].expression.text
    elif what == "condition":
        text = policy.match_conditions[int(number)].expression.text
    elif what == "annotation":
        text = next(one.value.text for one in policy.audit_annotations if one.key == number)
    elif what == "mutation":
        return ("",)
    else:
        raise AssertionError(finding.rule)
    return f"expression '{text}' resulted in error", "cost budget", "failed messageExpression"


def _alike(obj: Object) -> Any:
    """Give an object without what no two have alike."""
    metadata = obj.get("metadata", {})
    never = {*_NEVER_ALIKE, *(("name",) if "generateName" in metadata else ())}
    return {**obj, "metadata": {key: value for key, value in metadata.items() if key not in never}}
