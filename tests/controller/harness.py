"""Controllers that run here, against the real API server, with the rights of docs/registration.md and no others."""

from __future__ import annotations

import asyncio
import re
import ssl
import textwrap
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from inspect import isawaitable
from pathlib import Path
from typing import Any

import yaml
from aiohttp import web

from webhook.cluster.client import Client
from webhook.cluster.faults import ApiError
from webhook.cluster.resources import LEASES, MUTATING_WEBHOOKS, SECRETS, VALIDATING_WEBHOOKS
from webhook.controller.certificates import Pair, fingerprint
from webhook.controller.controller import Controller
from webhook.controller.duties import Duties, InForce
from webhook.controller.lease import Terms
from webhook.controller.registration import Endpoint
from webhook.controller.secret import as_files
from webhook.model.policy import Policy
from webhook.model.request import Object
from webhook.sources.policies import read
from webhook.sources.policy_files import PolicyFile

PAGE = Path(__file__).parents[2] / "docs" / "registration.md"
TERMS = Terms(duration=3, deadline=2, retry=0.3)
SECRET = "cozyguard-tls"
NOTHING = -1
"""Stands for a sample that is not told."""
PATIENCE = 30.0
"""Seconds: far more than anything here takes, even on a busy machine."""


async def until(condition: Callable[[], Any]) -> Any:
    """Ask until a condition, which may be a coroutine's, gives something true, and return it."""
    end = time.monotonic() + PATIENCE
    while True:
        met = condition()
        if isawaitable(met):
            met = await met
        if met:
            return met
        assert time.monotonic() < end, "waited in vain"
        await asyncio.sleep(0.02)


def policies(*specs: str) -> tuple[Policy, ...]:
    """Read policies, each given as the YAML of its `spec`."""
    head = "apiVersion: cozyguard.io/v1alpha1\nkind: AdmissionPolicy\n"
    texts = [
        f"{head}metadata: {{name: p{index}}}\nspec:\n{textwrap.indent(textwrap.dedent(spec).strip(), '  ')}\n"
        for index, spec in enumerate(specs)
    ]
    loaded = read([PolicyFile("policy.yaml", "---\n".join(texts).encode(), strict=True, root="policy.yaml")])
    assert not loaded.errors, [str(error) for error in loaded.errors]
    return loaded.policies


def about(resource: str, condition: str = "true", failure_policy: str = "Fail") -> str:
    """Write a policy about a resource of the core group."""
    return f"""
        failurePolicy: {failure_policy}
        matchConstraints:
          resourceRules:
          - {{apiGroups: [""], apiVersions: [v1], resources: [{resource}], operations: [CREATE, UPDATE]}}
        {f'matchConditions: [{{name: wanted, expression: "{condition}"}}]' if condition != "true" else ""}
        validations: [{{expression: "true"}}]
    """


class Lines:
    """A log that keeps its lines."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str, dict[str, Any]]] = []

    def info(self, msg: str, **fields: Any) -> None:
        self.lines.append(("info", msg, fields))

    def warning(self, msg: str, **fields: Any) -> None:
        self.lines.append(("warning", msg, fields))

    def error(self, msg: str, **fields: Any) -> None:
        self.lines.append(("error", msg, fields))

    def said(self, *words: str) -> bool:
        """Has some line all of these words."""
        return any(all(word in f"{level} {msg} {fields}" for word in words) for level, msg, fields in self.lines)


@dataclass
class Server:
    """Answers reviews over HTTPS, and allows everything; counts who was asked about, by path and name."""

    port: int = 0
    asked: Counter[tuple[str, str]] = field(default_factory=Counter)
    context: ssl.SSLContext | None = None
    leaf: str = ""
    _listening: asyncio.Server = field(init=False)
    _connections: web.Server = field(init=False)

    def take(self, pair: Pair) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        with as_files(pair) as (certificate, key):
            context.load_cert_chain(certificate, key)
        self.context, self.leaf = context, fingerprint(pair.certificate)

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[Server]:
        first = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)

        def choose(connection: ssl.SSLObject, name: str | None, context: ssl.SSLContext) -> None:
            if self.context:
                connection.context = self.context

        first.sni_callback = choose
        made = web.Server(self._answer)
        listening = await asyncio.get_running_loop().create_server(made, "127.0.0.1", 0, ssl=first)
        self.port = listening.sockets[0].getsockname()[1]
        self._listening, self._connections = listening, made
        try:
            yield self
        finally:
            await self.close()

    async def close(self) -> None:
        """Take no connections, and end those that there are."""
        self._listening.close()
        await self._connections.shutdown(0.05)

    async def _answer(self, request: web.BaseRequest) -> web.Response:
        review = await request.json()
        asked = review["request"]
        self.asked[request.path, asked.get("name") or (asked.get("object") or {})["metadata"].get("generateName")] += 1
        response = {"uid": asked["uid"], "allowed": True}
        return web.json_response({"apiVersion": review["apiVersion"], "kind": review["kind"], "response": response})


@dataclass
class Cluster:
    """A namespace and a pair of webhook configurations of the test's own, and controllers for them."""

    client: Client
    user: Client
    namespace: str
    name: str
    in_force: InForce
    stack: AsyncExitStack
    log: Lines = field(default_factory=Lines)
    settle: float = 0.5

    async def start(self, identity: str = "one", client: Client | None = None, **duties: Any) -> Running:
        """Start a replica: a server, and the controller that goes with it."""
        server = await self.stack.enter_async_context(Server().serving())
        own = {} if set(duties) & {"bundle", "inject_from"} else {"secret": SECRET}
        what: dict[str, Any] = (
            {"endpoint": self.endpoint(server.port), "settle": self.settle, "look": 0.3} | own | duties
        )

        def take(pair: Pair) -> None:
            server.take(pair)
            controller.changed()

        controller = Controller(
            client or self.user,
            identity,
            Duties(**what),
            lambda: self.in_force if server.leaf or not own else None,
            self.log,
            taken=take,
            terms=TERMS,
        )
        running = Running(controller, server, asyncio.create_task(controller.run()))
        self.stack.push_async_callback(running.stop)
        return running

    def endpoint(self, port: int) -> Endpoint:
        return Endpoint(namespace=self.namespace, name=self.name, url=f"https://127.0.0.1:{port}")

    async def secret(self) -> Object:
        return await self.client.get(SECRETS.path(self.namespace, SECRET))

    async def webhooks(self, kind: str = "validating") -> list[Object]:
        resource = VALIDATING_WEBHOOKS if kind == "validating" else MUTATING_WEBHOOKS
        return (await self.client.get(resource.path(name=self.name))).get("webhooks") or []

    async def shells(self) -> None:
        """Make the two configurations, as the page shows them."""
        for resource in (VALIDATING_WEBHOOKS, MUTATING_WEBHOOKS):
            await self.client.apply(
                resource.path(name=self.name),
                {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": {"name": self.name}},
                manager="test",
            )

    async def remove(self) -> None:
        for resource in (VALIDATING_WEBHOOKS, MUTATING_WEBHOOKS):
            await self.client.delete(resource.path(name=self.name))


@dataclass
class Running:
    controller: Controller
    server: Server
    task: asyncio.Task[None]

    @property
    def leads(self) -> bool:
        return bool(self.samples()["cozyguard_leader"][0][0])

    def samples(self) -> dict[str, list[list[Any]]]:
        return self.controller.samples()

    def sample(self, name: str, *labels: str) -> float:
        return next((row[-1] for row in self.samples().get(name, ()) if row[:-1] == list(labels)), NOTHING)

    async def stop(self) -> None:
        self.task.cancel()
        with suppress(asyncio.CancelledError):
            await self.task


def documents(name: str) -> list[Object]:
    """Give the YAML documents that the page shows under a file name."""
    block = re.search(rf"^```yaml\n# {re.escape(name)}\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert block
    return list(yaml.safe_load_all(block[1]))


async def grant(client: Client, name: str) -> None:
    """Give the rights of the page to the service account of this namespace, for the configurations of its name."""
    for document in documents("rights.yaml"):
        kind, group = document["kind"], "/apis/rbac.authorization.k8s.io/v1"
        place = f"/namespaces/{name}" if kind == "Role" else ""
        rules = [
            rule | {"resourceNames": [name if one == "cozyguard" else one for one in rule["resourceNames"]]}
            if "resourceNames" in rule
            else rule
            for rule in document["rules"]
        ]
        metadata = {"name": name}
        await client.create(f"{group}{place}/{kind.lower()}s", document | {"metadata": metadata, "rules": rules})
        binding = {
            "metadata": metadata,
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name},
            "subjects": [{"kind": "ServiceAccount", "name": "cozyguard", "namespace": name}],
        }
        await client.create(f"{group}{place}/{kind.lower()}bindings", binding)


async def clean_up(client: Client, name: str) -> None:
    group = "/apis/rbac.authorization.k8s.io/v1"
    for path in (f"{group}/clusterroles/{name}", f"{group}/clusterrolebindings/{name}"):
        await client.delete(path)
    leases = await client.get(LEASES.path(name))
    for lease in leases["items"]:
        await client.delete(LEASES.path(name, lease["metadata"]["name"]))
    with suppress(ApiError):
        await client.delete(f"/api/v1/namespaces/{name}")


class Relay:
    """The way to the API server for one replica, which can be cut, and opened again."""

    def __init__(self, url: str) -> None:
        self._target = int(url.rpartition(":")[2])
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()
        self.port = 0

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._relay, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def cut(self) -> None:
        """End all connections, and refuse new ones."""
        if self._server:
            self._server.close()
        for writer in list(self._open):
            writer.transport.abort()
        self._server = None

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there_reader, there_writer = await asyncio.open_connection("127.0.0.1", self._target)
        self._open |= {writer, there_writer}
        with suppress(ConnectionError, asyncio.CancelledError):
            await asyncio.gather(_copy(reader, there_writer), _copy(there_reader, writer))
        for one in (writer, there_writer):
            self._open.discard(one)
            one.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    writer.close()
