"""The table of functions is current, and no row of it is without a test."""

from __future__ import annotations

import pytest

from tests.conformance.functions import DIFFERENCES, PAGE, covering, page
from webhook.cel.functions import FUNCTIONS


def test_the_table_of_functions_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run `make generate`"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_has_a_test(name: str) -> None:
    assert covering(FUNCTIONS[name])


def test_only_functions_that_exist_differ() -> None:
    assert not DIFFERENCES.keys() - FUNCTIONS.keys()
