from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from webhook.runs.doctor.examine import examine
from webhook.runs.doctor.inventory import Held, Inventory
from webhook.runs.doctor.own import own

LOCKS_ITSELF_OUT = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: policy
webhooks:
  - name: check.policy.example.org
    admissionReviewVersions: [v1]
    sideEffects: None
    failurePolicy: Fail
    timeoutSeconds: 30
    clientConfig:
      service: {name: policy, namespace: policy-system, path: /validate}
    namespaceSelector:
      matchExpressions:
        - {key: kubernetes.io/metadata.name, operator: NotIn, values: [kube-system]}
    rules:
      - {apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [pods]}
"""

SOUND = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: sound
webhooks:
  - name: check.example.org
    admissionReviewVersions: [v1]
    sideEffects: None
    failurePolicy: Fail
    timeoutSeconds: 5
    clientConfig: {url: "https://guard.example.org/validate"}
    rules:
      - {apiGroups: [cozystack.io], apiVersions: [v1alpha1], operations: [CREATE], resources: [packages]}
"""


def test_a_registration_that_can_lock_itself_out_is_shown_with_its_line(cozyguard: Any, write: Any) -> None:
    told = cozyguard("doctor", write("policy.yaml", LOCKS_ITSELF_OUT))
    assert told.code == 1
    assert told.err == ""
    assert told.out.startswith("""\
policy.yaml:13:5: error: `check.policy.example.org` is asked about `pods` in namespace `policy-system`, \
where its own pods run, under failurePolicy Fail [own-namespace]
  13 |     namespaceSelector:
     |     ^^^^^^^^^^^^^^^^^
     = why: once all its replicas are down no new one can start, and whatever it is asked about cannot be changed
     = fix: add `policy-system` to webhooks[0].namespaceSelector.matchExpressions[0].values

""")
    assert "policy.yaml:10:21: remark: `check.policy.example.org` has 30 s to answer [timeout]" in told.out


def test_json_holds_the_same(cozyguard: Any, write: Any) -> None:
    told = cozyguard("doctor", write("policy.yaml", LOCKS_ITSELF_OUT), "-o", "json")
    assert told.document["version"] == 1
    assert told.document["summary"]["webhooks"] == 1
    first = told.document["findings"][0]
    assert (first["level"], first["check"], first["field"]) == (
        "error",
        "own-namespace",
        "webhooks[0].namespaceSelector",
    )
    assert first["fix"]["patch"] == [
        {
            "op": "add",
            "path": "/webhooks/0/namespaceSelector/matchExpressions/0/values/-",
            "value": "policy-system",
        }
    ]
    assert first["source"] == {"file": "policy.yaml", "document": 0, "line": 13, "column": 5}
    assert first["resource"]["kind"] == "ValidatingWebhookConfiguration"


def test_standard_input_is_examined_too(cozyguard: Any) -> None:
    assert "<stdin>:13:5: error" in cozyguard("doctor", "-", stdin=LOCKS_ITSELF_OUT).out


def test_only_an_error_makes_the_exit_code_unless_more_is_asked_for(cozyguard: Any, write: Any) -> None:
    file = write("policy.yaml", SOUND.replace("timeoutSeconds: 5", "timeoutSeconds: 15"))
    assert "1 remark" in cozyguard("doctor", file).out
    assert cozyguard("doctor", file).code == 0
    assert cozyguard("doctor", file, "--fail-on", "remark").code == 1


def test_a_broken_registration_is_a_fault_with_its_place_and_the_rest_is_examined(cozyguard: Any, write: Any) -> None:
    broken = SOUND.replace("failurePolicy", "failurPolicy")
    told = cozyguard("doctor", write("a.yaml", broken), write("b.yaml", LOCKS_ITSELF_OUT))
    assert told.code == 2
    assert told.err.startswith(
        "a.yaml:9:5: input error: webhooks[0].failurPolicy: unknown field; did you mean `failurePolicy`?"
    )
    assert "b.yaml:13:5: error" in told.out


def test_files_without_webhooks_and_charts_are_noted(cozyguard: Any, write: Any) -> None:
    write("chart/Chart.yaml", "name: policy")
    told = cozyguard("doctor", "chart")
    assert told.code == 0
    assert told.err == (
        "chart: note: passed over: a Helm chart: render it with `helm template`, and check what comes out\n"
        "note: no webhooks are registered here\n"
    )


@pytest.mark.parametrize("argv", [["missing.yaml"], ["-", "-o", "xml"], ["-", "--fail-on", "error"]])
def test_what_cannot_be_used_is_said(argv: list[str], cozyguard: Any) -> None:
    told = cozyguard("doctor", *argv)
    assert told.code == 2
    assert told.err


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 100000) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
_NAMES = ("name", "clientConfig", "rules", "namespaceSelector", "objectSelector", "matchConditions", "timeoutSeconds")
_KINDS = (
    *("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration", "Namespace"),
    *("Service", "Deployment", "PodDisruptionBudget", "HorizontalPodAutoscaler", "Pod", "Secret"),
    *("Lease", "AdmissionPolicy", "PolicyException", "SubjectAccessReview"),
)
_FIELDS = (
    *("selector", "ports", "replicas", "template", "minAvailable", "maxUnavailable", "scaleTargetRef", "renewTime"),
    *("leaseDurationSeconds", "matchConstraints", "lookups", "resourceAttributes", "user", "nodeName"),
)


@st.composite
def _objects(draw: st.DrawFn) -> dict[str, Any]:
    sound: dict[str, Any] = {
        "name": "check.cozyguard.io",
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "clientConfig": {"service": {"namespace": "a", "name": "b"}},
        "rules": [{"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*/*"]}],
    }
    broken = draw(st.dictionaries(st.sampled_from(_NAMES), _JSON, max_size=2))
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": draw(st.sampled_from(_KINDS)),
        "metadata": draw(st.just({"name": "b", "namespace": "a"}) | _JSON),
        "webhooks": draw(st.just([sound | broken]) | _JSON),
        "spec": draw(_JSON | st.dictionaries(st.sampled_from(_FIELDS), _JSON, max_size=4)),
        "status": draw(_JSON | st.dictionaries(st.just("conditions"), st.lists(_JSON, max_size=2))),
        "data": draw(_JSON),
    }


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=150)
@given(objects=st.lists(_objects(), max_size=3), live=st.booleans())
def test_no_object_whatever_it_holds_is_too_much(objects: list[dict[str, Any]], live: bool) -> None:
    inventory, now = Inventory(map(Held, objects), live=live), datetime.now(UTC)
    examine(inventory, now)
    list(own(inventory, "a", now))
