"""The words that people read: whole for every reason, and within what the API server lets through."""

from __future__ import annotations

import json
import shlex
from typing import Any

import jsonpatch

from webhook.admission import codec
from webhook.engine import explain
from webhook.model.request import AdmissionRequest

DENIED = """
severity: high
why: the operator finds no such variant, so nothing is installed
docs: https://example.org/variant
validations:
- expression: object.spec.variant in ['default', 'container', 'vgpu']
  messageExpression: "'variant `' + object.spec.variant + '` does not exist'"
  allowedExpression: "['container', 'default', 'vgpu']"
  reason: {reason}
  fix: {{text: set spec.variant to container}}
"""
PACKAGE: dict[str, Any] = {
    "apiVersion": "cozystack.io/v1alpha1",
    "kind": "Package",
    "metadata": {"name": "cozystack.gpu-operator"},
    "spec": {"variant": "contaner"},
}
CAUSE = """\
variant `contaner` does not exist [p0]
    allowed: container, default, vgpu; did you mean `container`?
    why:  the operator finds no such variant, so nothing is installed
    fix:  set spec.variant to container
          spec:
            variant: container
    docs: https://example.org/variant"""


def request(**fields: Any) -> AdmissionRequest:
    group = {"group": "cozystack.io", "version": "v1alpha1"}
    review = {
        "uid": "u",
        "operation": "CREATE",
        "kind": group | {"kind": "Package"},
        "resource": group | {"resource": "packages"},
        "name": "cozystack.gpu-operator",
        "userInfo": {"username": "ada"},
        "object": PACKAGE,
    }
    return codec.read({"apiVersion": codec.API_VERSION, "kind": "AdmissionReview", "request": review | fields})


def test_a_cause_holds_its_whole_finding(judge: Any) -> None:
    decision = judge(DENIED.format(reason="Invalid"), PACKAGE)
    assert explain.details(explain.causes(decision, request()), request()) == {
        "group": "cozystack.io",
        "kind": "Package",
        "name": "cozystack.gpu-operator",
        "causes": [{"reason": "FieldValueInvalid", "message": CAUSE, "field": "spec.variant"}],
    }


def test_the_message_holds_every_finding_for_reasons_whose_causes_kubectl_drops(judge: Any, link: Any) -> None:
    other = "severity: low\nvalidations: [{expression: 'false', message: never}]"
    decision = judge(link(DENIED.format(reason="Forbidden"), other), PACKAGE)
    assert explain.status_reason(decision).status == 403
    assert explain.message(explain.causes(decision, request()), request()) == (
        f'Package "cozystack.gpu-operator" is refused:\n* spec.variant: {CAUSE}\n* never [p1]'
    )


def test_an_object_is_named_with_its_namespace_and_before_it_has_a_name_by_its_prefix() -> None:
    unnamed = request(name="", namespace="ml", object={"metadata": {"generateName": "infer-7d9c-"}})
    assert explain.subject(unnamed) == 'Package "infer-7d9c-*" in namespace "ml"'


def test_a_namespace_is_not_named_as_if_it_were_in_itself() -> None:
    kind = {"group": "", "version": "v1", "kind": "Namespace"}
    resource = {"group": "", "version": "v1", "resource": "namespaces"}
    assert explain.subject(request(kind=kind, resource=resource, name="ml", namespace="ml")) == 'Namespace "ml"'


def test_a_warning_says_where_and_the_way_out_in_one_line(judge: Any) -> None:
    policy = "validationActions: [Warn]\n" + DENIED.format(reason="Invalid")
    assert explain.warnings(judge(policy, PACKAGE)) == (
        "[p0] spec.variant: variant `contaner` does not exist; did you mean `container`?; fix: set spec.variant to container",
    )


def test_warnings_are_cut_to_what_the_api_server_lets_through_and_say_how_many_are_left_out(judge: Any) -> None:
    policy = """
    validationActions: [Warn]
    validations:
    - forEach: {in: 'lists.range(40)', as: number}
      expression: 'number < 0'
      messageExpression: "string(number) + ': ' + 'long '.replace('long', object.spec.long)"
    """
    found = explain.warnings(judge(policy, {**PACKAGE, "spec": {"long": "words and " * 60}}))
    assert all(len(warning) <= explain.WARNING_LIMIT for warning in found)
    assert sum(map(len, found)) <= explain.WARNINGS_LIMIT
    assert found[0].endswith("…")
    assert found[-1] == f"and {41 - len(found)} more warnings; `cozyguard check` shows all"


def test_a_change_is_a_warning_unless_the_request_is_refused_anyway(judge: Any) -> None:
    change = """
    mutations:
    - patchType: JSONPatch
      message: set the default
      jsonPatch: {expression: "[JSONPatch{op: 'add', path: '/spec/a', value: 1}]"}
    """
    assert explain.warnings(judge(change, PACKAGE)) == ("[p0] set the default",)
    assert explain.warnings(judge(f"{change}\n    validations: [{{expression: 'false'}}]", PACKAGE)) == ()


def test_a_failure_of_ours_that_is_ignored_is_still_told(judge: Any) -> None:
    (warning,) = explain.warnings(
        judge("failurePolicy: Ignore\nvalidations: [{expression: object.spec.gone == 1}]", PACKAGE)
    )
    assert "could not be evaluated" in warning


def updated(old: Any, new: Any = PACKAGE) -> AdmissionRequest:
    return request(operation="UPDATE", object=new, oldObject=old)


def test_on_an_update_the_way_out_is_a_command_that_does_it(judge: Any) -> None:
    old = {**PACKAGE, "spec": {"variant": "vgpu", "note": "it's"}}
    decision = judge(DENIED.format(reason="Invalid"), PACKAGE, operation="UPDATE", old=old)
    (cause,) = explain.causes(decision, updated(old))
    command = shlex.split(cause.text.splitlines()[4])
    assert command[:4] == ["kubectl", "patch", "packages.cozystack.io", "cozystack.gpu-operator"]
    assert command[4:7] == ["--type", "json", "--patch"]
    assert jsonpatch.apply_patch(old, json.loads(command[7]))["spec"] == {"variant": "container"}


def test_what_the_server_writes_by_itself_is_no_part_of_the_command(judge: Any) -> None:
    old = {**PACKAGE, "spec": {"variant": "container"}}
    old["metadata"] = {**PACKAGE["metadata"], "managedFields": [{"manager": "kubectl"}], "generation": 3}
    decision = judge(DENIED.format(reason="Invalid"), PACKAGE, operation="UPDATE", old=old)
    (cause,) = explain.causes(decision, updated(old))
    assert "leave the object as it is" in cause.text


def test_what_kubectl_writes_by_itself_is_no_part_of_the_command_and_tells_no_secret(judge: Any) -> None:
    def applied(**spec: Any) -> Any:
        note = json.dumps({"spec": {"token": "hunter2", **spec}})
        annotations = {"kubectl.kubernetes.io/last-applied-configuration": note}
        return {**PACKAGE, "metadata": {**PACKAGE["metadata"], "annotations": annotations}, "spec": spec}

    policy = f"sensitiveFields: [spec.token]\n{DENIED.format(reason='Invalid')}"
    old, new = applied(variant="vgpu"), applied(variant="contaner")
    (cause,) = explain.causes(judge(policy, new, operation="UPDATE", old=old), updated(old, new))
    assert '[{"op":"replace","path":"/spec/variant","value":"container"}]' in cause.text
    never_applied = {**old, "metadata": PACKAGE["metadata"]}
    (cause,) = explain.causes(judge(policy, new, operation="UPDATE", old=never_applied), updated(never_applied, new))
    assert '[{"op":"replace","path":"/spec/variant","value":"container"}]' in cause.text


GATES = """
validations:
- forEach: {in: object.spec.gates, as: gate, at: i}
  expression: gate != 'bad'
  message: this gate is bad
  fix: {text: remove it, patchExpression: "[JSONPatch{op: 'remove', path: '/spec/gates/' + string(i)}]"}
"""


def test_one_command_mends_all_findings_of_an_update(judge: Any) -> None:
    gates = ["a", *(["bad"] * 10), "b", "bad"]
    old, new = {**PACKAGE, "spec": {"gates": []}}, {**PACKAGE, "spec": {"gates": gates}}
    *others, last = explain.causes(judge(GATES, new, operation="UPDATE", old=old), updated(old, new))
    assert not any("kubectl" in cause.text for cause in others)
    assert last.text.splitlines()[-2].strip() == "this mends all 11 findings at once:"
    command = shlex.split(last.text.splitlines()[-1])
    assert jsonpatch.apply_patch(old, json.loads(command[-1]))["spec"] == {"gates": ["a", "b"]}


def test_there_is_no_command_where_it_would_leave_a_finding_as_it_is(judge: Any, link: Any) -> None:
    by_hand = "validations: [{expression: size(object.spec.gates) == 0, message: never, fix: {text: think}}]"
    old, new = {**PACKAGE, "spec": {"gates": []}}, {**PACKAGE, "spec": {"gates": ["bad"]}}
    causes = explain.causes(judge(link(GATES, by_hand), new, operation="UPDATE", old=old), updated(old, new))
    assert len(causes) == 2
    assert not any("kubectl" in cause.text for cause in causes)


NARROW = """
validations:
- expression: object.spec.variant != 'contaner'
  message: no such variant
  field: spec.variant
  fix: {text: spell it, patchExpression: "[JSONPatch{op: 'replace', path: '/spec/variant', value: 'container'}]"}
- expression: object.spec.variant != 'container'
  message: this variant is not for you
  field: spec.variant
  fix: {text: ask first}
"""
"""A policy whose fix leads into another of its rules."""

NOT_ENOUGH = "that alone is not enough: then it is refused for spec.variant: this variant is not for you [p0]"


def test_yaml_that_is_not_enough_says_what_comes_next(judge: Any) -> None:
    (cause,) = explain.causes(judge(NARROW, PACKAGE), request(), lambda mended: judge(NARROW, mended))
    assert [line.strip() for line in cause.text.splitlines()[-3:]] == ["spec:", "variant: container", NOT_ENOUGH]


def test_no_command_leads_to_another_refusal(judge: Any) -> None:
    def decide(obj: Any) -> Any:
        return judge(NARROW, obj, operation="UPDATE", old=old)

    old = {**PACKAGE, "spec": {"variant": "vgpu"}}
    (cause,) = explain.causes(decide(PACKAGE), updated(old), decide)
    assert cause.text.splitlines()[-1].strip() == NOT_ENOUGH
    assert "kubectl" not in cause.text


def test_what_has_to_be_mended_by_hand_is_not_told_twice(judge: Any, link: Any) -> None:
    by_hand = "validations: [{expression: size(object.spec.gates) == 0, message: never, fix: {text: think}}]"
    both, obj = link(NARROW, by_hand), {**PACKAGE, "spec": {"variant": "contaner", "gates": ["bad"]}}
    causes = explain.causes(judge(both, obj), request(object=obj), lambda mended: judge(both, mended))
    assert [NOT_ENOUGH in cause.text for cause in causes] == [True, False]


def test_a_fix_that_is_enough_stands_as_it_is(judge: Any) -> None:
    policy = DENIED.format(reason="Invalid")
    (cause,) = explain.causes(judge(policy, PACKAGE), request(), lambda mended: judge(policy, mended))
    assert cause.text == CAUSE


def test_no_command_repeats_a_value_that_must_not_be_shown(judge: Any) -> None:
    policy = f"sensitiveFields: [spec.token]\n{DENIED.format(reason='Invalid')}"
    new = {**PACKAGE, "spec": {"variant": "contaner", "token": "hunter2"}}
    old = {**PACKAGE, "spec": {"variant": "vgpu"}}
    (cause,) = explain.causes(judge(policy, new, operation="UPDATE", old=old), updated(old, new))
    assert "hunter2" not in cause.text


def test_a_denial_explains_so_many_findings_and_counts_the_rest(judge: Any) -> None:
    policy = "validations: [{forEach: {in: 'lists.range(60)', as: number}, expression: 'number < 0', message: never}]"
    causes = explain.causes(judge(policy, PACKAGE), request())
    assert len(causes) == explain.CAUSES_LIMIT + 1
    assert causes[-1].text == "and 10 more; `cozyguard check` shows all"


def test_a_value_of_the_object_cannot_move_the_cursor(judge: Any) -> None:
    policy = "validations: [{expression: 'false', messageExpression: 'object.spec.variant + string(1)'}]"
    decision = judge(policy, {**PACKAGE, "spec": {"variant": "\x1b[2J\rfine"}})
    (cause,) = explain.causes(decision, request())
    assert cause.text == "\\x1b[2J\\rfine1 [p0]"
