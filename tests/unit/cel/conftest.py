"""Compiling and running expressions, as all tests of CEL do it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from webhook.cel.activation import Activation
from webhook.cel.errors import ERRORS
from webhook.cel.linked import Linked
from webhook.cel.program import ADMISSION, Builder, SlotTable
from webhook.cel.trace import Trace
from webhook.cel.values.authorizer import Authorizer
from webhook.model.authorization import Attributes, Authorization
from webhook.model.request import UserInfo

AUTHORIZER = "kubernetes.authorization.Authorizer"
TYPES = {**ADMISSION, "params": "dyn", "release": "dyn", "acknowledged": "bool", "authorizer": AUTHORIZER}


def _authorizer() -> Authorizer:
    """Nobody may do anything."""
    return Authorizer(lambda _: Authorization(False), UserInfo("alice"), Attributes(UserInfo("alice")))


@dataclass(frozen=True)
class Failure:
    """An evaluation error, by its message."""

    message: str


class Bench:
    """One expression, `f`, with the variables it reads, linked to a slot table of its own."""

    def __init__(
        self,
        text: str,
        *,
        variables: Mapping[str, str] | None = None,
        outside: Mapping[str, str] | None = None,
        parameters: Mapping[str, str] | None = None,
        want: str = "dyn",
    ) -> None:
        builder = Builder(TYPES)
        for name, key in (outside or {}).items():
            builder.outside(name, key, "dyn")
        for name, expression in (variables or {}).items():
            builder.variable(name, expression)
        builder.function("f", text, parameters or {}, want)
        self.program = builder.build()
        self.slots = SlotTable()
        self.linked: Linked = self.program.link(self.slots)

    def activation(self, obj: Any = None, **inputs: Any) -> Activation:
        return Activation(obj, size=len(self.slots), authorizer=_authorizer, **inputs)

    def value(self, obj: Any = None, *parameters: Any, **inputs: Any) -> Any:
        return self.linked.functions["f"](self.activation(obj, **inputs), *parameters)

    def trace(self, obj: Any = None, *parameters: Any, **inputs: Any) -> Trace:
        paths = inputs.pop("paths", ())
        return self.linked.trace("f", self.activation(obj, **inputs), *parameters, paths=paths)

    def outcome(self, obj: Any = None, *parameters: Any, **inputs: Any) -> Any:
        """Give the value, or the error with the words of the twin, which has to agree."""
        trace = self.trace(obj, *parameters, **inputs)
        try:
            value = self.value(obj, *parameters, **inputs)
        except ERRORS:
            assert trace.error is not None
            return Failure(trace.error)
        assert trace.error is None
        assert type(trace.value) is type(value)
        return value


@pytest.fixture
def bench() -> Callable[..., Bench]:
    return Bench


@pytest.fixture
def outcome() -> Callable[..., Any]:
    """Evaluate an expression over an object: the value, or a Failure with the message."""
    return lambda text, obj=None, **options: Bench(text, **options).outcome(obj)


@pytest.fixture
def failure() -> Callable[[str], Failure]:
    return Failure
