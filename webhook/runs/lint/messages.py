"""Messages that do not reach people whole, and fixes that mend another place than the one that is shown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from webhook.cel.tree import Call, Const, MapNode, Node, walk
from webhook.model import path as paths
from webhook.model.diagnosis import Level
from webhook.model.lint import Check, Finding
from webhook.model.path import Path
from webhook.model.policy import Action
from webhook.runs.lint.met import Met
from webhook.runs.lint.subject import Subject, finding

LONG: Final = Check(
    "long-message",
    Level.WARNING,
    "a message over Kubernetes' limits",
    "a warning is cut after 256 characters; in place of more than 5,120 bytes the expression itself is shown",
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
            message = f"{len(said)} characters: a warning is cut after {_WARNING}"
            yield Finding(LONG, policy.name, at, message, "say it in fewer words, and the rest in `why` and `fix`")
        elif (size := len(said.encode())) > _MESSAGE:
            yield Finding(LONG, policy.name, at, f"{size} bytes: more than {_MESSAGE:,}", "say it in fewer words")
        if validation.field.literal and validation.fix.patch:
            yield from _elsewhere(subject, index, paths.parse(validation.field.literal.replace("[@]", f'["{_ANY}"]')))


def _elsewhere(subject: Subject, index: int, field: Path) -> Iterator[Finding]:
    part = subject.parts[f"validation.{index}.patch"]
    written = [(node, place) for node in walk(part.tree.root) for place in _places(node)]
    if written and not any(_meet(paths.unpoint(place), field) for _, place in written):
        node, place = written[0]
        message = f"changes `{place}`, and the finding points at `{paths.render(field)}`"
        yield finding(ELSEWHERE, subject, part, node, message, "let `field` name what the fix changes")


def _places(node: Node) -> Iterator[str]:
    """Give the places that an operation changes, as far as they are written out: what is computed ends them."""
    if isinstance(node, MapNode) and node.structure == "JSONPatch":
        for entry in node.entries:
            first = _first(entry.value)
            if isinstance(entry.key, Const) and entry.key.value in ("path", "from") and isinstance(first, Const):
                yield str(first.value)


def _first(node: Node) -> Node:
    """Give the first operand of a text that is put together."""
    while isinstance(node, Call) and node.function == "_+_":
        node = node.args[0]
    return node


def _meet(place: tuple[str, ...], field: Path) -> bool:
    """Is one on the way to the other."""
    return all(a == str(b) or b == _ANY for a, b in zip(filter(None, place), field, strict=False))
