"""Networks: `cidr('10.0.0.0/8').containsIP('10.1.2.3')`, `isCIDR(s)`; `ip.py` has `network.ip()`.

Source: `pkg/cel/library/cidr.go` of the API server.
"""

from __future__ import annotations

from typing import Final

from webhook.cel.errors import CelError
from webhook.cel.functions.library import Library, call, method, text_length, typed
from webhook.cel.values.arithmetic import text_cost
from webhook.cel.values.network import CIDR, IP

_CIDR: Final = "net.CIDR"


def _is_cidr(text: str) -> bool:
    try:
        CIDR.parse(text)
    except CelError:
        return False
    return True


def _contains_text(network: CIDR, text: str) -> bool:
    try:
        ip = IP.parse(text)
    except CelError:
        raise CelError("no such overload") from None  # which is all that the API server says
    return network.contains(ip)


def _contains_ip_cost(network: CIDR, ip: IP | str) -> int:
    return text_cost(2 * network.size) + (text_length(ip) if isinstance(ip, str) else 0)


def _contains_cidr_cost(network: CIDR, other: CIDR | str) -> int:
    compared = text_cost(2 * network.size) + text_cost(network.size) + 1
    return compared + (text_length(other) if isinstance(other, str) else 0)


LIBRARIES: Final = (
    Library(
        "cidr",
        "1.30",
        (
            typed("cidr", (call("string", result=_CIDR), CIDR.parse), cost=text_length),
            typed("isCIDR", (call("string", result="bool"), _is_cidr), cost=text_length),
            typed(
                "containsIP",
                (method(_CIDR, "string", result="bool"), _contains_text),
                (method(_CIDR, "net.IP", result="bool"), CIDR.contains),
                cost=_contains_ip_cost,
            ),
            typed(
                "containsCIDR",
                (
                    method(_CIDR, "string", result="bool"),
                    lambda network, text: network.contains_network(CIDR.parse(text)),
                ),
                (method(_CIDR, _CIDR, result="bool"), CIDR.contains_network),
                cost=_contains_cidr_cost,
            ),
            typed("masked", (method(_CIDR, result=_CIDR), lambda network: network.masked)),
            typed("prefixLength", (method(_CIDR, result="int"), lambda network: network.bits)),
        ),
    ),
)
