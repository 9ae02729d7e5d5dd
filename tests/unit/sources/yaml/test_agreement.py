"""The fast reader and the exact one give the same wherever the scan lets a text pass."""

from __future__ import annotations

import pytest
import yaml_rs
from hypothesis import example, given, settings
from hypothesis import strategies as st

from webhook.errors import DocumentError
from webhook.sources.yaml import Source
from webhook.sources.yaml.agreement import readers_agree
from webhook.sources.yaml.reading import exact, fast

WORDS = st.sampled_from(
    [
        "a",
        "v",
        "foo",
        "y",
        "n",
        "yes",
        "no",
        "on",
        "off",
        "true",
        "False",
        "null",
        "~",
        "NO",
        "0",
        "10",
        "-3",
        "1.25",
        "1.50",
        "1e3",
        "0777",
        "0o7",
        "08",
        "1_0",
        ".5",
        "._",
        "_1",
        "+1",
        "0x1F",
        "500m",
        "1Gi",
        "10.0.0.1/8",
        "1.2.3",
        "12:30:45",
        "2024-01-01",
        "inf",
        ".inf",
        "nan",
        "[]",
        "{}",
        "[a,b]",
        "{a:b}",
        "{1.5}",
        "-",
        "--",
        "?",
        "!",
        "!!str",
        "&a",
        "*a",
        "<<",
        "@",
        "`",
        "=",
        "|",
        ">",
        "|-",
        ">+",
        "#",
        "#c",
        "'",
        '"',
        "\\",
        "\\n",
        ":",
        "::",
        "a:b",
        "a:",
        ",a",
        "a,",
        "http://h:1/p?q=1#f",
        "$(V)",
        "x!",
        "50%",
        "u@h",
        "a*b",
        "a|b",
        "{{x}}",
        "é",
        "\t",
    ]
)
QUOTED = st.sampled_from(["'s'", '"d"', "'it''s'", '"a\\nb"', '"\\u00e9"', '"\\/"', '"x: y"', "'#no'", '"1"', "''"])
KEYS = st.sampled_from(
    ["a", "b", "c d", "spec", '"q"', "'s'", "a/b.c", "8080", "no", "1.5", "é", "_u", "-x", "x-1", ""]
)
FLOW = st.recursive(
    st.one_of(WORDS, QUOTED),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]"),
        st.lists(st.tuples(KEYS, inner), max_size=3).map(
            lambda pairs: "{" + ",".join(f"{key}: {value}" for key, value in pairs) + "}"
        ),
    ),
    max_leaves=5,
)
BLOCK_LINES = st.lists(
    st.sampled_from(["l1", "  l2", "", " ", "k: v", "- i", "# c", "yes", '"', "{", "1e3"]), max_size=4
)
HEADERS = st.sampled_from(["|", ">", "|-", ">+", "|2", "| # c"])


def indented(text: str, by: str) -> str:
    return "".join(f"{by}{line}" if line.strip() else line for line in text.splitlines(keepends=True))


def literal(header: str, lines: list[str]) -> str:
    return f" {header}\n" + "".join(f"  {line}\n" for line in lines)


def mapping(pairs: list[tuple[str, str]]) -> str:
    return "".join(f"{key}:{value}" for key, value in pairs)


def sequence(items: list[str]) -> str:
    return "".join(f"-{item}" for item in items)


def nested(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Values as they follow a colon or a dash: on the line itself, or on the lines below."""
    inline = st.tuples(FLOW, st.sampled_from(["\n", " \n", "  # c\n", "\n\n", "\n  more\n"])).map(
        lambda p: f" {p[0]}{p[1]}"
    )
    below = inner.map(lambda text: "\n" + indented(text, "  "))
    values = st.one_of(inline, below, st.builds(literal, HEADERS, BLOCK_LINES))
    return st.one_of(
        st.lists(st.tuples(KEYS, values), min_size=1, max_size=3).map(mapping),
        st.lists(values, min_size=1, max_size=3).map(sequence),
    )


TREES = nested(st.recursive(nested(st.just("a: b\n")), nested, max_leaves=3))
TYPOS = st.lists(
    st.tuples(st.integers(0, 200), st.sampled_from(list(" \n:-#\"'[]{},|>&*!?\\ab1.")), st.booleans()), max_size=2
)


def with_typos(text: str, typos: list[tuple[int, str, bool]]) -> str:
    for place, character, replaces in typos:
        text = text[:place] + character + text[place + replaces :]
    return text


@settings(max_examples=600, deadline=None)
@given(st.builds(with_typos, TREES, TYPOS).map(lambda text: text.removesuffix("\n") + "\n"))
@example("a: |\n")
@example("a: |\n\nb: 1\n")
@example("- a: |\n  b: 1\n")
@example("a: [{b:}]\n")
@example("a: [|]\n")
@example("a: {1.5}\n")
@example('a: "\\ud83d\\ude00"\n')
@example(": a\n")
@example("a: {b: c, d\n  e: f}\n")
@example('a: {b: c, "\n  d": e}\n')
@example("a: yes\nb: 1\n")
@example("a:\n  yes\n")
def test_the_two_readers_give_the_same_where_the_scan_says_so(text: str) -> None:
    if (quick := fast(text)) is None:
        return
    (document,) = exact(Source("f.yaml", 0, 1, text))
    assert not isinstance(document, DocumentError), document
    assert repr(quick) == repr(document.value)


@pytest.mark.parametrize(
    "text",
    [
        "a: y\n", "a: on\n", "a: 1e3\n", "a: 0777\n", "a: 1.0\n", "a: 2024-01-01\n", "a: 12:30:45\n", "a: _1\n", "a: .inf\n",
        "- no\n", "a: [no]\n", "no: 1\n", "8080: a\n", "true: a\n", "~: a\n", "a: &x 1\n", "a: !!str 1\n", "a: 1 \t# c\n",
        "<<: {}\n", "a: 1\n...\n", "a: b\u2028c\n", "a: \u0000\n", "[a]: 1\n", "a: 12345678901234567890\n",
    ],
)  # fmt: skip
def test_texts_on_which_readers_differ_are_not_for_the_fast_one(text: str) -> None:
    assert not readers_agree(text)


@pytest.mark.parametrize(
    "text",
    [
        "a: b\n", "a: 10\nb: -3\nc: 0.25\n", "a: true\nb: ~\n", "a: [x, z]\nb: {}\n", 'a: "yes"\n', "a: 500m\nb: 10.0.0.1\n",
        "a: |\n  ls | sort\n", "args:\n- --a=b\n- -x\n", "a: once\nb: not yet\n", "a: 1.2.3\n", "a: x # on\n",
    ],
)  # fmt: skip
def test_everyday_texts_are_for_the_fast_reader(text: str) -> None:
    assert fast(text) is not None


@pytest.mark.parametrize(
    "text", ["- " * 50_000, "[" * 50_000, "{a: " * 50_000, "".join(" " * n + "a:\n" for n in range(1_500))]
)
def test_depth_cannot_exhaust_the_stack_of_the_fast_reader(text: str) -> None:
    assert fast(text) is None


def test_the_fast_reader_refuses_duplicates_so_that_they_are_reported() -> None:
    with pytest.raises(yaml_rs.YAMLDecodeError):
        yaml_rs.loads("a: 1\na: 2\n", parse_datetime=False)
