"""`docs/policies/`: a page for each bundled policy, written from the policy, its tests, and what `check` says of them.

`make generate` writes the pages into a checkout. The examples are cases of the policy's own tests, one for each rule
and one for each kind of patch, and their output is that of the command as it stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from webhook.cli.examples import PATCH, Example, speaking
from webhook.errors import DocumentErrors
from webhook.model.policy import Policy
from webhook.model.suite import Expected, Suite
from webhook.report.policy_words import action, facts
from webhook.sources import policies, suites
from webhook.sources.bundled import bundled

FOLDER: Final = Path("docs/policies")
INDEX: Final = "README.md"

_MADE: Final = "<!-- Made by `make generate`. -->\n"
_HEADS: Final = {
    Expected.DENY: "Refused",
    Expected.WARN: "Warned about",
    Expected.ALLOW: "Passes",
    Expected.NOT_MATCHED: "Not looked at",
}


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
        f"| [{policy.name}]({policy.name}.md) | {policy.title} | {policy.severity} | {action(policy)} |"
        for policy in listed
    ]
    head = "# Bundled policies\n\nHow to write one: [policies](../policies.md).\n"
    return "\n".join(
        [_MADE + head, "| policy | what holds | severity | otherwise |\n| --- | --- | --- | --- |", *rows, ""]
    )


def _page(policy: Policy, suite: Suite) -> str:
    folder = Path(suite.file).parent.relative_to(bundled())
    files = ", ".join(f"[{file}](../../policies/{folder}/{file})" for file in ("policy.yaml", "tests.yaml"))
    return "\n".join(
        [
            f"{_MADE}# {policy.title}\n",
            f"**Why**: {policy.why.literal}.\n",
            "| | |\n| --- | --- |",
            f"| name | `{policy.name}` |",
            *(f"| {name} | {'<br>'.join(lines)} |" for name, lines in facts(policy)),
            f"| written in | {files} |\n",
            *_sources(policy),
            *_shown(speaking(policy, suite)),
            *_tested(suite),
        ]
    )


def _sources(policy: Policy) -> Iterator[str]:
    """List where the fact that the policy rests on is read."""
    if policy.sources:
        yield "\n".join(["## Source\n", *(f"- {source}" for source in policy.sources), ""])


def _shown(examples: Iterable[Example]) -> Iterator[str]:
    """Write the examples; a file that stands on the page already is not repeated."""
    written: dict[str, str] = {}
    for example in examples:
        spoke = ", ".join("a patch" if rule == PATCH else f"rule `{rule}`" for rule in example.rules)
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
