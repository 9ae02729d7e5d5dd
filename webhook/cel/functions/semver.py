"""Semantic versions: `semver('1.2.3').major()`, `semver('v1.2', true)`; `ordering.py` compares them.

Source: `pkg/cel/library/semverlib.go` of the API server.
"""

from __future__ import annotations

from typing import Final

from webhook.cel.errors import CelError
from webhook.cel.functions.library import Library, call, method, text_length, typed
from webhook.cel.values.semver import Semver

_SEMVER: Final = "kubernetes.Semver"


def _semver(text: str, normalize: bool) -> Semver:
    return Semver.parse_normalized(text) if normalize else Semver.parse(text)


def _is_semver(text: str, normalize: bool = False) -> bool:
    try:
        _semver(text, normalize)
    except CelError:
        return False
    return True


def _int64(number: int) -> int:
    """The API server takes the bits of an unsigned number for a signed one."""
    return (number + 2**63) % 2**64 - 2**63


LIBRARIES: Final = (
    Library(
        "semver",
        "1.33",
        (
            typed(
                "semver",
                (call("string", result=_SEMVER), Semver.parse),
                (call("string", "bool", result=_SEMVER), _semver),
                cost=text_length,
            ),
            typed(
                "isSemver",
                (call("string", result="bool"), _is_semver),
                (call("string", "bool", result="bool"), _is_semver),
                cost=text_length,
            ),
            typed("major", (method(_SEMVER, result="int"), lambda version: _int64(version.major))),
            typed("minor", (method(_SEMVER, result="int"), lambda version: _int64(version.minor))),
            typed("patch", (method(_SEMVER, result="int"), lambda version: _int64(version.patch))),
        ),
    ),
)
