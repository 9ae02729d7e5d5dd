from __future__ import annotations

import json

import pytest

from tests.conformance.structures import FILE, structures
from tests.controlplane.plane import ControlPlane
from webhook.admission.structures import KUBERNETES


def test_the_shipped_structures_are_those_of_the_api_server(control_plane: ControlPlane) -> None:
    version = json.loads(control_plane.kubectl("version", "--output", "json"))["serverVersion"]["gitVersion"]
    if not version.startswith(f"v{KUBERNETES}."):
        pytest.skip(f"the API server is {version}; the file was made from {KUBERNETES}")
    assert structures(control_plane) == FILE.read_text(encoding="utf-8")
