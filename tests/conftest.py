"""What all tests share."""

import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from tests.controlplane.binaries import find
from tests.controlplane.plane import ControlPlane
from tests.faults import table

GOLDEN = Path(__file__).parent / "golden"
COZYSTACK = Path(__file__).parent / "data" / "cozystack"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write golden files instead of comparing")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    table.show(terminalreporter, config)


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compare a text with a file below `tests/golden`, or write it there with `--update-golden`."""

    def compare(name: str, text: str) -> None:
        file = GOLDEN / name
        if request.config.getoption("--update-golden"):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        assert text == file.read_text(encoding="utf-8")

    return compare


@pytest.fixture
def cozystack(tmp_path: Path) -> Callable[..., str]:
    """Make a bare git repository with a small tree in Cozystack's layout, tagged v1.9.3; gives its folder.

    `changed` is path → text, or None for a file that is to be missing.
    """

    def make(changed: Mapping[str, str | None] | None = None) -> str:
        tree, bare = tmp_path / "tree", tmp_path / "cozystack.git"
        shutil.copytree(COZYSTACK, tree)
        for path, text in (changed or {}).items():
            (tree / path).unlink(missing_ok=True)
            if text is not None:
                (tree / path).write_text(text, encoding="utf-8")
        git = ["git", "-C", str(tree), "-c", "user.name=a", "-c", "user.email=a@example.org"]
        for line in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "one"], ["tag", "v1.9.3"]):
            subprocess.run([*git, *line], check=True)
        subprocess.run(["git", "clone", "-q", "--bare", str(tree), str(bare)], check=True)
        return str(bare)

    return make


@pytest.fixture(scope="session")
def control_plane(request: pytest.FixtureRequest) -> Iterator[ControlPlane]:
    """A control plane that starts with the first test that needs it. Fails, and says how to get one, without."""
    capture = request.config.pluginmanager.getplugin("capturemanager")

    def say(text: str) -> None:
        with capture.global_and_fixture_disabled():
            print(f"\n{text}", flush=True)

    with ControlPlane(find(say=say)) as plane:
        yield plane
