"""The way out of a finding, ready to use: YAML to write on a create, a command on an update."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Sequence
from typing import Any, Final

from webhook.cel.errors import CelError
from webhook.engine.patch import apply, difference
from webhook.engine.secrecy import conceals
from webhook.model.decision import Finding, Operation
from webhook.model.fragment import block
from webhook.model.path import unpoint
from webhook.model.request import UPDATE, AdmissionRequest, Object

_COMMAND_LIMIT: Final = 1000
"""Characters; a longer command nobody reads, and the words of the fix have to do."""

_KEPT_BY_SERVER: Final = frozenset({"managedFields", "generation", "resourceVersion", "uid", "creationTimestamp"})


def lines(finding: Finding, request: AdmissionRequest) -> Iterator[str]:
    """Write the remedy of a finding, if its fix is mechanical: nothing else can be trusted to work as printed."""
    if not finding.fix.patch or request.object is None:
        return
    if request.operation == UPDATE and request.old_object is not None:
        yield from _command(finding, request, request.object, request.old_object)
    else:
        yield from _yaml(finding.fix.patch)


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
    yield from block(wanted)


def _is_index(step: str) -> bool:
    return step == "-" or step.isdigit()


def _command(finding: Finding, request: AdmissionRequest, new: Object, old: Object) -> Iterator[str]:
    """Write the `kubectl patch` that makes of the stored object what was applied, mended."""
    try:
        mended = apply(new, finding.fix.patch)
    except CelError:
        return
    changes = difference(_written(old), _written(mended))
    if any(conceals(finding.policy, new, unpoint(change["path"])) for change in changes):
        return
    if not changes:
        yield "leave the object as it is: that is the mended form"
        return
    place = f" --namespace {shlex.quote(request.namespace)}" if request.namespace else ""
    resource = ".".join(filter(None, (request.resource.resource, request.resource.group)))
    patch = shlex.quote(json.dumps(changes, ensure_ascii=False, separators=(",", ":")))
    command = f"kubectl patch {resource} {shlex.quote(request.name)}{place} --type json --patch {patch}"
    if len(command) <= _COMMAND_LIMIT:
        yield command


def _written(obj: Object) -> Object:
    """Leave out what the API server writes by itself."""
    metadata = obj.get("metadata")
    if not isinstance(metadata, dict):
        return obj
    return {**obj, "metadata": {key: value for key, value in metadata.items() if key not in _KEPT_BY_SERVER}}
