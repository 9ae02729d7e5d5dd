"""A patch of one object → the text that says it: for `--fix`, and for reports that offer the change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from webhook.cel.errors import CelError
from webhook.engine.patch import apply
from webhook.model.decision import Operation
from webhook.model.path import walk
from webhook.model.request import Object
from webhook.model.result import Replacement, Result
from webhook.runs.edits import edits, refined
from webhook.sources.manifests import Manifest
from webhook.sources.yaml import Source
from webhook.sources.yaml.page import Refused
from webhook.sources.yaml.revise import revise, same


def mended(source: Source, manifest: Manifest, patch: Sequence[Operation]) -> Source:
    """Write a patch into the text that an object comes from. Raises Refused."""
    _, written = walk(manifest.source.value, manifest.prefix)  # items of a typed list say no kind
    try:
        wanted = apply(written, patch)
        changes = [each for edit in edits(written, patch) for each in refined(edit)]
    except (CelError, ValueError, KeyError) as error:
        raise Refused(f"the fix does not apply to what is written: {error}") from None
    if same(wanted, written):
        raise Refused("the fix changes nothing of what is written")
    placed = [replace(each, path=manifest.prefix + each.path) for each in changes]
    return revise(source, manifest.source, placed, _put(manifest.source.value, manifest.prefix, wanted))


def replacement(manifest: Manifest, result: Result) -> Replacement | None:
    """Say which characters to replace for a fix; None where it is not mechanical, or no editor should show it."""
    if not result.fixable or result.source.excerpt is None or result.finding.policy.sensitive_fields:
        return None
    document = replace(manifest.source, index=0)
    source = Source(document.file, 0, document.line, document.text, json=document.json)
    try:
        after = mended(source, replace(manifest, source=document), result.finding.fix.patch).text
    except Refused:
        return None
    before = document.text
    start = _common(before, after)
    behind = _common(before[start:][::-1], after[start:][::-1])
    end = len(before) - behind
    return Replacement(
        *_at(document.line, before, start), *_at(document.line, before, end), after[start : len(after) - behind]
    )


def _common(a: str, b: str) -> int:
    """Count the characters with which both begin."""
    return next(
        (index for index, pair in enumerate(zip(a, b, strict=False)) if pair[0] != pair[1]), min(len(a), len(b))
    )


def _at(line: int, text: str, offset: int) -> tuple[int, int]:
    return line + text.count("\n", 0, offset), offset - text.rfind("\n", 0, offset)


def _put(value: Any, prefix: Sequence[str | int], obj: Object) -> Any:
    """Give a document's value with another object in the place of one."""
    if not prefix:
        return obj
    first, *rest = prefix
    if isinstance(value, list):
        return [_put(each, rest, obj) if index == first else each for index, each in enumerate(value)]
    return {key: _put(each, rest, obj) if key == first else each for key, each in value.items()}
