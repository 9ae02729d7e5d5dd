import io
from collections.abc import Callable, Iterable

import pytest

from webhook.model.decision import Change, Finding, FoundFix, Outcome
from webhook.model.policy import MatchResources, Policy
from webhook.model.result import Checked, Edit, Patch, Resource, Result, Setup, Silenced, Source
from webhook.report.style import Style
from webhook.report.summary import Summary
from webhook.report.text import TextReport

Make = Callable[..., Result]


def written(checked: Iterable[Checked], *, colour: bool = False, seconds: float = 0.21) -> str:
    out, summary = io.StringIO(), Summary()
    report = TextReport(out, Style(colour))
    report.begin(Setup("1.6", 52))
    for one in checked:
        summary.add(one)
        report.add(one)
    report.end(summary, seconds)
    return out.getvalue()


def of(*results: Result) -> str:
    return written([Checked(result.resource, (result,)) for result in results])


def test_a_finding_reads_like_a_compiler_error(result: Make) -> None:
    assert (
        of(result())
        == """\
gpu.yaml:7:12: error: variant `contaner` does not exist in Cozystack 1.6 [package-variant-known]
  7 |   variant: contaner
    |            ^^^^^^^^ did you mean `container`? (container, default, vgpu)
    = why: the operator finds no such variant
    = fix: replace with `container`
    = docs: https://example.org/variants

checked 1 object with 52 policies in 0.21 s: 1 denied
"""
    )


def test_a_line_that_must_not_be_shown_leaves_path_and_choices(result: Make) -> None:
    text = of(result(source=Source("gpu.yaml", 0, 7, 12, 8, None)))

    assert "    = at: spec.variant\n    = did you mean `container`? (container, default, vgpu)\n" in text
    assert "|" not in text


def test_what_was_not_checked_takes_one_line(result: Make) -> None:
    text = of(result(outcome=Outcome.SKIP, message="not checked: needs Package cozystack.gpu-operator"))

    assert text.splitlines() == [
        "gpu.yaml:7:12: skip: not checked: needs Package cozystack.gpu-operator [package-variant-known]",
        "checked 1 object with 52 policies in 0.21 s: 0 denied, 1 not checked",
    ]


def test_a_manifest_cannot_move_the_cursor_or_fake_a_line(result: Make) -> None:
    source = Source("a\x1b[2J.yaml", 0, 7, 3, 7, "  \x1b[1A: ok\u202e")
    text = of(result(message="bad \x1b[31m value\nchecked 1 object: 0 denied", value="\x1b", source=source))

    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "\n    checked 1 object: 0 denied\n" in text


def test_carets_stand_below_wide_and_escaped_characters(result: Make) -> None:
    lines = of(result(source=Source("a.yaml", 0, 3, 7, 2, "\t名前: x値値"), suggestion=None, allowed=())).splitlines()

    assert lines[1] == "  3 | \\t名前: x値値"
    assert lines[2] == "    |          ^^^^"


def test_many_allowed_values_are_cut(result: Make) -> None:
    text = of(result(suggestion=None, allowed=tuple(f"v{index}" for index in range(20))))

    assert "^^^^^^^^ allowed: v0, v1, v2, v3, v4, v5, v6, v7 and 12 more" in text


def test_a_mechanical_fix_without_words_is_said_in_words(result: Make) -> None:
    patch = ({"op": "replace", "path": "/spec/variant", "value": "container"}, {"op": "remove", "path": "/spec/x"})

    assert "= fix: set `/spec/variant` to `container`; remove `/spec/x`" in of(result(fix=FoundFix("", patch)))


def test_a_patch_shows_what_changes_and_why() -> None:
    resource = Resource("v1", "Pod", "ml", "infer")
    change = Change(Policy("tenant-label", MatchResources()), "GPU nodes are found by this label", ())
    edit = Edit(("spec", "values", "gpu"), before=("off",), after=("on",))
    patch = Patch(change, resource, Source("pod.yaml", 0, 4, 1), (edit,))

    assert (
        written([Checked(resource, patches=(patch,))])
        == """\
pod.yaml:4:1: patch: GPU nodes are found by this label [tenant-label]
    spec:
      values:
  -     gpu: "off"
  +     gpu: "on"

checked 1 object with 52 policies in 0.21 s: 0 denied, 1 patched
"""
    )


def test_the_last_line_counts_objects_denied_and_findings_of_other_kinds(result: Make) -> None:
    denied = Checked(Resource("v1", "Pod", "a", "b"), (result(), result(), result(outcome=Outcome.WARN)))
    warned = Checked(Resource("v1", "Pod", "a", "c"), (result(outcome=Outcome.WARN), result(outcome=Outcome.AUDIT)))
    silent = Checked(
        Resource("v1", "Pod", "a", "d"),
        (result(silenced=Silenced("comment", "as agreed")), result(outcome=Outcome.ERROR, ignored=True)),
    )

    text = written([denied, warned, silent])

    assert text.endswith(
        "checked 3 objects with 52 policies in 0.21 s: 1 denied, 2 warnings, 1 audit finding, 1 silenced\n"
    )
    assert "silenced error: variant" in text
    assert "= silenced by comment: as agreed" in text
    assert "ignored error: variant" in text


@pytest.mark.parametrize("outcome", list(Outcome))
def test_colour_changes_nothing_but_colour(result: Make, outcome: Outcome) -> None:
    plain = of(result(outcome=outcome))
    painted = written([Checked(result().resource, (result(outcome=outcome),))], colour=True)

    assert painted != plain
    for code in ("0", "1", "2", "1;31", "1;33", "1;36", "1;2", "1;32", "33", "34"):
        painted = painted.replace(f"\x1b[{code}m", "")
    assert painted == plain


def test_a_finding_without_a_place_names_the_file_alone() -> None:
    finding = Finding(Outcome.DENY, Policy("p", MatchResources()), "0", message="no")
    bare = Result(finding, Resource("v1", "Pod", "", "x"), Source("x.yaml"))

    assert of(bare).startswith("x.yaml: error: no [p]\n")
