"""The configuration softens, exempts and excepts, and nothing more than it says."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from webhook.model.configuration import Configuration, ExceptedPolicy, Exempt, Mode, ModeName, PolicyException
from webhook.model.policy import MatchResources, ResourceRule
from webhook.model.selector import LabelSelector, Requirement

NOW = datetime(2026, 11, 30, tzinfo=UTC)
BROKEN = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings", "namespace": "ml"}}
RULE = "validations: [{name: never, expression: 'false'}, {name: nor-this, expression: 'false'}]"


def outcomes(decision: Any) -> list[str]:
    return [finding.outcome.value for finding in decision.findings]


@pytest.mark.parametrize(
    ("mode", "expected"),
    [("deny", ["deny", "deny"]), ("warn", ["warn", "warn"]), ("audit", ["audit", "audit"]), ("off", [])],
)
def test_a_mode_softens_what_a_policy_asks_for(judge: Any, mode: str, expected: list[str]) -> None:
    configuration = Configuration(modes=(Mode(("p*",), ModeName(mode)),))
    assert outcomes(judge(RULE, BROKEN, configuration=configuration)) == expected


def test_a_mode_never_makes_a_warning_a_denial(judge: Any) -> None:
    configuration = Configuration(modes=(Mode(("*",), ModeName.DENY),))
    assert judge(f"validationActions: [Warn]\n{RULE}", BROKEN, configuration=configuration).allowed


@pytest.mark.parametrize(
    "mode",
    [
        Mode(("other-*",), ModeName.OFF),
        Mode(("p0",), ModeName.OFF, until=NOW),
        Mode(("p0",), ModeName.OFF, LabelSelector((Requirement("kubernetes.io/metadata.name", "In", ("web",)),))),
    ],
)
def test_a_mode_holds_for_the_policies_the_time_and_the_namespaces_it_names(judge: Any, mode: Mode) -> None:
    assert not judge(RULE, BROKEN, configuration=Configuration(modes=(mode,))).allowed


def test_the_first_mode_that_fits_wins(judge: Any) -> None:
    modes = (Mode(("p0",), ModeName.WARN, until=NOW + timedelta(days=1)), Mode(("*",), ModeName.OFF))
    assert outcomes(judge(RULE, BROKEN, configuration=Configuration(modes=modes))) == ["warn", "warn"]


@pytest.mark.parametrize(
    ("exempt", "allowed"),
    [
        (Exempt(users=frozenset({"ada"})), True),
        (Exempt(users=frozenset({"bob"})), False),
        (Exempt(groups=frozenset({"admins"})), True),
        (Exempt(namespaces=frozenset({"ml"})), True),
        (Exempt(namespaces=frozenset({"web"})), False),
    ],
)
def test_an_exempt_request_is_looked_at_by_no_policy(judge: Any, exempt: Exempt, allowed: bool) -> None:
    decision = judge(RULE, BROKEN, groups=["admins"], configuration=Configuration(exempt=exempt))
    assert decision.allowed is allowed
    assert bool(decision.evaluated) is not allowed


def test_nobody_is_exempt_while_nobody_knows_who_asks(judge: Any) -> None:
    configuration = Configuration(exempt=Exempt(users=frozenset({"ada"})))
    assert not judge(RULE, BROKEN, user=None, configuration=configuration).allowed


def exception(**fields: Any) -> PolicyException:
    everything: dict[str, Any] = {
        "name": "e",
        "policies": (ExceptedPolicy("p0"),),
        "match": MatchResources((ResourceRule(("",), ("*",), ("configmaps",), ("*",)),)),
        "owner": "team-ml",
        "reason": "moving out",
        "expires_at": NOW + timedelta(seconds=1),
    }
    return PolicyException(**(everything | fields))


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, []),
        ({"policies": (ExceptedPolicy("p*"),)}, []),
        ({"policies": (ExceptedPolicy("p0", ("never",)),)}, ["deny"]),
        ({"policies": (ExceptedPolicy("other"),)}, ["deny", "deny"]),
        ({"expires_at": NOW}, ["deny", "deny"]),
        ({"names": ("set*",)}, []),
        ({"names": ("other",)}, ["deny", "deny"]),
        ({"match": MatchResources((ResourceRule(("",), ("*",), ("pods",), ("*",)),))}, ["deny", "deny"]),
    ],
)
def test_an_exception_holds_for_its_rules_and_objects_until_it_expires(
    judge: Any, fields: dict[str, Any], expected: list[str]
) -> None:
    configuration = Configuration(exceptions=(exception(**fields),))
    assert outcomes(judge(RULE, BROKEN, configuration=configuration)) == expected


def excused(decision: Any) -> list[tuple[str, str, str]]:
    return [(one.exception.name, one.finding.rule, one.finding.outcome.value) for one in decision.excused]


def test_what_an_exception_lets_pass_is_told_and_does_not_count(judge: Any) -> None:
    decision = judge(RULE, BROKEN, configuration=Configuration(exceptions=(exception(),)))
    assert decision.allowed
    assert decision.evaluated == ("p0",)
    assert excused(decision) == [("e", "never", "deny"), ("e", "nor-this", "deny")]
    assert decision.audit_annotations == {"exception": "e"}


def test_of_several_exceptions_the_first_that_fits_is_told(judge: Any) -> None:
    exceptions = (exception(name="of-this", policies=(ExceptedPolicy("p0", ("never",)),)), exception(name="of-all"))
    decision = judge(RULE, BROKEN, configuration=Configuration(exceptions=exceptions))
    assert [one[:2] for one in excused(decision)] == [("of-this", "never"), ("of-all", "nor-this")]
    assert decision.audit_annotations == {"exception": "of-this, of-all"}


def test_an_exception_that_nothing_needs_is_not_told(judge: Any) -> None:
    holds = "validations: [{expression: 'true'}]"
    decision = judge(holds, BROKEN, passes=True, configuration=Configuration(exceptions=(exception(),)))
    assert (outcomes(decision), excused(decision), decision.audit_annotations) == (["pass"], [], {})


def test_a_rule_that_cannot_be_tested_is_excused_as_one_that_is_broken(judge: Any) -> None:
    decision = judge(
        "validations: [{expression: object.spec.size > 1}]",
        BROKEN,
        configuration=Configuration(exceptions=(exception(),)),
    )
    assert decision.allowed
    assert excused(decision) == [("e", "0", "error")]


def test_what_was_not_tested_was_not_excused(judge: Any) -> None:
    policy = """
        lookups: [{name: gpu, apiVersion: v1, kind: Node, objectName: gpu}]
        validations: [{expression: lookups.gpu != null}]
    """
    decision = judge(policy, BROKEN, objects=None, configuration=Configuration(exceptions=(exception(),)))
    assert (outcomes(decision), excused(decision)) == ([], [])


def test_an_exception_keeps_a_policy_from_changing_and_annotating(judge: Any) -> None:
    policy = """
        mutations: [{patchType: JSONPatch, jsonPatch: {expression: "[JSONPatch{op: 'add', path: '/data', value: {}}]"}}]
        auditAnnotations: [{key: note, valueExpression: "'seen'"}]
    """
    decision = judge(policy, BROKEN, configuration=Configuration(exceptions=(exception(),)))
    assert (decision.patch, decision.audit_annotations, excused(decision)) == ((), {}, [])


def test_a_mode_bends_what_is_excused_too(judge: Any) -> None:
    configuration = Configuration(modes=(Mode(("*",), ModeName.WARN),), exceptions=(exception(),))
    assert {outcome for _, _, outcome in excused(judge(RULE, BROKEN, configuration=configuration))} == {"warn"}
