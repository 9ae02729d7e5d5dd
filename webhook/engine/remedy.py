"""The way out of a finding, ready to use: YAML to write on a create, a command on an update."""

from __future__ import annotations

import itertools
import json
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, TypeAlias

from webhook.cel.errors import CelError
from webhook.engine.patch import apply, difference
from webhook.engine.secrecy import conceals
from webhook.model.decision import Decision, Finding, Operation, Outcome
from webhook.model.fragment import block
from webhook.model.path import render, unpoint
from webhook.model.request import UPDATE, AdmissionRequest, Object

_COMMAND_LIMIT: Final = 1000
"""Characters; a longer command nobody reads, and the words of the fix have to do."""

_KEPT_BY_SERVER: Final = frozenset(
    {"annotations", "managedFields", "generation", "resourceVersion", "uid", "creationTimestamp"}
)
"""Of the metadata; annotations are looked at one by one."""

_LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
"""An annotation that repeats the whole object: no part of a command, and no place to show what is to be hidden."""


Again: TypeAlias = Callable[[Object], Decision]
"""Decides about another object as if it had been sent in place of the one of the request."""


def lines(findings: Sequence[Finding], request: AdmissionRequest, again: Again | None = None) -> Iterator[list[str]]:
    """Write for each finding what can be pasted, if its fix is mechanical: nothing else works as printed.

    On an update that is one command for all of them, with the last one: the API server would refuse one that
    leaves another finding as it is. With `again`, what would be refused all the same is said to be.
    """
    if request.object is None:
        yield from ([] for _ in findings)
        return
    left = _left(findings, request.object, again) if again else ()
    if request.operation == UPDATE and request.old_object is not None:
        yield from ([] for _ in findings[1:])
        command = _command(findings, request, request.object, request.old_object)
        yield list(_not_enough(left) if left else command)
    else:
        for finding in findings:
            mended = list(_yaml(finding.fix.patch))
            yield [*mended, *_not_enough(one for one in left if mended and one.policy.name == finding.policy.name)]


def _left(findings: Sequence[Finding], obj: Object, again: Again) -> tuple[Finding, ...]:
    """Find what the mended object is refused for, but for what has to be mended by hand anyway."""
    mechanical = [finding for finding in findings if finding.fix.patch]
    mended = _mended(mechanical, obj) if mechanical else None
    if mended is None:
        return ()
    by_hand = {(finding.policy.name, finding.rule) for finding in findings if not finding.fix.patch}
    refused = (finding for finding in again(mended).findings if finding.outcome is Outcome.DENY)
    return tuple(finding for finding in refused if (finding.policy.name, finding.rule) not in by_hand)


def _not_enough(left: Iterable[Finding]) -> Iterator[str]:
    """Say what is still in the way: the first thing of it, as the next try would."""
    for finding in itertools.islice(left, 1):
        place = f"{render(finding.field)}: " if finding.field else ""
        yield f"that alone is not enough: then it is refused for {place}{finding.message} [{finding.policy.name}]"


def _yaml(operations: Sequence[Operation]) -> Iterator[str]:
    """Write what the object should say, below the keys that lead there."""
    wanted: dict[str, Any] = {}
    for operation in operations:
        path = unpoint(operation["path"])
        if operation["op"] not in ("add", "replace") or not path or any(_is_index(step) for step in path):
            return  # an element of a list cannot be shown without the others
        node = wanted
        for step in path[:-1]:
            node = node.setdefault(step, {})
        node[path[-1]] = operation.get("value")
    if wanted:
        yield from block(wanted)


def _is_index(step: str) -> bool:
    return step == "-" or step.isdigit()


def _command(findings: Sequence[Finding], request: AdmissionRequest, new: Object, old: Object) -> Iterator[str]:
    """Write the `kubectl patch` that makes of the stored object what was applied, mended."""
    mended = _mended(findings, new)
    if mended is None:
        return
    annotated = bool(_annotations(old))
    changes = difference(_written(old, annotated=annotated), _written(mended, annotated=annotated))
    paths = [unpoint(change["path"]) for change in changes]
    if any(conceals(finding.policy, new, path) for finding in findings for path in paths):
        return
    if not changes:
        yield "leave the object as it is: that is the mended form"
        return
    place = f" --namespace {shlex.quote(request.namespace)}" if request.namespace else ""
    resource = ".".join(filter(None, (request.resource.resource, request.resource.group)))
    patch = shlex.quote(json.dumps(changes, ensure_ascii=False, separators=(",", ":")))
    command = f"kubectl patch {resource} {shlex.quote(request.name)}{place} --type json --patch {patch}"
    if len(command) <= _COMMAND_LIMIT:
        if len(findings) > 1:
            yield f"this mends all {len(findings)} findings at once:"
        yield command


def _mended(findings: Sequence[Finding], obj: Object) -> Object | None:
    """Apply the patches of all findings, if each has one; lists from behind, so that indexes stay what they were."""
    patches = [finding.fix.patch for finding in findings]
    if not all(patches):
        return None
    try:
        for patch in sorted(patches, key=_place_of, reverse=True):
            obj = apply(obj, patch)
    except CelError:
        return None
    return obj


def _place_of(patch: Sequence[Operation]) -> tuple[str, ...]:
    """Sort patches by where they begin; indexes as numbers."""
    return tuple(step.zfill(9) for step in unpoint(patch[0]["path"]))


def _written(obj: Object, *, annotated: bool) -> Object:
    """Leave out what the API server and kubectl write by themselves.

    `annotated`: the stored object has annotations, though nobody else's, and a patch can add to them.
    """
    metadata = obj.get("metadata")
    if not isinstance(metadata, dict):
        return obj
    kept = {key: value for key, value in metadata.items() if key not in _KEPT_BY_SERVER}
    annotations = {key: value for key, value in _annotations(obj).items() if key != _LAST_APPLIED}
    if annotations or annotated:
        kept["annotations"] = annotations
    return {**obj, "metadata": kept}


def _annotations(obj: Object) -> dict[str, Any]:
    metadata = obj.get("metadata")
    found = metadata.get("annotations") if isinstance(metadata, dict) else None
    return found if isinstance(found, dict) else {}
