"""`explain -f`: how a decision comes about."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

Run = Callable[..., Any]
Write = Callable[[str, Any], str]
Golden = Callable[[str, str], None]

POLICY = """\
apiVersion: cozyguard.io/v1alpha1
kind: AdmissionPolicy
metadata: {name: needs-a}
spec:
  title: A ConfigMap has a
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: ["*"], resources: [configmaps, secrets], operations: [CREATE, UPDATE]}
  matchConditions:
  - {name: not-ours, expression: "object.metadata.name != 'ours'"}
  variables:
  - {name: keys, expression: "object.?data.orValue({}).map(key, key)"}
  validations:
  - {name: a, expression: "'a' in variables.keys", message: there is no a, field: data}
  - {name: short, forEach: {in: object.data, as: text, at: key}, expression: "size(text) < 5", message: too long}
  mutations:
  - patchType: JSONPatch
    message: b is set, as everybody needs it
    jsonPatch: {expression: "[JSONPatch{op: 'add', path: '/data/b', value: object.?data[?'copy'].orValue('1')}]"}
---
apiVersion: cozyguard.io/v1alpha1
kind: AdmissionPolicy
metadata: {name: for-later}
spec:
  title: Later
  releases: ">=1.7"
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: ["*"], resources: [configmaps], operations: [CREATE]}
  validations: [{expression: "false"}]
---
apiVersion: cozyguard.io/v1alpha1
kind: AdmissionPolicy
metadata: {name: for-pods}
spec:
  title: Pods
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: ["*"], resources: [pods], operations: [CREATE]}
  validations: [{expression: "false"}]
---
apiVersion: cozyguard.io/v1alpha1
kind: AdmissionPolicy
metadata: {name: looks-up}
spec:
  title: Another is there
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: ["*"], resources: [configmaps], operations: [CREATE]}
  lookups: [{name: other, apiVersion: v1, kind: ConfigMap, namespace: default, objectName: other}]
  validations: [{expression: "lookups.other != null", message: no other}]
"""


def review_of(obj: dict[str, Any], plural: str = "configmaps") -> dict[str, Any]:
    """Make the AdmissionReview of a create."""
    kind = {"group": "", "version": "v1", "kind": obj["kind"]}
    request = {
        "uid": "705ab4f5",
        "operation": "CREATE",
        "kind": kind,
        "resource": {"group": "", "version": "v1", "resource": plural},
        "name": obj["metadata"]["name"],
        "namespace": "default",
        "userInfo": {"username": "ada"},
        "object": obj,
    }
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}


def config_map(data: dict[str, str], name: str = "x", kind: str = "ConfigMap") -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "namespace": "default"}, "data": data}


@pytest.fixture
def explain(cozyguard: Run, write: Write) -> Run:
    """Explain a review by four policies of our own, on Cozystack 1.6."""

    def run(review: Any, *argv: str) -> Any:
        rules = ("--policies", write("policies.yaml", POLICY), "--release", "1.6")
        return cozyguard("explain", "-f", write("review.json", review), *rules, *argv)

    return run


def test_a_decision_is_told_from_the_request_to_the_answer(explain: Run, golden: Golden) -> None:
    answer = explain(review_of(config_map({"copy": "12345"})))

    assert (answer.code, answer.err) == (0, "")
    golden("explain/review.txt", answer.out)


def test_the_same_in_json(explain: Run, golden: Golden) -> None:
    answer = explain(review_of(config_map({"copy": "12345"})), "-o", "json")

    assert (answer.code, answer.err) == (0, "")
    golden("explain/review.json", json.dumps(answer.document, indent=2) + "\n")


def test_the_answer_is_that_of_check(cozyguard: Run, explain: Run, write: Write) -> None:
    obj = config_map({"copy": "12345"})
    told = explain(review_of(obj), "-o", "json").document
    rules = ("--policies", "policies.yaml", "--release", "1.6", "-o", "json", "--show-passed", "--as", "ada")
    found = cozyguard("check", write("object.yaml", obj), *rules).document

    rules_told = [(one["policy"], rule["result"]) for one in told["policies"] for rule in one["rules"]]
    assert sorted(rules_told) == sorted((entry["policy"], entry["outcome"]) for entry in found["results"])
    assert told["allowed"] is (found["summary"]["resourcesDenied"] == 0)


def test_a_policy_that_is_left_says_why(explain: Run) -> None:
    told = explain(review_of(config_map({}, name="ours")), "--policy", "needs-a", "-o", "json").document

    assert {one["left"] for one in told["policies"]} == {"a match condition is false"}
    assert told["allowed"] is True


def test_the_cluster_state_answers_lookups(explain: Run, write: Write) -> None:
    review = review_of(config_map({"a": "1"}))
    state = write("state.yaml", config_map({}, name="other"))

    assert "rule 0: skip" in explain(review, "--policy", "looks-up").out
    assert "rule 0: deny" in explain(review, "--policy", "looks-up", "--closed-world").out
    assert (
        "nothing to object: 1 policy (looks-up)"
        in explain(review, "--policy", "looks-up", "--cluster-state", state).out
    )


def test_what_holds_is_told_where_it_is_asked_for(explain: Run, write: Write) -> None:
    state = write("state.yaml", config_map({}, name="other"))
    answer = explain(review_of(config_map({"a": "1"})), "--cluster-state", state, "--show-passed")

    assert "    rule 0: pass\n      this has to be true, and is:\n" in answer.out
    assert "about other requests: 1 policy (for-pods)\n" in answer.out


@pytest.mark.parametrize("output", ["text", "json"])
def test_values_of_a_secret_are_never_shown(explain: Run, output: str) -> None:
    secret = config_map({"copy": "aHVudGVyMg=="}, kind="Secret")
    answer = explain(review_of(secret, "secrets"), "-o", output)

    assert answer.code == 0
    assert "aHVudGVyMg" not in answer.out + answer.err
    assert "short" in answer.out


@pytest.mark.parametrize("output", ["text", "json"])
@pytest.mark.parametrize("fields", ["[data]", "[data.copy]"])
def test_sensitive_fields_are_never_shown(cozyguard: Run, write: Write, output: str, fields: str) -> None:
    rules = write("policies.yaml", POLICY.replace("title: A Config", f"sensitiveFields: {fields}\n  title: A Config"))
    review = write("review.json", review_of(config_map({"copy": "hunter2-hunter2"})))
    answer = cozyguard("explain", "-f", review, "--policies", rules, "-o", output)

    assert answer.code == 0
    assert "hunter2" not in answer.out + answer.err


def test_who_is_exempt_is_told_so(explain: Run, write: Write) -> None:
    exempt = {"spec": {"exempt": {"users": ["ada"]}}}
    config = {"apiVersion": "cozyguard.io/v1alpha1", "kind": "Configuration", "metadata": {"name": "c"}, **exempt}
    answer = explain(review_of(config_map({})), "--config", write("config.yaml", config))

    assert "no policy looks at it: the configuration exempts it\n" in answer.out
    assert answer.out.endswith("\nallowed\n")


def test_standard_input_is_read(cozyguard: Run) -> None:
    answer = cozyguard("explain", "-f", "-", stdin=json.dumps(review_of(config_map({}))))

    assert answer.out.startswith('CREATE of ConfigMap "x" in namespace "default" by ada, on Cozystack 1.6\n')


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a: b", "error: review.json: the body is not JSON: "),
        ({"kind": "Package"}, "error: review.json: the body is no AdmissionReview: want kind `AdmissionReview`\n"),
    ],
)
def test_what_is_no_review_is_refused(explain: Run, content: Any, message: str) -> None:
    answer = explain(content)

    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(message)
    assert answer.err.endswith("\na manifest is judged by `cozyguard check`\n")


def test_a_policy_and_a_review_at_once_are_refused(explain: Run) -> None:
    answer = explain(review_of(config_map({})), "needs-a")

    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("error: give a policy or, with `-f`, a review")
