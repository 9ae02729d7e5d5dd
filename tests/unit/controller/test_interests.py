from __future__ import annotations

from datetime import UTC, datetime

import pytest

from webhook.controller.interests import interests
from webhook.model.configuration import Configuration
from webhook.model.policy import (
    NOWHERE,
    Expression,
    MatchResources,
    NamedExpression,
    Origin,
    Policy,
    ResourceRule,
    Validation,
)
from webhook.model.release import Minor

NOW = datetime(2026, 11, 30, tzinfo=UTC)


def guard(condition: str, origin: Origin) -> str:
    policy = Policy(
        name="p",
        origin=origin,
        match=MatchResources((ResourceRule(("",), ("v1",), ("pods",), ("CREATE",)),)),
        match_conditions=(NamedExpression("c", Expression(condition, NOWHERE)),),
        validations=(Validation("0", Expression("true", NOWHERE)),),
    )
    (interest,) = interests([policy], Minor(1, 6), Configuration(), NOW, mutating=False)
    return interest.guard


@pytest.mark.parametrize(
    ("condition", "origin", "wanted"),
    [
        ("object.?a.orValue(1) == 1", Origin.ADMISSION_POLICY, "(object.?a.orValue(1) == 1)"),
        ("object.a.orValue(1) == 1", Origin.VALIDATING_POLICY, ""),
        ("object.a == 1", Origin.VALIDATING_POLICY, "(object.a == 1)"),
        ("variables.a == 1", Origin.MUTATING_POLICY, ""),
    ],
)
def test_the_api_server_is_asked_to_test_what_means_the_same_to_it(condition: str, origin: Origin, wanted: str) -> None:
    assert guard(condition, origin) == wanted
