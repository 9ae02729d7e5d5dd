"""`docs/policies/`: a page for each bundled policy, written from the policy, its tests, and what `check` says of them.

`make generate` writes the pages into a checkout. The examples are cases of the policy's own tests, one for each rule
and one for each kind of patch, and their output is that of the command as it stands.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import chdir, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from webhook.cli import main
from webhook.errors import DocumentErrors
from webhook.model.fragment import block
from webhook.model.policy import Action, Policy, ResourceRule
from webhook.model.suite import Case, Expected, Suite
from webhook.sources import catalog, policies, suites
from webhook.sources.bundled import bundled

FOLDER: Final = Path("docs/policies")
INDEX: Final = "README.md"

_MADE: Final = "<!-- Made by `make generate`. -->\n"
_PATCH: Final = "patch"
"""What stands for a rule where a mutation spoke."""
_SECONDS: Final = re.compile(r"in \d+\.\d\d s:")
"""The one part of the output that differs from run to run."""
_HEADS: Final = {
    Expected.DENY: "Refused",
    Expected.WARN: "Warned about",
    Expected.ALLOW: "Passes",
    Expected.NOT_MATCHED: "Not looked at",
}


@dataclass(frozen=True, slots=True)
class _Example:
    """Files (name → text), the command that judges them, and what it shows."""

    name: str
    rules: tuple[str, ...]
    files: Mapping[str, str]
    command: tuple[str, ...]
    output: str


def pages() -> dict[str, str]:
    """Write all pages: file name → text. Raises DocumentErrors when a policy or a suite does not load."""
    loaded, tests = policies.load([bundled()]), suites.load([bundled()])
    if errors := (*loaded.errors, *tests.errors):
        raise DocumentErrors(errors)
    by_folder = {Path(suite.file).parent: suite for suite in tests.suites}
    sorted_policies = sorted(loaded.policies, key=lambda policy: (policy.category, policy.name))
    written = {
        f"{policy.name}.md": _page(policy, by_folder[Path(policy.location.file).parent]) for policy in sorted_policies
    }
    return {INDEX: _index(sorted_policies), **written}


def _index(listed: Iterable[Policy]) -> str:
    rows = [
        f"| [{policy.name}]({policy.name}.md) | {policy.title} | {policy.severity} | {_action(policy)} |"
        for policy in listed
    ]
    head = "# Bundled policies\n\nHow to write one: [policies](../policies.md).\n"
    return "\n".join(
        [_MADE + head, "| policy | what holds | severity | otherwise |\n| --- | --- | --- | --- |", *rows, ""]
    )


def _page(policy: Policy, suite: Suite) -> str:
    folder = Path(suite.file).parent.relative_to(bundled())
    sources = ", ".join(f"[{file}](../../policies/{folder}/{file})" for file in ("policy.yaml", "tests.yaml"))
    return "\n".join(
        [
            f"{_MADE}# {policy.title}\n",
            f"**Why**: {policy.why.literal}.\n",
            "| | |\n| --- | --- |",
            *(f"| {name} | {text} |" for name, text in _facts(policy)),
            f"| source | {sources} |\n",
            *_shown(_examples(policy, suite)),
            *_tested(suite),
        ]
    )


def _facts(policy: Policy) -> Iterator[tuple[str, str]]:
    yield "name", f"`{policy.name}`"
    yield "severity", policy.severity
    yield "Cozystack", f"`{policy.releases.text}`" if policy.releases else "every release"
    yield "looks at", "<br>".join(map(_rule, policy.match.resource_rules))
    if policy.lookups:
        yield "looks up", ", ".join(f"{lookup.kind} {lookup.object_name.literal}".strip() for lookup in policy.lookups)
    if policy.mutations:
        yield "patches", "yes"
    yield "otherwise", _action(policy)
    if policy.on_existing_violation is Action.WARN and Action.DENY in policy.actions:
        yield "an update of what was so before", "a warning"


def _action(policy: Policy) -> str:
    words = {Action.DENY: "denied", Action.WARN: "a warning", Action.AUDIT: "an audit annotation"}
    return ", ".join(word for action, word in words.items() if action in policy.actions)


def _rule(rule: ResourceRule) -> str:
    named = f" called {_or(rule.resource_names)}" if rule.resource_names else ""
    return f"{', '.join(rule.operations)} of {_or(rule.resources)} ({', '.join(rule.api_groups)}){named}"


def _or(names: Iterable[str]) -> str:
    return " or ".join(f"`{name}`" for name in names)


def _examples(policy: Policy, suite: Suite) -> Iterator[_Example]:
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
            yield _Example(case.name, found, files, command, _SECONDS.sub("in 0.02 s:", _run(command, files)))


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
    yield from ("check", next(iter(files)), "--policy", policy.name)
    if case.release and case.release != catalog.newest().version:
        yield from ("--release", str(case.release))
    if "old.yaml" in files:
        yield from ("--old", "old.yaml")
    if "cluster.yaml" in files:
        yield from ("--cluster-state", "cluster.yaml")
    if case.user:
        yield from ("--as", case.user.username)


def _run(command: Iterable[str], files: Mapping[str, str]) -> str:
    with TemporaryDirectory() as folder, chdir(folder), redirect_stdout(StringIO()) as out:
        for name, text in files.items():
            Path(name).write_text(text, encoding="utf-8")
        main(list(command))
    return out.getvalue()


def _found(document: dict[str, Any]) -> tuple[str, ...]:
    rules = [entry["rule"] for entry in document["results"] if entry["outcome"] in ("deny", "warn")]
    return tuple(dict.fromkeys([*rules, *([_PATCH] if document["patches"] else [])]))


def _shown(examples: Iterable[_Example]) -> Iterator[str]:
    """Write the examples; a file that stands on the page already is not repeated."""
    written: dict[str, str] = {}
    for example in examples:
        spoke = ", ".join("a patch" if rule == _PATCH else f"rule `{rule}`" for rule in example.rules)
        yield f"## {_sentence(example.name)}\n\n{_sentence(spoke)}.\n"
        yield from (f"```yaml\n{text}```\n" for name, text in example.files.items() if written.get(name) != text)
        yield f"```console\n$ cozyguard {' '.join(example.command)}\n{example.output}```\n"
        written |= example.files


def _tested(suite: Suite) -> Iterator[str]:
    """List what the tests hold, by what becomes of it."""
    yield "## What is tested\n\n| | |\n| --- | --- |"
    for outcome, head in _HEADS.items():
        names = [_sentence(case.name) for case in suite.cases if case.expect.outcome is outcome]
        if names:
            yield f"| {head} | {'<br>'.join(names)} |"
    yield ""


def _sentence(text: str) -> str:
    """Begin with a capital letter, unless the first word is a name such as `example.org/x`."""
    return text[0].upper() + text[1:] if text.split()[0].isalpha() else text


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for file, page in pages().items():
        (FOLDER / file).write_text(page, encoding="utf-8")
