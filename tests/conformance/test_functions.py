"""The table of functions is current, has all that the API server declares, and no row of it is without a test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.conformance.declared import Declared, declared, registered
from tests.conformance.functions import DIFFERENCES, PAGE, covering, page
from webhook.cel.functions import FUNCTIONS
from webhook.cel.program import ADMISSION, Activation, Builder, SlotTable
from webhook.cel.values import CelType, Optional, Uint
from webhook.cel.values.time import Duration, Timestamp

ROWS = [row for rows in declared().values() for row in rows]


def test_the_table_of_functions_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run `make generate`"


def test_what_the_api_server_declares_is_declared_here_and_nothing_else() -> None:
    """What every CEL has is declared by the CEL library itself; each call of it is compiled below."""
    theirs = {row.signature: row.since for name, rows in declared().items() for row in rows if not _is_standard(name)}
    assert registered() == theirs
    assert {name for name in FUNCTIONS if not name.startswith("@")} == declared().keys()


def _is_standard(name: str) -> bool:
    return name in FUNCTIONS and not FUNCTIONS[name].overloads


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.call)
def test_a_call_gives_what_the_api_server_gives(row: Declared) -> None:
    assert row.calls or "authorization" in row.call, "no row without a test"
    for expression, value in row.calls:
        assert evaluated(expression) == value, expression


def evaluated(expression: str) -> Any:
    """Give the value, or the error, as the file has it."""
    builder = Builder(ADMISSION)
    builder.function("f", expression, want="dyn")
    trace = builder.build().link(SlotTable()).trace("f", Activation(None, size=0))
    return ["error", trace.error] if trace.error is not None else written(trace.value)


def written(value: Any) -> list[Any]:
    """Write a value as the file does: its kind, and its text or its parts."""
    match value:
        case Optional():
            return ["optional", *([written(value.value)] if value.has_value else [])]
        case list():
            return ["list", *map(written, value)]
        case dict():
            return ["map", sorted([written(key), written(each)] for key, each in value.items())]
        case Timestamp():
            return ["timestamp", *map(str, divmod(value.nanoseconds, 10**9))]
        case _:
            kind, text = SCALARS.get(type(value), ("other", str))
            return [kind, text(value)]


SCALARS: dict[type, tuple[str, Callable[[Any], str]]] = {
    bool: ("bool", lambda value: str(value).lower()),
    int: ("int", str),
    Uint: ("uint", lambda value: str(int(value))),
    float: ("double", str),
    str: ("string", str),
    bytes: ("bytes", bytes.hex),
    Duration: ("duration", lambda value: str(value.nanoseconds)),
    CelType: ("type", lambda value: value.name),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_has_a_test(name: str) -> None:
    assert covering(FUNCTIONS[name])


def test_only_functions_that_exist_differ() -> None:
    assert not DIFFERENCES.keys() - FUNCTIONS.keys()


def test_a_question_to_the_authorizer_is_asked_in_the_tests_of_it() -> None:
    assert all("test_authorizer.py" in covering(FUNCTIONS[name]) for name in _of_authorizer())


def _of_authorizer() -> Iterator[str]:
    return (name for name, rows in declared().items() if any("authorization" in row.call for row in rows))
