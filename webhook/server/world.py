"""What reviews are decided with, all of it from files: policies, release, configuration, the cluster's objects."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from webhook.engine.context import DEFAULT_CONFIGURATION, Cluster
from webhook.engine.policyset import PolicySet
from webhook.model.configuration import Configuration
from webhook.model.release import Release
from webhook.server.settings import Settings
from webhook.sources import catalog, configuration, policies


@dataclass(frozen=True, slots=True)
class World:
    """All that a decision depends on but the request. `files` are the files and folders it came from."""

    policies: PolicySet
    release: Release
    configuration: Configuration
    cluster: Cluster
    files: tuple[Path, ...]
