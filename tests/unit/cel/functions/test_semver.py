"""Semantic versions, and their order.

The expected values are those of k8s.io/apiserver 1.37.
"""

from __future__ import annotations

from typing import Any

import pytest

VALUES = {
    "semver('1.2.3').major()": 1,
    "semver('1.2.3').minor()": 2,
    "semver('1.2.3').patch()": 3,
    "semver('18446744073709551615.0.0').major()": -1,
    "semver('v1.2', true).minor()": 2,
    "semver('01.02.03', true).patch()": 3,
    "semver('v1', true) == semver('1.0.0')": True,
    "semver('1.0.0', false).major()": 1,
    "semver('1.2.3').compareTo(semver('1.2.3'))": 0,
    "semver('1.2.3').compareTo(semver('2.0.0'))": -1,
    "semver('1.2.3').compareTo(semver('0.1.2'))": 1,
    "semver('1.0.0-alpha').isLessThan(semver('1.0.0'))": True,
    "semver('1.0.0-alpha').isLessThan(semver('1.0.0-alpha.1'))": True,
    "semver('1.0.0-9').isLessThan(semver('1.0.0-10'))": True,
    "semver('1.0.0-9').isLessThan(semver('1.0.0-a'))": True,
    "semver('1.0.0-b').isGreaterThan(semver('1.0.0-a.b'))": True,
    "semver('1.0.0+a') == semver('1.0.0+b')": True,
    "semver('1.0.0') == semver('1.0.0-0')": False,
    "isSemver('1.0.0')": True,
    "isSemver('1.0.0-rc.1+build.01')": True,
    "isSemver('hello')": False,
    "isSemver('v1.0')": False,
    "isSemver('v1.0', true)": True,
    "isSemver('1.0', true)": True,
    "isSemver('1.0-rc', true)": False,
    "isSemver('1.0.0-01')": False,
    "isSemver('')": False,
}


@pytest.mark.parametrize(("text", "value"), VALUES.items())
def test_versions_are_those_of_the_api_server(outcome: Any, text: str, value: Any) -> None:
    assert outcome(text) == value


ERRORS = {
    "semver('')": "Version string empty",
    "semver('1.2')": "No Major.Minor.Patch elements found",
    "semver('v1.0.0')": 'Invalid character(s) found in major number "v1"',
    "semver('1.x.0')": 'Invalid character(s) found in minor number "x"',
    "semver('1.02.0')": 'Minor number must not contain leading zeroes "02"',
    "semver('1..0')": 'strconv.ParseUint: parsing "": invalid syntax',
    "semver('1.0.0-')": "Prerelease is empty",
    "semver('1.0.0-01')": 'Numeric PreRelease version must not contain leading zeroes "01"',
    "semver('1.0.0-a_b')": 'Invalid character(s) found in prerelease "a_b"',
    "semver('1.0.0+')": "Build meta data is empty",
    "semver('1.0.0+a_b')": 'Invalid character(s) found in build meta data "a_b"',
    "semver('1.0.99999999999999999999')": 'strconv.ParseUint: parsing "99999999999999999999": value out of range',
    "semver('1-a', true)": "short version cannot contain PreRelease/Build meta data",
    "semver('\\u00e9', true)": 'Invalid character(s) found in major number "0é"',
    "semver('1.0.0') == dyn('1.0.0')": "no such overload",
}


@pytest.mark.parametrize(("text", "message"), ERRORS.items())
def test_what_goes_wrong_with_a_version(outcome: Any, text: str, message: str) -> None:
    assert outcome(text).message == message
