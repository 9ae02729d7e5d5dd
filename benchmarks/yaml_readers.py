"""Readers of YAML on 1,000 generated Pods (2.5 MB), one core: how fast, and whether they read as kubectl does.

`python -m benchmarks.yaml_readers`. A figure is the best of several rounds over all documents, cut apart beforehand
where a reader takes one at a time. `rapidyaml` and `msgspec` are measured where they are installed.
"""

from __future__ import annotations

import importlib
import io
import json
import time
import tracemalloc
from collections.abc import Callable
from typing import Any, Final

import yaml
import yaml_rs

from benchmarks.machine import machine
from benchmarks.objects import pods, yaml_lines
from webhook.errors import DocumentError
from webhook.sources.yaml import Document, Source, parse, split
from webhook.sources.yaml.agreement import readers_agree
from webhook.sources.yaml.reading import exact

COUNT: Final = 1_000
ROUNDS: Final = 5

TOKENS: Final = {
    "on": True, "y": True, "NO": False, "1e3": 1000, "0777": 511, "0o7": 7, "1_000": 1000, "0x1F": 31, ".5": 0.5,
    "~": None, "2024-01-01": "2024-01-01", "12:30:45": "12:30:45", "1.0": 1, "0951": 951, "1e400": "1e400",
    "_1": "_1",
}  # fmt: skip
"""Plain scalars on which readers differ, and what kubectl 1.36 and the API server make of them."""


def main() -> None:
    """Print the table."""
    text = "---\n".join("\n".join(yaml_lines(obj)) + "\n" for obj in pods(COUNT))
    documents = [each for each in split(io.BytesIO(text.encode()), "pods.yaml") if isinstance(each, Source)]
    print(f"{machine()}\n{len(documents)} Pods, {len(text) / 1e6:.1f} MB\n")
    print(f"| {'reader':46} | ms per 1,000 | MB/s | as kubectl |\n| {'-' * 46} | ---: | ---: | ---: |")
    for name, (run, read_one) in _readers(text, documents).items():
        seconds = _best(run)
        right = f"{sum(_reads(read_one, token) for token in TOKENS)}/{len(TOKENS)}" if read_one else ""
        print(f"| {name:46} | {seconds * 1000:.0f} | {len(text) / 1e6 / seconds:.0f} | {right} |")
    print(f"\npeak memory of reading: {_peak(text, 1):.1f} MB for 1,000 Pods, {_peak(text, 10):.1f} MB for 10,000")


def _readers(
    text: str, documents: list[Source]
) -> dict[str, tuple[Callable[[], object], Callable[[str], object] | None]]:
    rows: dict[str, tuple[Callable[[], object], Callable[[str], object] | None]] = {
        "cozyguard: split, scan, read": (lambda: _all(text), _ours),
        "  split into documents": (lambda: list(split(io.BytesIO(text.encode()), "f")), None),
        "  scan for tokens on which readers differ": (lambda: [readers_agree(each.text) for each in documents], None),
        "  exact reader alone": (lambda: [list(exact(each)) for each in documents], _ours),
        "yaml-rs": (lambda: [_yaml_rs(each.text) for each in documents], _yaml_rs),
        "PyYAML, C parser, events only": (lambda: [_events(each.text) for each in documents], None),
        "PyYAML, CSafeLoader": (lambda: [_pyyaml(each.text) for each in documents], _pyyaml),
    }
    for module, make in (("ryml", _ryml), ("msgspec.yaml", _msgspec)):
        try:
            found = make(importlib.import_module(module))
        except ImportError:
            continue
        for name, (run, read_one) in found.items():
            rows[name] = (lambda run=run: [run(each.text) for each in documents], read_one)  # type: ignore[misc]
    return rows


def _all(text: str) -> int:
    sources = split(io.BytesIO(text.encode()), "pods.yaml")
    return sum(1 for source in sources if isinstance(source, Source) for _ in parse(source))


def _ours(text: str) -> object:
    (document,) = parse(Source("f", 0, 1, text))
    if isinstance(document, DocumentError):
        raise TypeError(str(document))
    assert isinstance(document, Document)
    return document.value


def _yaml_rs(text: str) -> object:
    return yaml_rs.loads(text, parse_datetime=False)


def _pyyaml(text: str) -> object:
    return yaml.load(text, yaml.CSafeLoader)


def _events(text: str) -> object:
    return sum(1 for _ in yaml.parse(text, yaml.CSafeLoader))


def _ryml(ryml: Any) -> dict[str, tuple[Callable[[str], object], Callable[[str], object] | None]]:
    def parse_only(text: str) -> object:
        return ryml.parse_in_arena(text.encode())

    def to_python(text: str) -> object:
        """Go through JSON, the fastest way from its tree to Python's values."""
        return json.loads(ryml.emit_json(parse_only(text)))

    return {"rapidyaml, parse only": (parse_only, None), "rapidyaml, to Python through JSON": (to_python, to_python)}


def _msgspec(module: Any) -> dict[str, tuple[Callable[[str], object], Callable[[str], object] | None]]:
    return {"msgspec (reads with PyYAML)": (module.decode, module.decode)}


def _reads(read_one: Callable[[str], object], token: str) -> bool:
    try:
        value = read_one(f"a: {token}\n")
    except (ValueError, TypeError, RuntimeError):
        return False
    found = value["a"] if isinstance(value, dict) else value
    return type(found) is type(TOKENS[token]) and found == TOKENS[token]


def _best(run: Callable[[], object]) -> float:
    times = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        run()
        times.append(time.perf_counter() - started)
    return min(times)


def _peak(text: str, times: int) -> float:
    """Measure the most memory that reading takes, of the same Pods again and again."""
    tracemalloc.start()
    for source in split(_Repeated(text.encode() + b"---\n", times), "pods.yaml"):  # type: ignore[arg-type]  # only `read`
        for _ in parse(source) if isinstance(source, Source) else ():
            pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


class _Repeated(io.RawIOBase):
    """A stream of the same bytes, `times` over, that does not hold them all."""

    def __init__(self, data: bytes, times: int) -> None:
        self._data = data
        self._left = len(data) * times

    def read(self, size: int = -1, /) -> bytes:
        at = -self._left % len(self._data)
        block = self._data[at : at + min(size, self._left)]
        self._left -= len(block)
        return block


if __name__ == "__main__":
    main()
