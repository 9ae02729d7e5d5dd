"""What the CEL project's evaluator and PyPI's cel-python make of the same expressions.

Both are asked only where they are right: cel-cpp compares an int with a double exactly, which cel-go
does not, and messages differ everywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import celpy
import pytest
from cel_expr_python import cel
from hypothesis import given
from hypothesis import strategies as st

from webhook.cel import values
from webhook.cel.errors import Budget, CelError
from webhook.cel.functions import FUNCTIONS

INTS = st.integers(-(2**63), 2**63 - 1) | st.integers(-9, 9)
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=4)
SCALARS = INTS | TEXTS | st.booleans() | st.floats(allow_nan=False) | st.binary(max_size=3)
ERROR = "an error"

OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "a + b": lambda a, b: values.add(Budget(), a, b),
    "a - b": values.subtract,
    "a * b": values.multiply,
    "a / b": values.divide,
    "a % b": values.modulo,
    "a == b": values.equal,
    "a < b": values.less,
    "a >= b": values.greater_equal,
}
STRINGS: dict[str, Callable[[Any, Any], Any]] = {
    "a + b": lambda a, b: values.add(Budget(), a, b),
    "a.contains(b)": lambda a, b: FUNCTIONS["contains"].implementation(Budget(), a, b),
    "a.startsWith(b)": FUNCTIONS["startsWith"].implementation,
    "a.endsWith(b)": FUNCTIONS["endsWith"].implementation,
    "a < b": values.less,
    "a == b": values.equal,
    "size(a) < size(b)": lambda a, b: values.less(values.size(a), values.size(b)),
}


@pytest.fixture(scope="module")
def cel_cpp() -> Callable[..., Any]:
    """Evaluate with the CEL project's own evaluator."""
    env = cel.NewEnv(variables={"a": cel.Type.DYN, "b": cel.Type.DYN})
    compiled = {text: env.compile(text) for text in OPERATORS.keys() | STRINGS.keys()}

    def evaluate(text: str, a: Any, b: Any = None) -> Any:
        value = (compiled.get(text) or env.compile(text)).eval(data={"a": a, "b": b})
        return ERROR if value.type() == cel.Type.ERROR else value.plain_value()

    return evaluate


def ours(function: Callable[..., Any], *operands: Any) -> Any:
    """The result, or that there is none."""
    try:
        return function(*operands)
    except CelError:
        return ERROR


@pytest.mark.parametrize("text", OPERATORS)
@given(a=INTS, b=INTS)
def test_integers_as_cel_cpp_has_them(cel_cpp: Any, text: str, a: int, b: int) -> None:
    assert cel_cpp(text, a, b) == ours(OPERATORS[text], a, b)


@pytest.mark.parametrize("text", STRINGS)
@given(a=TEXTS, b=TEXTS)
def test_strings_as_cel_cpp_has_them(cel_cpp: Any, text: str, a: str, b: str) -> None:
    assert cel_cpp(text, a, b) == ours(STRINGS[text], a, b)


@given(a=st.lists(SCALARS, max_size=2) | SCALARS, b=st.lists(SCALARS, max_size=2) | SCALARS)
def test_equality_as_cel_cpp_has_it(cel_cpp: Any, a: Any, b: Any) -> None:
    assert cel_cpp("a == b", a, b) == values.equal(a, b)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("int", "42"),
        ("int", "4.2"),
        ("int", 4.9),
        ("uint", -1),
        ("double", "1.5"),
        ("double", "x"),
        ("bool", "true"),
        ("string", 12),
        ("string", True),
        ("bytes", "é"),
    ],
)
def test_conversions_as_cel_cpp_has_them(cel_cpp: Any, name: str, value: Any) -> None:
    function = FUNCTIONS[name]
    arguments = (Budget(), value) if function.charges else (value,)
    assert cel_cpp(f"{name}(a)", value) == ours(function.implementation, *arguments)


@pytest.mark.parametrize(
    ("text", "function", "operands"),
    [
        ("7 / -2", values.divide, (7, -2)),
        ("-7 % 3", values.modulo, (-7, 3)),
        ("1.0 / 4.0", values.divide, (1.0, 4.0)),
        ("'é😀'.size()", values.size, ("é😀",)),
        ("'b' in ['a', 'b']", values.member, ("b", ["a", "b"])),
        ("'b' in {'a': 1}", values.member, ("b", {"a": 1})),
        ("[1, [2]] == [1, [2]]", values.equal, ([1, [2]], [1, [2]])),
        ("{'a': 1} == {'a': 2}", values.equal, ({"a": 1}, {"a": 2})),
        ("'a'.startsWith('b')", FUNCTIONS["startsWith"].implementation, ("a", "b")),
        ("'\\U0001F600' < '\\uffff'", values.less, ("😀", "\uffff")),
    ],
)
def test_constants_as_cel_python_has_them(text: str, function: Callable[..., Any], operands: Any) -> None:
    environment = celpy.Environment()
    assert environment.program(environment.compile(text)).evaluate({}) == function(*operands)
