"""IP addresses.

The expected values are those of k8s.io/apiserver 1.37.
"""

from __future__ import annotations

from typing import Any

import pytest

VALUES = {
    "ip('127.0.0.1').family()": 4,
    "ip('::1').family()": 6,
    "string(ip('2001:DB8::0:0:0:ABCD'))": "2001:db8::abcd",
    "string(ip('1:0:0:2:0:0:0:3'))": "1:0:0:2::3",
    "string(ip('::1.2.3.4'))": "::102:304",
    "ip.isCanonical('127.0.0.1')": True,
    "ip.isCanonical('2001:db8::abcd')": True,
    "ip.isCanonical('2001:DB8::ABCD')": False,
    "ip.isCanonical('2001:db8::0:0:0:abcd')": False,
    "isIP('127.0.0.1')": True,
    "isIP('127.0.0.256')": False,
    "isIP('127.0.0.01')": False,
    "isIP(':::1')": False,
    "isIP('fe80::1%eth0')": False,
    "isIP('::ffff:1.2.3.4')": False,
    "isIP('10.0.0.0/8')": False,
    "isIP('')": False,
    "ip('0.0.0.0').isUnspecified()": True,
    "ip('::').isUnspecified()": True,
    "ip('::1').isUnspecified()": False,
    "ip('127.3.2.1').isLoopback()": True,
    "ip('::1').isLoopback()": True,
    "ip('192.168.0.1').isLoopback()": False,
    "ip('224.0.0.1').isLinkLocalMulticast()": True,
    "ip('224.0.1.1').isLinkLocalMulticast()": False,
    "ip('ff02::1').isLinkLocalMulticast()": True,
    "ip('ff12::1').isLinkLocalMulticast()": True,
    "ip('fd00::1').isLinkLocalMulticast()": False,
    "ip('169.254.169.254').isLinkLocalUnicast()": True,
    "ip('fe80::1').isLinkLocalUnicast()": True,
    "ip('febf::1').isLinkLocalUnicast()": True,
    "ip('fec0::1').isLinkLocalUnicast()": False,
    "ip('192.168.0.1').isGlobalUnicast()": True,
    "ip('255.255.255.255').isGlobalUnicast()": False,
    "ip('224.1.1.1').isGlobalUnicast()": False,
    "ip('2001:db8::abcd').isGlobalUnicast()": True,
    "ip('ff00::1').isGlobalUnicast()": False,
    "ip('1.2.3.4') == ip('::1.2.3.4')": False,
    "ip('::1') == ip('0:0:0:0:0:0:0:1')": True,
    "ip('::1') in [ip('1.1.1.1'), ip('0::1')]": True,
    "type(ip('::1')) == net.IP": True,
}


@pytest.mark.parametrize(("text", "value"), VALUES.items())
def test_addresses_are_those_of_the_api_server(outcome: Any, text: str, value: Any) -> None:
    assert outcome(text) == value


FAULTS = {
    "x": "unable to parse IP",
    "%eth0": "missing IPv6 address",
    "1.2.3": "IPv4 address too short",
    "1.2.3.4.5": "IPv4 address too long",
    "1.2.3.256": "IPv4 field has value >255",
    "1.2.3.04": "IPv4 field has octet with leading zero",
    "1..2.3": 'IPv4 field must have at least one digit (at ".2.3")',
    "1.2.3.": 'IPv4 field must have at least one digit (at ".")',
    "1.2.3.é": 'unexpected character (at "é")',
    "fe80::1%": "zone must be a non-empty string",
    "12345::": 'each group must have 4 or less digits (at "12345::")',
    "1:2": "address string too short",
    "1:": 'colon must be followed by more characters (at ":")',
    "1::2::3": 'multiple :: in address (at ":3")',
    "::g": 'each colon-separated field must have at least one digit (at "g")',
    "1:2:3:4:5:6:7:8:9": 'trailing garbage after address (at "9")',
    "1::2:3:4:5:6:7:8": "the :: must expand to at least one field of zeros",
    "1:1.2.3.4": 'embedded IPv4 address must replace the final 2 fields of the address (at "1.2.3.4")',
    "::1:2:3:4:5:6:7:1.2.3.4": 'too many hex fields to fit an embedded IPv4 at the end of the address (at "1.2.3.4")',
    "1:2:3:4:5:6:1.2.3": "IPv4 address too short",
    "1:2x": 'unexpected character, want colon (at "x")',
}


@pytest.mark.parametrize(("text", "fault"), FAULTS.items())
def test_what_is_no_address_is_told_as_go_tells_it(outcome: Any, text: str, fault: str) -> None:
    assert outcome(f"ip('{text}')").message == (
        f'IP Address "{text}" parse error during conversion from string: ParseAddr("{text}"): {fault}'
    )


ERRORS = {
    "ip('fe80::1%eth0')": 'IP address "fe80::1%eth0" with zone value is not allowed',
    "ip('::ffff:1.2.3.4')": 'IPv4-mapped IPv6 address "::ffff:1.2.3.4" is not allowed',
    "ip.isCanonical('x')": 'IP Address "x" parse error during conversion from string: ParseAddr("x"): unable to parse IP',
    "ip('::1') == dyn(1)": "no such overload",
    "ip(dyn(1))": "no such overload: ip(int)",
}


@pytest.mark.parametrize(("text", "message"), ERRORS.items())
def test_what_goes_wrong_with_an_address(outcome: Any, text: str, message: str) -> None:
    assert outcome(text).message == message
