"""helm, and what it renders most."""

from __future__ import annotations

import pytest

from tests.chart.helm import EVERYTHING, Helm, Rendered
from tests.controlplane.binaries import helm as find_helm


@pytest.fixture(scope="session")
def helm(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Helm:
    """Helm without a cluster."""
    capture = request.config.pluginmanager.getplugin("capturemanager")

    def say(text: str) -> None:
        with capture.global_and_fixture_disabled():
            print(f"\n{text}", flush=True)

    return Helm(find_helm(say=say), tmp_path_factory.mktemp("helm"))


@pytest.fixture(scope="session")
def default(helm: Helm) -> Rendered:
    """What nobody has set anything for."""
    return helm.template()


@pytest.fixture(scope="session")
def everything(helm: Helm) -> Rendered:
    """With all that can be switched on."""
    return helm.template(EVERYTHING)
