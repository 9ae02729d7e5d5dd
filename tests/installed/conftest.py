"""The chart, installed on a control plane of its own, with the processes that its pods would run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.chart.helm import Helm
from tests.controlplane.binaries import find
from tests.controlplane.binaries import helm as find_helm
from tests.controlplane.plane import ControlPlane
from tests.installed.installation import Installation


@pytest.fixture(scope="session")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """Two replicas that are in force."""
    folder = tmp_path_factory.mktemp("installed")
    with ControlPlane(find()) as plane:
        helm = Helm(find_helm(), folder / "helm", plane.kubeconfig)
        with Installation(plane, helm, folder) as installed:
            yield installed


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path
