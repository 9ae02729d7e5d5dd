"""The file of what an audit has finished: what is whole in it counts, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from webhook.errors import UsageError
from webhook.runs.audit.state import Listing, State

OWNER = dict.fromkeys(("version", "cluster", "policies", "releases", "extent"), "")
PODS = Listing(120, [("a", "one"), ("b", "two")])
NODES = Listing(3, [])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "audit.state"


def kept(file: Path) -> dict[str, Listing]:
    return dict(State.open(file, OWNER).finished)


def test_what_is_kept_comes_back(file: Path) -> None:
    state = State.open(file, OWNER)
    assert not [*state.notices(), *state.keep("/pods", PODS), *state.keep("/nodes", NODES)]
    assert kept(file) == {"/pods": PODS, "/nodes": NODES}


def test_wherever_its_end_is_cut_off_what_was_whole_stays_and_can_be_added_to(file: Path) -> None:
    state = State.open(file, OWNER)
    list(state.keep("/pods", PODS))
    before = file.read_bytes()
    list(state.keep("/nodes", NODES))
    whole = file.read_bytes()
    for end in range(len(before), len(whole)):
        file.write_bytes(whole[:end])
        again = State.open(file, OWNER)
        assert dict(again.finished) == {"/pods": PODS}
        list(again.keep("/nodes", NODES))
        assert file.read_bytes() == whole


def test_a_list_of_which_much_has_to_be_looked_at_again_is_not_kept(file: Path) -> None:
    state = State.open(file, OWNER)
    list(state.keep("/few", Listing(49, [("a", "one")])))
    list(state.keep("/many", Listing(48, [("a", "one")])))
    assert list(kept(file)) == ["/few"]


def test_an_empty_file_is_begun(file: Path) -> None:
    file.touch()
    assert kept(file) == {}
    assert file.read_bytes().endswith(b'"}\n')


@pytest.mark.parametrize("content", ["no newline", "apiVersion: v1\n", "[]\n", "{}\n", '{"audit": 1, "began": ""}\n'])
def test_what_no_audit_has_written_is_refused_and_left_alone(file: Path, content: str) -> None:
    file.write_text(content)
    with pytest.raises(UsageError, match=r"audit\.state` was not written by an audit; name another file"):
        State.open(file, OWNER)
    assert file.read_text() == content


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"nowhere/state` cannot be used: no such file or directory"):
        State.open(tmp_path / "nowhere" / "state", OWNER)
    with pytest.raises(UsageError, match=r"cannot be used: is a directory"):
        State.open(tmp_path, OWNER)


def test_a_file_that_can_be_written_no_more_is_told_once_and_not_made_anew(file: Path) -> None:
    state = State.open(file, OWNER)
    file.unlink()
    told = [*state.keep("/pods", PODS), *state.keep("/nodes", NODES), *state.end(whole=False)]
    assert [one.message for one in told] == ["is kept no further: no such file or directory"]
    assert not file.exists()
