"""A try at the playground: the decision that the webhook would give, and every fault of what was typed."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webhook.engine.context import DEFAULT_CONFIGURATION
from webhook.model.configuration import Configuration, Mode, ModeName
from webhook.model.trial import Tried, Try
from webhook.report.trial import trial_document
from webhook.runs.trial import attempt

POLICY = """\
apiVersion: cozyguard.io/v1alpha1
kind: AdmissionPolicy
metadata: {name: sizes}
spec:
  title: A ConfigMap is small
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: ["*"], resources: [configmaps, secrets], operations: ["*"]}
  lookups:
  - {name: limit, apiVersion: v1, kind: ConfigMap, objectName: limit, namespace: default}
  variables:
  - {name: most, expression: "lookups.limit == null ? 2 : size(lookups.limit.data)"}
  validations:
  - {name: size, expression: "object == null || size(object.data) <= variables.most", message: too big, field: data}
  mutations:
  - patchType: JSONPatch
    message: a is set
    jsonPatch: {expression: "object.?data.?a.hasValue() ? [] : [JSONPatch{op: 'add', path: '/data/a', value: '1'}]"}
"""
OBJECT = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: one, namespace: default}
data:
  b: x
  c: x
"""
LIMIT = OBJECT.replace("one", "limit").replace("  c: x\n", "  c: x\n  d: x\n  e: x\n")


def tried(**texts: str) -> Tried:
    return attempt(Try(**{"policy": POLICY, "object": OBJECT} | texts), DEFAULT_CONFIGURATION, lambda: False)


def places(found: Tried) -> list[tuple[str, int, int]]:
    return [(error.file, error.line, error.column) for error in found.errors]


def test_a_try_is_decided_and_told_step_by_step() -> None:
    found = tried()
    assert found.story
    assert found.checked
    assert not found.story.decision.allowed
    (result,) = [one for one in found.checked.results if one.finding.outcome == "deny"]
    assert (result.source.file, result.source.line) == ("object", 4)
    (patch,) = found.checked.patches
    assert patch.change.message == "a is set"
    steps = found.story.policies[1].rules[0].steps
    assert steps
    assert ("size(object.data)", 3) in [(one.text, one.value) for one in steps]


def test_what_is_not_in_the_cluster_is_absent_and_what_is_counts() -> None:
    found = tried(cluster=LIMIT)
    assert found.story
    assert found.story.decision.allowed


def test_an_old_object_makes_it_an_update_and_alone_a_deletion() -> None:
    update, deletion = tried(old=OBJECT), tried(object="", old=OBJECT)
    assert update.story
    assert update.story.request.operation == "UPDATE"
    assert deletion.story
    assert deletion.story.request.operation == "DELETE"
    assert deletion.story.decision.allowed


def test_who_asks_and_for_which_release_is_told() -> None:
    found = tried(user="dev-1", groups="a, b,", release="1.5", operation="UPDATE", subresource="status")
    assert found.story
    assert found.story.request.user
    assert (found.story.request.user.username, found.story.request.user.groups) == ("dev-1", ("a", "b"))
    assert (found.story.release, found.story.request.operation) == ("1.5", "UPDATE")
    assert found.story.request.subresource == "status"


@pytest.mark.parametrize(
    ("texts", "place", "message"),
    [
        ({"policy": POLICY.replace("size(object", "siz(object")}, ("policy", 14, 52), "no function"),
        ({"policy": POLICY.replace("title", "titel")}, ("policy", 5, 3), "did you mean `title`?"),
        ({"policy": "a: ["}, ("policy", 2, 1), "want"),
        ({"object": "a: ["}, ("object", 2, 1), "want"),
        ({"object": "a: 1"}, ("object", 1, 1), "got no `apiVersion` and no `kind`"),
        ({"object": f"{OBJECT}---\n{OBJECT}"}, ("object", 8, 1), "got 2 objects, want one"),
        ({"object": ""}, ("object", 0, 0), "want an object to decide about"),
        ({"cluster": "- a"}, ("cluster", 1, 1), "want a Kubernetes object"),
        ({"old": "a: 1"}, ("old", 1, 1), "got no `apiVersion`"),
        ({"operation": "UPDAT"}, ("operation", 0, 0), "did you mean `UPDATE`?"),
        ({"release": "new"}, ("release", 0, 0), "new"),
        ({"groups": "a"}, ("user", 0, 0), "want the user who is in these groups"),
    ],
)
def test_faults_are_told_with_their_place(texts: dict[str, str], place: tuple[str, int, int], message: str) -> None:
    found = tried(**texts)
    assert place in places(found)
    assert message in "\n".join(error.message for error in found.errors)


def test_all_faults_of_all_texts_are_told_at_once() -> None:
    found = tried(policy="a: [", object="a: [", old="a: [", cluster="a: [", release="x")
    assert {error.file for error in found.errors} == {"policy", "object", "old", "cluster", "release"}


def test_the_configuration_holds_for_a_try() -> None:
    softened = Configuration(modes=(Mode(("sizes",), ModeName.WARN),))
    found = attempt(Try(POLICY, OBJECT), softened, lambda: False)
    assert found.story
    assert (found.story.decision.allowed, len(found.story.warnings)) == (True, 2)


def test_without_a_policy_nobody_is_asked() -> None:
    found = tried(policy="\n")
    assert found.story
    assert found.story.decision.allowed
    assert not found.errors


def test_a_rule_that_goes_on_for_too_long_is_told_to_have_run_out_of_time() -> None:
    numbers = "[" + ",".join(map(str, range(200))) + "]"
    slow = f"{numbers}.all(a, {numbers}.all(b, {numbers}.all(c, a + b + c < 1000)))"
    policy = POLICY.replace("object == null || size(object.data) <= variables.most", slow)
    end = time.monotonic() + 0.05
    found = attempt(Try(policy, OBJECT), DEFAULT_CONFIGURATION, lambda: time.monotonic() > end)
    assert found.checked
    assert "could not be evaluated" in str([one.finding.message for one in found.checked.results])


def test_what_is_long_is_cut_and_counted() -> None:
    each = POLICY.replace("{name: size,", "{name: size, forEach: {in: object.data, as: one},").replace(
        "object == null ||", ""
    )
    data = "".join(f"  k{index}: {'x' * 1000}\n" for index in range(120))
    document = trial_document(tried(policy=each, object=OBJECT + data))
    assert (len(document["findings"]), document["moreFindings"]) == (100, 23)
    assert (len(document["policies"][1]["rules"]), document["policies"][1]["moreRules"]) == (100, 23)
    assert max(len(value) for rule in document["policies"][1]["rules"] for _, value in rule["steps"]) <= 400


def test_a_secret_is_told_without_its_values(strings: Callable[[object], list[str]]) -> None:
    secret = OBJECT.replace("ConfigMap", "Secret").replace("b: x", "b: aHVudGVyMg==")
    document = trial_document(tried(object=secret))
    assert document["findings"]
    assert not [text for text in strings(document) if "aHVudGVyMg" in text]


@pytest.fixture
def strings() -> Callable[[object], list[str]]:
    """Give every text in a document."""

    def each(value: object) -> list[str]:
        if isinstance(value, dict):
            return [text for one in value.values() for text in each(one)]
        if isinstance(value, list):
            return [text for one in value for text in each(one)]
        return [value] if isinstance(value, str) else []

    return each


@given(st.text(max_size=60), st.sampled_from(["policy", "object", "old", "cluster", "release", "user", "operation"]))
@settings(max_examples=100, deadline=None)
def test_whatever_is_typed_is_answered(text: str, name: str) -> None:
    assert isinstance(trial_document(tried(**{name: text})), dict)
