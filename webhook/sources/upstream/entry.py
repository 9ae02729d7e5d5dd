"""A release's whole catalogue entry, read from Cozystack's source tree at a ref."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from webhook.model import path
from webhook.model.release import Minor
from webhook.sources.catalog import GPU_OPERATOR
from webhook.sources.checkout import Checkout
from webhook.sources.upstream.gpu import gpu
from webhook.sources.upstream.packages import packages


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry as `policies/catalog/` has it; `not_read` says why it lacks what `notRead` names: path → reason."""

    facts: dict[str, Any]
    not_read: dict[str, str]


def build(checkout: Checkout, release: Minor) -> Entry:
    """Read every fact of a release. What cannot be read is left out and named, never guessed."""
    found = packages(checkout)
    about_gpus = gpu(checkout, found.read.get(GPU_OPERATOR))
    not_read = {
        path.render((part, name)): reason
        for part, facts in (("gpu", about_gpus), ("packages", found))
        for name, reason in facts.not_read.items()
    }
    head = {"version": str(release), "source": checkout.ref, "documentedOnly": []}
    if not_read:
        head["notRead"] = list(not_read)
    listed = {
        name: {"variants": dict(sorted(found.read[name].items(), key=_default_first))} for name in sorted(found.read)
    }
    return Entry({**head, "gpu": about_gpus.read, "packages": listed}, not_read)


def _default_first(variant: tuple[str, list[str]]) -> tuple[bool, str]:
    return variant[0] != "default", variant[0]
