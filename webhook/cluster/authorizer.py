"""What users may do, asked of the API server by SubjectAccessReviews: between evaluations, never within one.

A review is evaluated; what an expression asks of `authorizer` and nobody has answered yet is collected, asked all at
once, and the review is evaluated again. Answers are remembered for a moment, as the same user asks for much in a row.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final, Protocol, TypeVar

from webhook.errors import CozyguardError
from webhook.model.authorization import Attributes, Authorization
from webhook.model.request import Object

Made = TypeVar("Made")

_REMEMBERED: Final = 5.0
"""Seconds; who has been given a right, or lost one, waits no longer to see it."""
_MOST: Final = 10_000
"""Answers that are remembered."""
_ROUNDS: Final = 4
"""Evaluations of one review: a question can depend on the answer to another."""
MOST_QUESTIONS: Final = 100
"""Questions of one review: an expression asks one for 350,000 cost units, and ten policies can ask a lot."""

Ask = Callable[[Object], Awaitable[Object]]
"""Has the API server answer a SubjectAccessReview. Raises CozyguardError."""


class Questions(Protocol):
    """Of one review."""

    def __call__(self, attributes: Attributes) -> Authorization | None: ...
    async def ask(self, seconds: float) -> bool: ...


class NoQuestions:
    """Where there is no API server to be asked: nothing is known, and nothing ever will be."""

    def __call__(self, attributes: Attributes) -> None:
        """Know no answer."""

    async def ask(self, seconds: float) -> bool:  # noqa: ARG002 - the signature of Questions
        """Ask nobody."""
        return False


NO_QUESTIONS: Final = NoQuestions()


async def settled(questions: Questions, left: Callable[[], float], decide: Callable[[], Made]) -> Made:
    """Decide; again, when expressions have asked and there are answers meanwhile. `left` gives seconds to wait."""
    made = decide()
    for _ in range(_ROUNDS):
        if not await questions.ask(left()):
            break
        made = decide()
    return made


class Authorizer:
    """Asks the API server, and remembers its answers. `now` is a clock in seconds."""

    def __init__(self, ask: Ask, now: Callable[[], float] = time.monotonic) -> None:
        """Know nothing yet."""
        self._ask = ask
        self._now = now
        self._known: dict[Attributes, tuple[float, Authorization]] = {}

    def questions(self) -> Questions:
        """Begin a review."""
        return _Questions(self)

    def known(self, attributes: Attributes) -> Authorization | None:
        """Give an answer that is remembered."""
        until, answer = self._known.get(attributes, (0.0, None))
        return answer if until > self._now() else None

    async def learn(self, attributes: Attributes) -> bool:
        """Ask one question; False when there is no answer. Never raises: the rule that asks says what it needs."""
        try:
            answer = await self._ask(review_of(attributes))
        except CozyguardError:
            return False
        if len(self._known) >= _MOST:
            self._known.clear()
        self._known[attributes] = (self._now() + _REMEMBERED, answer_of(answer))
        return True


class _Questions:
    """Answers what is remembered, and keeps what is not until it is asked."""

    def __init__(self, authorizer: Authorizer) -> None:
        self._authorizer = authorizer
        self._answers: dict[Attributes, Authorization] = {}
        self._open: dict[Attributes, None] = {}
        self._asked = 0

    def __call__(self, attributes: Attributes) -> Authorization | None:
        answer = self._answers.get(attributes) or self._authorizer.known(attributes)
        if answer is None:
            self._open[attributes] = None
        else:
            self._answers[attributes] = answer  # for the whole of the review
        return answer

    async def ask(self, seconds: float) -> bool:
        """Ask what is open, all at once and for so long at most. True when something new is known."""
        asking = list(self._open)[: MOST_QUESTIONS - self._asked]
        self._open.clear()
        self._asked += len(asking)
        if not asking or not seconds:
            return False
        tasks = [asyncio.create_task(self._authorizer.learn(one)) for one in asking]
        done, late = await asyncio.wait(tasks, timeout=seconds)
        for task in late:
            task.cancel()
        return any(task.result() for task in done)


def review_of(attributes: Attributes) -> Object:
    """Write a question as a SubjectAccessReview."""
    user = attributes.user
    spec: Object = {"user": user.username, "groups": list(user.groups), "uid": user.uid, "extra": user.extra}
    if attributes.path:
        spec["nonResourceAttributes"] = {"path": attributes.path, "verb": attributes.verb}
    else:
        asked: Object = {"verb": attributes.verb, "version": "*"}
        for field in ("group", "resource", "subresource", "namespace", "name"):
            asked[field] = getattr(attributes, field)
        for field, selector in (
            ("fieldSelector", attributes.field_selector),
            ("labelSelector", attributes.label_selector),
        ):
            if selector:
                asked[field] = {"rawSelector": selector}
        spec["resourceAttributes"] = asked
    return {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec}


def answer_of(review: Object) -> Authorization:
    """Read the answer; an error in finding it does not take back what is allowed."""
    status = review.get("status") or {}
    return Authorization(
        bool(status.get("allowed")), str(status.get("reason") or ""), str(status.get("evaluationError") or "")
    )
