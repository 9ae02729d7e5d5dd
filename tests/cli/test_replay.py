"""`cozyguard replay`: requests that were recorded, judged now."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
Write = Callable[[str, Any], str]

VARIANT = Path(__file__).parents[2] / "policies" / "packages" / "package-variant-known"
ONE = ("--policy", "package-variant-known")


def review(variant: str, user: str = "admin-1", **parts: Any) -> str:
    resource = {"group": "cozystack.io", "version": "v1alpha1"}
    request = {
        "uid": "1",
        "operation": "CREATE",
        "kind": resource | {"kind": "Package"},
        "resource": resource | {"resource": "packages"},
        "name": "cozystack.gpu-operator",
        "userInfo": {"username": user},
        "object": {
            "apiVersion": "cozystack.io/v1alpha1",
            "kind": "Package",
            "metadata": {"name": "cozystack.gpu-operator"},
            "spec": {"variant": variant},
        },
    }
    return json.dumps({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request} | parts)


@pytest.fixture
def recorded(write: Write) -> str:
    lines = [review("contaner"), review("default"), review("contaner"), review("contaner", "dev-1")]
    return write("reviews.jsonl", "\n".join(lines) + "\n")


def test_what_is_denied_now_is_told_once_however_often_it_was_asked(cozyguard: Run, recorded: str) -> None:
    answer = cozyguard("replay", recorded, "--release", "1.6", *ONE)

    assert (answer.code, answer.err) == (1, "")
    first, second, end = answer.out.split("\n\n")
    assert first.startswith("reviews.jsonl:1:1: error: variant `contaner` does not exist in Cozystack 1.6")
    assert "= of: CREATE Package cozystack.gpu-operator by admin-1, 2 times\n" in first
    assert second.startswith("reviews.jsonl:4:1: error:")
    assert "by dev-1\n" in second
    assert "--fix" not in answer.out
    assert re.sub(r"in \S+ s", "in 0 s", end) == "checked 4 requests with 1 policy in 0 s: 3 denied\n"


def test_the_same_in_json(cozyguard: Run, write: Write) -> None:
    told: dict[str, Any] = {"recordedAt": "2026-11-30T10:00:00Z", "response": {"uid": "1", "allowed": True}}
    file = write("reviews.jsonl", f"{review('contaner', **told)}\n{review('contaner', **told)}\n")

    document = cozyguard("replay", file, "--release", "1.6", *ONE, "-o", "json").document

    assert document["summary"]["resourcesDenied"] == 2
    (result,) = document["results"]
    assert result["request"] == {
        "operation": "CREATE",
        "user": "admin-1",
        "time": "2026-11-30T10:00:00Z",
        "allowed": True,
        "times": 2,
    }
    assert result["source"] == {"file": "reviews.jsonl", "document": 0, "line": 1, "column": 1}
    assert result["resource"]["name"] == "cozystack.gpu-operator"


def test_against_other_policies_only_what_they_change_is_told(
    cozyguard: Run, recorded: str, native: Callable[..., str]
) -> None:
    other = native("object.spec.variant != 'default'", group="cozystack.io", resources="packages")

    answer = cozyguard("replay", recorded, "--release", "1.6", "--policies", str(VARIANT), "--against", other)

    assert answer.code == 1
    assert "reviews.jsonl:2:1: newly denied: no [native]" in answer.out
    assert "= of: CREATE Package cozystack.gpu-operator by admin-1\n" in answer.out
    assert answer.out.count("newly allowed:") == 2, "one for each user"
    assert f"from {VARIANT} to native.yaml, checked 4 requests with 1 policy" in answer.out


def test_the_next_release_can_be_previewed_with_what_was_asked_until_now(cozyguard: Run, write: Write) -> None:
    file = write("reviews.jsonl", review("container"))

    answer = cozyguard("replay", file, "--release", "1.4", "--to", "1.6", *ONE, "-o", "json")

    assert (answer.code, answer.document["from"], answer.document["to"]) == (0, "1.4", "1.6")
    (allowed,) = answer.document["newlyAllowed"]
    assert allowed["request"]["times"] == 1


def test_what_is_no_recording_is_an_input_error_and_the_rest_is_judged(cozyguard: Run, write: Write) -> None:
    file = write("reviews.jsonl", f"nonsense\n{review('contaner')}\n")
    good = write("good.jsonl", review("contaner"))

    answer = cozyguard("replay", file, good, "--release", "1.6", *ONE)

    assert answer.code == 2
    assert answer.err == (
        "reviews.jsonl:1:1: input error: got no JSON, want AdmissionReviews or events of an audit log, one a line\n"
    )
    assert "checked 1 request " in answer.out


def test_nothing_to_replay_is_said(cozyguard: Run) -> None:
    answer = cozyguard("replay")

    assert (answer.code, answer.err) == (
        2,
        "error: nothing to replay: give files or `-` for standard input\n",
    )


def test_so_many_findings_are_listed_at_most_and_all_are_counted(cozyguard: Run, recorded: str) -> None:
    answer = cozyguard("replay", recorded, "--release", "1.6", *ONE, "--max-findings", "1")

    assert answer.out.count("error:") == 1
    assert "3 denied" in answer.out
    assert answer.err == "note: counted and not listed: 1 finding; raise `--max-findings`\n"
