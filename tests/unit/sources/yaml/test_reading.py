from __future__ import annotations

import contextlib
import time
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webhook.errors import DocumentErrors
from webhook.sources.yaml import read


def values(text: str | bytes) -> list[Any]:
    return [document.value for document in read(text, "f.yaml")]


def faults(text: str | bytes) -> list[str]:
    with pytest.raises(DocumentErrors) as error:
        read(text, "f.yaml")
    return [str(each) for each in error.value]


def test_a_byte_order_mark_and_crlf_leave_no_trace() -> None:
    text = (
        "\ufeffkind: Package\r\nspec: {variant: default}\r\n---\r\n\ufeffkind: Package\r\nspec:\r\n  variant: vgpu\r\n"
    )
    assert values(text) == [
        {"kind": "Package", "spec": {"variant": "default"}},
        {"kind": "Package", "spec": {"variant": "vgpu"}},
    ]


def test_numbers_that_look_like_text_are_numbers_in_every_place() -> None:
    text = (
        "metadata:\n  labels: {commit: 90210e2}\n  annotations:\n    build: 2E05\ndata:\n  mode: 0o644\n  zip: 0812\n"
    )
    assert values(text) == [
        {
            "metadata": {"labels": {"commit": 9021000}, "annotations": {"build": 200000}},
            "data": {"mode": 420, "zip": 812},
        }
    ]


def test_empty_documents_are_left_out_but_counted() -> None:
    documents = read("# nothing yet\n---\na: 1\n---\n---\n\n---\nb: 2\n---\n", "f.yaml")
    assert [(each.index, each.line, each.value) for each in documents] == [(1, 3, {"a": 1}), (3, 8, {"b": 2})]


@pytest.mark.parametrize("text", ["", "\n", "# only a comment\n", "---\n", "---\n---\n", "~\n", "null\n"])
def test_what_holds_nothing_gives_nothing(text: str) -> None:
    assert values(text) == []


def test_a_comment_may_follow_the_separator_but_nothing_else() -> None:
    assert values("a: 1\n--- # second\nb: 2\n") == [{"a": 1}, {"b": 2}]
    assert faults("a: 1\n--- {b: 2}\n") == [
        "f.yaml:2:4: got `{b: 2}` after `---`, want nothing there: kubectl refuses it"
    ]


def test_a_separator_ends_even_a_block_scalar() -> None:
    assert values("a: |\n  x\n---\nb: 1\n") == [{"a": "x\n"}, {"b": 1}]


def test_every_broken_document_is_reported_and_hides_none_of_the_others() -> None:
    found = faults("a: [1\n---\nb: 2\n---\nc: d: e\n---\nf:\n\tg: 1\n")
    assert [each.partition(": ")[0] for each in found] == ["f.yaml:2:1", "f.yaml:5:5", "f.yaml:8:1"]
    assert "got a tab" in found[2]


def test_a_key_that_comes_twice_is_reported_with_both_lines() -> None:
    assert faults("spec:\n  a: 1\n  b: 2\n  a: 3\n") == [
        "f.yaml:4:3: got the key `a` twice, want it once (first on line 2)"
    ]


def test_keys_that_become_the_same_text_come_twice() -> None:
    assert faults("1: a\n'1': b\n") == ["f.yaml:2:1: got the key `1` twice, want it once (first on line 1)"]


def test_a_merge_is_shallow_and_keys_written_after_it_win() -> None:
    (value,) = values("base: &b {x: {p: 1}, z: 2}\nuse:\n  <<: *b\n  x: {q: 3}\n")
    assert value["use"] == {"x": {"q": 3}, "z": 2}


def test_a_merge_wins_over_keys_written_before_it_as_in_kubectl() -> None:
    (value,) = values("use:\n  x: 1\n  <<: {x: 2, z: 3}\n")
    assert value["use"] == {"x": 2, "z": 3}


def test_of_several_merged_maps_the_first_wins() -> None:
    (value,) = values("a: &a {x: 1}\nb: &b {x: 2, z: 3}\nuse: {<<: [*a, *b]}\n")
    assert value["use"] == {"x": 1, "z": 3}


def test_a_quoted_merge_key_is_a_key() -> None:
    assert values("'<<': {a: 1}\n") == [{"<<": {"a": 1}}]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<<: 1\n", "f.yaml:1:5: got something else after `<<`, want a map or a list of maps"),
        ("a: *b\n", "f.yaml:1:4: got the alias `*b`, want an anchor `&b` before it"),
        ("a: &a [*a]\n", "f.yaml:1:8: got the alias `*a` inside what `&a` names: it would have no end"),
        (
            "a: {{ .Values.x }}\n",
            "f.yaml:1:5: got a list or map as a key, want text (if this is a template, render it first: `helm template`)",
        ),
        ("a: 1\n...\nb: 2\n", "f.yaml:3:1: got more after the end of the document, want `---` before it"),
        ("a: \x00\n", "f.yaml:1:4: got the control character U+0000, want text without"),
        ('a: "\\/"\n', "f.yaml:1:5: got the escape `\\/`, which kubectl does not know, want `/`"),
        ("a: [x?y]\n", "f.yaml:1:5: got `?` in a text inside brackets, want the text in quotes"),
    ],
)
def test_what_kubectl_cannot_read_is_explained(text: str, message: str) -> None:
    assert faults(text) == [message]


@pytest.mark.parametrize(
    "text", ["%YAML 1.1\n---\na: 1\n", "a: 'x\n", "a: {b: 1\n", "a:\n  - b\n  c: 1\n", "@\n", "a: b\n c\nd\n"]
)
def test_what_kubectl_refuses_is_refused_with_a_position(text: str) -> None:
    assert all(each.startswith("f.yaml:") for each in faults(text))


def test_a_byte_that_is_no_utf8_is_an_error_of_its_document_alone() -> None:
    assert faults(b"a: 1\n---\nb: x\xff\n---\nc: 1\n") == ["f.yaml:3:5: got the byte 0xFF, want text in UTF-8"]


def test_utf16_is_named() -> None:
    assert "UTF-16" in faults("a: 1\n".encode("utf-16"))[0]


def test_few_lines_cannot_stand_for_millions_of_nodes() -> None:
    lines = ["a: &a [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"{new}: &{new} [{', '.join([f'*{old}'] * 10)}]" for old, new in zip("abcdefgh", "bcdefghi", strict=True)]
    tracemalloc.start()
    started = time.perf_counter()
    (fault,) = faults("\n".join(lines))
    assert time.perf_counter() - started < 2
    assert tracemalloc.get_traced_memory()[1] < 20_000_000
    tracemalloc.stop()
    assert "got aliases that stand for too much" in fault


def test_all_uses_of_an_anchor_are_one_value() -> None:
    (value,) = values("a: &a [1, 2]\nb: *a\n")
    assert value["a"] == value["b"] == [1, 2]


@pytest.mark.parametrize("text", ["- " * 20_000, "[" * 20_000, "a: " + "[" * 250 + "]" * 250, '{"a":' * 20_000])
def test_depth_is_bounded(text: str) -> None:
    assert "got more than 200 lists and maps" in faults(text)[0]


def test_depth_is_bounded_through_aliases_too() -> None:
    lines = ["a0: &a0 [x]", *(f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, 1_000))]
    assert "got more than 200 lists and maps" in faults("\n".join(lines))[0]


def test_json_is_read_as_json() -> None:
    assert values('{"a": 1.0, "b": 1e3, "c": 0.5, "d": "\\ud83d\\ude00", "e": "\\/", "f": 12345678901234567890}') == [
        {"a": 1, "b": 1000, "c": 0.5, "d": "😀", "e": "/", "f": 12345678901234567890.0}
    ]


def test_json_objects_may_follow_one_another() -> None:
    documents = read('{"a": 1}\n{"b": 2} {"c": 3}', "f.json")
    assert [(each.index, each.line, each.value) for each in documents] == [
        (0, 1, {"a": 1}),
        (1, 2, {"b": 2}),
        (2, 2, {"c": 3}),
    ]


def test_what_begins_as_json_may_go_on_as_yaml() -> None:
    documents = read('{"a": 1}\n---\n{b: 2}\n---\nc: 3\n', "f.yaml")
    assert [(each.index, each.line, each.value) for each in documents] == [
        (0, 1, {"a": 1}),
        (1, 3, {"b": 2}),
        (2, 5, {"c": 3}),
    ]


def test_yaml_in_braces_is_yaml() -> None:
    assert values("{a: yes, b: [1,],}\n") == [{"a": True, "b": [1]}]


def test_a_json_key_that_comes_twice_is_reported_with_both_lines() -> None:
    assert faults('{"x": 1}\n{\n"a": 1,\n"a": 2}') == [
        "f.yaml:4:1: got the key `a` twice, want it once (first on line 3)"
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": NaN}', "got `NaN`, want a number that JSON can hold"),
        ('{"a": "\\ud83d"}', "got one half of a surrogate pair"),
        ('{"a": 1}{"b": 2}{"c" 3}', "got no JSON, want one object after the other: Expecting ':' delimiter"),
        ('{"a": 1e999}', "want one that JSON can hold"),
        (b'{"a": "\xff"}', "got the byte 0xFF"),
    ],
)
def test_bad_json_is_explained(text: str | bytes, message: str) -> None:
    assert message in faults(text)[0]


@given(st.one_of(st.text(max_size=60), st.binary(max_size=60)))
def test_nothing_makes_a_traceback(text: str | bytes) -> None:
    with contextlib.suppress(DocumentErrors):
        read(text, "f.yaml")
