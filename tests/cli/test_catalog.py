from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
Write = Callable[[str, Any], str]
Cozystack = Callable[..., str]
Golden = Callable[[str, str], None]


def test_an_entry_is_built_from_a_tag(cozyguard: Run, cozystack: Cozystack, golden: Golden) -> None:
    answer = cozyguard("catalog", "build", "--from", cozystack(), "--ref", "v1.9.3")

    assert (answer.code, answer.err) == (0, "")
    golden("catalog/entry.yaml", answer.out)


def test_what_cannot_be_read_is_told_and_the_rest_is_still_written(cozyguard: Run, cozystack: Cozystack) -> None:
    folder = cozystack({"packages/apps/kubernetes/templates/cluster.yaml": "a: b\n"})
    answer = cozyguard("catalog", "build", "--from", folder, "--ref", "v1.9.3")

    assert answer.code == 2
    assert answer.err == (
        "gpu.tenantNodes: not read: packages/apps/kubernetes/templates/cluster.yaml: "
        "got none, want one kind of bootstrap template\n"
    )
    assert "\nnotRead: [gpu.tenantNodes]\n" in answer.out
    assert "tenantNodes:" not in answer.out


def test_a_branch_needs_to_be_told_its_release(cozyguard: Run, cozystack: Cozystack) -> None:
    folder = cozystack()
    answer = cozyguard("catalog", "build", "--from", folder, "--ref", "HEAD")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err == "error: `HEAD` does not tell a release: give it with `--release`\n"

    answer = cozyguard("catalog", "build", "--from", folder, "--ref", "HEAD", "--release", "1.7")
    assert answer.code == 0
    assert answer.out.startswith('version: "1.7"\nsource: HEAD\n')


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["build"], "error: nothing to read: give a repository of cozystack with `--from` and a tag with `--ref`\n"),
        (["build", "--from", ".", "--ref", "v1.6.2"], "error: `.` is no git repository; `git clone` makes one\n"),
        (["diff", "1.5"], "error: the following arguments are required: B\nsee `cozyguard catalog diff --help`\n"),
        (
            ["diff", "1.5", "none.yaml"],
            "error: got `none.yaml`, want a release such as `1.6`, or the file of an entry\n",
        ),
        (["diff", "0.9", "1.6"], "error: got release `0.9`, want one of the catalogue's, 1.0 to 1.7\n"),
        (["biuld"], "error: unknown command `catalog biuld`; did you mean `catalog build`?\nsee `cozyguard --help`\n"),
    ],
)
def test_what_cannot_be_done_is_said(cozyguard: Run, argv: list[str], message: str) -> None:
    answer = cozyguard("catalog", *argv)

    assert (answer.code, answer.out, answer.err) == (2, "", message)


def test_the_word_alone_lists_its_commands(cozyguard: Run) -> None:
    answer = cozyguard("catalog", "--help")

    assert answer.code == 0
    assert "catalog diff" in answer.out
    assert "serve" not in answer.out
    assert cozyguard("catalog").code == 2


def test_two_releases_are_compared_in_words(cozyguard: Run, golden: Golden) -> None:
    answer = cozyguard("catalog", "diff", "1.3", "v1.4.6")

    assert (answer.code, answer.err) == (0, "")
    golden("catalog/difference.txt", answer.out)


def test_the_same_in_json(cozyguard: Run) -> None:
    document = cozyguard("catalog", "diff", "1.4", "1.5", "-o", "json").document

    assert document["version"] == 1
    assert (document["from"], document["to"]) == (
        {"release": "1.4", "source": "v1.4.6"},
        {"release": "1.5", "source": "v1.5.4"},
    )
    assert {
        "change": "changed",
        "path": "gpu.bundleVariants",
        "before": None,
        "after": ["default", "vgpu"],
        "text": "gpu.bundleVariants: null → [default, vgpu]",
    } in document["changes"]


def test_an_entry_that_was_built_can_be_compared(
    cozyguard: Run, cozystack: Cozystack, tmp_path: Path, write: Write
) -> None:
    (tmp_path / "new.yaml").write_text(cozyguard("catalog", "build", "--from", cozystack(), "--ref", "v1.9.3").out)

    answer = cozyguard("catalog", "diff", "new.yaml", "new.yaml")
    assert answer.out.splitlines()[1:] == ["  nothing that the catalogue knows of changes"]
    assert cozyguard("catalog", "diff", "new.yaml", "new.yaml", "-o", "json").document["changes"] == []

    answer = cozyguard("catalog", "diff", "1.6", write("other.yaml", {"version": "1.9"}))
    assert (answer.code, answer.out) == (2, "")
    assert answer.err == "error: `other.yaml` is no entry of the catalogue; `cozyguard catalog build` writes one\n"
