"""What all formats for machines have in common, and what each does to words that could break it."""

import io
import json
import os
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from webhook.errors import DocumentError
from webhook.model.decision import FoundFix, Outcome
from webhook.model.path import parse
from webhook.model.result import Checked, Replacement, Resource, Result, Setup, Silenced, Source
from webhook.report import Report
from webhook.report.finding import fingerprint
from webhook.report.github import GithubReport
from webhook.report.gitlab import GitlabReport
from webhook.report.junit import JunitReport
from webhook.report.sarif import SarifReport
from webhook.report.summary import Summary
from webhook.report.tap import TapReport
from webhook.sources import yaml

Make = Callable[..., Result]
FORMATS: dict[str, Callable[[Any], Report]] = {
    "sarif": SarifReport,
    "junit": JunitReport,
    "tap": TapReport,
    "github": GithubReport,
    "gitlab": GitlabReport,
}
SCHEMA = json.loads((Path(__file__).parent / "sarif.schema.json").read_text())
MEAN = "</failure>]]>&\x00\x1b[31m\u202e\u2028\r\n::error::x%0A,# SKIP \\\n...\nok 9\n"
"""Ends of elements, control characters, the other direction of writing, commands."""


def written(kind: Callable[[Any], Report], *results: Result, faults: tuple[DocumentError, ...] = ()) -> str:
    out, summary = io.StringIO(), Summary()
    report = kind(out)
    report.begin(Setup("1.6", 52, tuple(fault for fault in faults if fault.file == "policy.yaml")))
    summary.add_faults(faults)
    for result in results:
        checked = Checked(result.resource, (result,), file=result.source.file)
        summary.add(checked)
        report.add(checked)
    report.add(Checked(Resource("v1", "ConfigMap", "a", "fine"), file="fine.yaml"))
    for fault in faults:
        if fault.file != "policy.yaml":
            report.add_fault(fault)
    report.end(summary, 0.2)
    return out.getvalue()


@pytest.fixture
def every(result: Make) -> list[Result]:
    """A result of each kind."""
    mechanical = FoundFix("", ({"op": "replace", "path": "/spec/variant", "value": "container"},))
    denied = result(fix=mechanical)
    return [
        Result(denied.finding, denied.resource, denied.source, replacement=Replacement(7, 12, 7, 20, "container")),
        result(outcome=Outcome.WARN, source=Source("./sub dir/a:b,c.yaml", 0, 1, 1, 3)),
        result(outcome=Outcome.AUDIT, field=()),
        result(outcome=Outcome.ERROR, message="the rule could not be evaluated: no such key"),
        result(outcome=Outcome.ERROR, ignored=True),
        result(outcome=Outcome.SKIP, message="not checked: needs Package a"),
        result(outcome=Outcome.PASS, message=""),
        result(silenced=Silenced("comment", "our own fork")),
        result(silenced=Silenced("exception", "until May")),
        result(message=MEAN, value=MEAN, why=MEAN, allowed=(MEAN,), suggestion=MEAN, fix=FoundFix(MEAN)),
    ]


FAULTS = (
    DocumentError("policy.yaml", 3, 4, "spec.validations[0]", "no such function"),
    DocumentError("broken.yaml", 2, 1, message="got text, want a Kubernetes object"),
    DocumentError("absent.yaml", message="cannot be read: no such file or directory"),
)


@pytest.mark.parametrize("kind", FORMATS)
def test_every_kind_of_result_has_its_form(kind: str, every: list[Result], golden: Callable[[str, str], None]) -> None:
    golden(f"report/every.{kind}.txt", written(FORMATS[kind], *every, faults=FAULTS))


def test_sarif_keeps_to_the_standard(every: list[Result]) -> None:
    validator = jsonschema.Draft202012Validator(SCHEMA, format_checker=jsonschema.FormatChecker())
    document = json.loads(written(SarifReport, *every, faults=FAULTS))

    assert [error.message for error in validator.iter_errors(document)] == []
    run = document["runs"][0]
    ids = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert len(ids) == len(set(ids))
    assert {each["ruleId"] for each in run["results"]} <= set(ids)
    assert run["results"][0]["fixes"][0]["artifactChanges"][0]["replacements"] == [
        {
            "deletedRegion": {"startLine": 7, "startColumn": 12, "endLine": 7, "endColumn": 20},
            "insertedContent": {"text": "container"},
        }
    ]
    assert [each["suppressions"][0]["kind"] for each in run["results"] if "suppressions" in each] == [
        "inSource",
        "external",
    ]


def test_a_finding_is_recognised_when_lines_move_and_words_change(result: Make) -> None:
    known = fingerprint(result())

    assert fingerprint(result(source=Source("gpu.yaml", 3, 90, 1), message="other words", why="")) == known
    assert fingerprint(result(field=parse("spec.other"))) != known
    assert fingerprint(result(policy="other")) != known
    assert fingerprint(result(resource=Resource("cozystack.io/v1alpha1", "Package", "", "other"))) != known


def test_gitlab_shows_equal_findings_apart(result: Make) -> None:
    issues = json.loads(written(GitlabReport, result(), result(), result(source=Source("b.yaml", 0, 1, 1))))

    assert len({each["fingerprint"] for each in issues}) == 3
    for issue in issues:
        assert issue.keys() == {"description", "check_name", "fingerprint", "severity", "location"}
        assert issue["severity"] in {"info", "minor", "major", "critical", "blocker"}


def test_junit_counts_what_it_holds(every: list[Result]) -> None:
    root = ET.fromstring(written(JunitReport, *every, faults=FAULTS))  # noqa: S314 - our own document

    assert {suite.get("name") for suite in root} >= {"gpu.yaml", "sub dir/a:b,c.yaml", "fine.yaml", "policy.yaml"}
    for suite in root:
        cases = suite.findall("testcase")
        assert int(suite.get("tests", "")) == len(cases)
        for name, attribute in {"failure": "failures", "error": "errors", "skipped": "skipped"}.items():
            assert int(suite.get(attribute, "")) == len(suite.findall(f"testcase/{name}"))


def test_tap_says_how_many_points_there_are_and_each_diagnostic_is_yaml(every: list[Result]) -> None:
    head, *lines, plan = written(TapReport, *every, faults=FAULTS).splitlines()
    points = [line for line in lines if not line.startswith(" ")]

    assert (head, plan) == ("TAP version 14", f"1..{len(points)}")
    assert [line.split(" - ")[0].split()[-1] for line in points] == [str(n + 1) for n in range(len(points))]
    inside = "\n".join(line.removeprefix("  ") for line in lines if line.startswith(" "))
    blocks = [block for block in inside.split("---\n") if block]
    for block in blocks:
        [document] = yaml.read(block.removesuffix("\n").removesuffix("..."), "tap")
        assert {"message", "severity", "at"} <= document.value.keys()


def test_a_log_line_for_github_cannot_begin_another_command(every: list[Result]) -> None:
    lines = written(GithubReport, *every, faults=FAULTS).split("\n")

    commands = [line for line in lines if line.startswith("::")]
    assert len(commands) == len(lines) - 2  # the line that counts, and nothing behind it
    for line in commands:
        head = line.split("::")[1]
        assert head.split(" ")[0] in {"error", "warning", "notice"}
        assert all("=" in part for part in head.partition(" ")[2].split(","))


ANY = st.text(max_size=30)
FILES = st.binary(min_size=1, max_size=20).filter(lambda name: b"\0" not in name).map(os.fsdecode)
"""Names as the system has them: any bytes, those that are no UTF-8 as lone surrogates."""


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(message=ANY, name=ANY, field=ANY, file=FILES)
def test_no_text_breaks_a_format(result: Make, message: str, name: str, field: str, file: str) -> None:
    one = result(message=message, field=(field,), resource=Resource("v1", "A", "", name), source=Source(file, 0, 1, 1))

    for kind in FORMATS.values():
        written(kind, one).encode()
    assert json.loads(written(SarifReport, one))["runs"][0]["results"]
    assert len(json.loads(written(GitlabReport, one))) == 1
    assert len(ET.fromstring(written(JunitReport, one)).findall("*/testcase")) == 2  # noqa: S314 - our own document
    assert written(GithubReport, one).count("\n") == 2
    assert written(TapReport, one).endswith("\n1..2\n")


def test_what_comes_from_a_cluster_has_no_file(result: Make) -> None:
    out = io.StringIO()
    report = JunitReport(out)
    report.begin(Setup("1.6", 52))
    report.add(Checked(Resource("v1", "ConfigMap", "a", "fine")))
    report.add(Checked(Resource("v1", "ConfigMap", "a", "other"), (result(source=Source("")),)))
    report.end(Summary(), 0.1)

    [suite] = ET.fromstring(out.getvalue())  # noqa: S314 - our own document
    assert [case.get("file") for case in suite] == [None, None]
