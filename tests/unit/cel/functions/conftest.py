"""Calling functions as generated code does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from webhook.cel.errors import Budget, CelError
from webhook.cel.functions import FUNCTIONS

Call = Callable[..., Any]


@pytest.fixture(scope="session")
def call() -> Call:
    """Call a function by name with a fresh budget, or the one given."""

    def run(name: str, *arguments: Any, budget: Budget | None = None) -> Any:
        function = FUNCTIONS[name]
        if function.charges:
            return function.implementation(budget or Budget(), *arguments)
        return function.implementation(*arguments)

    return run


@pytest.fixture(scope="session")
def failure(call: Call) -> Call:
    """Call a function that must fail, and give the message."""

    def run(name: str, *arguments: Any) -> str:
        with pytest.raises(CelError) as caught:
            call(name, *arguments)
        return str(caught.value)

    return run
