"""Which part of a cluster an audit is about."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webhook.cluster.resources import NODES, PODS
from webhook.runs.audit.extent import Extent, Shard

EVERY = tuple(f"tenant-{number}" for number in range(300))


def test_the_whole_cluster_is_listed_at_once() -> None:
    assert list(Extent(every=EVERY).places(PODS)) == [""]
    assert list(Extent(every=EVERY).places(NODES)) == [""]


def test_with_namespaces_only_what_lives_in_them_is_listed() -> None:
    extent = Extent(("a", "b"), every=EVERY)
    assert list(extent.places(PODS)) == ["a", "b"]
    assert list(extent.places(NODES)) == []
    assert (extent.has("", "Pod", "a"), extent.has("", "Pod", "c"), extent.has("", "Node", "")) == (True, False, False)


def test_shares_are_about_equal() -> None:
    sizes = [len(Extent(shard=Shard(index, 3), every=EVERY).places(PODS)) for index in range(3)]
    assert sum(sizes) == len(EVERY)
    assert min(sizes) > len(EVERY) / 6


@given(st.integers(1, 50), st.text(), st.text(), st.text())
def test_everything_is_in_one_share(count: int, group: str, kind: str, namespace: str) -> None:
    assert sum(Shard(index, count).has(group, kind, namespace) for index in range(count)) == 1


@given(st.integers(2, 20), st.lists(st.text(min_size=1), unique=True, max_size=5).map(tuple))
def test_what_is_listed_is_what_it_has(count: int, namespaces: tuple[str, ...]) -> None:
    for index in range(count):
        extent = Extent(namespaces, Shard(index, count), EVERY)
        for resource, places in ((PODS, EVERY), (NODES, ("",))):
            known = (*places, *namespaces) if resource is PODS else places
            has = {place for place in known if extent.has(resource.group, resource.kind, place)}
            assert set(extent.places(resource)) == has


@pytest.mark.parametrize("text", ["", "1", "/", "1/", "/2", "2/2", "-1/2", "a/b", "0/0"])
def test_a_share_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="want a share such as `0/10`"):
        Shard.parse(text)
