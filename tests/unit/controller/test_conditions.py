from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from webhook.controller.conditions import exception_status, policy_status
from webhook.model.request import Object
from webhook.sources.installed import Installation

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
RULES = {"no-latest": frozenset({"tag", "digest"}), "no-root": frozenset({"0"})}


def policy(expression: str = "true", generation: int = 1, **spec: Any) -> Object:
    rules = [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"], "operations": ["CREATE"]}]
    whole = {"matchConstraints": {"resourceRules": rules}, "validations": [{"expression": expression}]} | spec
    return {"metadata": {"name": "no-latest", "uid": "1", "generation": generation}, "spec": whole}


def told(*versions: Object, replaces: bool = False, before: Object | None = None) -> Object:
    """Give the status of a policy after these versions of it."""
    installation = Installation()
    for version in versions:
        (standing,) = installation.load([version], []).policies
    return policy_status(standing, replaces=replaces, before=before or {}, now=NOW)


def excepted(*, policies: Any = ({"name": "no-latest"},), now: datetime = NOW, **spec: Any) -> tuple[str, str, str]:
    """Give status, reason and message of an exception."""
    whole = {"policies": list(policies), "match": {}, "owner": "a team", "reason": "because"}
    obj = {
        "metadata": {"name": "e", "uid": "2", "generation": 1},
        "spec": whole | {"expiresAt": "2027-01-31T00:00:00Z"} | spec,
    }
    (standing,) = Installation().load([], [obj]).exceptions
    (condition,) = exception_status(standing, RULES, before={}, now=now)["conditions"]
    assert condition["type"] == "Active"
    return condition["status"], condition["reason"], condition["message"]


def test_a_policy_in_force_is_ready() -> None:
    assert told(policy()) == {
        "observedGeneration": 1,
        "inForce": 1,
        "conditions": [
            {
                "type": "Ready",
                "status": "True",
                "observedGeneration": 1,
                "lastTransitionTime": "2026-11-30T12:00:00Z",
                "reason": "InForce",
                "message": "in force",
            }
        ],
    }


def test_one_that_replaces_a_policy_from_files_says_so() -> None:
    (condition,) = told(policy(), replaces=True)["conditions"]
    assert (condition["status"], condition["reason"]) == ("True", "Replaces")


def test_an_invalid_one_tells_every_fault_with_its_place_and_what_stays_in_force() -> None:
    status = told(
        policy(), policy("true &&\n  nonsense(object)", generation=2, variables=[{"name": "a", "expression": "1 +"}])
    )
    (condition,) = status["conditions"]
    assert (condition["status"], condition["reason"], condition["observedGeneration"]) == ("False", "Invalid", 2)
    first, second, last = condition["message"].splitlines()
    assert first.startswith("spec.validations[0].expression, line 2, column 11: ")
    assert second.startswith("spec.variables[0].expression, line 1, column ")
    assert last == "generation 1 stays in force"
    assert (status["inForce"], status["lastGood"]) == (1, {"generation": 1, "spec": policy()["spec"]})


@pytest.mark.parametrize(
    ("replaces", "stays"),
    [
        (False, "no version of it is in force"),
        (True, "the policy of its name that comes with the server stays in force"),
    ],
)
def test_one_that_was_never_good_is_not_in_force(replaces: bool, stays: str) -> None:
    status = told(policy(severty="high"), replaces=replaces)
    (condition,) = status["conditions"]
    assert condition["message"].splitlines() == ["spec.severty: unknown field; did you mean `severity`?", stays]
    assert status.keys() == {"observedGeneration", "conditions"}


def test_the_time_of_a_condition_is_that_of_its_last_turn() -> None:
    early = told(policy())
    early["conditions"][0]["lastTransitionTime"] = "2026-01-01T00:00:00Z"
    (same,) = told(policy("1 == 1", generation=2), before=early)["conditions"]
    assert same["lastTransitionTime"] == "2026-01-01T00:00:00Z"
    (turned,) = told(policy("1 =", generation=2), before=early)["conditions"]
    assert turned["lastTransitionTime"] == "2026-11-30T12:00:00Z"


def test_a_message_is_no_longer_than_kubernetes_has_it() -> None:
    many = [{"name": f"v{index}", "expression": f"nonsense{index}()"} for index in range(500)]
    (condition,) = told(policy(variables=many))["conditions"]
    assert len(condition["message"]) == 32_768
    assert condition["message"].endswith("…")


@pytest.mark.parametrize(
    ("policies", "status", "reason", "message"),
    [
        ([{"name": "no-latest"}], "True", "InForce", "until 2027-01-31T00:00:00Z, for `no-latest`"),
        ([{"name": "no-*"}], "True", "InForce", "until 2027-01-31T00:00:00Z, for `no-latest`, `no-root`"),
        ([{"name": "no-latest", "rules": ["tag"]}], "True", "InForce", "until 2027-01-31T00:00:00Z, for `no-latest`"),
        ([{"name": "no-lates"}], "False", "NoSuchPolicy", "no policy is called `no-lates`; did you mean `no-latest`?"),
        ([{"name": "gpu-*"}], "False", "NoSuchPolicy", "no policy is called `gpu-*`"),
        (
            [{"name": "no-latest", "rules": ["tags"]}],
            "False",
            "NoSuchPolicy",
            "`no-latest` has no rule `tags`; did you mean `tag`?",
        ),
        (
            [{"name": "no-root"}, {"name": "gpu"}],
            "True",
            "InForce",
            "until 2027-01-31T00:00:00Z, for `no-root`\nno policy is called `gpu`",
        ),
    ],
)  # fmt: skip
def test_an_exception_tells_which_policies_it_is_for(policies: Any, status: str, reason: str, message: str) -> None:
    assert excepted(policies=policies) == (status, reason, message)


def test_an_exception_expires() -> None:
    end = datetime(2027, 1, 31, tzinfo=UTC)
    assert excepted(now=end - timedelta(seconds=1))[1] == "InForce"
    assert excepted(now=end) == ("False", "Expired", "expired at 2027-01-31T00:00:00Z")


def test_an_invalid_exception_says_what_is_wrong() -> None:
    assert excepted(owner=" ") == ("False", "Invalid", "spec.owner: empty, want text")
