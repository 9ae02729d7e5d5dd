"""What becomes of a text when its value changes: read top to bottom, before and after."""

import io
from typing import Any

import pytest

from webhook.model.path import parse
from webhook.model.result import Edit
from webhook.sources import yaml
from webhook.sources.yaml.change import change
from webhook.sources.yaml.document import Document
from webhook.sources.yaml.page import Page, Refused, spliced
from webhook.sources.yaml.revise import replaced, revise
from webhook.sources.yaml.separators import Source
from webhook.sources.yaml.tree import compose


def edited(text: str, edit: Edit, *, json: bool = False) -> str:
    root, _ = compose(text)
    assert root
    return spliced(text, change(Page(text, root, json=json), edit))


def put(path: str, value: Any) -> Edit:
    return Edit(parse(path), ("old",), (value,))


def add(path: str, value: Any) -> Edit:
    return Edit(parse(path), (), (value,))


def drop(path: str) -> Edit:
    return Edit(parse(path), ("old",))


@pytest.mark.parametrize(
    ("before", "edit", "after"),
    [
        ("a: b  # c\n", put("a", "d"), "a: d  # c\n"),
        ("a:    b\nbcd: e\n", put("a", "d"), "a:    d\nbcd: e\n"),
        ("a:\tb\t# c\n", put("a", "d"), "a:\td\t# c\n"),
        ("-   a\n-   b\n", put("[1]", {"c": 1, "d": 2}), "-   a\n-   c: 1\n    d: 2\n"),
        ("a: 'b'\n", put("a", "it's"), "a: 'it''s'\n"),
        ('a: "b"\n', put("a", "d"), 'a: "d"\n'),
        ("a: b\n", put("a", "true"), 'a: "true"\n'),
        ("a: !!str 1\n", put("a", 2), "a: 2\n"),
        ("a:   # c\nb: 1\n", put("a", 2), "a: 2   # c\nb: 1\n"),
        ("a: b # c\nd: 1\n", put("a", {"x": [1]}), "a: # c\n  x:\n    - 1\nd: 1\n"),
        ("a: # c\n    x: 1\n    # y\n    y: 2\nd: 1\n", put("a", 3), "a: 3 # c\nd: 1\n"),
        ("a: |\n  x\n  y\n\nb: 1\n", put("a", "p\nq\n"), "a: |\n  p\n  q\n\nb: 1\n"),
        ("a: |\n  x\nb: 1\n", put("a", "p"), "a: p\nb: 1\n"),
        ("a: {b: 1}\n", put("a", {"c": "x"}), "a: {c: x}\n"),
        ("a: {b: }\n", put("a.b", 1), "a: {b: 1 }\n"),
        ("- x\n- y\n", put("[1]", {"a": 1, "b": 2}), "- x\n- a: 1\n  b: 2\n"),
        ("k:\n  -\n    # of a\n    a: 1\n", put("k[0]", ["x", "z"]), "k:\n  - - x\n    # of a\n    - z\n"),
        ("k:\n  -\n  - a\n", put("k[0]", ["x", "z"]), "k:\n  - - x\n    - z\n  - a\n"),
    ],
)
def test_a_value_is_replaced_in_the_manner_of_the_old_one(before: str, edit: Edit, after: str) -> None:
    assert edited(before, edit) == after


@pytest.mark.parametrize(
    ("before", "edit", "after"),
    [
        ("a: 1\n# end\n", add("b", "x"), "a: 1\nb: x\n# end\n"),
        ("s:\n    a: 1  # c\n\nz: 1\n", add("s.b", {"d": 2}), "s:\n    a: 1  # c\n    b:\n        d: 2\n\nz: 1\n"),
        ("a: 1\n", add("m.labels.x", "v"), "a: 1\nm:\n  labels:\n    x: v\n"),
        ("m: null\n", add("m.x", "v"), "m:\n  x: v\n"),
        ("s:\n- a\nz: 1\n", add("s[1]", "b"), "s:\n- a\n- b\nz: 1\n"),
        ("s:\n# of a\n- a\n- b\n", add("s[0]", "z"), "s:\n# of a\n- z\n- a\n- b\n"),
        ("s:\n- a # 1\n# of b\n- b\n", add("s[1]", {"k": 1, "l": 2}), "s:\n- a # 1\n- k: 1\n  l: 2\n# of b\n- b\n"),
        ("- - a\n  - b\n", add("[0][0]", "x"), "- - x\n  - a\n  - b\n"),
        ("m: {a: 1}\n", add("m.b", ["x"]), "m: {a: 1, b: [x]}\n"),
        ("m: {}\n", add("m.b", 1), "m: {b: 1}\n"),
        ("m: {a: 1,}\n", add("m.b", 2), "m: {a: 1, b: 2,}\n"),
        ("m: {\n  a: 1, # one\n}\n", add("m.b", 2), "m: {\n  a: 1, # one\n  b: 2,\n}\n"),
        ("m: {\n  a: 1 # one\n}\n", add("m.b", 2), "m: {\n  a: 1, # one\n  b: 2\n}\n"),
        ("s: [1, 2]\n", add("s[0]", 0), "s: [0, 1, 2]\n"),
        ("a: |+\n  x\n\n\n", add("b", 1), "a: |+\n  x\n\n\nb: 1\n"),
    ],
)
def test_something_is_added_beside_its_neighbours(before: str, edit: Edit, after: str) -> None:
    assert edited(before, edit) == after


@pytest.mark.parametrize(
    ("before", "edit", "after"),
    [
        ("a: 1 # one\n# of b\nb: 2\n", drop("a"), "# of b\nb: 2\n"),
        ("s:\n  a:\n    x: 1\n    # in a\n    y: 2\n  # of b\n  b: 3\n", drop("s.a"), "s:\n  # of b\n  b: 3\n"),
        ("s:\n  a: 1\nz: 1\n", drop("s.a"), "s: {}\nz: 1\n"),
        ("s: # c\n- a\n", drop("s[0]"), "s: [] # c\n"),
        ("- a: 1\n  b: 2\n", drop("[0].a"), "- b: 2\n"),
        ("- a: 1\n  # of b\n  b: 2\n", drop("[0].a"), "-\n  # of b\n  b: 2\n"),
        ("- - a\n  - b\n- c\n", drop("[0][0]"), "- - b\n- c\n"),
        ("m: {a: 1, b: 2, c: 3}\n", drop("m.b"), "m: {a: 1, c: 3}\n"),
        ("m: {a: 1, b: 2}\n", drop("m.b"), "m: {a: 1}\n"),
        ("m: [ a ]\n", drop("m[0]"), "m: [  ]\n"),
        ("m: {\n  a: 1, # one\n  b: 2, # two\n}\n", drop("m.b"), "m: {\n  a: 1, # one\n   # two\n}\n"),
        ("a: |\n  x\n\n# of b\nb: 1\n", drop("a"), "\n# of b\nb: 1\n"),
    ],
)
def test_what_is_removed_takes_its_own_lines_and_no_other(before: str, edit: Edit, after: str) -> None:
    assert edited(before, edit) == after


@pytest.mark.parametrize(
    ("before", "edit", "after"),
    [
        ('{"a": 1}', add("b", {"c": "d"}), '{"a": 1, "b": {"c": "d"}}'),
        ('{\n\t"a": 1\n}\n', add("b", "x"), '{\n\t"a": 1,\n\t"b": "x"\n}\n'),
        ('{\n  "a": [\n    1,\n    2\n  ]\n}', add("a[2]", 3), '{\n  "a": [\n    1,\n    2,\n    3\n  ]\n}'),
        ('{\n  "a": 1,\n  "b": 2\n}', drop("a"), '{\n  "b": 2\n}'),
        ('{\n  "a": 1,\n  "b": 2\n}', drop("b"), '{\n  "a": 1\n}'),
        ('{"a": 1}', put("a", "x"), '{"a": "x"}'),
        ('{"a": {}}', put("a", {"b": []}), '{"a": {"b": []}}'),
    ],
)
def test_json_stays_json(before: str, edit: Edit, after: str) -> None:
    assert edited(before, edit, json=True) == after


@pytest.mark.parametrize(
    ("text", "edit", "why"),
    [
        ("a: &x {b: 1}\nc: *x\n", put("a.b", 2), "`a` is used again as the alias `*x`"),
        ("a: {b: &x 1}\nc: *x\n", drop("a"), "`a` is used again as the alias `*x`"),
        ("a: &x {b: 1}\nc: *x\n", put("c.b", 2), "`c` stands there as the alias `*x`"),
        ("a: &x 1\nc: *x\n", put("c", 2), "`c` stands there as the alias `*x`"),
        ("a: &x {b: 1}\nc: {<<: *x}\n", put("c.b", 2), "`c.b` comes from the merge key `<<`"),
        ("a: 1\na: 2\n", put("a", 3), "the key `a` stands there twice"),
        ("? a\n: 1\nb: 2\n", drop("a"), "it is written in a form that cannot be edited"),
        ("a: 1\n", drop("a"), "nothing would be left of the object"),
        ("a: 1\n", Edit((), ({},), ({"b": 1},)), "it would replace the whole object"),
    ],
)
def test_what_cannot_be_changed_at_one_place_is_refused(text: str, edit: Edit, why: str) -> None:
    with pytest.raises(Refused) as refused:
        edited(text, edit)

    assert str(refused.value) == why


def test_an_anchor_that_nobody_uses_is_no_obstacle() -> None:
    assert edited("a: &x 1\nb: 2\n", put("a", 2)) == "a: 2\nb: 2\n"


def read(data: bytes) -> list[tuple[Source, Document]]:
    sources = [each for each in yaml.split(io.BytesIO(data), "f") if isinstance(each, Source)]
    return [(source, each) for source in sources for each in yaml.parse(source) if isinstance(each, Document)]


def test_a_text_that_does_not_say_what_is_wanted_is_refused() -> None:
    [(source, document)] = read(b"a: 1\nb: 2\n")

    with pytest.raises(Refused):
        revise(source, document, [put("a", 3)], {"a": 3, "b": 4})


def test_one_of_several_json_objects_is_changed() -> None:
    data = b'{"a": 1}\n{"a": 1} {"b": 1}\n'
    found = read(data)

    source, document = found[1]
    revised = revise(source, document, [put("a", 2)], {"a": 2})
    assert replaced(data, [(source, revised)]) == b'{"a": 1}\n{"a": 2} {"b": 1}\n'
    with pytest.raises(Refused, match="shares a line"):
        revise(*found[2], [put("b", 2)], {"b": 2})
