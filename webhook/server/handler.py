"""From an HTTP request to an answer: admit, read the body, decode, review, encode, tell."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from functools import lru_cache, partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qs, urlsplit

from webhook.admission.codec import decode
from webhook.cluster.authorizer import NO_QUESTIONS, Questions, settled
from webhook.engine.context import Context
from webhook.engine.explain import CAUSES_LIMIT
from webhook.engine.pipeline import review
from webhook.errors import ReviewError
from webhook.model.decision import Decision
from webhook.model.request import AdmissionRequest, Object
from webhook.server import response
from webhook.server.answer import Answer, refusal
from webhook.server.body import Room, read_body
from webhook.server.deadline import DEFAULT, Deadline, parse_duration
from webhook.server.logs import LONGEST, Log, failure
from webhook.server.metrics import Metrics
from webhook.server.recorder import Recorder
from webhook.server.watched import Watched
from webhook.server.world import World

if TYPE_CHECKING:
    from aiohttp import web


class Endpoint(StrEnum):
    """What is asked of us: changes, or a judgement of the object that all changes made."""

    VALIDATE = "validate"
    MUTATE = "mutate"


_LOOK: Final = 0.01
"""Seconds between two looks whether requests are under way, which somebody who stops the server waits for."""

ENDPOINTS: Final = {f"/{endpoint}": endpoint for endpoint in Endpoint}


@dataclass(frozen=True, slots=True)
class Target:
    """What a request line asks for: `endpoint`, to be answered within `timeout` seconds."""

    endpoint: Endpoint
    timeout: float


@lru_cache(maxsize=64)
def read_target(raw_path: str) -> Target:
    """Read the path and query of a request line; an API server repeats the same few. Raises ReviewError."""
    url = urlsplit(raw_path)
    endpoint = ENDPOINTS.get(url.path)
    if endpoint is None:
        raise ReviewError(f"no such path, want {' or '.join(ENDPOINTS)}", HTTPStatus.NOT_FOUND)
    try:
        timeout = parse_duration(parse_qs(url.query).get("timeout", [f"{DEFAULT}s"])[0])
    except ValueError as error:
        raise ReviewError(f"timeout: {error}") from None
    return Target(endpoint, timeout)


class Handler:
    """Answers every request of the webhook's port.

    Reviews run right here, in the event loop's thread: one takes a fraction of a millisecond, less
    than handing it to another thread and back, and Python would not run two at once anyway. What
    bounds the exception is the engine: each policy has a cost budget, each review a deadline.
    """

    def __init__(self, world: Watched[World], metrics: Metrics, log: Log, recorder: Recorder | None = None) -> None:
        """Decide with the world in force at the moment of each review."""
        self._world, self._metrics, self._log, self._recorder = world, metrics, log, recorder
        self._room = Room()
        self.stopping = False
        """Connections are closed after their next answer, so that clients turn to other replicas."""

    async def __call__(self, http: web.BaseRequest) -> web.StreamResponse:
        """Answer one request; aiohttp calls this."""
        self._metrics.in_flight += 1
        try:
            target = read_target(http.raw_path)
            deadline = Deadline(target.timeout, time.monotonic())
            _check_head(http)
            body = await read_body(http, deadline, self._room)
            return Answer(await self._answer(target.endpoint, body, deadline), last=self.stopping)
        except ReviewError as error:
            return self._refuse(http, error)
        finally:
            self._metrics.in_flight -= 1

    async def idle(self) -> None:
        """Return when no request is under way."""
        while self._metrics.in_flight:
            await asyncio.sleep(_LOOK)

    async def _answer(self, endpoint: Endpoint, body: bytes, deadline: Deadline) -> bytes:
        started = time.perf_counter()
        request = decode(body)
        world = self._world.current
        if request.namespace and world.learn_namespace:
            await world.learn_namespace(request.namespace)
        try:
            decision = await _decided(endpoint, request, world, deadline)
            answer = response.encode(request, decision, partial(_again, endpoint, request, world, deadline))
        except Exception as error:  # noqa: BLE001 - the last resort: without the uid the API server drops our answer
            self._metrics.count(endpoint, request.operation, "failed")
            self._log.error("review failed", uid=request.uid[:LONGEST], endpoint=endpoint, **failure(error))
            return response.encode_failure(request, (one.policy for one in world.policies.policies))
        seconds = time.perf_counter() - started
        self._metrics.review(endpoint, request.operation, _outcome(decision), decision, seconds)
        self._log.decision(endpoint, request, decision, seconds)
        if self._recorder and endpoint is Endpoint.VALIDATE:  # what all changes made; /mutate is asked about the same
            self._recorder.take(request, world.policies, allowed=decision.allowed)
        return answer

    def _refuse(self, http: web.BaseRequest, error: ReviewError) -> web.Response:
        endpoint = ENDPOINTS.get(http.path, "")
        self._metrics.count(endpoint, "", str(error.status.value))
        self._log.warning("request refused", endpoint=endpoint, status=error.status.value, reason=str(error)[:LONGEST])
        return refusal(error)


def _check_head(http: web.BaseRequest) -> None:
    """Raise ReviewError unless it is a POST of JSON."""
    if http.method != "POST":
        raise ReviewError(f"got {http.method}, want POST", HTTPStatus.METHOD_NOT_ALLOWED)
    if http.content_type != "application/json":
        message = f"content type: got `{http.content_type}`, want `application/json`"
        raise ReviewError(message, HTTPStatus.UNSUPPORTED_MEDIA_TYPE)


def _again(endpoint: Endpoint, request: AdmissionRequest, world: World, deadline: Deadline, mended: Object) -> Decision:
    """Decide about the object as the way out of a denial would make it."""
    return _decide(endpoint, replace(request, object=mended), world, deadline, NO_QUESTIONS)


async def _decided(endpoint: Endpoint, request: AdmissionRequest, world: World, deadline: Deadline) -> Decision:
    """Decide; again, when expressions have asked what the user may do and the API server has answered meanwhile."""
    questions = world.authorizer.questions() if world.authorizer else NO_QUESTIONS
    decide = partial(_decide, endpoint, request, world, deadline, questions)
    return await settled(questions, lambda: deadline.left, decide)


def _decide(
    endpoint: Endpoint, request: AdmissionRequest, world: World, deadline: Deadline, questions: Questions
) -> Decision:
    context = Context(
        release=world.release,
        cluster=world.cluster,
        configuration=world.configuration,
        now=datetime.now(UTC),
        expired=deadline,
        skip_unknown=False,
        most_explained=CAUSES_LIMIT,
        authorizer=questions,
    )
    mutate = endpoint is Endpoint.MUTATE
    return review(world.policies, request, context, mutate=mutate, validate=not mutate)


def _outcome(decision: Decision) -> str:
    if not decision.allowed:
        return "denied"
    return "patched" if decision.patch else "allowed"
