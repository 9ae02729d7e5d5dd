"""The leader replaces certificate and authority under a steady load, and no request notices."""

from __future__ import annotations

import asyncio
import base64
from asyncio import to_thread

import pytest

from tests.chart.helm import NAMESPACE, RELEASE
from tests.e2e.kubectl import Object, until
from tests.faults import table
from tests.faults.load import Load, Request
from tests.installed.installation import Installation, package

_PACKAGES = "/apis/cozystack.io/v1alpha1/packages"
_PATIENCE = 90.0
"""Seconds: a new authority is in force for 30 before the certificate is served that it has signed."""

_REQUESTS = [
    Request(_PACKAGES, package("default")),
    Request(_PACKAGES, package("contaner"), denied_by="package-variant-known"),
]


@pytest.fixture
def load(installation: Installation) -> Load:
    plane = installation.plane
    return Load(plane.urls, plane.token, plane.certificate, _REQUESTS, rate=40)


async def test_the_leader_rotates_and_nothing_fails(
    installation: Installation, load: Load, pytestconfig: pytest.Config
) -> None:
    before = installation.bundles()
    async with load.running() as counts:
        table.add(pytestconfig, "certificate in the Secret rotated", counts)
        await asyncio.sleep(1)
        await to_thread(_spoil, installation)
        await to_thread(until, lambda: _rotated(installation, before), _PATIENCE)
        await asyncio.sleep(1)
    assert counts.failed + counts.admitted + counts.untaken == []


def _spoil(installation: Installation) -> None:
    """Make the Secret useless: a rotation begins at once, and replicas serve on what they have."""
    patch = '{"data": {"tls.crt": "aGVsbG8=", "tls.key": "aGVsbG8="}}'
    installation.plane.kubectl("patch", "secret", f"{RELEASE}-tls", f"--namespace={NAMESPACE}", f"--patch={patch}")


def _rotated(installation: Installation, before: set[str]) -> bool:
    """Is there one CA, and none of those before: the old one stays until all replicas serve the new certificate."""
    data = installation.read("secret", f"{RELEASE}-tls", f"--namespace={NAMESPACE}")["data"]
    bundles = installation.bundles()
    return "next.crt" not in data and bundles == {data["ca.crt"]} and not bundles & before and _authorities(data) == 1


def _authorities(data: Object) -> int:
    return base64.b64decode(data["ca.crt"]).count(b"BEGIN CERTIFICATE")
