"""Small changes of a case that tell a mutant from the policy it was made of."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Final

from webhook.engine.policyset import PolicySet
from webhook.model.decision import Decision, Finding, Outcome
from webhook.model.path import Path, render
from webhook.model.suite import Case
from webhook.runs.suite import decide

_MOST: Final = 100
"""Changes that are tried of one case; both decisions about one take a fifth of a millisecond."""
_GONE: Final = object()
_UNTOUCHED: Final = frozenset({"apiVersion", "kind", "metadata"})
_IDENTITY: Final = frozenset({"name", "namespace", "generateName"})


def hint(case: Case, original: PolicySet, mutant: PolicySet, words: Sequence[Any] = ()) -> str:
    """Find the first change that the two answer differently, in words; "" if none of those tried does.

    `words` are values worth trying: the constants of the expression that was changed.
    """
    for what, changed in islice(_changed(case, words), _MOST):
        want, got = decide(changed, original), decide(changed, mutant)
        if _essence(want) != _essence(got):
            return f"case `{case.name}` with {what}: {_told(want)}, the mutant: {_told(got)}"
    return ""


def _changed(case: Case, words: Sequence[Any]) -> Iterator[tuple[str, Case]]:
    yield "nothing changed", case
    for number, lookup in enumerate(case.lookups):
        left = case.lookups[:number] + case.lookups[number + 1 :]
        yield f"lookups[{number}] left out", replace(case, lookups=left)
        for what, obj in _edits(lookup, words):
            lookups = (*case.lookups[:number], obj, *case.lookups[number + 1 :])
            yield f"lookups[{number}].{what}", replace(case, lookups=lookups)
    if case.object is not None:
        for what, obj in _edits(case.object, words):
            yield f"object.{what}", replace(case, object=obj)
    if case.old_object is not None:
        for what, obj in _edits(case.old_object, words):
            yield f"oldObject.{what}", replace(case, old_object=obj)


def _edits(obj: dict[str, Any], words: Sequence[Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Change one value of an object, outer ones first."""
    waiting: list[tuple[Path, Any]] = [((key,), value) for key, value in obj.items() if key not in _UNTOUCHED]
    metadata = obj.get("metadata")
    if isinstance(metadata, dict):
        waiting += [(("metadata", key), value) for key, value in metadata.items() if key not in _IDENTITY]
    for path, value in waiting:  # grows as we go: breadth first
        yield f"{render(path)} left out", _edited(obj, path, _GONE)
        others: list[Any] = [*_others(value), *(() if isinstance(value, dict | list) else words)]
        for other in others:
            yield f"{render(path)}: {json.dumps(other, ensure_ascii=False)}", _edited(obj, path, other)
        if isinstance(value, dict | list):
            entries: Iterable[tuple[Any, Any]] = value.items() if isinstance(value, dict) else enumerate(value)
            waiting += [((*path, key), inner) for key, inner in entries]


def _others(value: Any) -> list[Any]:
    """Give other values, of the same type first."""
    same: list[Any] = [[]]
    if isinstance(value, bool):
        same = [not value]
    elif isinstance(value, int | float):
        same = [value + 1, value - 1]
    elif isinstance(value, str):
        same = ["", value + "-x"]
    elif isinstance(value, dict):
        same = [{}]
    strange: tuple[Any, ...] = (None, "", 1, [])
    return same + [other for other in strange if type(other) is not type(value)]


def _edited(value: Any, path: Path, new: Any) -> Any:
    """Copy what leads to a path, and put something else there."""
    copy: Any = dict(value) if isinstance(value, dict) else list(value)
    key, *more = path
    if more:
        copy[key] = _edited(value[key], tuple(more), new)
    elif new is _GONE:
        del copy[key]
    else:
        copy[key] = new
    return copy


def _essence(decision: Decision) -> tuple[Any, ...]:
    """Give what a case can expect of a decision, but for words."""
    found = [(one.policy.name, one.rule, one.outcome, one.field) for one in _failures(decision)]
    return found, decision.evaluated, decision.patch, decision.audit_annotations


def _failures(decision: Decision) -> list[Finding]:
    return [one for one in decision.findings if one.outcome is not Outcome.PASS]


def _told(decision: Decision) -> str:
    found = dict.fromkeys(f"{one.outcome.value} {render(one.field)}".strip() for one in _failures(decision))
    patched = ["patched"] if decision.patch else []
    return ", ".join([*patched, *found]) or ("allow" if decision.evaluated else "notMatched")
