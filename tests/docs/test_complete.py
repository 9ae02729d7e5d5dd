"""The pages name everything there is: fields, flags, metrics, functions. What is new and not written down fails here."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from webhook.cel.functions import LIBRARIES
from webhook.cli import load
from webhook.runs.lint.examine import CHECKS
from webhook.server.metrics import FAMILIES
from webhook.sources.formats import configuration, lookup, native, policy, rules, suite
from webhook.sources.formats.base import Mapped

DOCS = Path(__file__).parents[2] / "docs"
LIFE_OF_AN_OBJECT = {"apiVersion", "kind", "status"}
"""Fields that every document has, and that need no row of their own."""


def _page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "mapping",
    [
        *(policy.Spec, policy.ForEach, policy.Fix, policy.Validation, policy.Mutation, lookup.Lookup),
        *(rules.JsonPatch, rules.ApplyConfiguration, rules.ParamKind, rules.ParamRef, native.MutatingSpec),
        *(native.BindingSpec, suite.PolicyTest, suite.Circumstances, suite.Case, suite.Expectation, suite.Operation),
        *(configuration.Settings, configuration.Mode, configuration.Exempt, configuration.ExceptionSpec),
        *(configuration.ExceptionMatch, configuration.ExceptedPolicy),
    ],
    ids=lambda mapping: mapping.__name__,
)
def test_every_field_of_a_format_is_explained(mapping: type[Mapped]) -> None:
    page = _page("policies.md")
    missing = [
        name for name in set(mapping.field_names()) - LIFE_OF_AN_OBJECT if not re.search(rf"`[^`\n]*\b{name}\b", page)
    ]
    assert missing == []


@pytest.mark.parametrize("command", ["check", "doctor", "lint", "serve"])
def test_every_flag_is_explained(command: str) -> None:
    page = _page(f"{command}.md")
    flags = [option.option_strings[-1] for option in load(command).parser().options if option.option_strings]
    assert [flag for flag in flags if not re.search(rf"`[^`\n]*{flag}\b", page)] == []


def test_every_check_of_lint_has_its_row() -> None:
    rows = [f"| `{one.code}` | {one.level} | {one.title} | {one.why} |" for one in CHECKS]
    assert [row for row in rows if row not in _page("lint.md")] == []


def test_every_metric_is_explained_with_its_labels() -> None:
    page = _page("serve.md")
    for family in FAMILIES:
        name = family.name + (family.suffixes[0] if family.kind == "counter" else "")
        row = re.search(rf"^\| `{name}` \|.*$", page, re.MULTILINE)
        assert row, name
        assert [label for label in family.labels if f"`{label}`" not in row[0]] == []


def test_every_function_is_named() -> None:
    page = _page("policies.md")
    here = [one.name for library in LIBRARIES for one in library.functions if not one.name.startswith("@")]
    assert [name for name in here if not re.search(rf"`[^`]*\b{re.escape(name)}\b", page)] == []
