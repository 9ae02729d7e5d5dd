import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
Write = Callable[[str, Any], str]

PACKAGE = """\
# the GPU operator
apiVersion: cozystack.io/v1alpha1
kind: Package
metadata: {name: cozystack.gpu-operator}   # one for the cluster
spec:
  # which one
  variant: 'Container'  # here
"""
ONLY = ("--policy", "package-variant-known")


def rules(
    *validations: dict[str, Any], sensitive: tuple[str, ...] = (), resource: str = "configmaps"
) -> dict[str, Any]:
    """Policies named a, b, …, each with one of these validations."""
    match = {"apiGroups": ["*"], "apiVersions": ["*"], "resources": [resource], "operations": ["*"]}
    items = [
        {
            "apiVersion": "cozyguard.io/v1alpha1",
            "kind": "AdmissionPolicy",
            "metadata": {"name": name},
            "spec": {
                "title": name,
                "severity": "high",
                "sensitiveFields": list(sensitive),
                "matchConstraints": {"resourceRules": [match]},
                "validations": [validation],
            },
        }
        for name, validation in zip("abc", validations, strict=False)
    ]
    return {"apiVersion": "v1", "kind": "List", "items": items}


def wants(expression: str, patch: str, **more: Any) -> dict[str, Any]:
    return {"expression": expression, "message": "not so", "fix": {"text": "mend it", "patchExpression": patch}, **more}


DATA_IS_ONE = wants("object.data.x == '1'", "[JSONPatch{op: 'replace', path: '/data/x', value: '1'}]", field="data.x")


def test_a_fix_changes_the_place_that_was_wrong_and_nothing_else(cozyguard: Run, write: Write, tmp_path: Path) -> None:
    file = write("gpu.yaml", PACKAGE)

    answer = cozyguard("check", file, "--fix", *ONLY)

    assert answer.code == 0
    assert (tmp_path / file).read_text() == PACKAGE.replace("'Container'", "'container'")
    assert answer.err == "gpu.yaml:7:12: fixed: set spec.variant to container [package-variant-known]\n"
    assert "0 denied, 1 fixed" in answer.out


def test_a_finding_says_that_it_can_be_fixed(cozyguard: Run, write: Write) -> None:
    answer = cozyguard("check", write("gpu.yaml", PACKAGE), *ONLY)

    assert "= fix: set spec.variant to container (--fix does it)\n" in answer.out


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("last", ["", "\n", "\n---\n", "\n---\nspec: {broken\n"])
def test_line_breaks_marks_and_other_documents_stay(
    cozyguard: Run, write: Write, tmp_path: Path, ending: str, mark: str, last: str
) -> None:
    text = f"{mark}---\n{PACKAGE.rstrip()}{last}".replace("\n", ending)

    cozyguard("check", write("gpu.yaml", text), "--fix", *ONLY)

    assert (tmp_path / "gpu.yaml").read_bytes().decode() == text.replace("'Container'", "'container'")


def test_a_diff_is_shown_and_nothing_written(cozyguard: Run, write: Write, tmp_path: Path) -> None:
    file = write("gpu.yaml", PACKAGE)

    answer = cozyguard("check", file, "--fix", "--diff", *ONLY)

    assert (tmp_path / file).read_text() == PACKAGE
    assert answer.out.splitlines() == [
        "--- gpu.yaml",
        "+++ gpu.yaml",
        "@@ -4,4 +4,4 @@",
        " metadata: {name: cozystack.gpu-operator}   # one for the cluster",
        " spec:",
        "   # which one",
        "-  variant: 'Container'  # here",
        "+  variant: 'container'  # here",
    ]
    assert "1 fixed" in answer.err


def test_standard_input_comes_out_mended(cozyguard: Run) -> None:
    answer = cozyguard("check", "-", "--fix", *ONLY, stdin=PACKAGE)

    assert answer.out == PACKAGE.replace("'Container'", "'container'")
    assert "checked 1 object" in answer.err


def test_standard_input_has_a_diff_too(cozyguard: Run) -> None:
    answer = cozyguard("check", "-", "--fix", "--diff", *ONLY, stdin=PACKAGE)

    assert answer.out.startswith("--- <stdin>\n+++ <stdin>\n")
    assert "+  variant: 'container'  # here\n" in answer.out


def test_a_diff_without_a_last_line_break_can_be_applied(cozyguard: Run) -> None:
    answer = cozyguard("check", "-", "--fix", "--diff", *ONLY, stdin=PACKAGE.rstrip())

    assert answer.out.endswith("# here\n\\ No newline at end of file\n")


def test_what_needs_nothing_comes_through_as_it_is(cozyguard: Run, write: Write, tmp_path: Path) -> None:
    text = "a: 1\n# no object\n"
    before = (tmp_path / write("x.yaml", text)).stat()

    assert cozyguard("check", "x.yaml", "--fix").code == 2
    assert (tmp_path / "x.yaml").stat().st_ino == before.st_ino
    assert cozyguard("check", "-", "--fix", stdin=text).out == text


def test_permissions_and_links_stay(cozyguard: Run, write: Write, tmp_path: Path) -> None:
    target = tmp_path / write("real/gpu.yaml", PACKAGE)
    target.chmod(0o640)
    (tmp_path / "link.yaml").symlink_to(target)

    cozyguard("check", "link.yaml", "--fix", *ONLY)

    assert (tmp_path / "link.yaml").is_symlink()
    assert "'container'" in target.read_text()
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert [each.name for each in target.parent.iterdir()] == ["gpu.yaml"]


def test_several_objects_and_lists_are_mended(cozyguard: Run, write: Write, tmp_path: Path) -> None:
    one = '{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "%s"}, "data": {"x": "0"}}'
    text = f'{{"apiVersion": "v1", "kind": "List", "items": [\n  {one % "a"},\n  {one % "b"}\n]}}\n{one % "c"}\n'
    policy = write("rules.json", rules(DATA_IS_ONE))

    answer = cozyguard("check", write("all.json", text), "--policies", policy, "--fix")

    assert answer.code == 0
    assert (tmp_path / "all.json").read_text() == text.replace('"0"', '"1"')


def test_items_of_a_typed_list_are_mended(cozyguard: Run, write: Write, tmp_path: Path) -> None:
    text = "apiVersion: v1\nkind: ConfigMapList\nitems:\n- metadata: {name: a}\n  data:\n    x: 0   # text\n"
    policy = write("rules.json", rules(DATA_IS_ONE))

    assert cozyguard("check", write("all.yaml", text), "--policies", policy, "--fix").code == 0
    assert (tmp_path / "all.yaml").read_text() == text.replace("x: 0 ", 'x: "1" ')


def test_each_element_of_a_list_is_taken_out(cozyguard: Run, write: Write, tmp_path: Path) -> None:
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  finalizers:\n  - x  # 1\n  - z  # 2\n  - x  # 3\n  - x\n"
    each = {"in": "object.metadata.finalizers", "as": "one", "at": "i"}
    take = "[JSONPatch{op: 'remove', path: '/metadata/finalizers/' + string(i)}]"
    policy = write("rules.json", rules({**wants("one != 'x'", take, field="metadata.finalizers[@]"), "forEach": each}))

    answer = cozyguard("check", write("a.yaml", text), "--policies", policy, "--fix")

    assert (answer.code, "3 fixed" in answer.out) == (0, True)
    assert (tmp_path / "a.yaml").read_text() == text.replace("  - x  # 1\n", "").replace("  - x  # 3\n  - x\n", "")


def test_two_policies_that_want_opposite_things_do_not_undo_each_other(cozyguard: Run, write: Write) -> None:
    other = wants("object.data.x != '1'", "[JSONPatch{op: 'replace', path: '/data/x', value: '2'}]", field="data.x")
    policy = write("rules.json", rules(DATA_IS_ONE, other))
    file = write("a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {x: '0'}\n")

    answer = cozyguard("check", file, "--policies", policy, "--fix")

    assert answer.code == 1
    assert "a.yaml:4:11: not fixed: mend it [a]: `b` would not hold any more\n" in answer.err


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ("data: &d {x: '0'}\nmore: *d\n", "`data` is used again as the alias `*d`"),
        ("more: &d {x: '0'}\ndata: *d\n", "`data` stands there as the alias `*d`"),
        ("more: &d {x: '0'}\ndata: {<<: *d}\n", "`data.x` comes from the merge key `<<`"),
        ("data: {x: '5', x: '0'}\n", "the key `x` stands there twice"),
    ],
)
def test_what_cannot_be_changed_in_one_place_is_left(
    cozyguard: Run, write: Write, tmp_path: Path, data: str, why: str
) -> None:
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n" + data
    policy = write("rules.json", rules(DATA_IS_ONE))

    answer = cozyguard("check", write("a.yaml", text), "--policies", policy, "--fix")

    assert f"not fixed: mend it: {why} [a]" in answer.err or f"not fixed: mend it [a]: {why}" in answer.err
    assert (tmp_path / "a.yaml").read_text() == text
    assert answer.code


def test_silenced_findings_are_not_fixed(cozyguard: Run, write: Write, tmp_path: Path) -> None:
    text = PACKAGE.replace("# here", "# cozyguard:ignore package-variant-known: our own fork")

    answer = cozyguard("check", write("gpu.yaml", text), "--fix", *ONLY)

    assert (answer.code, answer.err) == (0, "")
    assert (tmp_path / "gpu.yaml").read_text() == text


def test_findings_of_a_baseline_are_not_fixed(cozyguard: Run, write: Write, tmp_path: Path) -> None:
    write("gpu.yaml", PACKAGE)
    cozyguard("check", "gpu.yaml", *ONLY, "--write-baseline", "known.json")

    assert cozyguard("check", "gpu.yaml", "--fix", *ONLY, "--baseline", "known.json").code == 0
    assert (tmp_path / "gpu.yaml").read_text() == PACKAGE


def test_a_diff_never_shows_a_secret(cozyguard: Run, write: Write) -> None:
    patch = "[JSONPatch{op: 'add', path: '/metadata/labels', value: {'a': 'b'}}]"
    rule = wants("has(object.metadata.labels)", patch, field="metadata")
    file = write("s.yaml", "apiVersion: v1\nkind: Secret\nmetadata:\n  name: a\ndata: {key: aHVudGVyMg==}\n")

    answer = cozyguard("check", file, "--policies", write("r.json", rules(rule, resource="secrets")), "--fix", "--diff")

    assert "aHVudGVyMg" not in answer.out + answer.err


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--diff"], "`--diff` shows what `--fix` would write: give both"),
        (["--fix", "--to", "1.6"], "`--fix` does not go with `--to`"),
        (["--fix", "--write-baseline", "x"], "`--fix` does not go with `--write-baseline`"),
        (["--fix", "--operation", "DELETE"], "it does not go with `--operation DELETE`"),
    ],
)
def test_flags_that_do_not_go_together_are_refused(cozyguard: Run, flags: list[str], said: str) -> None:
    answer = cozyguard("check", "x.yaml", *flags)

    assert answer.code == 2
    assert said in answer.err


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write everything")
def test_a_file_that_cannot_be_written_is_named(cozyguard: Run, write: Write, tmp_path: Path) -> None:
    (tmp_path / write("gpu.yaml", PACKAGE)).chmod(0o400)

    answer = cozyguard("check", "gpu.yaml", "--fix", *ONLY)

    assert answer.code == 2
    assert "cannot write `gpu.yaml`: it is read-only" in answer.err


def test_what_is_moved_gets_the_parents_that_it_lacks(cozyguard: Run, write: Write, tmp_path: Path) -> None:
    patch = "[JSONPatch{op: 'move', from: '/data', path: '/metadata/annotations/x'}]"
    policy = write("rules.json", rules(wants("!has(object.data)", patch, field="data")))
    file = write("a.yaml", "apiVersion: v1\nkind: ConfigMap\ndata: v  # here\nmetadata:\n  name: a  # its name\n")

    assert cozyguard("check", file, "--policies", policy, "--fix").code == 0
    assert (tmp_path / file).read_text() == (
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a  # its name\n  annotations:\n    x: v\n"
    )
