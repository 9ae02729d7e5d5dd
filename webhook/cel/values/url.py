"""URLs, as Go's `net/url` reads and writes them.

Python's `urllib` reads other URLs than Go, and says other things of the rest. A byte that is not UTF-8,
which `%ff` can make, is a lone surrogate in the strings here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final, Self

from webhook.cel.errors import CelError
from webhook.cel.values.escapes import FRAGMENT, HOST, PATH, USER, escaped, unescaped, unescaped_host, written
from webhook.cel.values.network import read_address
from webhook.cel.values.opaque import Opaque
from webhook.cel.values.text import quote
from webhook.cel.values.types import cel_type

_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_PORT: Final = re.compile(r"(:[0-9]*)?")
_USER_INFO: Final = re.compile(r"[A-Za-z0-9\-._:~!$&'()*+,;=%@]*")
_ENCODED_PATH: Final = re.compile(r"[A-Za-z0-9\-_.~/!$&'()*+,;=:@\[\]%]*")
_ENCODED_FRAGMENT: Final = re.compile(r"[A-Za-z0-9\-_.~/?!$&'()*+,;=:@\[\]%]*")
_MOST_PARAMETERS: Final = 10_000
"""Go reads no query that has more."""


@cel_type("kubernetes.URL")
@dataclass(frozen=True, slots=True, eq=False)
class URL(Opaque):
    """The parts of a URL. `user`, `opaque`, `query` and `fragment` stay escaped; `host` has its port."""

    scheme: str = ""
    opaque: str = ""
    user: str | None = None
    host: str = ""
    escaped_path: str = ""
    query: str = ""
    fragment: str = ""
    ends_in_question_mark: bool = False
    has_host: bool = True

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read an absolute URL or an absolute path. Raises CelError with the API server's message."""
        try:
            cls.check(text)
            return cls._with_fragment(text)
        except CelError as error:
            raise CelError(f"URL parse error during conversion from string: {error}") from None

    @classmethod
    def check(cls, text: str) -> None:
        """Is it one, a fragment being taken for a part of what is before it. Raises CelError with Go's message."""
        try:
            cls._parse(text, request=True)
        except CelError as error:
            raise _of(text, error) from None

    @classmethod
    def _with_fragment(cls, text: str) -> Self:
        before, _, fragment = text.partition("#")
        try:
            url = cls._parse(before, request=False)
        except CelError as error:
            raise _of(before, error) from None
        try:
            return replace(url, fragment=written(fragment, FRAGMENT, _ENCODED_FRAGMENT))
        except CelError as error:
            raise _of(text, error) from None

    @classmethod
    def _parse(cls, text: str, *, request: bool) -> Self:
        if _CONTROL.search(text):
            raise CelError("net/url: invalid control character in URL")
        if not text and request:
            raise CelError("empty url")
        if text == "*":
            return cls(escaped_path="*")
        if text.startswith(":"):
            raise CelError("missing protocol scheme")
        match = _SCHEME.match(text)
        scheme = match[1].lower() if match else ""
        rest, mark, query = (text[match.end() :] if match else text).partition("?")
        asks = bool(mark) and not query
        if not rest.startswith("/"):
            if scheme:
                return cls(scheme, rest, query=query, ends_in_question_mark=asks)
            if request:
                raise CelError("invalid URI for request")
            if ":" in rest.partition("/")[0]:
                raise CelError("first path segment in URL cannot contain colon")
        user, host, has_host = None, "", True
        if rest.startswith("//") and (scheme or (not request and not rest.startswith("///"))):
            authority, slash, path = rest[2:].partition("/")
            user, host = _authority(scheme, authority)
            rest = slash + path
        elif scheme:
            has_host = False
        path = written(rest, PATH, _ENCODED_PATH)
        return cls(scheme, "", user, host, path, query, "", asks, has_host)

    @property
    def hostname(self) -> str:
        """The host without its port, and without the brackets of an IPv6 address."""
        return self._split_host()[0]

    @property
    def port(self) -> str:
        """The port, or nothing."""
        return self._split_host()[1]

    def _split_host(self) -> tuple[str, str]:
        host, colon, port = self.host.rpartition(":")
        if not colon or not _PORT.fullmatch(colon + port):
            host, port = self.host, ""
        if host.startswith("[") and host.endswith("]"):
            host = host[1:-1]
        return host, port

    @property
    def parameters(self) -> dict[str, list[str]]:
        """The parameters of the query by name; what is not escaped well, or has a `;`, is left out."""
        found: dict[str, list[str]] = {}
        pairs = self.query.split("&")
        for pair in pairs if len(pairs) <= _MOST_PARAMETERS else ():
            if not pair or ";" in pair:
                continue
            name, _, value = pair.partition("=")
            try:
                name, value = (unescaped(part.replace("+", " ")) for part in (name, value))
            except CelError:
                continue
            found.setdefault(name, []).append(value)
        return found

    def _equals(self, other: URL) -> bool:
        return str(self) == str(other)

    def __str__(self) -> str:
        scheme = f"{self.scheme}:" if self.scheme else ""
        mark = "?" if self.ends_in_question_mark or self.query else ""
        fragment = f"#{self.fragment}" if self.fragment else ""
        return f"{scheme}{self.opaque or self._after_scheme()}{mark}{self.query}{fragment}"

    def _after_scheme(self) -> str:
        slashes = ""
        if (self.scheme and self.has_host and self.escaped_path) or self.host or self.user is not None:
            slashes = "//"
        user = f"{self.user}@" if self.user is not None else ""
        return f"{slashes}{user}{escaped(self.host, HOST)}{self.escaped_path}"


def _of(text: str, error: CelError) -> CelError:
    return CelError(f"parse {quote(text)}: {error}")


def _authority(scheme: str, authority: str) -> tuple[str | None, str]:
    """Give user and host. Raises CelError."""
    user, at, host = authority.rpartition("@")
    host = _host(scheme, host)
    if not at:
        return None, host
    if not _USER_INFO.fullmatch(user):
        raise CelError("net/url: invalid userinfo")
    return ":".join(escaped(unescaped(part), USER) for part in user.split(":", 1)), host


def _host(scheme: str, host: str) -> str:
    bracket = host.rfind("[")
    if bracket > 0:
        raise CelError("invalid IP-literal")
    if bracket == 0:
        return _ip_literal(host)
    colon = host.find(":") if scheme in ("http", "https") else host.rfind(":")
    _check_port(host[colon:] if colon >= 0 else "")
    return unescaped_host(host)


def _ip_literal(host: str) -> str:
    literal, bracket, port = host[1:].rpartition("]")
    if not bracket:
        raise CelError("missing ']' in host")
    _check_port(port)
    address, percent, zone = literal.partition("%25")
    plain = unescaped_host(address) + unescaped_host(percent + zone, zone=True)
    try:
        ip, _ = read_address(plain)
    except CelError as error:
        raise CelError(f"invalid host: {error}") from None
    if ip.version == 4:
        raise CelError("invalid IP-literal")
    return f"[{plain}]{port}"


def _check_port(port: str) -> None:
    if not _PORT.fullmatch(port):
        raise CelError(f"invalid port {quote(port)} after host")
