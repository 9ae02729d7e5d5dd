"""The release catalogue, written: an entry as the file that ships, and what differs between two of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from webhook.model import path
from webhook.model.fragment import INDENT, block, scalar
from webhook.model.release import Release
from webhook.model.result import Edit

VERSION: Final = 1

_COLUMNS: Final = 100
"""A list that is longer takes a line for each element."""


def entry_lines(facts: Mapping[str, Any]) -> Iterator[str]:
    """Write an entry as YAML, in the form of `policies/catalog/`: lists on a line of their own key, where they fit."""
    for key, value in facts.items():
        yield from _entry(scalar(key), value)


def _entry(key: str, value: Any) -> Iterator[str]:
    if isinstance(value, dict) and value:
        yield f"{key}:"
        yield from (INDENT + line for line in entry_lines(value))
        return
    text = f"[{', '.join(map(scalar, value))}]" if isinstance(value, list) else scalar(value)
    if isinstance(value, list) and len(text) > _COLUMNS - len(key):
        yield f"{key}:"
        yield from block(value)
    else:
        yield f"{key}: {text}"


def difference_text(before: Release, after: Release, edits: Iterable[Edit]) -> Iterator[str]:
    """Say in words what changes from one entry to another, a line for each fact."""
    yield f"Cozystack {before.version} → {after.version} ({before.facts['source']} → {after.facts['source']})"
    lines = [f"  {words(edit)}" for edit in edits]
    yield from lines or ["  nothing that the catalogue knows of changes"]


def words(edit: Edit) -> str:
    """Say one change in words."""
    match edit.path:
        case ("packages", name):
            what = f"package {name}"
        case ("packages", name, "variants", variant):
            what = f"package {name}: variant {variant}"
        case _:
            what = path.render(edit.path)
    if not edit.before:
        return f"{what} is new{_with(edit.after[0])}"
    if not edit.after:
        return f"{what} is gone"
    return f"{what}: {_changed(edit.before[0], edit.after[0])}"


def _with(value: Any) -> str:
    match value:
        case {"variants": variants}:
            return f", with {_noun('variant', variants)} {', '.join(variants)}"
        case list():
            return f", with {_noun('component', value)} {', '.join(map(str, value))}" if value else ""
        case _:
            return f": {scalar(value)}"


def _noun(noun: str, of: Any) -> str:
    return noun if len(of) == 1 else f"{noun}s"


def _changed(before: Any, after: Any) -> str:
    if not isinstance(before, list) or not isinstance(after, list):
        return f"{_value(before)} → {_value(after)}"
    come = [str(one) for one in after if one not in before]
    gone = [str(one) for one in before if one not in after]
    parts = [f"{', '.join(come)} new"] if come else []
    parts += [f"{', '.join(gone)} gone"] if gone else []
    return "; ".join(parts) or f"now in the order {', '.join(map(str, after))}"


def _value(value: Any) -> str:
    return f"[{', '.join(map(scalar, value))}]" if isinstance(value, list) else scalar(value)


def difference_json(before: Release, after: Release, edits: Iterable[Edit]) -> str:
    """Write the same as a document; `before` and `after` are null where there is nothing."""
    head = {"version": VERSION, "from": _side(before), "to": _side(after)}
    changes = ",\n  ".join(json.dumps(_change(edit)) for edit in edits)
    return f'{json.dumps(head)[:-1]},\n "changes": [{changes and chr(10) + "  " + changes}]}}'


def _side(release: Release) -> dict[str, str]:
    return {"release": str(release.version), "source": release.facts["source"]}


def _change(edit: Edit) -> dict[str, Any]:
    change = "changed" if edit.before and edit.after else "added" if edit.after else "removed"
    before, after = (values[0] if values else None for values in (edit.before, edit.after))
    return {"change": change, "path": path.render(edit.path), "before": before, "after": after, "text": words(edit)}
