"""IP addresses: `ip('10.0.0.1').family()`, `isIP(s)`, `ip.isCanonical(s)`.

Source: `pkg/cel/library/ip.go` of the API server.
"""

from __future__ import annotations

from typing import Final

from webhook.cel.errors import CelError
from webhook.cel.functions.library import Library, call, method, text_length, typed
from webhook.cel.values.network import CIDR, IP

_IP: Final = "net.IP"


def _is_ip(text: str) -> bool:
    try:
        IP.parse(text)
    except CelError:
        return False
    return True


def _ip_cost(of: str | CIDR) -> int:
    return text_length(of) if isinstance(of, str) else 1


def _canonical_cost(text: str) -> int:
    return text_length(2 * text)


LIBRARIES: Final = (
    Library(
        "ip",
        "1.30",
        (
            typed(
                "ip",
                (call("string", result=_IP), IP.parse),
                (method("net.CIDR", result=_IP), lambda network: network.ip),
                cost=_ip_cost,
            ),
            typed("isIP", (call("string", result="bool"), _is_ip), cost=text_length),
            typed(
                "ip.isCanonical",
                (call("string", result="bool"), lambda text: str(IP.parse(text)) == text),
                cost=_canonical_cost,
            ),
            typed("family", (method(_IP, result="int"), lambda ip: ip.address.version)),
            typed("isUnspecified", (method(_IP, result="bool"), lambda ip: ip.is_unspecified)),
            typed("isLoopback", (method(_IP, result="bool"), lambda ip: ip.is_loopback)),
            typed("isLinkLocalMulticast", (method(_IP, result="bool"), lambda ip: ip.is_link_local_multicast)),
            typed("isLinkLocalUnicast", (method(_IP, result="bool"), lambda ip: ip.is_link_local_unicast)),
            typed("isGlobalUnicast", (method(_IP, result="bool"), lambda ip: ip.is_global_unicast)),
        ),
    ),
)
