"""A decision about one object → results that point at the lines people wrote."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from webhook.engine.patch import apply
from webhook.engine.secrecy import conceals
from webhook.errors import DocumentError
from webhook.model.decision import Change, Decision, Excused, Finding, Operation
from webhook.model.path import Path, parse
from webhook.model.policy import Policy
from webhook.model.request import AdmissionRequest, Object
from webhook.model.result import Checked, Edit, Patch, Resource, Result, Silenced, Source
from webhook.runs import silence
from webhook.runs.edits import edits, path_of
from webhook.runs.silence import Ignore
from webhook.sources.manifests import Manifest

_HIDDEN: Final = "(hidden)"

_SECRET_DATA: Final[Path] = ("data",)

_BRACE: Final = re.compile(r"[{}]")


def checked(manifest: Manifest, request: AdmissionRequest, decision: Decision) -> Checked:
    """Take a decision apart. What is silent costs next to nothing: no place is looked for."""
    resource = Resource(request.kind.api_version, request.kind.kind, request.namespace, request.display_name)
    if not (decision.findings or decision.changes or decision.excused):
        return Checked(resource, file=manifest.file)
    ignores = [*silence.annotated(manifest.object), *silence.commented(manifest.source)]
    found = (_result(manifest, resource, finding, ignores) for finding in decision.findings)
    excused = (_excused(manifest, resource, one) for one in decision.excused)
    return Checked(
        resource,
        (*found, *excused),
        tuple(patches(partial(_source, manifest), resource, request.object or {}, decision.changes)),
        tuple(_remarks(manifest, ignores)),
        manifest.file,
    )


def at_one_place(
    source: Source,
    resource: Resource,
    request: AdmissionRequest,
    decision: Decision,
    result: Callable[[Finding, Silenced | None], Result],
) -> Checked:
    """Take a decision apart about what stands in no manifest: all of it is at `source`, and `result` tells the rest."""
    if not (decision.findings or decision.changes or decision.excused):
        return Checked(resource)
    found = (result(finding, None) for finding in decision.findings)
    excused = (
        result(one.finding, Silenced("exception", one.exception.reason, one.exception)) for one in decision.excused
    )
    changed = patches(lambda _policy, _path: source, resource, request.object or {}, decision.changes)
    return Checked(resource, (*found, *excused), tuple(changed), file=source.file)


def _result(manifest: Manifest, resource: Resource, finding: Finding, ignores: Sequence[Ignore]) -> Result:
    source = _source(manifest, finding.policy, finding.field)
    return Result(finding, resource, source, silence.silenced(finding, source.line, ignores))


def _excused(manifest: Manifest, resource: Resource, excused: Excused) -> Result:
    finding, exception = excused.finding, excused.exception
    silenced = Silenced("exception", exception.reason, exception)
    return Result(finding, resource, _source(manifest, finding.policy, finding.field), silenced)


def _source(manifest: Manifest, policy: Policy, path: Path) -> Source:
    at = manifest.locate(path)
    source = Source(manifest.file, manifest.document, at.line, at.column, at.length)
    if conceals(policy, manifest.object, path) or conceals(policy, manifest.object, _SECRET_DATA):
        return source
    line = manifest.line(at.line)
    if _shares_line_with_secret(manifest, policy, at.line, line):
        return source
    return replace(source, excerpt=line)


def _shares_line_with_secret(manifest: Manifest, policy: Policy, number: int, line: str) -> bool:
    """Can a line hold more than its own node: a sensitive field, or a Secret that is written beside it in a List."""
    if any(manifest.locate(parse(field)).line == number for field in policy.sensitive_fields):
        return True
    return bool(manifest.prefix) and _BRACE.search(line) is not None and "Secret" in manifest.source.text


def patches(
    source: Callable[[Policy, Path], Source], resource: Resource, obj: Object, changes: Sequence[Change]
) -> Iterator[Patch]:
    """Tell what each mutation changes, without what must not be shown; `source` says where it is written."""
    for change in changes:
        policy, operations = change.policy, change.operations
        made = tuple(edits(obj, operations))
        if change.secret:
            change = replace(change, operations=tuple(map(_hide, operations)))
            made = tuple(map(_hide_edit, made))
        yield Patch(change, resource, source(policy, path_of(obj, operations[0]["path"])), made)
        obj = apply(obj, operations)


def _hide(operation: Operation) -> Operation:
    """Hide the value that an operation brings: it may be computed from one that must not be seen."""
    return operation | {"value": _HIDDEN} if "value" in operation else operation


def _hide_edit(edit: Edit) -> Edit:
    return Edit(edit.path, edit.before and (_HIDDEN,), edit.after and (_HIDDEN,))


def _remarks(manifest: Manifest, ignores: Sequence[Ignore]) -> Iterator[DocumentError]:
    for ignore in ignores:
        if not ignore.reason:
            line = ignore.line or manifest.locate(silence.ANNOTATION_PATH).line
            yield DocumentError(manifest.file, line, 1, "", silence.unreasoned(ignore))
