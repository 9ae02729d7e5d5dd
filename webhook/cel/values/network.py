"""IP addresses and networks in CIDR notation, as Go's `net/netip` reads them.

Python's `ipaddress` takes the same addresses; what is wrong with any other is found out afterwards, so
that the message is the API server's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final, Self

from webhook.cel.errors import CelError
from webhook.cel.values.opaque import Opaque
from webhook.cel.values.text import quote
from webhook.cel.values.types import cel_type

Address = IPv4Address | IPv6Address

_DIGITS: Final = frozenset("0123456789")
_KIND: Final = re.compile(r"[.:%]")
_GROUP: Final = re.compile(r"[0-9A-Fa-f]*")
_BITS: Final = re.compile(r"0|[1-9][0-9]{0,18}")


@cel_type("net.IP")
@dataclass(frozen=True, slots=True)
class IP(Opaque):
    """One address of IPv4 or IPv6, without a zone."""

    address: Address

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read an address. Raises CelError with the API server's message."""
        try:
            address, zone = read_address(text)
        except CelError as error:
            raise CelError(f"IP Address {quote(text)} parse error during conversion from string: {error}") from None
        if zone:
            raise CelError(f"IP address {quote(text)} with zone value is not allowed")
        _refuse_mapped(address, text)
        return cls(address)

    @property
    def size(self) -> int:
        """Bytes."""
        return self.address.max_prefixlen // 8

    @property
    def is_unspecified(self) -> bool:
        """`0.0.0.0` or `::`."""
        return int(self.address) == 0

    @property
    def is_loopback(self) -> bool:
        """`127.0.0.0/8` or `::1`."""
        number = int(self.address)
        return number >> 24 == 127 if self.address.version == 4 else number == 1

    @property
    def is_multicast(self) -> bool:
        """`224.0.0.0/4` or `ff00::/8`."""
        number = int(self.address)
        return number >> 28 == 0xE if self.address.version == 4 else number >> 120 == 0xFF

    @property
    def is_link_local_multicast(self) -> bool:
        """`224.0.0.0/24`, or the scope 2 of IPv6."""
        number = int(self.address)
        return number >> 8 == 0xE00000 if self.address.version == 4 else number >> 112 & 0xFF0F == 0xFF02

    @property
    def is_link_local_unicast(self) -> bool:
        """`169.254.0.0/16` or `fe80::/10`."""
        number = int(self.address)
        return number >> 16 == 0xA9FE if self.address.version == 4 else number >> 118 == 0xFE80 >> 6

    @property
    def is_global_unicast(self) -> bool:
        """Everything that is none of the others, nor the broadcast address; private addresses are global here."""
        broadcast = self.address.version == 4 and int(self.address) == 0xFFFFFFFF
        special = self.is_unspecified or self.is_loopback or self.is_multicast or self.is_link_local_unicast
        return not broadcast and not special

    def __str__(self) -> str:
        return str(self.address)


@cel_type("net.CIDR")
@dataclass(frozen=True, slots=True)
class CIDR(Opaque):
    """An address and the number of its bits that name the network; the others need not be zero."""

    ip: IP
    bits: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read CIDR notation. Raises CelError with the API server's message."""
        try:
            return cls._parse(text)
        except CelError as error:
            raise CelError(f"network address parse error during conversion from string: {error}") from None

    @classmethod
    def _parse(cls, text: str) -> Self:
        before, slash, bits = text.rpartition("/")
        fault = f"network address parse error during conversion from string: netip.ParsePrefix({quote(text)}): "
        if not slash:
            raise CelError(f"{fault}no '/'")
        try:
            address, zone = read_address(before)
        except CelError as error:
            raise CelError(f"{fault}{error}") from None
        if zone:
            raise CelError(f"{fault}IPv6 zones cannot be present in a prefix")
        if not _BITS.fullmatch(bits) or int(bits) >= 2**63:
            raise CelError(f"{fault}bad bits after slash: {quote(bits)}")
        if int(bits) > address.max_prefixlen:
            raise CelError(f"{fault}prefix length out of range")
        _refuse_mapped(address, text)
        return cls(IP(address), int(bits))

    @property
    def size(self) -> int:
        """Bytes that the prefix takes."""
        return -(-self.bits // 8)

    @property
    def masked(self) -> CIDR:
        """The same network, with nothing but zeros after the prefix."""
        host_bits = self.ip.address.max_prefixlen - self.bits
        number = int(self.ip.address) >> host_bits << host_bits
        return CIDR(IP(type(self.ip.address)(number)), self.bits)

    def contains(self, ip: IP) -> bool:
        """Is the address in this network."""
        if ip.address.version != self.ip.address.version:
            return False
        host_bits = self.ip.address.max_prefixlen - self.bits
        return int(ip.address) >> host_bits == int(self.ip.address) >> host_bits

    def contains_network(self, other: CIDR) -> bool:
        """Is the whole network in this one."""
        return self.bits <= other.bits and self.contains(other.ip)

    def __str__(self) -> str:
        return f"{self.ip}/{self.bits}"


def read_address(text: str) -> tuple[Address, str]:
    """Read an address and its zone. Raises CelError with Go's message."""
    kind = _KIND.search(text)
    if kind is None or kind[0] == "%":
        raise _unreadable(text, "missing IPv6 address" if kind else "unable to parse IP")
    if kind[0] == ".":
        base, zone = text, ""
    else:
        base, percent, zone = text.partition("%")
        if percent and not zone:
            raise _unreadable(text, "zone must be a non-empty string")
    try:
        return ip_address(base), zone
    except ValueError:
        fault = _ipv4_fault(base) if kind[0] == "." else _ipv6_fault(base)
        raise _unreadable(text, fault) from None


def _refuse_mapped(address: Address, text: str) -> None:
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        raise CelError(f"IPv4-mapped IPv6 address {quote(text)} is not allowed")


def _unreadable(text: str, fault: str) -> CelError:
    return CelError(f"ParseAddr({quote(text)}): {fault}")


def _at(fault: str, rest: str) -> str:
    return f"{fault} (at {quote(rest)})"


def _ipv4_fault(text: str) -> str:
    """What is wrong with an address of IPv4, where Go would stop."""
    value, digits, dots = 0, 0, 0
    for position, character in enumerate(text):
        if character in _DIGITS:
            if digits == 1 and value == 0:
                return "IPv4 field has octet with leading zero"
            value, digits = value * 10 + int(character), digits + 1
            if value > 255:
                return "IPv4 field has value >255"
        elif character == ".":
            if position in (0, len(text) - 1) or text[position - 1] == ".":
                return _at("IPv4 field must have at least one digit", text[position:])
            if dots == 3:
                return "IPv4 address too long"
            value, digits, dots = 0, 0, dots + 1
        else:
            return _at("unexpected character", text[position:])
    return "IPv4 address too short"


def _ipv6_fault(text: str) -> str:
    """What is wrong with an address of IPv6, where Go would stop."""
    ellipsis, rest, count = text.startswith("::"), text.removeprefix("::"), 0
    while count < 8:
        group = _GROUP.match(rest)[0]  # type: ignore[index]  # the empty string matches
        if len(group) > 4:
            return _at("each group must have 4 or less digits", rest)
        if not group:
            return _at("each colon-separated field must have at least one digit", rest)
        after = rest[len(group) :]
        if after.startswith("."):
            return _embedded_fault(rest, count, ellipsis)
        count += 1
        if not after:
            rest = after
            break
        if not after.startswith(":"):
            return _at("unexpected character, want colon", after)
        if after == ":":
            return _at("colon must be followed by more characters", after)
        rest = after[1:]
        if rest.startswith(":"):
            if ellipsis:
                return _at("multiple :: in address", rest)
            ellipsis, rest = True, rest[1:]
            if not rest:
                break
    if rest:
        return _at("trailing garbage after address", rest)
    return "address string too short" if count < 8 else "the :: must expand to at least one field of zeros"


def _embedded_fault(rest: str, count: int, ellipsis: bool) -> str:
    """What is wrong with an address of IPv6 that ends in one of IPv4, after `count` groups."""
    if not ellipsis and count != 6:
        return _at("embedded IPv4 address must replace the final 2 fields of the address", rest)
    if count > 6:
        return _at("too many hex fields to fit an embedded IPv4 at the end of the address", rest)
    try:
        IPv4Address(rest)
    except ValueError:
        return _ipv4_fault(rest)
    return "the :: must expand to at least one field of zeros"
