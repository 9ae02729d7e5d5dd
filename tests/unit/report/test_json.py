import io
import json
from collections.abc import Callable
from typing import Any

from webhook.errors import DocumentError
from webhook.model.decision import Change, FoundFix, Outcome
from webhook.model.policy import MatchResources, Policy
from webhook.model.result import Checked, Patch, Resource, Result, Setup, Silenced, Source
from webhook.report.json import JsonReport
from webhook.report.summary import Summary

Make = Callable[..., Result]


def written(*checked: Checked, setup: Setup | None = None, faults: tuple[DocumentError, ...] = ()) -> str:
    out, summary = io.StringIO(), Summary()
    report = JsonReport(out)
    report.begin(setup or Setup("1.6", 52))
    for one in checked:
        summary.add(one)
        report.add(one)
    for fault in faults:
        report.add_fault(fault)
    report.end(summary, 0.2)
    return out.getvalue()


def read(*checked: Checked) -> Any:
    return json.loads(written(*checked))


def test_the_document_has_the_form_that_other_tools_read(result: Make, golden: Callable[[str, str], None]) -> None:
    operation = {"op": "add", "path": "/metadata/labels", "value": {"gpu": "on"}}
    change = Change(Policy("tenant-label", MatchResources()), "found by this label", (operation,))
    denied = result(fix=FoundFix("", ({"op": "replace", "path": "/spec/variant", "value": "container"},)))
    skipped = result(outcome=Outcome.SKIP, field=(), value=None, allowed=(), suggestion=None, fix=FoundFix())

    text = written(
        Checked(denied.resource, (denied, skipped), (Patch(change, denied.resource, Source("a.yaml", 1, 3, 1)),)),
        setup=Setup("1.6", 52, (DocumentError("p.yaml", 7, 3, "spec.validations[0].expression", "no"),)),
        faults=(DocumentError("b.yaml", 2, 5, "", "got `}`, want a value"),),
    )

    golden("report/document.json", text)


def test_an_empty_run_is_a_document_too() -> None:
    document = read()

    assert document["summary"] == {
        "resources": 0,
        "resourcesDenied": 0,
        "deny": 0,
        "warn": 0,
        "audit": 0,
        "error": 0,
        "skip": 0,
        "patch": 0,
    }
    assert document["results"] == document["patches"] == document["policyErrors"] == document["inputErrors"] == []


def test_an_ignored_error_says_so_and_counts_for_nothing(result: Make) -> None:
    ignored = result(outcome=Outcome.ERROR, ignored=True)

    document = read(Checked(ignored.resource, (ignored,)))

    assert document["results"][0]["ignored"] is True
    assert document["summary"]["error"] == 0
    assert document["summary"]["resourcesDenied"] == 0


def test_a_silenced_finding_is_listed_apart_from_what_counts(result: Make) -> None:
    silenced = result(silenced=Silenced("baseline", "known"))

    document = read(Checked(silenced.resource, (silenced,)))

    assert document["results"][0]["silenced"] == {"by": "baseline", "reason": "known"}
    assert (document["summary"]["deny"], document["summary"]["silenced"]) == (0, 1)


def test_a_path_is_written_as_everywhere(result: Make) -> None:
    found = result(field=("metadata", "labels", "a.b/c", 0))

    assert read(Checked(found.resource, (found,)))["results"][0]["field"] == 'metadata.labels["a.b/c"][0]'


def test_any_text_makes_valid_json(result: Make) -> None:
    odd = result(message='"quoted" \x1b \ud800 \u2028', resource=Resource("v1", "Pod", "", "näme"))

    entry = read(Checked(odd.resource, (odd,)))["results"][0]

    assert entry["message"] == '"quoted" \x1b \ud800 \u2028'
    assert entry["resource"]["name"] == "näme"


def test_a_report_that_outgrows_memory_is_whole(result: Make) -> None:
    big = result(message="x" * 1_000_000)

    document = read(*[Checked(big.resource, (big,))] * 12)

    assert [len(entry["message"]) for entry in document["results"]] == [1_000_000] * 12
