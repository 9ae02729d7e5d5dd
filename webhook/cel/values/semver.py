"""Semantic versions, as `github.com/blang/semver` reads and orders them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Self

from webhook.cel.errors import CelError
from webhook.cel.values.opaque import Opaque
from webhook.cel.values.text import quote
from webhook.cel.values.types import cel_type

_DIGITS: Final = re.compile(r"[0-9]*")
_IDENTIFIER: Final = re.compile(r"[0-9A-Za-z-]*")
_UINT_MAX: Final = 2**64 - 1


@cel_type("kubernetes.Semver")
@dataclass(frozen=True, slots=True, eq=False)
class Semver(Opaque):
    """`major.minor.patch-pre.release+build`; numeric parts are unsigned 64-bit numbers."""

    major: int
    minor: int
    patch: int
    pre_release: tuple[int | str, ...] = ()
    build: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a version. Raises CelError with the messages of `blang/semver`."""
        if not text:
            raise CelError("Version string empty")
        parts = text.split(".", 2)
        if len(parts) != 3:
            raise CelError("No Major.Minor.Patch elements found")
        major, minor = _number(parts[0], "major"), _number(parts[1], "minor")
        rest, plus, build = parts[2].partition("+")
        patch, dash, pre_release = rest.partition("-")
        return cls(
            major,
            minor,
            _number(patch, "patch"),
            tuple(map(_pre_release, pre_release.split("."))) if dash else (),
            tuple(map(_build, build.split("."))) if plus else (),
        )

    @classmethod
    def parse_normalized(cls, text: str) -> Self:
        """Read a version that may begin with a `v`, have leading zeros, or end after `major` or `minor`."""
        parts = [_without_zeros(part) for part in text.removeprefix("v").split(".", 2)]
        if len(parts) < 3 and ("+" in parts[-1] or "-" in parts[-1]):
            raise CelError("short version cannot contain PreRelease/Build meta data")
        return cls.parse(".".join([*parts, "0", "0"][:3]))

    def compare(self, other: Semver) -> int:
        """-1, 0 or 1: a pre-release comes before its version, and what is built does not count."""
        a, b = (self.major, self.minor, self.patch), (other.major, other.minor, other.patch)
        if a != b:
            return 1 if a > b else -1
        if not self.pre_release or not other.pre_release:
            return (not self.pre_release) - (not other.pre_release)
        a_rank, b_rank = tuple(map(_rank, self.pre_release)), tuple(map(_rank, other.pre_release))
        return (a_rank > b_rank) - (a_rank < b_rank)

    def _equals(self, other: Semver) -> bool:
        return self.compare(other) == 0

    def __str__(self) -> str:
        pre_release = "-" + ".".join(map(str, self.pre_release)) if self.pre_release else ""
        build = "+" + ".".join(self.build) if self.build else ""
        return f"{self.major}.{self.minor}.{self.patch}{pre_release}{build}"


def _number(text: str, name: str) -> int:
    if not _DIGITS.fullmatch(text):
        raise CelError(f"Invalid character(s) found in {name} number {quote(text)}")
    if len(text) > 1 and text[0] == "0":
        raise CelError(f"{name.capitalize()} number must not contain leading zeroes {quote(text)}")
    return _uint(text)


def _uint(text: str) -> int:
    if not text:
        raise CelError('strconv.ParseUint: parsing "": invalid syntax')
    if len(text) > 20 or int(text) > _UINT_MAX:
        raise CelError(f'strconv.ParseUint: parsing "{text}": value out of range')
    return int(text)


def _pre_release(text: str) -> int | str:
    if not text:
        raise CelError("Prerelease is empty")
    if not _DIGITS.fullmatch(text):
        if not _IDENTIFIER.fullmatch(text):
            raise CelError(f"Invalid character(s) found in prerelease {quote(text)}")
        return text
    if len(text) > 1 and text[0] == "0":
        raise CelError(f"Numeric PreRelease version must not contain leading zeroes {quote(text)}")
    return _uint(text)


def _build(text: str) -> str:
    if not text:
        raise CelError("Build meta data is empty")
    if not _IDENTIFIER.fullmatch(text):
        raise CelError(f"Invalid character(s) found in build meta data {quote(text)}")
    return text


def _rank(part: int | str) -> tuple[bool, int, str]:
    """Numbers come before words."""
    return (False, part, "") if isinstance(part, int) else (True, 0, part)


def _without_zeros(part: str) -> str:
    if len(part.encode()) < 2:
        return part
    stripped = part.lstrip("0")
    return stripped if stripped[:1] in tuple("0123456789") else "0" + stripped
