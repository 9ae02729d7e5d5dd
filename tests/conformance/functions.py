"""`docs/cel-functions.md`: every function that expressions can call, since when, and where it is tested.

Made from the registry, from what the API server declares (`declared.py`) and from the tests: `make generate` writes it
into a checkout.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final

from tests.conformance.declared import declared
from webhook.cel.functions import LIBRARIES, Function, Library

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = ROOT / "docs" / "cel-functions.md"
TESTS: Final = ROOT / "tests" / "unit" / "cel" / "functions"

_HEAD: Final = """# CEL: the functions

Made by `make generate` from the registry of functions, from what the API server declares, and from the tests. Each row
is one overload, with the minor release of Kubernetes that brought it; all that the API server declares is supported.
`called` means a call in `tests/conformance/kubernetes-functions.txt` with what the API server's own library gives, which
ours has to give; the files are below `tests/unit/cel/functions/`. Operators, macros and the ways of the checker are in
[cel-differences.md](cel-differences.md), which also says what surprises in Kubernetes itself.
"""

DIFFERENCES: Final[Mapping[str, str]] = {
    "quantity": "more than 100,000 digits are refused",
    "add": "more than 100,000 digits are refused",
    "sub": "more than 100,000 digits are refused",
    "isInteger": "does not change after a comparison with a greater quantity",
    "asInteger": "does not change after a comparison with a greater quantity",
}
"""What differs from the API server, by function."""


def page() -> str:
    """Write the page."""
    return "\n".join([_HEAD, *(line for library in LIBRARIES for line in _section(library))])


def covering(function: Function) -> list[str]:
    """Name the test files in which a function is called, or asked for by its name: those that do it most often first."""
    called = re.compile(rf"(?<![\w.@]){re.escape(function.name)}\(|(?<=\.){re.escape(function.name)}\(")
    counts = {
        file: sum(text == function.name or called.search(text) is not None for text in texts)
        for file, texts in _texts().items()
    }
    return sorted((file for file, count in counts.items() if count), key=lambda file: (-counts[file], file))


@cache
def _texts() -> Mapping[str, list[str]]:
    """Give the string constants of every test file; those of `test_functions.py` are the registry's own."""
    files = sorted(file for file in TESTS.glob("test_*.py") if file.name != "test_functions.py")
    return {file.name: list(_constants(file)) for file in files}


def _constants(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _section(library: Library) -> Iterator[str]:
    yield f"## {library.name} ({library.since})\n"
    yield "| call | result | since | tested by | differs |\n| --- | --- | --- | --- | --- |"
    for function in library.functions:
        files = [f"`{file}`" for file in covering(function)[:2]]
        difference = DIFFERENCES.get(function.name, "")
        if function.name == "@sortByAssociatedKeys":
            yield f"| `<list>.sortBy(e, key)` | `list` | {library.since} | {', '.join(files)} | {difference} |"
            continue
        for row in declared().get(function.name, ()):
            tests = ", ".join([*([f"{len(row.calls)} × called"] if row.calls else []), *files])
            yield f"| `{row.call}` | `{row.result}` | {row.since} | {tests} | {difference} |"
    yield ""


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
