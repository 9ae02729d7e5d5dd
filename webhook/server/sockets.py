"""The ports that the server listens on."""

from __future__ import annotations

import socket

from webhook.errors import UsageError


def bind(host: str, port: int, *, shared: bool = False) -> socket.socket:
    """Bind a TCP socket, to IPv4 and IPv6 where no host is named; `shared` lets other sockets have the port too.

    Raises UsageError when the address cannot be had.
    """
    everywhere = not host and socket.has_dualstack_ipv6()
    family = socket.AF_INET6 if everywhere or ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if shared:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        if everywhere:
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        sock.bind((host, port))
    except OSError as error:
        sock.close()
        said = error.strerror or str(error)
        raise UsageError(f"cannot listen on `{host or '*'}:{port}`: {said.lower()}") from None
    return sock


def port_of(sock: socket.socket) -> int:
    """Return the port, also where the system has chosen it."""
    port: int = sock.getsockname()[1]
    return port
