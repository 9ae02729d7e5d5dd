"""Where the policies and the release catalogue that come with cozyguard are."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent


def bundled() -> Path:
    """Give the folder of the bundled policies: inside an installed package, else the checkout's `policies/`."""
    installed = _PACKAGE / "bundled"
    return installed if installed.is_dir() else _PACKAGE.parent / "policies"
