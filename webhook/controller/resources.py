"""Resources as rules name them, with their wildcards, and those that no webhook of ours may stand before."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from typing import Any, Final, NamedTuple

ANY: Final = "*"


class Pattern(NamedTuple):
    """A group and a resource of a rule: `packages`, `packages/status`, `*` (no subresource), `*/scale`, `*/*`."""

    group: str
    resource: str

    @property
    def parts(self) -> tuple[str, str]:
        """Resource and subresource; the API server takes `pods/*` for the pods themselves too."""
        name, _, subresource = self.resource.partition("/")
        return name, subresource

    @property
    def wild(self) -> bool:
        """Does it stand for resources that it does not name."""
        return ANY in (self.group, self.parts[0])

    def covers(self, other: Pattern) -> bool:
        """Does it fit everything that the other fits."""
        mine, theirs = (self.group, *self.parts), (other.group, *other.parts)
        return all(one in (ANY, two) for one, two in zip(mine, theirs, strict=True))

    def overlaps(self, other: Pattern) -> bool:
        """Is there anything that both fit."""
        mine, theirs = (self.group, *self.parts), (other.group, *other.parts)
        return all(ANY in (one, two) or one == two for one, two in zip(mine, theirs, strict=True))


NEVER: Final = (
    Pattern("admissionregistration.k8s.io", "*/*"),
    Pattern("authentication.k8s.io", "*/*"),
    Pattern("authorization.k8s.io", "*/*"),
    Pattern("coordination.k8s.io", "leases/*"),
    Pattern("", "events/*"),
    Pattern("events.k8s.io", "events/*"),
    Pattern("cozyguard.io", "*/*"),
)
"""What is never sent, whatever policies say.

The API server itself sends no webhook configurations and admission policies. Without reviews of tokens and of access,
without leases and events nothing in a cluster works, ourselves included, and none of them holds anything to judge. And
a policy that refused every change of policies could not be taken back.
"""


@cache
def never(pattern: Pattern) -> bool:
    """Does it name only what is never sent."""
    return any(one.covers(pattern) for one in NEVER)


def is_one_of(patterns: Iterable[Pattern], *, subresources: bool) -> str:
    """Write in CEL that a request is for one of these resources; "" if every request is.

    `subresources`: requests for subresources arrive too, so they have to be told apart.
    """
    by_group: dict[tuple[str, str], list[str]] = {}
    for pattern in sorted(patterns):
        name, subresource = pattern.parts
        by_group.setdefault((pattern.group, subresource), []).append(name)
    tests = [_test(group, subresource, names, subresources) for (group, subresource), names in sorted(by_group.items())]
    return "" if "" in tests else " || ".join(tests if len(tests) == 1 else (f"({test})" for test in tests))


def literal(value: Any) -> str:
    """Write a text, or a list of texts, in CEL, whose escapes are JSON's."""
    return json.dumps(value, ensure_ascii=False)


def _test(group: str, subresource: str, names: list[str], subresources: bool) -> str:
    tests = []
    if group != ANY:
        tests.append(f"request.resource.group == {literal(group)}")
    if ANY not in names:
        tests.append(f"request.resource.resource in {literal(names)}")
    if subresources and subresource != ANY:
        tests.append(f"request.?subResource.orValue('') == {literal(subresource)}")
    return " && ".join(tests)
