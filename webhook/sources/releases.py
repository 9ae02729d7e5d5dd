"""Which release holds: the one that somebody names, else what the cluster says, else the newest that is known."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any, Final

from webhook.cel.errors import NotKnown
from webhook.engine.context import Cluster
from webhook.model.release import Minor, Release
from webhook.model.request import Object
from webhook.sources import catalog

PACKAGE_SOURCE: Final = "PackageSource"
_PACKAGE_SOURCES: Final = "cozystack.io/v1alpha1"

_OPERATOR: Final = ("apps/v1", "Deployment", "cozy-system", "cozystack-operator")
"""Its image's tag is the release; the ConfigMap `cozystack-version` holds the number of a migration."""

_VERSION: Final = "COZYSTACK_VERSION"
"""From 1.6 on, where the installer sets it; the tag may trail it by a patch."""


def in_force(wanted: Minor | None, cluster: Cluster, package_sources: Iterable[Object]) -> tuple[Release, str | None]:
    """Give the release's catalogue entry with the PackageSources at hand laid over it, and a warning if it stands in.

    Raises UsageError for a release that the catalogue cannot know.
    """
    minor = wanted or detect(cluster)
    release, warning = catalog.nearest(minor) if minor else (catalog.newest(), None)
    return catalog.overlay(release, package_sources), warning


def detect(cluster: Cluster) -> Minor | None:
    """Read the release off the operator of the cluster; None where it is not there, or does not tell."""
    try:
        operator = cluster.get(*_OPERATOR)
    except NotKnown:
        return None
    for version in _versions(operator):
        with suppress(ValueError):
            return Minor.parse(version)
    return None


def package_sources(cluster: Cluster) -> list[Object]:
    """Give the PackageSources of a cluster; none where they are not known."""
    try:
        return cluster.list(_PACKAGE_SOURCES, PACKAGE_SOURCE, "", None)
    except NotKnown:
        return []


def _versions(operator: Any) -> Iterable[str]:
    """Yield what may be the version, the best first: the variable, then the tag of the image."""
    containers = _list(_map(_map(_map(_map(operator)["spec"])["template"])["spec"])["containers"])
    for container in map(_map, containers):
        yield from (str(_map(one)["value"]) for one in _list(container["env"]) if _map(one)["name"] == _VERSION)
    for container in map(_map, containers):
        yield str(container["image"]).partition("@")[0].rpartition(":")[2]


class _Lenient(dict[str, Any]):
    def __missing__(self, key: str) -> None:
        return None


def _map(value: Any) -> _Lenient:
    return _Lenient(value if isinstance(value, dict) else {})


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def is_package_source(obj: Object) -> bool:
    """Does it say what a package of the cluster offers."""
    return obj.get("kind") == PACKAGE_SOURCE and str(obj.get("apiVersion")).startswith("cozystack.io/")
