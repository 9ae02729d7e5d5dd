"""`cozyguard audit`, as far as it goes without a cluster; the rest is in `tests/cluster`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--from=1.6"], "`--from` is for an upgrade: give the release that it leads to with `--to`"),
        (["--report=policyreport", "--policy=a"], "`--policy` does not go with `--report`"),
        (["--report=openreports", "--skip=a"], "`--skip` does not go with `--report`"),
        (["--report=openreports", "--severity=high"], "`--severity` does not go with `--report`"),
        (["--report=openreports", "--to=1.7"], "`--to` does not go with `--report`"),
        (["--output=policyreport", "--to=1.7"], "`--output policyreport` does not go with `--to`"),
        (["--output=junit", "--to=1.7"], "`--output junit` does not go with `--to`"),
        (["--report=polcyreport"], "got `polcyreport`, want policyreport or openreports; did you mean `policyreport`?"),
        (["--output=yaml"], "got `yaml`, want text, json, junit, tap, html, policyreport or openreports"),
        (["--shard=3/3"], "got `3/3`, want a share such as `0/10`, of those from `0/10` to `9/10`"),
        (["--shard=1"], "got `1`, want a share"),
        (["--parallel=0"], "got `0`, want a whole number from 1 up"),
    ],
)
def test_flags_that_make_no_sense_are_refused(cozyguard: Any, flags: list[str], words: str) -> None:
    answer = cozyguard("audit", *flags)
    assert (answer.code, answer.out) == (2, "")
    assert words in answer.err


def test_credentials_that_cannot_be_read_are_named(cozyguard: Any, tmp_path: Path) -> None:
    answer = cozyguard("audit", "--kubeconfig", str(tmp_path / "nothing"))
    assert answer.code == 2
    assert "nothing" in answer.err


def test_without_a_kubeconfig_it_says_what_there_is_to_give(cozyguard: Any) -> None:
    answer = cozyguard("audit")
    assert answer.code == 2
    assert "outside a cluster name a kubeconfig" in answer.err
