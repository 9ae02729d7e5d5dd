import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
Write = Callable[[str, Any], str]
Package = Callable[[str], str]
Native = Callable[..., str]


GPU = """\
apiVersion: cozystack.io/v1alpha1
kind: Package
metadata:
  name: cozystack.gpu-operator
  annotations: {{{annotation}}}
spec:
  variant: homegrown{comment}
"""
ONLY = ("--policy", "package-*")


def manifest(annotation: str = "", comment: str = "") -> str:
    return GPU.format(annotation=annotation, comment=comment)


@pytest.mark.parametrize(
    "text",
    [
        manifest(annotation="cozyguard.io/ignore: package-variant-known=ours"),
        manifest(annotation='cozyguard.io/ignore: "other=x; package-variant-known/variant=ours"'),
        manifest(comment=" # cozyguard:ignore package-variant-known: ours"),
        manifest().replace("spec:\n", "spec:\n  # cozyguard:ignore package-variant-known: ours\n"),
    ],
)
def test_a_finding_is_silenced_with_a_reason_and_counted(cozyguard: Run, write: Write, text: str) -> None:
    answer = cozyguard("check", write("gpu.yaml", text), *ONLY)

    assert answer.code == 0
    assert "silenced by" in answer.out
    assert ": ours\n" in answer.out
    assert answer.out.endswith("0 denied, 1 silenced\n")


@pytest.mark.parametrize(
    "text",
    [
        manifest(annotation="cozyguard.io/ignore: package-variant-known"),
        manifest(comment=" # cozyguard:ignore package-variant-known"),
    ],
)
def test_without_a_reason_it_counts_and_that_is_said(cozyguard: Run, write: Write, text: str) -> None:
    answer = cozyguard("check", write("gpu.yaml", text), *ONLY)

    assert answer.code == 1
    assert "note: the ignore of `package-variant-known` has no reason and is not honoured" in answer.err


def test_a_value_that_looks_like_a_comment_silences_nothing(cozyguard: Run, write: Write) -> None:
    text = manifest().replace("homegrown", '"x # cozyguard:ignore package-variant-known: no"')

    assert cozyguard("check", write("gpu.yaml", text), *ONLY).code == 1


def test_a_baseline_accepts_what_is_there_and_nothing_new(
    cozyguard: Run, write: Write, golden: Callable[[str, str], None]
) -> None:
    file = write("gpu.yaml", manifest())

    written = cozyguard("check", file, *ONLY, "--write-baseline", "known.json")
    assert (written.code, written.err) == (0, "wrote 1 finding to known.json\n")
    golden("check/baseline.json", Path("known.json").read_text())

    again = cozyguard("check", file, *ONLY, "--baseline", "known.json", "-o", "json")
    assert again.code == 0
    assert again.document["summary"]["silenced"] == 1

    moved = write(
        "other.yaml", "# moved, and with another fault of the same kind\n" + manifest().replace("homegrown", "odd")
    )
    assert cozyguard("check", moved, *ONLY, "--baseline", "known.json").code == 0

    new = write("gpu.yaml", manifest().replace("cozystack.gpu-operator", "cozystack.hami"))
    assert cozyguard("check", new, *ONLY, "--baseline", "known.json").code == 1


def test_an_entry_that_is_no_longer_found_is_said_to_be_stale(cozyguard: Run, write: Write) -> None:
    cozyguard("check", write("gpu.yaml", manifest()), *ONLY, "--write-baseline", "known.json")

    fixed = cozyguard(
        "check", write("gpu.yaml", manifest().replace("homegrown", "vgpu")), *ONLY, "--baseline", "known.json"
    )
    elsewhere = cozyguard(
        "check", write("x.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\n"), *ONLY, "--baseline", "known.json"
    )

    assert "package-variant-known/variant of Package cozystack.gpu-operator at spec.variant" in fixed.err
    assert elsewhere.err == ""


@pytest.mark.parametrize("content", ["", "[]", '{"version": 2}', '{"version": 1, "findings": [{}]}', "\x00"])
def test_a_file_that_is_no_baseline_is_refused(cozyguard: Run, write: Write, content: str) -> None:
    answer = cozyguard("check", write("gpu.yaml", manifest()), "--baseline", write("known.json", content))

    assert answer.code == 2
    assert "known.json" in answer.err


def test_a_new_baseline_keeps_what_an_old_one_accepted(cozyguard: Run, write: Write) -> None:
    file = write("gpu.yaml", manifest())
    cozyguard("check", file, *ONLY, "--write-baseline", "a.json")
    cozyguard("check", file, *ONLY, "--baseline", "a.json", "--write-baseline", "b.json")

    assert json.loads(Path("a.json").read_text()) == json.loads(Path("b.json").read_text())
