"""Networks in CIDR notation.

The expected values are those of k8s.io/apiserver 1.37.
"""

from __future__ import annotations

from typing import Any

import pytest

CONVERSION = "network address parse error during conversion from string: "

VALUES = {
    "string(cidr('192.168.0.1/16'))": "192.168.0.1/16",
    "isCIDR('192.168.0.0/16')": True,
    "isCIDR('192.168.0.0/33')": False,
    "isCIDR('::1/129')": False,
    "isCIDR('::1/128')": True,
    "isCIDR('10.0.0.0')": False,
    "isCIDR('10.0.0.0/08')": False,
    "isCIDR('::ffff:1.2.3.4/24')": False,
    "cidr('192.168.0.0/24').containsIP(ip('192.168.0.1'))": True,
    "cidr('192.168.0.0/24').containsIP('192.168.1.1')": False,
    "cidr('192.168.0.9/24').containsIP('192.168.0.1')": True,
    "cidr('0.0.0.0/0').containsIP('1.2.3.4')": True,
    "cidr('0.0.0.0/0').containsIP('::1')": False,
    "cidr('192.168.0.0/16').containsCIDR(cidr('192.168.10.0/24'))": True,
    "cidr('192.168.1.0/24').containsCIDR('192.168.2.0/24')": False,
    "cidr('192.168.0.0/16').containsCIDR('192.168.0.0/15')": False,
    "cidr('192.168.0.0/16').containsCIDR('192.168.0.0/16')": True,
    "cidr('::/0').containsCIDR('0.0.0.0/0')": False,
    "string(cidr('192.168.0.1/24').ip())": "192.168.0.1",
    "string(cidr('192.168.77.1/20').masked())": "192.168.64.0/20",
    "string(cidr('2001:db8::ffff/33').masked())": "2001:db8::/33",
    "cidr('192.168.0.1/24') == cidr('192.168.0.1/24').masked()": False,
    "cidr('192.168.0.0/24') == cidr('192.168.0.0/24').masked()": True,
    "cidr('::1/128').prefixLength()": 128,
}


@pytest.mark.parametrize(("text", "value"), VALUES.items())
def test_networks_are_those_of_the_api_server(outcome: Any, text: str, value: Any) -> None:
    assert outcome(text) == value


FAULTS = {
    "10.0.0.0": "no '/'",
    "10.0.0/8": 'ParseAddr("10.0.0"): IPv4 address too short',
    "10.0.0.0/": 'bad bits after slash: ""',
    "10.0.0.0/-1": 'bad bits after slash: "-1"',
    "10.0.0.0/08": 'bad bits after slash: "08"',
    "10.0.0.0/33": "prefix length out of range",
    "fe80::1%eth0/10": "IPv6 zones cannot be present in a prefix",
}


@pytest.mark.parametrize(("text", "fault"), FAULTS.items())
def test_what_is_no_network_is_told_as_go_tells_it(outcome: Any, text: str, fault: str) -> None:
    assert outcome(f"cidr('{text}')").message == (f'{CONVERSION}{CONVERSION}netip.ParsePrefix("{text}"): {fault}')


ERRORS = {
    "cidr('::ffff:1.2.3.4/96')": CONVERSION + 'IPv4-mapped IPv6 address "::ffff:1.2.3.4/96" is not allowed',
    "cidr('10.0.0.0/8').containsIP('x')": "no such overload",
    "cidr('10.0.0.0/8').containsCIDR('x')": CONVERSION + CONVERSION + "netip.ParsePrefix(\"x\"): no '/'",
    "cidr('10.0.0.0/8') == dyn(ip('10.0.0.0'))": "no such overload",
}


@pytest.mark.parametrize(("text", "message"), ERRORS.items())
def test_what_goes_wrong_with_a_network(outcome: Any, text: str, message: str) -> None:
    assert outcome(text).message == message
