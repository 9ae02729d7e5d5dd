"""What the page shows of installed policies and exceptions is what kubectl printed in `tests/cluster/test_status.py`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "policies.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["policy-invalid", "exception-of-nothing"])
def test_the_page_shows_what_kubectl_prints(name: str) -> None:
    text = (ROOT / "tests" / "golden" / "cluster" / f"{name}.txt").read_text(encoding="utf-8")
    wide = text.split("\n\n")[1]
    assert re.search(re.escape(wide).replace("…\\ ", "[0-9a-z]+\\ "), PAGE)
