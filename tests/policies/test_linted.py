"""The bundled policies are clean; what is silenced says why."""

from __future__ import annotations

from webhook.runs import loading
from webhook.runs.lint.examine import lint
from webhook.runs.selection import Selection


def test_lint_finds_nothing_in_the_bundled_policies() -> None:
    found = loading.load_all(Selection())
    linted = lint(found.policies, found.errors)
    told = [
        f"{one.at.file}:{one.at.line}: {one.message} [{one.check.code}]" for one in linted.findings if not one.silenced
    ]
    assert (told, linted.faults, linted.remarks) == ([], (), ())
    assert linted.policies > 70
