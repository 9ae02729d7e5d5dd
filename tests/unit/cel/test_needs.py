"""What has to be kept of an object from outside, told without running the expressions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from webhook.cel.needs import Needs
from webhook.model.path import render

WHOLE = {
    "lookups.x.spec.variant == 'a'": ["spec.variant"],
    "lookups.x == null || lookups.x.spec.a == 1": ["spec.a"],
    "lookups.x != null": [],
    "has(lookups.x.spec.a)": [],
    "lookups.x.?spec.?a.hasValue()": [],
    "lookups.x.?spec.?a.orValue('b') == 'b'": ["spec.a"],
    "lookups.x.?spec.optMap(v, type(v) == map ? v : {}).orValue({}).?a.orValue(1) == 1": ["spec.a"],
    "size(lookups.x.spec.l) > 1": [],
    "lookups.x.spec.l.all(i, true)": [],
    "lookups.x.spec.l.exists(i, i.a == 1)": ['spec.l["*"].a'],
    "lookups.x.spec.l.filter(i, i.a == 1).size() == 0": ['spec.l["*"].a'],
    "lookups.x.spec.l.sortBy(i, i.a)[0].b == 1": ['spec.l["*"].a', 'spec.l["*"].b'],
    "[1].map(i, lookups.x)[0].spec.a == 1": [""],
    "lookups.x == lookups.x": [""],
    "variables.v.b == 1": ["spec.a.b"],
    "object.spec.a == 1": [],
    "lookups.x.spec[object.spec.key] == 1": ['spec["*"]'],
    "'a' in lookups.x.spec": ["spec"],
}

PRESENT = {
    "lookups.x != null": [""],
    "has(lookups.x.spec.a)": ["", "spec", "spec.a"],
    "size(lookups.x.spec.l) > 1": ["", "spec", 'spec.l["*"]'],
    "lookups.x.spec.l.all(i, true)": ["", "spec", 'spec.l["*"]'],
    "lookups.x.?spec.optMap(v, 1).orValue(2) == 1": ["", "spec"],
}


def _needs(text: str, bench: Callable[..., Any]) -> Needs:
    variables = {"v": "lookups.x.spec.a"}
    needs: Needs = bench(text, variables=variables, outside={"x": "x"}).linked.needs("lookups.x")
    return needs


@pytest.mark.parametrize(("text", "expected"), WHOLE.items())
def test_what_is_looked_at_is_kept_with_all_below(text: str, expected: list[str], bench: Callable[..., Any]) -> None:
    assert sorted(map(render, _needs(text, bench).whole)) == expected


@pytest.mark.parametrize(("text", "expected"), PRESENT.items())
def test_what_only_has_to_be_there_is_kept_as_such(text: str, expected: list[str], bench: Callable[..., Any]) -> None:
    assert sorted(map(render, _needs(text, bench).present)) == expected


def test_what_nothing_reads_is_not_needed(bench: Callable[..., Any]) -> None:
    assert bench("object.a == 1", outside={"x": "x"}).linked.needs("lookups.x") == Needs()


def test_needs_of_a_list_are_those_of_its_elements(bench: Callable[..., Any]) -> None:
    needs = _needs("lookups.x.exists(i, i.spec.a == 1) || lookups.x.size() == 0", bench).of_elements()
    assert needs.whole == {("spec", "a")}


def test_more_covers_less() -> None:
    some, more = Needs(frozenset({("a",)})), Needs(frozenset({("a",), ("b",)}), frozenset({("c",)}))
    assert more.covers(some)
    assert not some.covers(more)
    assert (some | more) == more
