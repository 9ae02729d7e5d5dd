"""The page for people: all that a finding says, nothing that a browser would take for its own."""

import io
import re
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from webhook.errors import DocumentError
from webhook.model.decision import Change, FoundFix, Outcome
from webhook.model.path import parse
from webhook.model.result import Checked, Edit, Patch, Picture, Resource, Result, SetBy, Setup, Silenced, Source
from webhook.report.html import HtmlReport
from webhook.report.html import report as module
from webhook.report.html.page import link
from webhook.report.summary import Summary

Make = Callable[..., Result]
MEAN = (
    "</script></noscript><!--><script>alert(1)</script>\"'`&lt;\x00\x1b[31m\u202eabc\u2028\udc80<img src=x onerror=a>"
)


class Elements(HTMLParser):
    """Reads a page as a browser without scripts does: its elements, their attributes and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def written(*results: Result, patches: tuple[Patch, ...] = (), errors: tuple[DocumentError, ...] = ()) -> str:
    out, summary = io.StringIO(), Summary()
    report = HtmlReport(out)
    report.begin(Setup("1.6", 52, errors))
    for each in results:
        checked = Checked(each.resource, (each,), patches)
        summary.add(checked)
        report.add(checked)
    for error in errors:
        report.add_fault(error)
    report.end(summary, 0.21)
    return out.getvalue()


def test_a_finding_says_all_there_is_to_say(result: Make) -> None:
    picture = Picture(("spec:", "  variant: contaner"), range(1, 2), (Edit(("spec", "variant"), ("a",), ("b",)),))
    found = result()
    told = Elements(
        written(
            Result(found.finding, found.resource, found.source, None, SetBy("k9s", "Update", "2026", True), picture)
        )
    )
    for words in (
        "1 of 1 objects denied",
        "variant `contaner` does not exist in Cozystack 1.6",
        "package-variant-known / variant",
        "Package cozystack.gpu-operator",
        "spec.variant",
        "container",
        "did you mean",
        "the operator finds no such variant",
        "replace with `container`",
        "k9s, by hand",
        "gpu.yaml:7:12",
        "-   variant: a",
        "+   variant: b",
    ):
        assert words in told.text
    assert {"href": "https://example.org/variants", "rel": "noreferrer"} in told.of("a")


@pytest.mark.parametrize(
    "changes",
    [
        {"message": MEAN, "value": MEAN, "why": MEAN, "allowed": (MEAN,), "suggestion": MEAN, "fix": FoundFix(MEAN)},
        {"policy": MEAN, "resource": Resource("v1", MEAN, MEAN, MEAN), "source": Source(MEAN, 0, 1, 1, 1, MEAN)},
        {"field": ("spec", MEAN), "silenced": Silenced("comment", MEAN)},
    ],
)
def test_names_and_values_stay_text(result: Make, changes: dict[str, Any]) -> None:
    plain, page = Elements(written(result())), written(result(**changes))
    mean = Elements(page)
    assert {tag for tag, _ in mean.tags} <= {tag for tag, _ in plain.tags} | {"wbr"}
    assert len(mean.of("script")) == 2
    assert not any(name.startswith("on") for _, attributes in mean.tags for name in attributes)
    assert page.isascii()
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f]", page)


@given(st.text(), st.text())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
def test_whatever_an_object_is_called_the_page_has_the_same_elements(result: Make, name: str, message: str) -> None:
    page = written(result(resource=Resource("v1", "K", name, name), message=message or "a"))
    usual = written(result(resource=Resource("v1", "K", "a" if name else "", "a")))
    assert page.count("<details") == usual.count("<details") == 1
    assert page.count("<script") == usual.count("<script")
    assert page.isascii()


def test_a_picture_and_a_change_stay_text_too(result: Make) -> None:
    found = result()
    picture = Picture((MEAN,), range(1), (Edit((MEAN,), (MEAN,), ({MEAN: MEAN},)),))
    change = Change(found.finding.policy, MEAN, ({"op": "add", "path": "/a", "value": MEAN},))
    patch = Patch(change, found.resource, found.source, (Edit(("a",), (), (MEAN,)),))
    mean = Elements(written(Result(found.finding, found.resource, found.source, picture=picture), patches=(patch,)))
    assert len(mean.of("script")) == 2
    assert not mean.of("img")


@pytest.mark.parametrize("url", ["javascript:alert(1)", " https://example.org", "data:text/html,a", "//example.org"])
def test_what_does_not_lead_to_the_web_is_no_link(url: str) -> None:
    assert link(url, url) == url
    assert (
        link('https://example.org/?a="&b', "a")
        == '<a href="https://example.org/?a=&quot;&amp;b" rel="noreferrer">a</a>'
    )


def test_the_page_may_run_its_own_script_alone_and_fetch_nothing(result: Make) -> None:
    page = written(result())
    policy = next(str(each["content"]) for each in Elements(page).of("meta") if "http-equiv" in each)
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy
    assert "src=" not in page
    assert "url(" not in page
    assert "@import" not in page


def test_the_worst_come_first_and_what_is_left_out_is_counted(result: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 2)
    outcomes = (Outcome.SKIP, Outcome.AUDIT, Outcome.WARN, Outcome.DENY, Outcome.SKIP, Outcome.SKIP, Outcome.SKIP)
    told = Elements(written(*(result(outcome=outcome) for outcome in outcomes)))
    assert [each["class"] for each in told.of("details")] == ["finding deny", "finding warn"]
    assert "The 2 worst are listed; 5 more are counted above." in told.text


def test_a_page_takes_no_more_than_it_may_whatever_it_is_about(result: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = len(written(result()))
    monkeypatch.setattr(module, "LARGEST", 10_000)
    long = "x" * 1000
    told = written(*(result(message=long, why=long) for _ in range(50)), result(outcome=Outcome.WARN))
    assert len(told) < usual + 10_000
    assert "more are counted above" in told


def test_the_map_counts_what_is_broken_by_policy_and_namespace(result: Make) -> None:
    def place(namespace: str) -> Resource:
        return Resource("v1", "Pod", namespace, "a")

    told = Elements(
        written(
            result(resource=place("one")),
            result(resource=place("one"), outcome=Outcome.WARN),
            result(resource=place(""), outcome=Outcome.WARN),
            result(resource=place("two"), outcome=Outcome.SKIP),
        )
    )
    cells = [(each["data-namespace"], each["aria-label"]) for each in told.of("button") if "data-policy" in each]
    assert cells == [
        ("one", "2 of package-variant-known in one, at worst denied"),
        ("(no namespace)", "1 of package-variant-known in (no namespace), at worst warning"),
    ]


def test_many_namespaces_share_a_column(result: Make) -> None:
    told = Elements(written(*(result(resource=Resource("v1", "Pod", f"n{index}", "a")) for index in range(30))))
    assert len([each for each in told.of("button") if "data-policy" in each]) == 24
    assert "6 others" in told.text


def test_faults_of_policies_and_inputs_are_told() -> None:
    told = Elements(written(errors=(DocumentError("p.yaml", 3, 4, "spec.validations[0]", "no `such` function"),)))
    assert told.text.count("p.yaml:3:4 spec.validations[0] no `such` function") == 2
    assert "There are none." in told.text
    assert told.of("script") == []


def test_long_texts_are_cut_so_that_the_page_stays_within_bounds(result: Make) -> None:
    long = "x" * 1_000_000
    picture = Picture((long,) * 10, range(1), (Edit(("a",), (), ([long] * 100,)),))
    found = result(message=long, value=long, why=long, allowed=(long,) * 100, suggestion=long, fix=FoundFix(long))
    resource = Resource("v1", "K", "n", "a")
    assert len(written(Result(found.finding, resource, found.source, picture=picture))) < 50_000


def test_a_path_of_a_finding_is_written_as_everywhere(result: Make) -> None:
    told = Elements(written(result(field=parse('metadata.labels["a.b/c"]'))))
    assert 'metadata.labels["a.b/c"]' in told.text
