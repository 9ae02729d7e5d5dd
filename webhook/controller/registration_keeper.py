"""Works out what to register, and has it written; gives way where the API server cannot test a match condition."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from http import HTTPStatus
from typing import Any, Final

from webhook.cluster.client import Client
from webhook.cluster.faults import ApiError
from webhook.cluster.resources import Resource
from webhook.controller.duties import Duties, InForce, NotYet, need
from webhook.controller.registrar import Registrar
from webhook.controller.registration import VALIDATE, webhooks
from webhook.controller.rules import Entry, Registration, registration
from webhook.controller.troubles import Log
from webhook.model.configuration import Configuration
from webhook.model.request import Object

_SELF_REVIEWS: Final = Resource(
    "authentication.k8s.io", "v1", "selfsubjectreviews", "SelfSubjectReview", namespaced=False
)
_CONDITION: Final = re.compile(r"webhooks\[(\d+)\]\.matchConditions\[(\d+)\]")


class RegistrationKeeper:
    """Keeps both webhook configurations; `registrars` are those of VALIDATE and MUTATE."""

    def __init__(
        self,
        client: Client,
        duties: Duties,
        in_force: Callable[[], InForce | None],
        registrars: Mapping[str, Registrar],
        log: Log,
        now: Callable[[], datetime],
    ) -> None:
        """Ask nothing yet."""
        self._client, self._duties, self._in_force, self._log, self._now = client, duties, in_force, log, now
        self._registrars = registrars
        self._account: str | None = None
        self._refused: frozenset[str] = frozenset()
        self._made: tuple[tuple[InForce, frozenset[str], int], Registration] | None = None

    async def keep(self, trusted: bytes | None) -> None:
        """Write what is not as it should be; `trusted` is the caBundle, None leaves it to cert-manager.

        Raises ApiError and NotYet.
        """
        for registrar in self._registrars.values():
            need(registrar, registrar.title)
        if self._account is None:
            self._account = await self._who_we_are()
        for path, registrar in self._registrars.items():
            await self._register(path, registrar, trusted)
        if missing := [one.title for one in self._registrars.values() if one.live is None]:
            raise NotYet(f"there is no {' and no '.join(missing)}: nothing is registered there; make it anew")

    async def _who_we_are(self) -> str:
        """Name our service account, "" where we act for a person, who is to be judged as everybody else."""
        review = {"apiVersion": _SELF_REVIEWS.api_version, "kind": _SELF_REVIEWS.kind}
        answer = await self._client.create(_SELF_REVIEWS.path(), review)
        name = str(answer["status"]["userInfo"]["username"])
        return name if name.startswith("system:serviceaccount:") else ""

    async def _register(self, path: str, registrar: Registrar, trusted: bytes | None) -> None:
        """Write a configuration. What the API server does not compile is left out, and tried no more."""
        while True:
            configuration, made = await self._worked_out()
            entries = made.validating if path == VALIDATE else made.mutating
            hooks = webhooks(path, entries, self._duties.endpoint, configuration.exempt, self._account or "")
            try:
                await registrar.keep(hooks, trusted, self._duties.inject_from)
            except ApiError as error:
                guards = _refused(error, entries, hooks) - self._refused
                if not guards:
                    raise
                self._refused |= guards
                self._log.warning(
                    "the API server cannot test a match condition: all requests of its kind are sent", error=str(error)
                )
            else:
                return

    async def _worked_out(self) -> tuple[Configuration, Registration]:
        """Work it out anew only when it may be another one: with many policies that takes a while."""
        current, now = self._in_force(), self._now()
        if current is None:
            raise NotYet("the leader does not answer reviews yet: before it does, nothing is registered or changed")
        over = sum(mode.until is not None and mode.until <= now for mode in current.configuration.modes)
        of = (current, self._refused, over)
        if self._made is None or self._made[0] != of:
            how = (current.policies, current.release, current.configuration, now, self._refused)
            self._made = of, await asyncio.to_thread(registration, *how)  # reviews go on meanwhile
        return current.configuration, self._made[1]


def _refused(error: ApiError, entries: tuple[Entry, ...], hooks: list[Object]) -> frozenset[str]:
    """Give the guards in a condition that the API server names in its refusal: the fewest, as others may be good."""
    if error.status != HTTPStatus.UNPROCESSABLE_ENTITY:
        return frozenset()
    return min(filter(None, _guards(error.details, entries, hooks)), key=len, default=frozenset())


def _guards(details: dict[str, Any], entries: tuple[Entry, ...], hooks: list[Object]) -> Iterator[frozenset[str]]:
    for cause in details.get("causes") or ():
        if found := _CONDITION.match(str(cause.get("field"))):
            hook, condition = map(int, found.groups())
            name = hooks[hook]["matchConditions"][condition]["name"]
            yield from (one.guards for one in entries[hook].conditions if one.name == name)
