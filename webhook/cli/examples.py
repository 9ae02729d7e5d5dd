"""Examples of what a policy does: cases of its own tests, with the output of `check` as it stands."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from webhook.cli import main
from webhook.cli.options import PREFIX
from webhook.model.fragment import block
from webhook.model.policy import Policy
from webhook.model.suite import Case, Expected, Suite
from webhook.sources import catalog
from webhook.sources.bundled import bundled

PATCH: Final = "patch"
"""What stands for a rule where a mutation spoke."""
_SECONDS: Final = re.compile(r"in \d+\.\d\d s:")
"""The one part of the output that differs from run to run."""


@dataclass(frozen=True, slots=True)
class Example:
    """Files (name → text), the command that judges them, what it shows, and which rules spoke."""

    name: str
    rules: tuple[str, ...]
    files: Mapping[str, str]
    command: tuple[str, ...]
    output: str


def speaking(policy: Policy, suite: Suite) -> Iterator[Example]:
    """Take the first case for each rule, and for a patch; what only repeats one tells nothing."""
    shown: set[str] = set()
    for case in suite.cases:
        if case.object is None or not (case.expect.patch or case.expect.outcome in (Expected.DENY, Expected.WARN)):
            continue
        files = dict(_files(case, case.object))
        command = tuple(_command(policy, case, files))
        found = _found(json.loads(_run([*command, "--output", "json"], files)))
        if not shown.issuperset(found):
            shown.update(found)
            yield Example(case.name, found, files, command, _SECONDS.sub("in 0.02 s:", _run(command, files)))


def passing(policy: Policy, suite: Suite) -> Iterator[Example]:
    """Take the cases that the policy looks at and has nothing to say about."""
    for case in suite.cases:
        if case.object is not None and case.expect.outcome is Expected.ALLOW and not case.expect.patch:
            files = dict(_files(case, case.object))
            command = tuple(_command(policy, case, files))
            yield Example(case.name, (), files, command, _SECONDS.sub("in 0.02 s:", _run(command, files)))


def _files(case: Case, obj: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Write the objects of a case; each file begins with its name, so that readers know which is which."""
    objects = {f"{str(obj['kind']).lower()}.yaml": [obj]}
    if case.old_object is not None:
        objects["old.yaml"] = [case.old_object]
    if case.lookups:
        objects["cluster.yaml"] = list(case.lookups)
    for name, values in objects.items():
        yield name, f"# {name}\n" + "---\n".join("".join(f"{line}\n" for line in block(value)) for value in values)


def _command(policy: Policy, case: Case, files: Mapping[str, str]) -> Iterator[str]:
    yield from ("check", next(iter(files)))
    file = Path(policy.location.file).resolve()
    if not file.is_relative_to(bundled()):
        yield from ("--policies", str(file))
    yield from ("--policy", policy.name)
    if case.release and case.release != catalog.newest().version:
        yield from ("--release", str(case.release))
    if "old.yaml" in files:
        yield from ("--old", "old.yaml")
    if "cluster.yaml" in files:
        yield from ("--cluster-state", "cluster.yaml")
    if case.user:
        yield from ("--as", case.user.username)


def _run(command: Iterable[str], files: Mapping[str, str]) -> str:
    with (
        TemporaryDirectory() as folder,
        chdir(folder),
        _without_variables(),
        redirect_stdout(StringIO()) as out,
        redirect_stderr(StringIO()),
    ):
        for name, text in files.items():
            Path(name).write_text(text, encoding="utf-8")
        main(list(command))
    return out.getvalue()


@contextmanager
def _without_variables() -> Iterator[None]:
    """Let no variable of the user speak where the command is shown whole."""
    kept = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith(PREFIX)}
    try:
        yield
    finally:
        os.environ.update(kept)


def _found(document: dict[str, Any]) -> tuple[str, ...]:
    rules = [entry["rule"] for entry in document["results"] if entry["outcome"] in ("deny", "warn")]
    return tuple(dict.fromkeys([*rules, *([PATCH] if document["patches"] else [])]))
