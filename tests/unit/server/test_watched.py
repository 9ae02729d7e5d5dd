import json
from pathlib import Path

import pytest

from webhook.errors import UsageError
from webhook.server.logs import Log
from webhook.server.watched import Watched, fingerprint


def number(path: Path) -> int:
    text = path.read_text()
    if not text.strip():
        raise UsageError("empty")
    return int(text)


def watched(path: Path) -> Watched[int]:
    path.write_text("1")
    return Watched("number", lambda _: number(path), lambda _: (path,), Log())


def test_a_changed_file_gives_a_new_value(tmp_path: Path) -> None:
    one = watched(tmp_path / "n")
    (tmp_path / "n").write_text("22")
    one.look()
    assert (one.current, one.generation, one.last_error) == (22, 2, None)


def test_an_unchanged_file_is_not_read_again(tmp_path: Path) -> None:
    one = watched(tmp_path / "n")
    one.look()
    assert one.generation == 1


def test_a_broken_file_leaves_the_last_good_value_and_says_why(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    one = watched(tmp_path / "n")
    (tmp_path / "n").write_text("")
    one.look()
    assert (one.current, one.generation, one.failures, one.last_error) == (1, 1, 1, "empty")
    line = json.loads(capfd.readouterr().err)
    assert (line["level"], line["what"], line["error"]) == ("error", "number", "empty")


def test_a_failure_that_nobody_foresaw_leaves_the_last_good_value_too(tmp_path: Path) -> None:
    one = watched(tmp_path / "n")
    (tmp_path / "n").write_text("not a number, but a secret")
    one.look()
    assert (one.current, one.failures, one.last_error) == (1, 1, "ValueError")


def test_a_broken_file_is_told_once_and_forgiven_when_mended(tmp_path: Path) -> None:
    one = watched(tmp_path / "n")
    (tmp_path / "n").write_text("")
    one.look()
    one.look()
    assert one.failures == 1
    (tmp_path / "n").write_text("333")
    one.look()
    assert (one.current, one.last_error) == (333, None)


def test_a_vanished_file_leaves_the_last_good_value(tmp_path: Path) -> None:
    one = watched(tmp_path / "n")
    (tmp_path / "n").unlink()
    one.look()
    assert (one.current, one.failures) == (1, 1)


def test_the_first_value_must_be_good(tmp_path: Path) -> None:
    (tmp_path / "n").write_text("")
    with pytest.raises(UsageError):
        Watched("number", lambda _: number(tmp_path / "n"), lambda _: (tmp_path / "n",), Log())


def test_a_file_added_to_a_folder_shows_in_its_fingerprint(tmp_path: Path) -> None:
    before = fingerprint([tmp_path])
    (tmp_path / "deeper").mkdir()
    assert fingerprint([tmp_path]) == before
    (tmp_path / "deeper" / "policy.yaml").touch()
    assert fingerprint([tmp_path]) != before


def test_a_mounted_volume_that_moves_its_link_shows_in_the_fingerprint(tmp_path: Path) -> None:
    for version in ("..v1", "..v2"):
        (tmp_path / version).mkdir()
        (tmp_path / version / "tls.crt").write_text(version)
    (tmp_path / "..data").symlink_to("..v1")
    (tmp_path / "tls.crt").symlink_to("..data/tls.crt")
    before = fingerprint([tmp_path / "tls.crt"])
    (tmp_path / "..new").symlink_to("..v2")
    (tmp_path / "..new").rename(tmp_path / "..data")
    assert fingerprint([tmp_path / "tls.crt"]) != before


def test_a_link_that_leads_back_up_ends_the_walk(tmp_path: Path) -> None:
    (tmp_path / "n").touch()
    (tmp_path / "again").symlink_to(tmp_path)
    assert len(fingerprint([tmp_path])) == 1


def test_what_changes_while_the_first_value_is_loaded_is_not_missed(tmp_path: Path) -> None:
    file = tmp_path / "n"
    file.write_text("1")

    def load(_: int | None) -> int:
        value = number(file)
        if value == 1:
            file.write_text("22")
        return value

    one = Watched("number", load, lambda _: (file,), Log())
    one.look()
    assert one.current == 22
