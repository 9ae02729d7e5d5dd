"""What a page shows of an object beside a finding: the YAML around its field, and what its fix changes.

It is written from the object's value, so that a live object has it, too; comments and layout of a file are not in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Final

from webhook.cel.errors import CelError
from webhook.engine.patch import apply
from webhook.engine.secrecy import conceals
from webhook.model.fragment import INDENT, entry, item, scalar
from webhook.model.path import Path, walk
from webhook.model.policy import Policy
from webhook.model.request import Object
from webhook.model.result import Checked, Edit, Picture, Result
from webhook.runs.edits import edits

_NEIGHBOURS: Final = 2
"""Entries that are shown before the one on the way, and as many behind it."""
_VALUE: Final = 8
"""Lines of the value that is pointed at."""
_MORE: Final = "…"
_HIDDEN: Final = "(hidden)"
_FIRST: Final = ("apiVersion", "kind", "metadata")
"""What people write first; the API server sorts in another way."""

_Line = tuple[str, bool]
"""A line, and whether it is part of what is pointed at."""
_Hides = Callable[[Path], bool]


def pictured(obj: Object, checked: Checked, policies: Iterable[Policy]) -> Checked:
    """Add a picture to each result; what one of the policies calls sensitive is shown by no other's."""
    if not checked.results:
        return checked
    hiding = [policy for policy in policies if policy.sensitive_fields]
    results = (replace(each, picture=_picture(obj, each, hiding)) for each in checked.results)
    return replace(checked, results=tuple(results))


def _picture(obj: Object, result: Result, hiding: Sequence[Policy]) -> Picture | None:
    finding = result.finding
    if not finding.field:
        return None

    def hides(path: Path) -> bool:
        return any(conceals(policy, obj, path) for policy in (finding.policy, *hiding))

    usual = {key: obj[key] for key in _FIRST if key in obj} | obj
    lines = list(_map_or_list(usual, (), finding.field, hides))
    marked = [index for index, (_, is_marked) in enumerate(lines) if is_marked]
    span = range(marked[0], marked[-1] + 1) if marked else range(0)
    return Picture(tuple(line for line, _ in lines), span, tuple(_edits(obj, result, hides)))


def _edits(obj: Object, result: Result, hides: _Hides) -> Sequence[Edit]:
    """Follow the fix through the object as it is written: the one that was judged may be what mutations made of it."""
    patch = result.finding.fix.patch
    try:
        apply(obj, patch)
        made = list(edits(obj, patch))
    except (CelError, ValueError, KeyError):
        return ()
    return () if any(hides(edit.path) for edit in made) else made


def _map_or_list(value: Any, at: Path, rest: Path, hides: _Hides) -> Iterator[_Line]:
    """Write the entries of a map or list at `at`: the one that `rest` leads through opened, its neighbours closed."""
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    on_way = keys.index(rest[0]) if rest and rest[0] in keys else None
    first = max(0, (on_way or 0) - _NEIGHBOURS)
    last = (on_way or 0) + _NEIGHBOURS + 1
    if first:
        yield _MORE, False
    for index, key in islice(enumerate(keys), first, last):
        if index == on_way:
            yield from _opened(key, value[key], (*at, key), rest[1:], hides)
        else:
            yield _closed(key, value[key], (*at, key), hides), False
    if last < len(keys):
        yield _MORE, False


def _opened(key: str | int, value: Any, at: Path, rest: Path, hides: _Hides) -> Iterator[_Line]:
    """Write one entry on the way to a field; where the way ends before it, this entry is pointed at."""
    if rest and isinstance(value, dict | list) and value:
        ends = not walk(value, rest[:1])[0]
        yield from _nested(key, _map_or_list(value, at, rest, hides), marked=ends)
        return
    if hides(at):
        yield _closed(key, value, at, hides), True
        return
    written = item(value) if isinstance(key, int) else entry(f"{scalar(key)}:", value)
    lines = list(islice(written, _VALUE + 1))
    yield from ((line, True) for line in lines[:_VALUE])
    if len(lines) > _VALUE:
        yield INDENT + _MORE, True


def _nested(key: str | int, lines: Iterator[_Line], *, marked: bool) -> Iterator[_Line]:
    """Write lines below their key, or behind the dash of an item; `marked` is for the key."""
    if isinstance(key, int):
        first, is_marked = next(lines)
        yield f"- {first}", is_marked or marked
    else:
        yield f"{scalar(key)}:", marked
    yield from ((INDENT + line, is_marked) for line, is_marked in lines)


def _closed(key: str | int, value: Any, at: Path, hides: _Hides) -> str:
    """Write one entry on one line."""
    head = "-" if isinstance(key, int) else f"{scalar(key)}:"
    if isinstance(value, dict | list) and value:
        return f"{head} {{{_MORE}}}" if isinstance(value, dict) else f"{head} [{_MORE}]"
    return f"{head} {_HIDDEN if hides(at) else scalar(value)}"
