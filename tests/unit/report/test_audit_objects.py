"""Findings as objects of the cluster, where the real API server has not the last word."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from webhook.model.configuration import PolicyException
from webhook.model.decision import Finding, FoundFix, Outcome
from webhook.model.policy import MatchResources, Policy
from webhook.model.result import Checked, Resource, Result, SetBy, Silenced, Source
from webhook.report.audit_objects import FORMATS, Listing, report

NOW = datetime(2026, 11, 30, tzinfo=UTC)
POLICY = Policy("p", MatchResources(), docs="https://example.org")
RESOURCE = Resource("v1", "Pod", "a", "web")
OBJECT = {"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "a", "name": "web", "uid": "u-1"}}


def result(outcome: Outcome = Outcome.DENY, **finding: Any) -> Result:
    return Result(Finding(outcome, POLICY, "rule", **({"message": "no"} | finding)), RESOURCE, Source(""))


def made(*results: Result, form: str = "policyreport") -> dict[str, Any]:
    found = report(form, OBJECT, Checked(RESOURCE, results), NOW)
    assert found
    return found


def test_there_is_no_report_of_what_was_not_checked() -> None:
    assert report("policyreport", OBJECT, Checked(RESOURCE, (result(Outcome.SKIP),)), NOW) is None
    assert report("policyreport", OBJECT, Checked(RESOURCE), NOW) is None


@pytest.mark.parametrize(
    ("one", "word"),
    [
        (result(Outcome.DENY), "fail"),
        (result(Outcome.AUDIT), "fail"),
        (result(Outcome.WARN), "warn"),
        (result(Outcome.ERROR), "error"),
        (result(Outcome.ERROR, ignored=True), "skip"),
        (replace(result(), silenced=Silenced("exception", "so it is")), "skip"),
    ],
)
def test_an_outcome_has_a_word_in_the_format(one: Result, word: str) -> None:
    found = made(one)
    assert found["results"][0]["result"] == word
    assert {key: value for key, value in found["summary"].items() if value} == {word: 1}


def test_a_long_report_is_cut_and_its_summary_counts_all() -> None:
    found = made(*(result(message="x" * 5000, why="ü" * 5000) for _ in range(250)))
    assert (len(found["results"]), found["summary"]["fail"]) == (100, 250)
    assert len(json.dumps(found).encode()) < 1 << 20
    assert found["results"][0]["message"].endswith("xx…")


def test_properties_hold_what_the_format_has_no_place_for() -> None:
    exception = PolicyException("late", (), MatchResources(), "us", "soon", NOW)
    one = replace(
        result(suggestion=True, fix=FoundFix("do it"), why="because"),
        set_by=SetBy("kubectl-edit", "Update", "", by_hand=True),
        silenced=Silenced("exception", "soon", exception),
    )
    assert made(one)["results"][0]["properties"] == {
        "suggestion": "true",
        "fix": "do it",
        "why": "because",
        "docs": "https://example.org",
        "setBy": "kubectl-edit",
        "exception": "late",
    }


@pytest.mark.parametrize("form", FORMATS)
def test_where_an_object_lives_decides_the_kind(form: str) -> None:
    api_version, namespaced, cluster = FORMATS[form]
    metadata = {"name": "web", "uid": "u-1"}
    assert (made(result(), form=form)["apiVersion"], made(result(), form=form)["kind"]) == (api_version, namespaced)
    found = report(form, OBJECT | {"metadata": metadata}, Checked(RESOURCE, (result(),)), NOW, "v2")
    assert found
    assert (found["kind"], found["metadata"]["name"]) == (cluster, "cozyguard-u-1-v2")


def test_an_object_without_a_uid_has_a_report_that_nobody_owns() -> None:
    obj = OBJECT | {"metadata": {"namespace": "a", "name": "web"}}
    found = report("policyreport", obj, Checked(RESOURCE, (result(),)), NOW)
    again = report("policyreport", obj, Checked(RESOURCE, (result(),)), NOW)
    other = report("policyreport", obj | {"kind": "Job"}, Checked(RESOURCE, (result(),)), NOW)
    assert found
    assert other
    assert found == again
    assert "ownerReferences" not in found["metadata"]
    assert found["metadata"]["name"] != other["metadata"]["name"]


def test_a_listing_is_sorted_and_has_an_end() -> None:
    listing, out = Listing(2), io.StringIO()
    for name in ("b", "a", "c"):
        listing.add(made(result()) | {"scope": {"name": name}})
    listing.write(out)
    assert [one["scope"]["name"] for one in json.loads(out.getvalue())["items"]] == ["a", "b"]
