"""Which part of a cluster an audit is about: namespaces that somebody names, or one share of several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from zlib import crc32

from webhook.cluster.resources import Resource


@dataclass(frozen=True, slots=True)
class Shard:
    """One of `count` shares, from 0: a hash says whose a kind in a namespace is, so that nobody has to agree on it."""

    index: int = 0
    count: int = 1

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Read `2/10`. Raises ValueError."""
        index, slash, count = text.partition("/")
        if not (slash and index.isdecimal() and count.isdecimal() and int(index) < int(count)):
            raise ValueError(f"got `{text}`, want a share such as `0/10`, of those from `0/10` to `9/10`")
        return cls(int(index), int(count))

    def has(self, group: str, kind: str, namespace: str) -> bool:
        """Is it this share's; of kinds that are in no namespace it is ""."""
        return crc32(f"{group}/{kind}/{namespace}".encode()) % self.count == self.index


WHOLE: Final = Shard()


@dataclass(frozen=True, slots=True)
class Extent:
    """`namespaces` are those asked for, none for the whole cluster; `every` are those there are, to be shared out."""

    namespaces: tuple[str, ...] = ()
    shard: Shard = WHOLE
    every: tuple[str, ...] = ()

    def places(self, resource: Resource) -> Sequence[str]:
        """Say where to list a kind: in these namespaces, "" for everywhere at once."""
        if not resource.namespaced:
            places: Sequence[str] = () if self.namespaces else ("",)
        else:
            places = self.namespaces or (self.every if self.shard.count > 1 else ("",))
        if self.shard.count == 1:
            return places
        return [place for place in places if self.shard.has(resource.group, resource.kind, place)]

    def has(self, group: str, kind: str, namespace: str) -> bool:
        """Are such objects of this namespace, "" for those in none, part of it."""
        asked = not self.namespaces or namespace in self.namespaces
        return asked and self.shard.has(group, kind, namespace)
