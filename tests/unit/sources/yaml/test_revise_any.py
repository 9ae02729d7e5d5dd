"""Any document, any patch: the text says the patched value, and keeps what the patch is not about."""

import io
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from webhook.engine.patch import apply
from webhook.model.path import pointer
from webhook.runs.edits import edits, refined
from webhook.sources.yaml import parse, split
from webhook.sources.yaml.document import Document
from webhook.sources.yaml.revise import replaced, revise, same
from webhook.sources.yaml.separators import Source

KEYS = st.sampled_from(["a", "b", "kind", "name", "x.y/z", "on", "1", "a b", "é", "", "-", "~1", "#"])
TEXTS = st.sampled_from(
    [
        "v",
        "",
        "it's",
        'say "x"',
        "# no",
        "a: b",
        "null",
        "true",
        "1.0",
        "two\nlines\n",
        "keep\n\n",
        " lead",
        "- x",
        "{",
        "é\u2028\x7f",
    ]
) | st.text(st.characters(max_codepoint=0xFFFF, exclude_categories=["Cs"]), max_size=5)
SCALARS = TEXTS | st.integers(-(2**40), 2**40) | st.booleans() | st.none() | st.sampled_from([1.5, -0.25, 1e30])


def values(leaves: int = 8) -> st.SearchStrategy[Any]:
    return st.recursive(
        SCALARS,
        lambda each: st.lists(each, max_size=3) | st.dictionaries(KEYS, each, max_size=3),
        max_leaves=leaves,
    )


@dataclass
class Page:
    """A value as somebody wrote it, and which comments stand in each of its parts."""

    draw: Any
    count: int = 0
    owned: dict[tuple[str | int, ...], set[str]] = field(default_factory=dict)

    def comment(self, path: tuple[str | int, ...], lead: str = "  ") -> str:
        if self.draw(st.integers(0, 3)) != 0:
            return ""
        self.count += 1
        name = f"#c{self.count};"
        for depth in range(len(path) + 1):
            self.owned.setdefault(path[:depth], set()).add(name)
        return f"{lead}{name}"

    def scalar(self, value: Any) -> str:
        if isinstance(value, str) and value.isascii() and value.isprintable() and self.draw(st.booleans()):
            return "'" + value.replace("'", "''") + "'"
        if value == "v" and self.draw(st.booleans()):
            return "v"
        return str(json.dumps(value))

    def flow(self, value: Any) -> str:
        space: str = self.draw(st.sampled_from(["", " "]))
        comma: str = self.draw(st.sampled_from([", ", " , ", ","]))
        if isinstance(value, dict):
            return "{" + space + comma.join(f"{self.scalar(k)}: {self.flow(v)}" for k, v in value.items()) + space + "}"
        if isinstance(value, list):
            return "[" + space + comma.join(map(self.flow, value)) + space + "]"
        return self.scalar(value)

    def spread(self, start: str, value: Any, path: tuple[str | int, ...], indent: int) -> Iterator[str]:
        """Write a collection in brackets over several lines."""
        opened, closed = "{}" if isinstance(value, dict) else "[]"
        yield f"{start} {opened}{self.comment(path)}"
        parts = list(value.items() if isinstance(value, dict) else enumerate(value))
        for number, (step, each) in enumerate(parts):
            if above := self.comment(path, ""):
                yield " " * (indent + 4) + above
            key = f"{self.scalar(step)}: " if isinstance(value, dict) else ""
            comma = "," if number < len(parts) - 1 or self.draw(st.booleans()) else ""
            yield " " * (indent + 4) + key + self.flow(each) + comma + self.comment((*path, step))
        if below := self.comment(path, ""):
            yield " " * (indent + 4) + below
        yield " " * (indent + 2) + closed + self.comment(path)

    def block(self, value: Any, path: tuple[str | int, ...], indent: int) -> Iterator[str]:
        """Write a collection that is not empty, each line with its indentation."""
        parts = value.items() if isinstance(value, dict) else enumerate(value)
        for step, each in parts:
            if above := self.comment(path, ""):
                yield " " * indent + above
            head = f"{self.scalar(step)}:" if isinstance(value, dict) else "-"
            yield from self.entry(head, each, (*path, step), indent, listed=isinstance(value, list))

    def entry(self, head: str, each: Any, path: tuple[str | int, ...], indent: int, *, listed: bool) -> Iterator[str]:
        start, gap = " " * indent + head, self.draw(st.sampled_from([" ", " ", "   "]))
        if not (isinstance(each, dict | list) and each) or self.draw(st.integers(0, 3)) == 0:
            if _is_line(each) and self.draw(st.booleans()):
                yield f"{start}{gap}|-{self.comment(path)}"
                yield " " * (indent + 2) + each
                return
            if isinstance(each, dict | list) and each and self.draw(st.booleans()):
                yield from self.spread(start, each, path, indent)
                return
            yield f"{start}{gap}{self.flow(each)}{self.comment(path)}"
            return
        deeper = indent + self.draw(st.sampled_from([2, 4]))
        if listed and self.draw(st.booleans()):
            first, *rest = self.block(each, path, indent + 1 + len(gap))
            if first.lstrip().startswith("#c"):
                yield start
                yield first
            else:
                yield f"{start}{gap}{first.lstrip()}"
            yield from rest
            return
        if isinstance(each, list) and not listed and self.draw(st.booleans()):
            deeper = indent
        yield f"{start}{self.comment(path)}"
        yield from self.block(each, path, deeper)


def _is_line(value: Any) -> bool:
    """Can it stand below a `|-` as it is."""
    return (
        isinstance(value, str) and value.isprintable() and value.isascii() and bool(value.lstrip(" #")[:1] == value[:1])
    )


def documents(data: bytes) -> list[tuple[Source, Document]]:
    found = []
    for source in split(io.BytesIO(data), "f"):
        assert isinstance(source, Source)
        for each in parse(source):
            assert isinstance(each, Document), each
            found.append((source, each))
    return found


def paths(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if path:
        yield path
    for step, each in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from paths(each, (*path, step))


def at(value: Any, path: tuple[str | int, ...]) -> Any:
    for step in path:
        value = value[step]
    return value


@st.composite
def operations(draw: Any, value: Any) -> dict[str, Any]:
    path = draw(st.sampled_from(list(paths(value))))
    match draw(st.sampled_from(["replace", "remove", "add", "add", "move", "copy"])):
        case "remove":
            return {"op": "remove", "path": pointer(path)}
        case "replace":
            return {"op": "replace", "path": pointer(path), "value": draw(values())}
        case "add":
            return {"op": "add", "path": pointer(_beside(draw, value, path)), "value": draw(values())}
        case op:
            to = _beside(draw, value, draw(st.sampled_from(list(paths(value)))))
            if to[: len(path)] == path or path[: len(to)] == to:
                return {"op": "replace", "path": pointer(path), "value": 1}
            return {
                "op": "copy" if op == "move" and isinstance(path[-1], int) else op,
                "from": pointer(path),
                "path": pointer(to),
            }


def _beside(draw: Any, value: Any, path: tuple[str | int, ...]) -> tuple[str | int, ...]:
    inside = at(value, path)
    if isinstance(inside, dict) and draw(st.booleans()):
        return (*path, draw(KEYS))
    if isinstance(inside, list) and draw(st.booleans()):
        return (*path, "-")
    if isinstance(at(value, path[:-1]), dict) and draw(st.booleans()):
        return (*path[:-1], draw(KEYS))
    return path


def revised(data: bytes, index: int, patch: list[dict[str, Any]]) -> bytes:
    source, document = documents(data)[index]
    wanted = apply(document.value, patch)
    changes = [each for edit in edits(document.value, patch) for each in refined(edit)]
    return replaced(data, [(source, revise(source, document, changes, wanted))])


OBJECTS = st.dictionaries(KEYS, values(), min_size=2, max_size=4)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.data())
def test_a_patched_text_says_the_patched_value_and_keeps_what_is_elsewhere(data: st.DataObject) -> None:
    value = data.draw(OBJECTS)
    page = Page(data.draw)
    lines = list(page.block(value, (), 0))
    newline = data.draw(st.sampled_from(["\n", "\r\n"]))
    first, last = (
        data.draw(st.sampled_from(["", "\ufeff", f"x: 1{newline}---{newline}"])),
        data.draw(st.sampled_from([newline, "", f"{newline}---{newline}y: 2"])),
    )
    text = first + newline.join(lines) + last
    before = text.encode()
    index = int(first.startswith("x"))
    assert same(documents(before)[index][1].value, value)
    operation = data.draw(operations(value))

    after = revised(before, index, [operation])

    found = documents(after)
    assert same(found[index][1].value, apply(value, [operation]))
    assert [each.value for _, each in found if each.index != index] == [
        each.value for _, each in documents(before) if each.index != index
    ]
    assert after.decode().startswith(first)
    assert newline == "\n" or b"\n" not in after.replace(b"\r\n", b"")
    gone = {name for name in page.owned.get((), set()) if name not in after.decode()}
    assert gone <= _may_go(page, value, operation)


def _may_go(page: Page, value: Any, operation: dict[str, Any]) -> set[str]:
    """Comments in what the operation takes away."""
    names: set[str] = set()
    for edit in edits(value, [operation]):
        if edit.before:
            names |= page.owned.get(edit.path, set())
    return names


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.data())
def test_a_patch_of_several_operations_is_followed_step_by_step(data: st.DataObject) -> None:
    value = data.draw(OBJECTS)
    text = "\n".join(Page(data.draw).block(value, (), 0))
    patch: list[dict[str, Any]] = []
    patched = value
    for _ in range(data.draw(st.integers(2, 4))):
        if len(patched) > 1:  # or an operation could leave nothing
            patch.append(data.draw(operations(patched)))
            patched = apply(value, patch)

    after = revised(text.encode(), 0, patch) if patched else b"{}"

    assert same(documents(after)[0][1].value, patched)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.data())
def test_a_patched_json_text_stays_json(data: st.DataObject) -> None:
    value = data.draw(OBJECTS)
    indent = data.draw(st.sampled_from([None, 2, 4]))
    text = json.dumps(value, indent=indent, ensure_ascii=data.draw(st.booleans()))
    operation = data.draw(operations(value))

    after = revised(text.encode(), 0, [operation])

    assert same(json.loads(after), apply(value, [operation]))
