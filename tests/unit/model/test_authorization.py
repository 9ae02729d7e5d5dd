"""A question about what somebody may do."""

from __future__ import annotations

import pytest

from webhook.model.authorization import Attributes, Authorization
from webhook.model.request import UserInfo

ADA = UserInfo("ada", ("devs",), extra={"scopes": ["all"]})


@pytest.mark.parametrize(
    ("question", "words"),
    [
        (Attributes(ADA, "create", resource="pods"), "whether ada may create pods"),
        (
            Attributes(ADA, "update", "apps", "deployments", "scale", "team", "web"),
            "whether ada may update deployments.apps/scale web in namespace team",
        ),
        (Attributes(ADA, "get", path="/healthz"), "whether ada may get /healthz"),
    ],
)
def test_a_question_in_words(question: Attributes, words: str) -> None:
    assert str(question) == words


def test_answers_can_be_kept_by_their_question() -> None:
    answers = {Attributes(ADA, "get", resource="pods"): Authorization(True)}
    assert answers[Attributes(ADA, "get", resource="pods")].allowed
    assert Attributes(UserInfo("ada", ("devs",)), "get", resource="pods") not in answers
