"""Findings that are known and accepted: written once, and then only new ones count."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from webhook.errors import UsageError
from webhook.model import path
from webhook.model.decision import Outcome
from webhook.model.result import Checked, Resource, Result, Silenced

VERSION: Final = 1

_ACCEPTABLE: Final = {Outcome.DENY, Outcome.ERROR, Outcome.WARN, Outcome.AUDIT}

Key = tuple[str, str, Resource, str]
"""Policy, rule, resource and field: neither words nor lines, which change without a new fault."""


class Baseline:
    """The accepted findings, and which of them have been met in this run."""

    def __init__(self, keys: Iterable[Key] = (), *, accept_all: bool = False) -> None:
        """Start with what a file lists; `accept_all` adds whatever is found, to be written."""
        self._accepted = set(keys)
        self._resources = {resource for _, _, resource, _ in self._accepted}
        self._accept_all = accept_all
        self._looked_at: set[Resource] = set()
        self._met: set[Key] = set()

    def apply(self, checked: Checked) -> Checked:
        """Silence what is accepted."""
        if checked.resource in self._resources:
            self._looked_at.add(checked.resource)
        results = tuple(self._judged(result) for result in checked.results)
        return replace(checked, results=results)

    def _judged(self, result: Result) -> Result:
        if result.silenced or result.finding.outcome not in _ACCEPTABLE:
            return result
        key = _key(result)
        if not self._accept_all and key not in self._accepted:
            return result
        self._met.add(key)
        return replace(result, silenced=Silenced("baseline", "known and accepted"))

    def stale(self) -> list[str]:
        """Describe the entries about objects that were looked at and no longer have the finding."""
        gone = [key for key in sorted(self._accepted - self._met) if key[2] in self._looked_at]
        return [f"{policy}/{rule} of {resource} at {field or 'the object'}" for policy, rule, resource, field in gone]

    def write(self, file: Path) -> int:
        """Write what was met, sorted, an entry a line so that reviews can read it; tells how many."""
        entries = ",\n".join(f"  {json.dumps(_entry(key))}" for key in sorted(self._met))
        try:
            file.write_text(f'{{"version": {VERSION}, "findings": [\n{entries}\n]}}\n', encoding="utf-8")
        except OSError as error:
            raise UsageError(f"cannot write `{file}`: {str(error.strerror).lower()}") from None
        return len(self._met)


def read(file: Path) -> frozenset[Key]:
    """Read a baseline file. Raises UsageError when it is none."""
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read the baseline `{file}`: {str(error.strerror).lower()}") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"cannot read the baseline `{file}`: {str(error).lower()}") from None
    if not isinstance(document, dict) or document.get("version") != VERSION:
        raise UsageError(f"`{file}` is no baseline of version {VERSION}; `--write-baseline` writes one")
    try:
        return frozenset(map(_key_of, document["findings"]))
    except (KeyError, TypeError, AttributeError):
        raise UsageError(f"`{file}` has a broken entry; `--write-baseline` writes it anew") from None


def _key(result: Result) -> Key:
    finding = result.finding
    return finding.policy.name, finding.rule, result.resource, path.render(finding.field)


def _entry(key: Key) -> dict[str, Any]:
    policy, rule, resource, field = key
    entry = {"policy": policy, "rule": rule, "apiVersion": resource.api_version, "kind": resource.kind}
    return entry | {"namespace": resource.namespace, "name": resource.name, "field": field}


def _key_of(entry: dict[str, str]) -> Key:
    resource = Resource(entry["apiVersion"], entry["kind"], entry["namespace"], entry["name"])
    return entry["policy"], entry["rule"], resource, entry["field"]
