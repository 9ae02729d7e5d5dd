"""The oldest Kubernetes that knows all that an expression uses: functions, macros, optionals, the kind itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from webhook.cel.functions import FUNCTIONS, LIBRARIES
from webhook.cel.tree import Call, ListNode, Loop, MapNode, Node, OptMap, walk
from webhook.model.diagnosis import Level
from webhook.model.lint import Check, Finding, Requirement
from webhook.model.policy import Origin
from webhook.model.release import Minor
from webhook.runs.lint.subject import Subject

NEWER: Final = Check(
    "newer-kubernetes",
    Level.ERROR,
    "something that the Kubernetes named by --kubernetes-version does not have",
    "the API server refuses a policy whose expressions it cannot compile",
)

_OLDEST: Final = Minor(1, 26)
"""The first release with CEL in admission."""
_OPTIONALS: Final = Minor(1, 28)
_TWO_VARIABLES: Final = Minor(1, 32)
_KINDS: Final = {
    Origin.ADMISSION_POLICY: _OLDEST,
    Origin.VALIDATING_ADMISSION_POLICY: Minor(1, 30),
    Origin.MUTATING_ADMISSION_POLICY: Minor(1, 36),
}
"""When the kinds became stable."""

_SINCE: Final[Mapping[str, Minor]] = {
    function.name: Minor.parse(
        min((one.since or library.since for one in function.overloads), default=library.since, key=Minor.parse)
    )
    for library in LIBRARIES
    for function in library.functions
}


def requirement(subject: Subject) -> Requirement:
    """Say which Kubernetes a policy needs, and for what: the first of what is newest."""
    newest = _KINDS.get(subject.policy.origin, _OLDEST)
    found = Requirement(subject.policy.name, str(newest), subject.policy.origin.value, subject.policy.location)
    for part in subject.parts.values():
        for node in walk(part.tree.root):
            for version, what in _needs(node):
                if version > newest:
                    newest = version
                    found = Requirement(subject.policy.name, str(version), what, part.at(node))
    return found


def newer(subject: Subject, kubernetes: Minor | None) -> Iterator[Finding]:
    """Find out whether a policy needs more than a release has."""
    needed = requirement(subject)
    if kubernetes and Minor.parse(needed.version) > kubernetes:
        message = f"{needed.because} needs Kubernetes {needed.version}, and this is for {kubernetes}"
        yield Finding(
            NEWER, subject.policy.name, needed.at, message, "write it otherwise, or raise --kubernetes-version"
        )


def _needs(node: Node) -> Iterator[tuple[Minor, str]]:
    match node:
        case Call(function="_?._" | "_[?_]") | OptMap():
            yield _OPTIONALS, "an optional"
        case Call(function=name) if name in FUNCTIONS:
            yield max(_SINCE[name], _OLDEST), f"`{name}`"
        case Loop(kind="sort"):
            yield Minor(1, 34), "`sortBy`"
        case Loop(variable2=second) if second:
            yield _TWO_VARIABLES, "a loop with two variables"
        case ListNode(optional=optional) if optional:
            yield _OPTIONALS, "an optional element"
        case MapNode(entries=entries) if any(one.optional for one in entries):
            yield _OPTIONALS, "an optional entry"
