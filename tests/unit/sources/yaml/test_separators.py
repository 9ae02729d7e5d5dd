from __future__ import annotations

import io

from hypothesis import given
from hypothesis import strategies as st

from webhook.errors import DocumentError
from webhook.sources.yaml import Source, split

LINES = st.lists(st.sampled_from(["---", "--- # c", "a: 1", "  x", "", "--- x", "é: ü", "-- -"]), max_size=20)


def cut(text: str) -> list[Source | DocumentError]:
    return list(split(io.BytesIO(text.encode()), "f"))


def test_a_document_knows_its_index_and_its_first_line() -> None:
    assert cut("---\na: 1\n---\nb: 2") == [Source("f", 0, 2, "a: 1\n"), Source("f", 1, 4, "b: 2\n")]


def test_the_first_separator_ends_nothing_but_every_other_does() -> None:
    assert [each.text for each in cut("---\n---\n---\na: 1\n---\n") if isinstance(each, Source)] == ["", "a: 1\n"]


@given(LINES, st.integers(1, 12), st.sampled_from(["\n", "\r\n"]))
def test_pieces_of_any_size_give_the_same_documents(lines: list[str], size: int, end: str) -> None:
    text = end.join(lines)
    assert list(split(io.BytesIO(text.encode()), "f", size)) == cut(text)


def test_a_file_of_any_length_needs_no_more_memory_than_its_longest_document() -> None:
    class Endless(io.RawIOBase):
        """A stream that has given out far less than it holds when the first document is there."""

        given = 0

        def read(self, size: int = -1, /) -> bytes:
            self.given += size
            return (b"a: 1\n---\n" * size)[:size]

    stream = Endless()
    documents = split(stream, "f")  # type: ignore[arg-type]  # only `read` is asked of it
    assert all(isinstance(next(documents), Source) for _ in range(10))
    assert stream.given < 4_000_000
