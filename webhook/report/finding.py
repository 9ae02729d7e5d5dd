"""One finding for machines: how much it weighs, how it is recognised again, and its words in full."""

from __future__ import annotations

import hashlib
import os
from enum import Enum, auto

from webhook.model import path
from webhook.model.decision import Finding, Outcome
from webhook.model.result import Result
from webhook.report.plain import visible
from webhook.report.text import choices, fix_words


class Weight(Enum):
    """What a finding comes to, whatever a format calls it."""

    FAILURE = auto()
    """The object is refused."""
    ERROR = auto()
    """The rule could not be evaluated, and the object is refused for it."""
    WARNING = auto()
    NOTE = auto()
    """Audited only, or ignored by the policy's own wish."""
    SKIPPED = auto()
    """Not checked."""
    PASSED = auto()
    SILENCED = auto()


_WEIGHTS = {
    Outcome.DENY: Weight.FAILURE,
    Outcome.ERROR: Weight.ERROR,
    Outcome.WARN: Weight.WARNING,
    Outcome.AUDIT: Weight.NOTE,
    Outcome.SKIP: Weight.SKIPPED,
    Outcome.PASS: Weight.PASSED,
}


def weight(result: Result) -> Weight:
    """Weigh a finding; one that is silenced weighs nothing."""
    return Weight.SILENCED if result.silenced else own_weight(result.finding)


def own_weight(finding: Finding) -> Weight:
    """Weigh a finding as if nobody had silenced it."""
    return Weight.NOTE if finding.ignored else _WEIGHTS[finding.outcome]


def fingerprint(result: Result, *more: str) -> str:
    """Recognise a finding by policy, rule, object and field: neither lines nor words change it. 64 hex digits."""
    finding, resource = result.finding, result.resource
    what = (finding.policy.name, finding.rule, resource.api_version, resource.kind, resource.namespace, resource.name)
    return hashlib.sha256(
        "\0".join((*what, path.render(finding.field), *more)).encode(errors="surrogateescape")
    ).hexdigest()


def message(result: Result) -> str:
    """Say on one line what is wrong, without characters that do not print."""
    return (
        " ".join(visible(line) for line in result.finding.message.splitlines()) or f"rule {result.finding.rule} holds"
    )


def details(result: Result) -> str:
    """Say all that helps, a line each: what is wrong, what is allowed, why, the way out, where to read on."""
    finding = result.finding
    if weight(result) in (Weight.SKIPPED, Weight.PASSED):
        return message(result)
    lines = [
        *finding.message.splitlines(),
        choices(result),
        f"at: {path.render(finding.field)}" if finding.field else "",
        f"why: {finding.why}" if finding.why else "",
        f"fix: {words}" if (words := fix_words(finding)) else "",
        f"docs: {finding.policy.docs}" if finding.policy.docs else "",
    ]
    return "\n".join(visible(line) for line in lines if line)


def file_path(file: str) -> str:
    """Name a file as other tools do: from the current folder where it is below it, with `/`.

    Standard input keeps its name, and what comes from a cluster has none.
    """
    if not file or file.startswith("<"):
        return file
    relative = os.path.relpath(file)
    return (file if relative.startswith("..") else relative).replace(os.sep, "/")
