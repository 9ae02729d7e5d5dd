from __future__ import annotations

import asyncio
from typing import Any

from webhook.cluster.authorizer import MOST_QUESTIONS, Authorizer, answer_of, review_of
from webhook.errors import CozyguardError
from webhook.model.authorization import Attributes, Authorization
from webhook.model.request import Object, UserInfo

ADA = UserInfo("ada", ("dev", "ops"), "7", {"scopes": ["a"]})


def may(verb: str, name: str = "web") -> Attributes:
    return Attributes(ADA, verb=verb, group="apps", resource="deployments", namespace="team", name=name)


class Rights:
    """What an API server would answer: who may do it is a matter of the verb; time passes when told."""

    def __init__(self, **allowed: bool) -> None:
        self.allowed, self.now = allowed, 0.0
        self.asked: list[str] = []

    async def __call__(self, review: Object) -> Object:
        verb = review["spec"]["resourceAttributes"]["verb"]
        self.asked.append(verb)
        if verb == "forever":
            await asyncio.Event().wait()
        if verb == "broken":
            raise CozyguardError("no right to ask")
        return {"status": {"allowed": self.allowed.get(verb, False), "reason": f"{verb} it is"}}

    def authorizer(self) -> Authorizer:
        return Authorizer(self, lambda: self.now)


def test_a_question_is_a_subject_access_review() -> None:
    asked = Attributes(ADA, "list", "apps", "deployments", "scale", "team", "web", "a=b", "c in (d)")
    assert review_of(asked)["spec"] == {
        "user": "ada",
        "groups": ["dev", "ops"],
        "uid": "7",
        "extra": {"scopes": ["a"]},
        "resourceAttributes": {
            "verb": "list",
            "version": "*",
            "group": "apps",
            "resource": "deployments",
            "subresource": "scale",
            "namespace": "team",
            "name": "web",
            "fieldSelector": {"rawSelector": "a=b"},
            "labelSelector": {"rawSelector": "c in (d)"},
        },
    }
    healthy = review_of(Attributes(ADA, "get", path="/healthz"))["spec"]
    assert healthy["nonResourceAttributes"] == {"path": "/healthz", "verb": "get"}


def test_an_answer_says_why_and_what_went_wrong() -> None:
    status = {"allowed": True, "reason": "RBAC", "evaluationError": "half of it"}
    assert answer_of({"status": status}) == Authorization(True, "RBAC", "half of it")
    assert answer_of({"status": {"allowed": False}}) == Authorization(False)


async def test_what_is_not_known_is_asked_all_at_once_and_known_then() -> None:
    rights = Rights(create=True)
    questions = rights.authorizer().questions()
    assert questions(may("create")) is None
    assert questions(may("delete")) is None
    assert await questions.ask(1.0)
    assert questions(may("create")) == Authorization(True, "create it is")
    assert questions(may("delete")) == Authorization(False, "delete it is")
    assert not await questions.ask(1.0)
    assert sorted(rights.asked) == ["create", "delete"]


async def test_an_answer_is_remembered_for_a_moment_and_for_the_whole_of_a_review() -> None:
    rights = Rights(create=True)
    authorizer = rights.authorizer()
    first = authorizer.questions()
    first(may("create"))
    await first.ask(1.0)
    first(may("create"))
    rights.now = 4.9
    assert authorizer.questions()(may("create")) is not None
    rights.now = 5.1
    assert authorizer.questions()(may("create")) is None
    assert first(may("create")) is not None


async def test_what_gets_no_answer_stays_open() -> None:
    questions = Rights().authorizer().questions()
    questions(may("broken"))
    assert not await questions.ask(1.0)
    assert questions(may("broken")) is None


async def test_nobody_waits_longer_than_there_is_time() -> None:
    questions = Rights(create=True).authorizer().questions()
    questions(may("forever"))
    questions(may("create"))
    assert await questions.ask(0.05)
    assert questions(may("create")) is not None
    assert questions(may("forever")) is None
    assert not await questions.ask(0.0)


async def test_one_review_asks_no_more_than_so_much() -> None:
    rights = Rights()
    questions = rights.authorizer().questions()

    def every() -> list[Any]:
        return [questions(may("create", str(number))) for number in range(MOST_QUESTIONS + 50)]

    every()
    assert await questions.ask(5.0)
    every()
    assert not await questions.ask(5.0)
    assert len(rights.asked) == MOST_QUESTIONS
