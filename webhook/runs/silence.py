"""Silencing one finding, with a reason, in the manifest itself.

An annotation speaks about the whole object:

    cozyguard.io/ignore: "policy-a=why it is right here; policy-b/rule=why"

A comment speaks about the line it stands on, or, alone on its line, about the next one that says something:

    variant: custom  # cozyguard:ignore policy-a: why it is right here

Without a reason neither is honoured. The webhook honours neither: whoever may write an object could
otherwise exempt themselves; in a cluster that takes a PolicyException.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from webhook.model.decision import Finding, Outcome
from webhook.model.path import walk
from webhook.model.request import Object
from webhook.model.result import Silenced
from webhook.sources.yaml import Document

ANNOTATION: Final = "cozyguard.io/ignore"

ANNOTATION_PATH: Final = ("metadata", "annotations", ANNOTATION)

_MARK: Final = "cozyguard:ignore"
_COMMENT: Final = re.compile(rf"{_MARK}\b[ \t]*([^\s:]*)[ \t]*:?[ \t]*(.*)")
_NEVER: Final = {Outcome.PASS, Outcome.SKIP}


@dataclass(frozen=True, slots=True)
class Ignore:
    """One wish to silence: a policy, or one rule of it; `line` is 0 for the whole object."""

    by: str
    policy: str
    rule: str
    reason: str
    line: int = 0

    def covers(self, finding: Finding, line: int) -> bool:
        """Is it about this finding, whose node stands on this line."""
        return (
            bool(self.reason)
            and self.policy == finding.policy.name
            and self.rule in ("", finding.rule)
            and self.line in (0, line)
            and finding.outcome not in _NEVER
        )


def silenced(finding: Finding, line: int, ignores: Sequence[Ignore]) -> Silenced | None:
    """Say why a finding does not count; None when it does."""
    covering = (ignore for ignore in ignores if ignore.covers(finding, line))
    return next((Silenced(ignore.by, ignore.reason) for ignore in covering), None)


def annotated(obj: Object) -> Iterator[Ignore]:
    """Read the wishes in an object's annotation."""
    _, text = walk(obj, ANNOTATION_PATH)
    for entry in text.split(";") if isinstance(text, str) else ():
        name, _, reason = entry.partition("=")
        if name.strip():
            yield _ignore("annotation", name, reason)


def commented(document: Document) -> Iterator[Ignore]:
    """Read the wishes in a document's comments; text that only looks like a comment is none."""
    if _MARK not in document.text:
        return
    lines = document.text.splitlines()
    for index, line in enumerate(lines):
        if _MARK in line and (match := _COMMENT.fullmatch(document.comment(document.line + index))):
            alone = line.lstrip().startswith("#")
            about = _next_content(lines, index) if alone else index
            yield _ignore("comment", match[1], match[2], document.line + about)


def _next_content(lines: Sequence[str], index: int) -> int:
    """Pass over comments and empty lines, so that comments can be stacked."""
    following = range(index + 1, len(lines))
    return next((i for i in following if (text := lines[i].strip()) and not text.startswith("#")), index)


def unreasoned(ignore: Ignore) -> str:
    """Say why a wish without a reason is not honoured, and what to write."""
    if not ignore.policy:
        return "the ignore names no policy and is not honoured: write `# cozyguard:ignore policy: reason`"
    form = f"{ignore.policy}=reason" if ignore.by == "annotation" else f"{ignore.policy}: reason"
    return f"the ignore of `{ignore.policy}` has no reason and is not honoured: write `{form}`"


def _ignore(by: str, name: str, reason: str, line: int = 0) -> Ignore:
    policy, _, rule = name.strip().partition("/")
    return Ignore(by, policy, rule, reason.strip(), line)
