from __future__ import annotations

from typing import Any

import pytest

from webhook.engine.compile import CompiledPolicy
from webhook.model.configuration import Configuration
from webhook.model.request import Object
from webhook.sources import compiled, installed
from webhook.sources.installed import Document, Installation, Reading
from webhook.sources.policy_files import PolicyFile

RULES = [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"], "operations": ["CREATE"]}]


def policy(name: str = "p", expression: str = "true", *, generation: int = 1, uid: str = "1", **spec: Any) -> Object:
    rules: Object = {"matchConstraints": {"resourceRules": RULES}, "validations": [{"expression": expression}]}
    metadata = {"name": name, "generation": generation, "uid": uid}
    return {
        "apiVersion": "cozyguard.io/v1alpha1",
        "kind": "AdmissionPolicy",
        "metadata": metadata,
        "spec": rules | spec,
    }


def exception(name: str = "e", **spec: Any) -> Object:
    whole: Object = {
        "policies": [{"name": "p"}],
        "match": {},
        "owner": "a team",
        "reason": "because",
        "expiresAt": "2099-12-31T00:00:00Z",
    }
    metadata = {"name": name, "generation": 1, "uid": "2"}
    return {
        "apiVersion": "cozyguard.io/v1alpha1",
        "kind": "PolicyException",
        "metadata": metadata,
        "spec": whole | spec,
    }


def expressions(policies: tuple[CompiledPolicy, ...]) -> dict[str, str]:
    return {one.policy.name: one.policy.validations[0].expression.text for one in policies}


@pytest.fixture
def from_files() -> tuple[CompiledPolicy, ...]:
    text = "\n---\n".join(
        f"apiVersion: cozyguard.io/v1alpha1\nkind: AdmissionPolicy\nmetadata: {{name: {name}}}\nspec:\n"
        '  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], resources: [pods], operations: ["*"]}]}\n'
        "  validations: [{expression: 1 == 1}]"
        for name in ("p", "q")
    )
    return compiled.compile_files([PolicyFile("p.yaml", text.encode(), strict=True, root="p.yaml")]).policies


def test_an_object_is_read_as_a_file_is() -> None:
    (standing,) = Installation().load([policy(title="what holds", severity="high")], []).policies
    assert standing.in_force
    assert standing.in_force.policy.title == "what holds"
    assert standing.in_force.policy.location.file == "admissionpolicy/p"
    assert (standing.name, standing.since, standing.faults, standing.last_good) == ("p", 1, (), None)


def test_faults_are_told_by_field_and_by_the_place_within_an_expression() -> None:
    (standing,) = Installation().load([policy(expression="true &&\n  nonsense(object)", severty="high")], []).policies
    assert [(one.path, one.line, one.column) for one in standing.faults] == [("spec.severty", 0, 0)]
    (standing,) = Installation().load([policy(expression="true &&\n  nonsense(object)")], []).policies
    (fault,) = standing.faults
    assert (fault.path, fault.line, fault.column) == ("spec.validations[0].expression", 2, 11)
    assert standing.in_force is None


def test_of_an_invalid_policy_the_last_good_version_stays() -> None:
    installation = Installation()
    installation.load([policy(expression="1 < 2")], [])
    (standing,) = installation.load([policy(expression="1 <", generation=2)], []).policies
    assert standing.in_force
    assert expressions((standing.in_force,)) == {"p": "1 < 2"}
    assert standing.faults
    assert standing.since == 1
    assert standing.last_good == policy(expression="1 < 2")["spec"]
    (standing,) = installation.load([policy(expression="2 < 3", generation=3)], []).policies
    assert (standing.since, standing.faults, standing.last_good) == (3, (), None)


def test_the_last_good_version_survives_a_restart_in_the_status() -> None:
    broken = policy(expression="1 <", generation=2)
    broken["status"] = {"lastGood": {"generation": 1, "spec": policy(expression="1 < 2")["spec"]}}
    (standing,) = Installation().load([broken], []).policies
    assert standing.in_force
    assert expressions((standing.in_force,)) == {"p": "1 < 2"}
    assert (standing.since, standing.last_good) == (1, policy(expression="1 < 2")["spec"])


def test_who_saw_only_the_broken_version_takes_the_last_good_one_once_another_replica_tells_of_it() -> None:
    installation, broken = Installation(), policy(expression="1 <", generation=2)
    (standing,) = installation.load([broken], []).policies
    assert standing.in_force is None
    told = broken | {"status": {"lastGood": {"generation": 1, "spec": policy(expression="1 < 2")["spec"]}}}
    assert installed.version(told) != installed.version(broken)
    (standing,) = installation.load([told], []).policies
    assert standing.in_force
    assert expressions((standing.in_force,)) == {"p": "1 < 2"}


def test_of_a_status_nothing_but_the_last_good_version_is_a_reason_to_read_again() -> None:
    plain = policy()
    assert installed.version(plain | {"status": {"conditions": [{"type": "Ready"}]}}) == installed.version(plain)


def test_a_policy_made_anew_does_not_inherit() -> None:
    installation = Installation()
    installation.load([policy()], [])
    (standing,) = installation.load([policy(expression="1 <", uid="another")], []).policies
    assert standing.in_force is None


def test_an_installed_policy_replaces_the_one_of_its_name_until_it_is_deleted(
    from_files: tuple[CompiledPolicy, ...],
) -> None:
    installation = Installation()
    assert expressions(installation.load([policy(expression="1 < 2"), policy("r")], []).over(from_files)) == {
        "q": "1 == 1",
        "p": "1 < 2",
        "r": "true",
    }
    assert expressions(installation.load([], []).over(from_files)) == {"p": "1 == 1", "q": "1 == 1"}


def test_one_that_was_never_good_replaces_nothing(from_files: tuple[CompiledPolicy, ...]) -> None:
    assert expressions(Installation().load([policy(expression="1 <")], []).over(from_files))["p"] == "1 == 1"


def test_exceptions_are_added_to_those_of_the_configuration_and_invalid_ones_are_not() -> None:
    found = Installation().load([], [exception("good"), exception("bad", owner="", policies=[])])
    assert [one.name for one in found.added_to(Configuration()).exceptions] == ["good"]
    bad, good = found.exceptions
    assert [fault.path for fault in bad.faults] == ["spec.owner", "spec.policies"]
    assert (bad.in_force, good.since) == (None, 1)


def test_a_configuration_to_which_nothing_is_added_is_the_very_same() -> None:
    given = Configuration()
    assert Installation().load([], [exception(owner="")]).added_to(given) is given


def test_only_what_has_changed_is_read_again() -> None:
    read: list[list[str]] = []

    def note(documents: tuple[Document, ...]) -> tuple[Reading, ...]:
        read.append(sorted(one.name for one in documents))
        return installed.read(documents)

    installation = Installation(note)
    installation.load([policy("p"), policy("q")], [exception("e")])
    known = policy("p") | {"status": {"observedGeneration": 1}}
    known["metadata"] |= {"resourceVersion": "7", "labels": {"a": "b"}}
    installation.load([known, policy("q", "1 == 1")], [exception("e")])
    assert read == [["e", "p", "q"], ["q"]]


def test_a_watch_keeps_only_what_is_needed() -> None:
    whole = policy() | {"status": {"observedGeneration": 1}}
    whole["metadata"] |= {
        "managedFields": [{}],
        "annotations": {"kubectl.kubernetes.io/last-applied-configuration": ""},
    }
    assert installed.kept(whole) == policy() | {"status": {"observedGeneration": 1}}
