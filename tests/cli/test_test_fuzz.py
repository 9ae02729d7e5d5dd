"""`cozyguard test --fuzz`: objects that nobody wrote bring to light what cases do not."""

import re
from collections.abc import Callable
from typing import Any

import pytest

Run = Callable[..., Any]
Write = Callable[[str, Any], str]

SUITE = """\
apiVersion: cozyguard.io/v1alpha1
kind: PolicyTest
cases:
- name: a web server with a probe
  object:
    apiVersion: v1
    kind: Pod
    metadata: {name: web, namespace: ml, labels: {app: web}}
    spec:
      containers: [{name: web, image: "registry.example.org/web:1", readinessProbe: {httpGet: {port: 80}}}]
  expect: {outcome: allow}
"""


def rule(name: str, expression: str) -> str:
    return f'  validations:\n  - name: {name}\n    message: not so\n    expression: "{expression}"'


def policy(rules: str) -> str:
    return f"""\
apiVersion: cozyguard.io/v1alpha1
kind: AdmissionPolicy
metadata: {{name: probes}}
spec:
  matchConstraints:
    resourceRules: [{{apiGroups: [""], apiVersions: [v1], resources: [pods], operations: [CREATE]}}]
{rules}
"""


@pytest.fixture
def fuzz(cozyguard: Run, write: Write) -> Callable[..., Any]:
    """Fuzz a policy of these rules beside the suite."""

    def run(rules: str, *flags: str) -> Any:
        write("probes/policy.yaml", policy(rules))
        return cozyguard("test", write("probes/tests.yaml", SUITE), "--fuzz", "300", *flags)

    return run


def test_a_guard_that_is_missing_is_found_with_the_fewest_changes(fuzz: Callable[..., Any]) -> None:
    answer = fuzz(rule("probe", "object.spec.containers.all(c, c.readinessProbe.httpGet.port != 1)"))

    assert answer.code == 1
    slip = answer.out[answer.out.index("probes/tests.yaml:4:9: slip:") :].splitlines()
    assert slip[:2] == ["probes/tests.yaml:4:9: slip: a rule errs", "    = case: a web server with a probe"]
    assert re.fullmatch(r"    = but:  object: spec\.containers\[0\]\.readinessProbe(\.\w+)* is .*", slip[2])
    assert slip[3].startswith("    = got:  probe: the rule could not be evaluated: ")
    assert re.match(r"tried 300 objects on 1 suite in \d+\.\d\d s \(seed 1\): 1 slip", slip[4])


def test_what_schemas_do_not_allow_is_not_tried(fuzz: Callable[..., Any]) -> None:
    """No API server lets a Pod through without containers, or one whose name is a number."""
    answer = fuzz(rule("name", "object.spec.containers.all(c, c.name.size() < 999)"))

    assert answer.code == 0, answer.out
    assert "(seed 1): every law holds" in answer.out


def test_a_mutation_that_never_ends_is_found(fuzz: Callable[..., Any]) -> None:
    mutation = "[JSONPatch{op: 'add', path: '/metadata/labels/app', value: object.metadata.labels.app + 'x'}]"
    answer = fuzz(
        '  matchConditions:\n  - {name: labelled, expression: "type(object.metadata.?labels.?app.orValue(0)) == string"}\n'
        f'  mutations: [{{patchType: JSONPatch, jsonPatch: {{expression: "{mutation}"}}}}]'
    )

    assert answer.code == 1
    assert "slip: a mutation patches again what it has made" in answer.out


def test_a_mutation_that_breaks_a_rule_of_its_own_policy_is_found(fuzz: Callable[..., Any]) -> None:
    mutation = "has(object.metadata.labels) ? [] : [JSONPatch{op: 'add', path: '/spec/priority', value: 7}]"
    answer = fuzz(
        f'  mutations: [{{patchType: JSONPatch, jsonPatch: {{expression: "{mutation}"}}}}]\n'
        + rule("low", "object.spec.?priority.orValue(0) < 5")
    )

    assert answer.code == 1
    assert "slip: what a policy has patched breaks a rule of it that held before" in answer.out
    assert "= got:  low: not so" in answer.out


def test_the_same_seed_tries_the_same_objects_and_programs_are_told_all(fuzz: Callable[..., Any]) -> None:
    rules = rule("probe", "object.spec.containers.all(c, c.image != '')")
    one, other = fuzz(rules, "-o", "json").document["fuzz"], fuzz(rules, "-o", "json").document["fuzz"]

    assert one == other
    assert (one["seed"], one["tried"]) == (1, 300)
    (slip,) = one["slips"]
    assert (slip["law"], slip["file"], slip["line"], slip["case"]) == (
        "neverErrs",
        "probes/tests.yaml",
        4,
        "a web server with a probe",
    )
    assert slip["changes"]
    assert fuzz(rules, "-o", "json", "--seed", "2").document["fuzz"]["seed"] == 2


def test_what_a_case_shows_already_is_no_news(cozyguard: Run, write: Write) -> None:
    write(
        "probes/policy.yaml",
        policy(rule("err", "object.metadata.labels['none'] == ''")),
    )
    suite = write("probes/tests.yaml", SUITE.replace("outcome: allow", "outcome: error"))

    assert cozyguard("test", suite, "--fuzz", "100").code == 0


def test_in_github_a_slip_is_an_annotation_of_its_case(fuzz: Callable[..., Any]) -> None:
    answer = fuzz(rule("probe", "object.spec.containers.all(c, c.readinessProbe.httpGet.port != 1)"), "-o", "github")

    assert answer.code == 1
    slip, end, _ = answer.out.splitlines()
    assert slip.startswith(
        "::error file=probes/tests.yaml,line=4,col=9,title=slip::a rule errs%0Acase: a web server with a probe%0Abut:  object"
    )
    assert end.startswith("tried 300 objects on 1 suite")


def test_for_junit_what_is_found_is_told_beside_the_report(fuzz: Callable[..., Any]) -> None:
    answer = fuzz(rule("probe", "object.spec.containers.all(c, c.readinessProbe.httpGet.port != 1)"), "-o", "junit")

    assert answer.code == 1
    assert answer.out.startswith("<?xml")
    assert answer.out.rstrip().endswith("</testsuites>")
    assert "slip: a rule errs" in answer.err


def test_that_nothing_could_be_tried_is_no_praise(fuzz: Callable[..., Any]) -> None:
    answer = fuzz(rule("broken", "objekt.spec"))

    assert answer.code == 2
    assert re.search(r"tried 0 objects on 1 suite in \S+ s \(seed 1\): nothing to try", answer.out)


@pytest.mark.parametrize("operation", ["CREATE", "UPDATE", "DELETE", "CONNECT"])
def test_requests_of_every_operation_are_made_of_their_objects(cozyguard: Run, write: Write, operation: str) -> None:
    read = "oldObject" if operation == "DELETE" else "object"
    anything = (
        policy(rule("any", f"{read}.kind != 'x'")).replace("[CREATE]", f"[{operation}]").replace("[pods]", "['*/*']")
    )
    objects = {"CREATE": ["object"], "UPDATE": ["object", "oldObject"], "DELETE": ["oldObject"], "CONNECT": ["object"]}
    pod = "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: b}, spec: {containers: [{name: c}]}}"
    parts = "".join(f"  {name}: {pod}\n" for name in objects[operation])
    write("probes/policy.yaml", anything)
    case = f"- name: one\n  operation: {operation}\n{parts}  expect: {{outcome: allow}}\n"
    suite = write("probes/tests.yaml", SUITE[: SUITE.index("- name")] + case)

    answer = cozyguard("test", suite, "--fuzz", "50")

    assert (answer.code, answer.err) == (0, "")
    assert "tried 50 objects" in answer.out
