from __future__ import annotations

import json
from pathlib import Path

import jsonschema

from webhook.errors import DocumentError
from webhook.model.lint import Finding, Linted
from webhook.model.policy import Location
from webhook.model.result import Silenced
from webhook.report.lint import sarif
from webhook.runs.lint.examine import CHECKS

SCHEMA = json.loads((Path(__file__).parent / "sarif.schema.json").read_text())


def test_sarif_keeps_to_the_standard() -> None:
    at = Location("policies/a b.yaml", 3, 4, "spec.validations[0].expression")
    findings = tuple(Finding(check, "a", at, "\x1b[31mwhat", "how", 5) for check in CHECKS)
    silenced = Finding(CHECKS[0], "a", at, "what", "how", silenced=Silenced("comment", "why"))
    linted = Linted(1, (*findings, silenced), faults=(DocumentError("b.yaml", 1, 2, "spec", "broken"),))
    document = json.loads(json.dumps(sarif(linted, CHECKS)))
    validator = jsonschema.Draft202012Validator(SCHEMA, format_checker=jsonschema.FormatChecker())
    faults = [error.message for error in validator.iter_errors(document)]
    assert set(faults) <= {"'security-severity' is a required property"}  # of policies, not of checks
    assert "\x1b" not in json.dumps(document, ensure_ascii=False)
    (run,) = document["runs"]
    assert {each["ruleId"] for each in run["results"]} == {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    assert run["results"][-1]["suppressions"][0]["justification"] == "why"
