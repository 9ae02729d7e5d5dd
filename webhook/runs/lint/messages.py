"""Messages that do not reach people whole, and fixes that mend another place than the one that is shown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from webhook.cel.tree import Const, walk
from webhook.model import path as paths
from webhook.model.diagnosis import Level
from webhook.model.lint import Check, Finding
from webhook.model.path import Path
from webhook.model.policy import Action
from webhook.runs.lint.met import Met
from webhook.runs.lint.patches import Place, changes
from webhook.runs.lint.subject import Part, Subject, finding

LONG: Final = Check(
    "long-message",
    Level.WARNING,
    "a message over Kubernetes' limits",
    "a warning may be cut after 256 characters; of a messageExpression more than 5,120 bytes are not shown at all",
)
ELSEWHERE: Final = Check(
    "fix-elsewhere",
    Level.REMARK,
    "a fix that changes another place than the one that `field` shows",
    "people look at the field, and `check --fix` changes something else",
)

_WARNING: Final = 256
"""Characters, https://kubernetes.io/blog/2020/09/03/warnings/; the name of policy and binding stands before it."""
_MESSAGE: Final = 5_120
"""Bytes, `MaxMessageExpressionLength` of the API server's policy plugin."""

_ANY: Final = "@"
"""Stands in `field` for the current index or key."""


def check(subject: Subject, met: Met) -> Iterator[Finding]:  # noqa: ARG001 - the signature of all checks
    """Find messages that are too long, and fixes that do not match their field."""
    policy = subject.policy
    for index, validation in enumerate(policy.validations):
        said = validation.message.literal
        at = subject.place("validations", index, "message")
        if Action.WARN in policy.actions and len(said) > _WARNING:
            message = f"{len(said)} characters: a warning may be cut after {_WARNING}"
            yield Finding(LONG, policy.name, at, message, "say it in fewer words, and the rest in `why` and `fix`")
        if part := subject.parts.get(f"validation.{index}.message"):
            yield from _computed(subject, part)
        if validation.field.literal and validation.fix.patch:
            yield from _elsewhere(subject, index, paths.parse(validation.field.literal.replace("[@]", f'["{_ANY}"]')))


def _computed(subject: Subject, part: Part) -> Iterator[Finding]:
    """Count what is written out in a messageExpression: it gives that much at least, unless it chooses."""
    words = (node.value for node in walk(part.tree.root) if isinstance(node, Const) and isinstance(node.value, str))
    if (size := sum(len(word.encode()) for word in words)) > _MESSAGE:
        message = f"{size} bytes of text: more than {_MESSAGE:,} are not shown"
        yield finding(LONG, subject, part, part.tree.root, message, "say it in fewer words")


def _elsewhere(subject: Subject, index: int, field: Path) -> Iterator[Finding]:
    part = subject.parts[f"validation.{index}.patch"]
    written = list(changes(part))
    if written and not any(_meet(change.place, field) for change in written):
        message = f"changes `{paths.render(written[0].place)}`, and the finding points at `{paths.render(field)}`"
        yield finding(ELSEWHERE, subject, part, written[0].node, message, "let `field` name what the fix changes")


def _meet(place: Place, field: Path) -> bool:
    """Is one on the way to the other."""
    return all(a == str(b) or b == _ANY for a, b in zip(place, field, strict=False))
