"""Optional values."""

from __future__ import annotations

from typing import Any

import pytest

from webhook.cel.errors import CelError
from webhook.cel.values import NONE, Optional, optional_index, optional_select, type_of


def test_null_is_a_value() -> None:
    assert Optional.of(None).has_value
    assert Optional.of(None).value is None


def test_none_has_no_value() -> None:
    assert not NONE.has_value
    with pytest.raises(CelError, match=r"^optional\.none\(\) dereference$"):
        _ = NONE.value


@pytest.mark.parametrize(
    ("value", "key", "found"), [({"a": 1}, "a", 1), ({"a": None}, "a", None), ([7], 0, 7), (Optional.of([7]), 0, 7)]
)
def test_what_is_there_is_found(value: Any, key: Any, found: Any) -> None:
    assert optional_index(value, key).value == found


@pytest.mark.parametrize("value", [{}, None, "text", 5, True, NONE, Optional.of(None), Optional.of({})])
def test_a_field_of_null_or_a_scalar_is_none(value: Any) -> None:
    assert not optional_select(value, "a").has_value


def test_an_index_outside_the_list_is_none() -> None:
    assert not optional_index([7], 1).has_value
    assert not optional_index([7], -1).has_value


def test_a_list_has_no_optional_fields_either() -> None:
    with pytest.raises(CelError, match=r"^unsupported index type 'string' in list$"):
        optional_select([], "a")


def test_once_optional_always_optional() -> None:
    chain = optional_select({"spec": {"a": {"b": 1}}}, "spec")["a"]["b"]
    assert chain.value == 1
    assert not optional_select({"spec": {}}, "spec")["a"]["b"].has_value


def test_optionals_have_a_type_and_a_form_for_people() -> None:
    assert type_of(NONE).name == "optional_type"
    assert repr(Optional.of(1)) == "Optional.of(1)"
    assert repr(NONE) == "NONE"
