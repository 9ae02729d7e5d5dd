"""What happens to requests, under a steady load, while something fails or is replaced.

Of the requests that an API server took, none may fail because of us, and none may be admitted wrongly.
"""

from __future__ import annotations

import asyncio
import json
import os
from asyncio import to_thread
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import trustme

from tests.e2e.kubectl import Object, until
from tests.faults.conftest import UnderLoad
from tests.faults.load import Counts
from tests.faults.replica import Replica
from tests.faults.site import Site

ROUNDS = range(int(os.environ.get("COZYGUARD_FAULT_ROUNDS", "1")))


async def test_nothing_fails(site: Site, under_load: UnderLoad) -> None:
    async with under_load("none") as counts:
        pass
    assert _wrong(counts) == []
    assert counts.untaken == []


async def test_a_certificate_and_its_authority_are_replaced(site: Site, under_load: UnderLoad) -> None:
    async with under_load("certificate and authority rotated") as counts:
        for _ in ROUNDS:
            await _rotate(site)
    assert _wrong(counts) == []
    assert counts.untaken == []


async def test_policies_are_changed_broken_and_removed(site: Site, under_load: UnderLoad) -> None:
    (before,) = _loaded(site)
    async with under_load("policies reloaded, once broken") as counts:
        for _ in ROUNDS:
            with _file(site.policies / "size.yaml") as file:
                file.write_text(json.dumps(_no_size()))
                await _until(lambda: _loaded(site) == {before + 1})
                file.write_text("kind: AdmissionPolicy")
                await _until(lambda: all(replica.policies["lastError"] for replica in site.replicas))
            await _until(lambda: _loaded(site) == {before})
    assert _wrong(counts) == []
    assert counts.untaken == []


async def test_one_of_two_replicas_is_stopped_and_comes_back(site: Site, under_load: UnderLoad) -> None:
    async with under_load("SIGTERM of one of two replicas") as counts:
        for _ in ROUNDS:
            await _restart(site.replicas[0])
    assert _wrong(counts) == []
    assert counts.untaken == []


async def test_both_replicas_are_replaced_one_after_the_other(site: Site, under_load: UnderLoad) -> None:
    async with under_load("both replicas restarted in turn") as counts:
        for _ in ROUNDS:
            for replica in site.replicas:
                await _restart(replica)
                await asyncio.sleep(1.5)  # until the balancer knows that it is back
    assert _wrong(counts) == []
    assert counts.untaken == []


async def test_one_of_two_api_servers_is_restarted(site: Site, under_load: UnderLoad) -> None:
    async with under_load("one of two API servers restarted") as counts:
        for _ in ROUNDS:
            await to_thread(site.plane.restart, 1)
    assert _wrong(counts) == []


async def test_etcd_pauses(site: Site, under_load: UnderLoad) -> None:
    async with under_load("etcd paused for 3 s") as counts:
        for _ in ROUNDS:
            with site.plane.etcd_paused():
                await asyncio.sleep(3)
    assert _wrong(counts) == []


async def test_one_of_two_replicas_is_killed(site: Site, under_load: UnderLoad) -> None:
    """Calls under way fail, and new connections until the balancer knows: the API server tries no call again."""
    async with under_load("SIGKILL of one of two replicas") as counts:
        for _ in ROUNDS:
            site.replicas[0].kill()
            await asyncio.sleep(2)
            site.replicas[0].launch()
            await to_thread(site.replicas[0].wait)
    assert counts.admitted + counts.untaken == []
    assert all("failed calling webhook" in told for told in counts.failed)


async def _rotate(site: Site) -> None:
    """Replace authority and certificate: both authorities are trusted while both certificates may be shown."""
    before, shown = site.authority, site.certificates()
    site.authority = trustme.CA()
    await to_thread(site.trust, before, site.authority)
    await asyncio.sleep(1)  # until the API servers have heard of it, which they cannot be asked
    site.issue()
    await _until(lambda: not site.certificates() & shown)
    await to_thread(site.trust, site.authority)
    await asyncio.sleep(1)


async def _restart(replica: Replica) -> None:
    await to_thread(replica.stop)
    replica.launch()
    await to_thread(replica.wait)


async def _until(condition: Callable[[], bool]) -> None:
    await to_thread(until, condition)


@contextmanager
def _file(path: Path) -> Iterator[Path]:
    """Leave nothing of a file, whatever happens: with it, no replica would start."""
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)


def _loaded(site: Site) -> set[int]:
    """How many policies the replicas have."""
    return {replica.policies["loaded"] for replica in site.replicas}


def _wrong(counts: Counts) -> list[str]:
    return counts.failed + counts.admitted


def _no_size() -> Object:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["CREATE"]}
    validation = {"expression": "!('size' in object.?data.orValue({}))", "message": "nothing has a size"}
    return {
        "apiVersion": "cozyguard.io/v1alpha1",
        "kind": "AdmissionPolicy",
        "metadata": {"name": "no-size"},
        "spec": {"matchConstraints": {"resourceRules": [rule]}, "validations": [validation]},
    }
