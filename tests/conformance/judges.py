"""Two who judge one request with the same policies: an API server by itself, and our engine.

Both are asked about the very same. A second API server on the same store, which has no policies of its own, is asked
first, and has a webhook write down the review that it makes of the request. That review is what our engine decides
about: with the object as the API server has it then, defaults and all, and with its own variables.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from typing import Final, TextIO

from tests.conformance.answers import disagreements, told
from tests.conformance.native import Answer, ApiServer, linked
from tests.conformance.objects import Schemas
from tests.conformance.witness import SEEN_BY, Witness
from tests.controlplane.plane import ControlPlane
from webhook.cluster.authorizer import answer_of, review_of
from webhook.engine.context import Context
from webhook.engine.pipeline import review
from webhook.model.authorization import Attributes, Authorization
from webhook.model.decision import Decision
from webhook.model.request import CREATE, DELETE, AdmissionRequest, Object
from webhook.sources import catalog
from webhook.sources.objects import ObjectStore

_NO_POLICIES: Final = "ServiceAccount,ValidatingAdmissionPolicy,MutatingAdmissionPolicy"
_PATIENCE: Final = 30.0


@dataclass(frozen=True)
class Trial:
    """A request: `object` is created, or takes the place of `old`, or is deleted."""

    operation: str
    object: Object
    old: Object | None = None

    def __str__(self) -> str:
        old = f"\ninstead of\n{json.dumps(self.old)}" if self.old else ""
        return f"{self.operation} {json.dumps(self.object)}{old}"


class Judges:
    """Asks both; see `judging`."""

    def __init__(self, plane: ControlPlane, url: str, witness: Witness) -> None:
        self.native = ApiServer(plane, token=plane.audited_token)
        self.plain = ApiServer(plane, url, plane.audited_token)
        self.witness = witness
        self.schemas = Schemas(self.plain)
        self.minor = plane.binaries.minor
        self.audit = AuditLog(plane.audit_log.open(encoding="utf-8"))

    def close(self) -> None:
        self.native.close()
        self.plain.close()
        self.audit.file.close()

    def know(self, policies: Sequence[Object], world: Iterable[Object]) -> None:
        """Tell our engine of the policies, and of the objects that they look at."""
        self.policies = linked(policies)
        self._documents = policies
        self._world = list(world)
        self._context = self._knowing(self._world)

    @contextmanager
    def having(self, objects: Iterable[Object]) -> Iterator[None]:
        """Have more objects there while the block runs."""
        made = [self.make(one) for one in objects]
        before, self._context = self._context, self._knowing([*self._world, *made])
        try:
            yield
        finally:
            self._context = before
            for one in made:
                self.plain.ask("DELETE", self._path(one))

    def _knowing(self, world: Iterable[Object]) -> Context:
        return Context(catalog.newest(), ObjectStore(world, closed_world=True), authorizer=self._authorize)

    def make(self, obj: Object) -> Object:
        """Make an object for good, if it is not there; gives it as it is stored."""
        path = self._path(obj)
        self.plain.ask("POST", path.rpartition("/")[0], obj)
        found = self.plain.ask("GET", path)
        assert found.allowed, found.message
        return {**found.body, "apiVersion": obj["apiVersion"], "kind": obj["kind"]}

    def _path(self, obj: Object) -> str:
        metadata = obj["metadata"]
        return f"{self.plain.collection(obj, metadata.get('namespace') or 'default')}/{metadata['name']}"

    def settle(self, trials: Iterable[Trial]) -> None:
        """Wait until both agree about these: new kinds and params are taken up with a delay, the webhook too."""
        end = time.monotonic() + _PATIENCE
        for trial in trials:
            while (found := self.judge(trial)) is None or found:
                assert time.monotonic() < end, (str(trial), found)
                time.sleep(0.1)

    def judge(self, trial: Trial) -> list[str] | None:
        """Say in what both disagree, and what each says; None where no policy is asked: the request is refused anyway."""
        with self._in_place(trial) as (path, obj):
            before, asked = self._witnessed(trial.operation, path, obj)
            if not before.allowed or not asked:
                return None
            theirs = self._ask(self.native, trial.operation, path, obj)
            ours, stored = self._decided(trial.operation, path, before, asked)
        if not stored.allowed:
            return [] if not theirs.allowed else [f"ours makes what is refused: {stored.message}", f"theirs: {theirs}"]
        found = list(disagreements(theirs, self.audit.annotations(theirs.audit_id), ours, stored.body))
        return found and [*found, *self._policies(ours), f"theirs: {theirs}", f"ours: {told(ours)}"]

    def _policies(self, ours: Decision) -> Iterator[str]:
        """Write down the policies that have looked at a request."""
        for one in self._documents:
            if {one["metadata"]["name"], one["spec"].get("policyName")} & set(ours.evaluated):
                yield json.dumps(one)

    def _decided(
        self, operation: str, path: str, before: Answer, asked: Mapping[str, AdmissionRequest]
    ) -> tuple[Decision, Answer]:
        """Mutate, have the API server say what it makes of that, and validate what it has made."""
        mutated = Decision(allowed=True)
        stored = before
        if "mutate" in asked:
            mutated = review(self.policies, asked["mutate"], self._context, validate=False)
            if mutated.patch and mutated.object is not None and mutated.allowed:
                stored, asked = self._witnessed(operation, path, _sendable(mutated.object, before))
        if not mutated.allowed or not stored.allowed:
            return mutated, stored
        decided = review(self.policies, asked["validate"], self._context, mutate=False)
        evaluated = (*mutated.evaluated, *decided.evaluated)
        return replace(decided, findings=(*mutated.findings, *decided.findings), evaluated=evaluated), stored

    def _witnessed(self, operation: str, path: str, obj: Object) -> tuple[Answer, Mapping[str, AdmissionRequest]]:
        self.witness.take()
        answer = self._ask(self.plain, operation, path, obj)
        return answer, self.witness.take()

    def _ask(self, server: ApiServer, operation: str, path: str, obj: Object) -> Answer:
        manager = SEEN_BY if server is self.plain else "judged"
        if operation == DELETE:
            return server.ask("DELETE", f"{path}?dryRun=All")
        return server.ask("POST" if operation == CREATE else "PUT", f"{path}?dryRun=All&fieldManager={manager}", obj)

    @contextmanager
    def _in_place(self, trial: Trial) -> Iterator[tuple[str, Object]]:
        """Have the object there that is updated or deleted; gives where to ask, and what to send."""
        metadata = trial.object["metadata"]
        collection = self.plain.collection(trial.object, metadata.get("namespace") or "default")
        if trial.operation == CREATE:
            yield collection, trial.object
            return
        there = self.plain.ask("POST", collection, trial.old or trial.object)
        path = f"{collection}/{metadata['name']}"
        version = {"resourceVersion": there.body.get("metadata", {}).get("resourceVersion")}
        try:
            yield path, {**trial.object, "metadata": {**metadata, **(version if trial.old else {})}}
        finally:
            if there.allowed:
                self.plain.ask("DELETE", path)

    def _authorize(self, attributes: Attributes) -> Authorization:
        """Have the API server say what somebody may do."""
        question = review_of(attributes)
        asked = self.plain.ask("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", question)
        assert asked.allowed, asked.message
        return answer_of(asked.body)


class AuditLog:
    """What an API server writes down about requests, most often a moment after it has answered."""

    def __init__(self, file: TextIO) -> None:
        self.file = file

    def annotations(self, audit_id: str) -> Mapping[str, str]:
        """Wait for what it says about one request."""
        end = time.monotonic() + _PATIENCE
        line = ""
        while time.monotonic() < end:
            line += self.file.readline()
            if not line.endswith("\n"):
                time.sleep(0.001)
                continue
            event = json.loads(line)
            if event["auditID"] == audit_id:
                found: Mapping[str, str] = event.get("annotations", {})
                return found
            line = ""
        raise AssertionError(f"the API server writes nothing about {audit_id}")


@contextmanager
def judging(plane: ControlPlane, policies: Sequence[Object], world: Sequence[Object]) -> Iterator[Judges]:
    """Have the policies in force at the first API server while the block runs, and none at another on the same store.

    `world`: objects that are made before, for policies to look at; they stay.
    """
    with (
        Witness() as witness,
        plane.another(**{"disable-admission-plugins": _NO_POLICIES}) as url,
        ExitStack() as stack,
    ):
        judges = stack.enter_context(closing(Judges(plane, url, witness)))
        made = [judges.make(obj) for obj in world]
        rules = [rule for one in policies for rule in one["spec"].get("matchConstraints", {}).get("resourceRules", ())]
        stack.enter_context(judges.native.enforcing([*policies, *witness.registration(_asking(rules))]))
        judges.know(policies, [*made, *json.loads(plane.kubectl("get", "crds", "--output", "json"))["items"]])
        yield judges


def _asking(rules: Iterable[Object]) -> list[Object]:
    """Give the rules of a webhook that is asked about whatever policies match."""
    kept = ("apiGroups", "apiVersions", "resources", "operations", "scope")
    found = {json.dumps({key: rule[key] for key in kept if key in rule}): None for rule in rules}
    return list(map(json.loads, found))


def _sendable(obj: Object, before: Answer) -> Object:
    """Give what we have made of an object in the version that was sent, which for these kinds is as good as any."""
    metadata = {key: value for key, value in obj["metadata"].items() if key != "managedFields"}
    return {**obj, "apiVersion": before.body["apiVersion"], "metadata": metadata}
