import re
from collections.abc import Callable
from typing import Any

import pytest

Run = Callable[..., Any]
Write = Callable[[str, Any], str]
Golden = Callable[[str, str], None]

POLICY = """\
apiVersion: cozyguard.io/v1alpha1
kind: AdmissionPolicy
metadata: {name: size}
spec:
  title: Sizes stay small
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], resources: [configmaps], operations: [CREATE, UPDATE]}
  lookups:
  - {name: limit, apiVersion: v1, kind: ConfigMap, objectName: limit, namespace: default}
  mutations:
  - patchType: JSONPatch
    jsonPatch:
      expression: "has(object.data.size) ? [] : [JSONPatch{op: 'add', path: '/data/size', value: '1'}]"
    message: the usual size
  validations:
  - name: small
    expression: object.data.size == '1' || lookups.limit != null
    message: the size is not 1
    field: data.size
    reason: Forbidden
"""
SUITE = """\
apiVersion: cozyguard.io/v1alpha1
kind: PolicyTest
cases:
"""


def case(name: str, expect: str, size: str = "2", more: str = "") -> str:
    data = f"{{size: '{size}'}}" if size else "{}"
    return (
        f"- name: {name}\n  object: {{apiVersion: v1, kind: ConfigMap, metadata: {{name: x}}, data: {data}}}\n"
        f"  expect: {{{expect}}}\n{more}"
    )


@pytest.fixture
def suite(cozyguard: Run, write: Write) -> Callable[..., Any]:
    """Run a suite of these cases beside the policy."""

    def run(*cases: str, policy: str = POLICY, head: str = SUITE) -> Any:
        write("size/policy.yaml", policy)
        return cozyguard("test", write("size/tests.yaml", head + "".join(cases)))

    return run


@pytest.mark.parametrize(
    "text",
    [
        case("denied", "outcome: deny, policy: size, rule: small, field: data.size, message: not 1, reason: Forbidden"),
        case("by a pattern", "outcome: deny, message: /size .* 1$/"),
        case("allowed", "outcome: allow", "1"),
        case("patched", "outcome: allow, patch: [{op: add, path: /data, value: {size: '1'}}]", ""),
        case("patched another way", "patch: [{op: add, path: /data/size, value: '1'}]", ""),
        case("whole", "patched: {apiVersion: v1, kind: ConfigMap, metadata: {name: x}, data: {size: '1'}}", ""),
        case("unpatched", "outcome: allow, patch: []", "1"),
        case("warned", "outcome: allow, warnings: [the usual size]", ""),
        case("not about it", "outcome: notMatched", more="  subresource: status\n"),
        case("another operation", "outcome: notMatched", more="  operation: CONNECT\n"),
        case(
            "looked up",
            "outcome: allow",
            more="  lookups: [{apiVersion: v1, kind: ConfigMap, metadata: {name: limit, namespace: default}}]\n",
        ),
    ],
)
def test_a_case_whose_expectations_hold_passes(suite: Callable[..., Any], text: str) -> None:
    answer = suite(text)

    assert answer.code == 0, answer.out
    assert "1 passed, 0 failed" in answer.out


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (case("x", "outcome: allow"), "outcome: want allow"),
        (case("x", "outcome: warn"), "outcome: want warn"),
        (case("x", "outcome: deny, field: data"), "field: want data"),
        (case("x", "outcome: deny, message: /^no$/"), "message: want /^no$/"),
        (case("x", "outcome: deny, reason: Invalid"), "reason: want Invalid"),
        (case("x", "outcome: deny, rule: other"), "outcome: want deny"),
        (case("x", "outcome: deny, policy: siz"), "policy: want siz"),
        (case("x", "outcome: allow, patch: []", ""), "patch: "),
        (case("x", "outcome: allow, warnings: []", ""), "warnings: "),
        (case("x", "outcome: allow", more="  subresource: status\n"), "got  notMatched"),
        (case("x", "patch: []", more="  subresource: status\n"), "outcome: want a policy that was evaluated"),
        (case("x", "outcome: invalid"), "outcome: want invalid"),
        (case("x", "outcome: deny, auditAnnotations: {size/a: b}"), "audit annotation size/a: want b"),
    ],
)
def test_a_case_with_an_expectation_that_does_not_hold_fails(suite: Callable[..., Any], text: str, told: str) -> None:
    answer = suite(text)

    assert answer.code == 1
    assert told in answer.out
    assert "0 passed, 1 failed" in answer.out


def test_a_failed_case_shows_where_and_how_it_differs(suite: Callable[..., Any], golden: Golden) -> None:
    answer = suite(
        case("a size of one passes", "outcome: allow", "1"),
        case("a size of two passes", "outcome: allow"),
        case(
            "a missing size is one",
            "patched: {apiVersion: v1, kind: ConfigMap, metadata: {name: x}, data: {size: '7'}}",
            "",
        ),
    )

    golden("test/failed.txt", re.sub(r"\d+\.\d\d s", "0.00 s", answer.out))
    assert (answer.code, answer.err) == (1, "")


UNKNOWN_USER = POLICY.replace("object.data.size == '1'", "request.userInfo.username == 'a'")


def test_a_case_that_was_skipped_fails_unless_it_says_so(suite: Callable[..., Any]) -> None:
    assert suite(case("x", "outcome: skip"), policy=UNKNOWN_USER).code == 0

    skipped = suite(case("x", "outcome: allow"), policy=UNKNOWN_USER)
    assert skipped.code == 1
    assert "got  skip" in skipped.out
    assert "needs the user" in skipped.out
    assert suite(case("x", "outcome: allow", more="  user: a\n"), policy=UNKNOWN_USER).code == 0


BROKEN = POLICY.replace("object.data.size ==", "object.data.size = ")


def test_a_policy_that_does_not_load_fails_every_case_but_those_about_it(suite: Callable[..., Any]) -> None:
    about = "outcome: invalid, field: 'spec.validations[0].expression'"
    assert suite(case("x", about), policy=BROKEN).code == 0

    unexpected = suite(case("x", "outcome: deny"), policy=BROKEN)
    assert unexpected.code == 2
    assert "policy error: spec.validations[0].expression" in unexpected.err
    assert "policy: want policies that load" in unexpected.out
    assert suite(case("x", "outcome: invalid, message: something else"), policy=BROKEN).code == 1


OUTCOMES = "`allow`, `deny`, `warn`, `audit`, `error`, `skip`, `notMatched` or `invalid`; did you mean `deny`?"
UNTERMINATED = "unterminated character set at position 0"


def test_every_fault_of_a_suite_is_told_at_once_with_its_place(suite: Callable[..., Any]) -> None:
    answer = suite(
        "- name: a\n  objekt: {}\n  expect: {outcome: denied}\n",
        "- name: a\n  object: {}\n  expect: {mesage: x}\n",
        "- {name: b, object: {}, parms: {}, expect: {outcome: deny}}\n",
        "- {name: c, object: {}, operation: DELETE, expect: {outcome: deny, message: '/[/'}}\n",
    )

    assert answer.code == 2
    assert answer.err.splitlines() == [
        "size/tests.yaml:4:3: error: cases[0]: has no object, want `object` or `objectFile`, or `oldObject` for DELETE",
        "size/tests.yaml:5:3: error: cases[0].objekt: unknown field; did you mean `object`?",
        "size/tests.yaml:6:21: error: cases[0].expect.outcome: got `denied`, want " + OUTCOMES,
        "size/tests.yaml:7:9: error: cases[1].name: `a` is taken already by `cases[0]`",
        "size/tests.yaml:9:12: error: cases[1].expect.mesage: unknown field; did you mean `message`?",
        "size/tests.yaml:10:25: error: cases[2].parms: unknown field; did you mean `params`?",
        "size/tests.yaml:11:36: error: cases[3].operation: DELETE has no new object, want `oldObject` alone",
        "size/tests.yaml:11:77: error: cases[3].expect.message: got `/[/`, no regular expression: " + UNTERMINATED,
    ]


def test_an_object_can_be_in_a_file_of_its_own(suite: Callable[..., Any], write: Write) -> None:
    write("size/object.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {size: '2'}\n")

    assert suite("- {name: a, objectFile: object.yaml, expect: {outcome: deny}}\n").code == 0
    missing = suite("- {name: a, objectFile: none.yaml, expect: {outcome: deny}}\n")
    assert missing.code == 2
    assert "cases[0].objectFile: `size/none.yaml` cannot be read: no such file" in missing.err


def test_release_time_namespace_and_update_come_from_the_case_or_the_defaults(
    suite: Callable[..., Any],
) -> None:
    rule = (
        "release.version == '1.5' && namespaceObject.metadata.labels.team == 'ml' "
        "&& request.operation == 'UPDATE' && oldObject.data.size == '9'"
    )
    policy = POLICY.replace("object.data.size == '1' || lookups.limit != null", f'"{rule}"')
    old = "{apiVersion: v1, kind: ConfigMap, metadata: {name: x}, data: {size: '9'}}"
    head = SUITE.replace("cases:", "defaults: {release: '1.4', namespaceLabels: {team: ml}}\ncases:")

    answer = suite(
        case("by the case", "outcome: allow", more=f"  release: '1.5'\n  oldObject: {old}\n"),
        case("by the defaults", "outcome: warn", more=f"  oldObject: {old}\n"),
        policy=policy,
        head=head,
    )

    assert answer.code == 0, answer.out


def test_a_release_that_nobody_knows_is_a_fault_of_the_suite(suite: Callable[..., Any]) -> None:
    answer = suite(case("x", "outcome: deny", more="  release: '0.1'\n"))

    assert answer.code == 2
    assert answer.err.startswith("size/tests.yaml:7:12: error: cases[0].release: got release `0.1`, want one of")


def test_a_deletion_has_an_old_object_alone(suite: Callable[..., Any]) -> None:
    policy = POLICY.replace("operations: [CREATE, UPDATE]", "operations: [DELETE]")
    policy = policy.replace("object.data.size ==", "oldObject.data.size ==").replace("field: data.size", "")
    policy = re.sub(r"  mutations:.*?  validations:", "  validations:", policy, flags=re.DOTALL)
    old = "{apiVersion: v1, kind: ConfigMap, metadata: {name: x}, data: {size: '9'}}"

    answer = suite(f"- {{name: a, oldObject: {old}, expect: {{outcome: deny}}}}\n", policy=policy)

    assert answer.code == 0, answer.out


def test_a_folder_without_tests_is_a_fault(cozyguard: Run, write: Write) -> None:
    write("empty/policy.yaml", POLICY)

    answer = cozyguard("test", "empty", "none")

    assert answer.code == 2
    assert "empty: error: holds no tests" in answer.err
    assert "none: error: cannot be read: no such file or directory" in answer.err


def test_the_bundled_policies_pass_their_own_tests(cozyguard: Run) -> None:
    answer = cozyguard("test")

    assert answer.code == 0, answer.out
    assert ", 0 failed" in answer.out


@pytest.mark.parametrize("output", ["json", "junit", "github"])
def test_a_failed_case_in_each_format_for_machines(cozyguard: Run, write: Write, output: str, golden: Golden) -> None:
    write("policy.yaml", POLICY)
    write("broken/policy.yaml", POLICY.replace("object.data.size == '1'", "object.data.size =="))
    write(
        "good/tests.yaml",
        SUITE.replace("cases:", "policies: [../policy.yaml]\ncases:")
        + case("it is & stays", "outcome: deny")
        + case("<other>", "outcome: allow"),
    )
    write(
        "broken/tests.yaml",
        SUITE.replace("cases:", "policies: [policy.yaml]\ncases:") + case("never runs", "outcome: deny"),
    )
    write("no-suite/tests.yaml", "kind: PolicyTest\n")

    answer = cozyguard("test", "good", "broken", "no-suite", "-o", output)

    assert answer.code == 2
    golden(f"test/failed.{output}.txt", re.sub(r"\d+\.\d\d s", "0.00 s", answer.out))
