"""The release catalogue: what each Cozystack release ships, and which entry stands for a cluster's release.

The shape of an entry and the source of each fact are in `docs/catalogue.md`.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Final

from webhook.errors import UsageError
from webhook.model.release import Minor, Release
from webhook.model.request import Object
from webhook.sources.bundled import bundled

GPU_OPERATOR: Final = "cozystack.gpu-operator"


@cache
def releases() -> tuple[Minor, ...]:
    """List the releases that have an entry, oldest first."""
    return tuple(sorted(Minor.parse(file.stem) for file in (bundled() / "catalog").glob("*.yaml")))


@cache
def load(minor: Minor) -> Release:
    """Read a release's entry. Raises UsageError when there is none."""
    import yaml_rs  # here: the entry is our own, and needs neither kubectl's rules nor positions

    if minor not in releases():
        known = f"{releases()[0]} to {releases()[-1]}"
        raise UsageError(f"got release `{minor}`, want one of the catalogue's, {known}")
    file = bundled() / "catalog" / f"{minor}.yaml"
    facts: Any = yaml_rs.loads(file.read_text(encoding="utf-8"))
    return Release(minor, facts, documented_only=bool(facts["documentedOnly"]))


def read(file: Path) -> Release:
    """Read an entry that somebody has written, to look at it. Raises DocumentErrors, UsageError when it is none."""
    from webhook.sources import yaml  # here: what ships needs no positions

    documents = yaml.read(file.read_bytes(), str(file))
    facts: Any = documents[0].value if len(documents) == 1 else None
    with suppress(ValueError):
        match facts:
            case {"version": str() as version, "source": str(), "gpu": dict(), "packages": dict()}:
                return Release(Minor.parse(version), facts, documented_only=bool(facts.get("documentedOnly")))
    raise UsageError(f"`{file}` is no entry of the catalogue; `cozyguard catalog build` writes one")


def newest() -> Release:
    """Give the newest release whose entry was read from a released tag."""
    return next(entry for entry in map(load, reversed(releases())) if not entry.documented_only)


def nearest(minor: Minor) -> tuple[Release, str | None]:
    """Give the entry for a cluster's release, and a warning where another release stands in for it.

    A release that is newer than all entries is taken for the newest of them. Raises UsageError for one that is older,
    or missing in between.
    """
    last = releases()[-1]
    if minor > last:
        return load(last), f"release {minor} is newer than the catalogue: treated as {last}, the newest it knows"
    return load(minor), None


def overlay(release: Release, package_sources: Iterable[Object]) -> Release:
    """Lay the PackageSources at hand over an entry: each replaces all that the entry says of its package."""
    packages = release.facts["packages"] | {
        name: {"variants": variants}
        for name, variants in map(variants_of, package_sources)
        if name and variants is not None
    }
    if packages == release.facts["packages"]:
        return release
    gpu = release.facts["gpu"] | {"packageVariants": list(packages[GPU_OPERATOR]["variants"])}
    return replace(release, facts=release.facts | {"packages": packages, "gpu": gpu})


def upgraded(current: Release, minor: Minor) -> tuple[Release, str | None]:
    """Give the entry that holds after an upgrade, and a warning as `nearest` does.

    An upgrade brings Cozystack's own PackageSources with it, whatever the cluster has of them now; only packages that
    Cozystack does not ship stay. Raises UsageError for a release that is not known.
    """
    entry, warning = nearest(minor)
    shipped = nearest(current.version)[0].facts["packages"]
    own = {name: package for name, package in current.facts["packages"].items() if name not in shipped}
    return replace(entry, facts=entry.facts | {"packages": own | entry.facts["packages"]}), warning


def variants_of(source: Object) -> tuple[str, dict[str, list[str]] | None]:
    """Read name and variants of a PackageSource; None where it has no list of them. Malformed parts are passed over."""
    metadata, spec = source.get("metadata"), source.get("spec")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    listed = spec.get("variants") if isinstance(spec, dict) else None
    if not isinstance(listed, list):
        return str(name or ""), None
    return str(name or ""), {
        name: [component["name"] for component in _mappings(variant.get("components")) if "name" in component]
        for variant in _mappings(listed)
        if isinstance(name := variant.get("name"), str)
    }


def _mappings(value: Any) -> list[dict[str, Any]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []
