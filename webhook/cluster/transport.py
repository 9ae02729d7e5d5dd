"""HTTP with the API server: one session, the credentials of the moment, and words for everything that breaks."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import urlencode
from weakref import WeakSet

import aiohttp
from yarl import URL

import webhook
from webhook.cluster.access import Access, Credentials
from webhook.cluster.faults import Unreachable, of_response
from webhook.errors import UsageError

JSON: Final = "application/json"

Load = Callable[[Access], Awaitable[Credentials]]
"""Reads credentials. Raises UsageError."""

CONNECT_SECONDS: Final = 5.0
ANSWER_SECONDS: Final = 30.0
"""Until an answer begins, and between its parts."""
WATCH_SILENCE_SECONDS: Final = 180.0
"""A watch is never silent for so long: bookmarks come once a minute, so three have been missed."""
_TURNS: Final = 100
"""Turns of the event loop in which a socket whose end is known gets closed: it takes four."""


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked: its method and path, as text, begin the words of each error."""

    method: str
    path: str
    query: Mapping[str, str]
    body: bytes | None = None
    content_type: str = JSON
    accept: str = JSON

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


class Transport:
    """Sends requests, for any number of tasks at once.

    One that is answered with 401 is sent once more with the credentials read anew: tokens are exchanged, and those of
    a plugin expire.
    """

    def __init__(self, access: Access, credentials: Credentials, load: Load) -> None:
        """To be made within a running event loop."""
        self._access = access
        self._load = load
        self._take(credentials)
        self._reading = asyncio.Lock()
        self._sockets: WeakSet[socket.socket] = WeakSet()
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, socket_factory=self._socket),
            trust_env=True,
            headers={"User-Agent": f"cozyguard/{webhook.__version__}"},
        )

    @property
    def url(self) -> str:
        """Where the API server is."""
        return self._credentials.url

    async def close(self) -> None:
        """Close the connections; watches end. TLS would go on to take leave on some, when the loop may be gone."""
        await self._session.close()
        for _ in range(_TURNS):
            still_open = [each for each in self._sockets if each.fileno() != -1]
            if not still_open:
                return
            for each in still_open:
                with suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)
            await asyncio.sleep(0)

    async def ask(self, request: Request) -> bytes:
        """Give the whole body of a good answer. Raises ApiError."""
        async with self.answering(request) as response:
            return await self._body(request, response)

    async def chunks(self, request: Request) -> AsyncGenerator[bytes, None]:
        """Give the body of a watch as it comes, until it ends or is silent for too long. Raises ApiError."""
        async with self.answering(request, WATCH_SILENCE_SECONDS) as response:
            try:
                async for chunk in response.content.iter_any():
                    yield chunk
            except aiohttp.SocketTimeoutError:
                return
            except (aiohttp.ClientError, OSError) as error:
                raise self._unreachable(request, error) from error

    @asynccontextmanager
    async def answering(
        self, request: Request, silence: float = ANSWER_SECONDS
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """Send a request, and give the answer, if it is a good one, with its body still to be read."""
        async with AsyncExitStack() as stack:
            used = self._credentials
            response = await stack.enter_async_context(await self._send(request, silence))
            if response.status == HTTPStatus.UNAUTHORIZED:
                await self._read_credentials(used)
                response = await stack.enter_async_context(await self._send(request, silence))
            if not response.ok:
                content = await self._body(request, response)
                raise of_response(str(request), response.status, response.headers, content)
            yield response

    async def _send(self, request: Request, silence: float) -> aiohttp.ClientResponse:
        credentials = self._credentials
        query = f"?{urlencode(request.query)}" if request.query else ""
        own = (("Accept", request.accept), *((("Content-Type", request.content_type),) if request.body else ()))
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                return await self._session.request(
                    request.method,
                    URL(f"{credentials.url}{request.path}{query}", encoded=True),
                    data=request.body,
                    headers=[*own, *await credentials.headers()],
                    ssl=self._tls,
                    server_hostname=credentials.server_name,
                    proxy=credentials.proxy,
                    allow_redirects=False,
                    timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS, sock_read=silence),
                )
        except (aiohttp.ClientError, OSError) as error:  # TimeoutError is an OSError
            raise self._unreachable(request, error) from error

    async def _body(self, request: Request, response: aiohttp.ClientResponse) -> bytes:
        try:
            return await response.read()
        except (aiohttp.ClientError, OSError) as error:
            raise self._unreachable(request, error) from error

    def _take(self, credentials: Credentials) -> None:
        self._credentials, self._tls = credentials, credentials.tls()

    async def _read_credentials(self, used: Credentials) -> None:
        """Read them anew, once for all tasks that found them refused."""
        async with self._reading:
            if self._credentials is used:
                try:
                    self._take(await self._load(self._access))
                except UsageError as error:
                    raise Unreachable(str(error), status=HTTPStatus.UNAUTHORIZED) from error

    def _socket(self, address: tuple[Any, ...]) -> socket.socket:
        """Make a socket that notices within a minute that the other machine is gone, as no packet says so."""
        family, kind, protocol, _, _ = address
        made = socket.socket(family=family, type=kind, proto=protocol)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for option, value in (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3)):
            if hasattr(socket, option):  # macOS has another name for the first
                made.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)
        self._sockets.add(made)
        return made

    def _unreachable(self, request: Request, error: Exception) -> Unreachable:
        return Unreachable(f"{request}: {_why(self.url, error)}")


def _why(url: str, error: Exception) -> str:
    """Say what stands in the way, and what to do about it."""
    match error:
        case aiohttp.ClientConnectorCertificateError(certificate_error=ssl.SSLCertVerificationError() as reason):
            return (
                f"the certificate of {url} is not trusted: {reason.verify_message}; "
                "the authority named in the kubeconfig, or with the service account, has to be the one that signed it"
            )
        case aiohttp.ClientSSLError():
            return f"{url} does not speak TLS as we do: {error}"
        case aiohttp.ClientConnectorError():
            return f"{url} cannot be reached: {_words(error.os_error)}; does it run there?"
        case TimeoutError():
            return f"no answer of {url} in time; is a firewall in the way, or is it overloaded?"
        case _:
            return f"the connection to {url} broke: {_words(error)}"


def _words(error: Exception) -> str:
    words = (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
    return words[:1].lower() + words[1:]
