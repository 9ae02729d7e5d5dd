from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webhook.model.path import Path, parse
from webhook.sources.yaml import Document, read

PACKAGE = """\
# a package
apiVersion: cozystack.io/v1alpha1
kind: Package
metadata:
  name: cozystack.gpu-operator
  labels: {"a.b/c": x, y: "z"}
spec:
  variant: contaner  # cozyguard:ignore package-variant-known we build it
  components:
    gpu-operator:
      values:
        toolkit:
          enabled: false
        script: |   # a comment behind the header
          # no comment
          run
    empty:
  list:
    - one
    -
      two: 2
"""


def document(text: str, index: int = 0) -> Document:
    return read(text, "f.yaml")[index]


def shown(text: str, path: Path, index: int = 0) -> tuple[int, str]:
    """The line a position names, and what is underlined on it."""
    found = document(text, index)
    at = found.locate(path)
    return at.line, found.source(at.line)[at.column - 1 : at.column - 1 + at.length]


@pytest.mark.parametrize(
    ("path", "line", "underlined"),
    [
        ("spec.variant", 8, "contaner"),
        ("metadata.name", 5, "cozystack.gpu-operator"),
        ('metadata.labels["a.b/c"]', 6, "x"),
        ("metadata.labels.true", 6, '"z"'),
        ("metadata.labels", 6, '{"a.b/c": x, y: "z"}'),
        ("spec.components.gpu-operator.values.toolkit.enabled", 13, "false"),
        ("spec.components.gpu-operator.values.script", 14, "|   # a comment behind the header"),
        ("spec.components.gpu-operator", 10, "gpu-operator"),
        ("spec.components.empty", 17, "empty"),
        ("spec.list[0]", 19, "one"),
        ("spec.list[1].two", 21, "2"),
    ],
)
def test_a_field_is_shown_where_it_is_written(path: str, line: int, underlined: str) -> None:
    assert shown(PACKAGE, parse(path)) == (line, underlined)


@pytest.mark.parametrize(
    ("path", "line", "underlined"),
    [
        ("status.phase", 2, "apiVersion: cozystack.io/v1alpha1"),
        ("spec.missing.deeper", 7, "spec"),
        ("spec.variant.deeper", 8, "contaner"),
        ("spec.list[7]", 18, "list"),
        ("metadata.labels.none", 6, '{"a.b/c": x, y: "z"}'),
    ],
)
def test_what_is_missing_is_shown_by_its_nearest_parent(path: str, line: int, underlined: str) -> None:
    assert shown(PACKAGE, parse(path)) == (line, underlined)


def test_lines_count_from_the_start_of_the_file() -> None:
    text = "a: 1\n---\n# c\nb:\n  c: yes\n"
    assert shown(text, ("b", "c"), 1) == (5, "yes")


def test_columns_count_characters() -> None:
    at = document("é: {ü: x}\n").locate(("é", "ü"))
    assert (at.line, at.column, at.length) == (1, 8, 1)


MERGED = """\
base: &base
  limits: {memory: 1Gi}
  extra: {a: 1}
use:
  - <<: *base
  - <<: *base
    limits: {cpu: 1}
  - <<:
      limits: {cpu: 2}
  - *base
  - limits: 1
    <<: [*base, {other: 2}]
"""


@pytest.mark.parametrize(
    ("path", "line", "underlined"),
    [
        (("use", 0, "limits"), 5, "*base"),
        (("use", 0, "limits", "memory"), 5, "*base"),
        (("use", 1, "limits"), 7, "{cpu: 1}"),
        (("use", 1, "extra"), 6, "*base"),
        (("use", 2, "limits", "cpu"), 9, "2"),
        (("use", 3, "limits"), 10, "*base"),
        (("use", 4, "limits"), 12, "*base"),
        (("use", 4, "other"), 12, "2"),
        (("base", "limits", "memory"), 2, "1Gi"),
    ],
)
def test_what_an_alias_brings_is_shown_at_its_place_of_use(path: Path, line: int, underlined: str) -> None:
    assert shown(MERGED, path) == (line, underlined)


def test_the_own_field_of_a_merged_container_is_shown_there() -> None:
    text = (
        "spec:\n"
        "  containers:\n"
        "    - &one\n"
        "      name: first\n"
        "      resources: {limits: {memory: 2Gi}}\n"
        "    - <<: *one\n"
        "      name: second\n"
        "      resources: {limits: {nvidia.com/gpu: 2}}\n"
    )
    path = ("spec", "containers", 1, "resources", "limits")
    assert shown(text, path) == (8, "{nvidia.com/gpu: 2}")
    assert document(text).value["spec"]["containers"][0]["resources"] == {"limits": {"memory": "2Gi"}}


def test_fields_of_json_have_positions_too() -> None:
    text = '{"a": 1}\n{\n\t"b": {"c": "\\ud83d\\ude00", "d": [1, 22]}\n}\n'
    assert shown(text, ("b", "d", 1), 1) == (3, "22")
    assert shown(text, ("b", "c"), 1) == (3, '"\\ud83d\\ude00"')


def test_a_document_without_a_tree_is_shown_by_its_first_line() -> None:
    text = '{"a": {"' + "k" * 2000 + '": 1}}'
    assert document(text).locate(("a",)).line == 1


@pytest.mark.parametrize(
    ("line", "comment"),
    [
        (1, "a package"),
        (2, ""),
        (8, "cozyguard:ignore package-variant-known we build it"),
        (14, "a comment behind the header"),
        (15, ""),
        (99, ""),
        (0, ""),
    ],
)
def test_a_comment_is_told_from_text(line: int, comment: str) -> None:
    assert document(PACKAGE).comment(line) == comment


@pytest.mark.parametrize(
    ("text", "comment"),
    [
        ("a: b # c\n", "c"),
        ("a: b#c\n", ""),
        ("a: 'b # c'\n", ""),
        ('a: "b # c" # d\n', "d"),
        ("# cozyguard:ignore x why\na: b\n", "cozyguard:ignore x why"),
        ("a: [b, # c\n  d]\n", "c"),
    ],
)
def test_a_hash_inside_text_begins_no_comment(text: str, comment: str) -> None:
    assert document(text).comment(1) == comment


KEYS = st.sampled_from(["a", "b", "c"])
PATHS = st.lists(st.one_of(KEYS, st.integers(0, 3)), max_size=4).map(tuple)


@given(PATHS)
def test_every_path_has_a_place(path: Path) -> None:
    found = document(MERGED)
    at = found.locate(path)
    assert 1 <= at.line <= 12
    assert at.length >= 1
    assert at.column + at.length - 1 <= len(found.source(at.line))
