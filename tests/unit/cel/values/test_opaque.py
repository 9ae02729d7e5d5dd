"""Laws that hold for every quantity, address, network, version and URL."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webhook.cel.errors import CelError
from webhook.cel.values import equal, member, unequal
from webhook.cel.values.network import CIDR, IP
from webhook.cel.values.opaque import Opaque
from webhook.cel.values.quantity import Quantity
from webhook.cel.values.semver import Semver
from webhook.cel.values.url import URL

SUFFIXES = ["", *"numkMGTPE", *(f"{unit}i" for unit in "KMGTPE"), "e3", "E-4", "e19"]
QUANTITIES = st.from_regex(r"[+-]?[0-9]{1,25}(\.[0-9]{0,12})?", fullmatch=True).flatmap(
    lambda number: st.sampled_from(SUFFIXES).map(lambda suffix: number + suffix)
)
ADDRESSES = st.ip_addresses().filter(lambda ip: not getattr(ip, "ipv4_mapped", None)).map(str)
IDENTIFIERS = st.from_regex(r"0|[1-9][0-9]{0,3}|[a-z-]{1,3}", fullmatch=True)
VERSIONS = st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3), st.lists(IDENTIFIERS, max_size=3)).map(
    lambda parts: f"{parts[0]}.{parts[1]}.{parts[2]}" + ("-" + ".".join(parts[3]) if parts[3] else "")
)
OPAQUE = [Quantity.parse("1"), Semver.parse("1.0.0"), IP.parse("::1"), CIDR.parse("::1/1"), URL.parse("/")]


@given(QUANTITIES)
def test_a_quantity_that_is_written_and_read_again_is_the_same(text: str) -> None:
    quantity = Quantity.parse(text)
    if quantity.amount.adjusted() < 18:  # there is no suffix for more, and none is written
        assert Quantity.parse(str(quantity)).compare(quantity) == 0


@given(QUANTITIES, QUANTITIES)
def test_what_is_added_to_a_quantity_can_be_taken_away(a: str, b: str) -> None:
    one, other = Quantity.parse(a), Quantity.parse(b)
    assert one.plus(other).minus(other).compare(one) == 0
    assert one.plus(other).compare(other.plus(one)) == 0


@given(QUANTITIES, st.integers(-(2**62), 2**62))
def test_a_quantity_is_an_integer_only_where_its_value_is_one(text: str, number: int) -> None:
    quantity = Quantity.parse(text).plus(Quantity.of(number))
    assert quantity.integer is None or quantity.integer == quantity.amount


@pytest.mark.parametrize(("parse", "texts"), [(Quantity.parse, QUANTITIES), (Semver.parse, VERSIONS)])
@given(data=st.data())
def test_an_order_is_total(parse: Any, texts: Any, data: Any) -> None:
    a, b, c = (parse(data.draw(texts)) for _ in range(3))
    assert a.compare(b) == -b.compare(a)
    assert (a.compare(b) == 0) is equal(a, b)
    if a.compare(b) <= 0 and b.compare(c) <= 0:
        assert a.compare(c) <= 0


@given(VERSIONS)
def test_a_version_that_is_written_and_read_again_is_the_same(text: str) -> None:
    assert str(Semver.parse(text)) == text
    assert Semver.parse_normalized(f"v{text}").compare(Semver.parse(text)) == 0


@given(ADDRESSES, st.integers(0, 32))
def test_a_network_holds_its_own_address_and_itself(text: str, bits: int) -> None:
    network = CIDR.parse(f"{text}/{bits}")
    assert equal(IP.parse(str(network.ip)), network.ip)
    assert network.contains(network.ip)
    assert network.contains(network.masked.ip)
    assert network.contains_network(network.masked)
    assert equal(network.masked, network.masked.masked)


@given(st.text(st.sampled_from("abz01:/?#[]@&=%+.- é"), max_size=20))
def test_a_url_that_is_written_and_read_again_is_the_same(text: str) -> None:
    try:
        url = URL.parse(f"http://h/{text}")
    except CelError:
        return
    assert equal(URL.parse(str(url)), url)


@given(st.text(max_size=12))
def test_any_text_is_read_or_refused(text: str) -> None:
    for parse in (Quantity.parse, Semver.parse, Semver.parse_normalized, IP.parse, CIDR.parse, URL.parse):
        with suppress(CelError):
            assert isinstance(parse(text), Opaque)


@pytest.mark.parametrize("value", OPAQUE, ids=lambda value: type(value).__name__)
def test_what_is_no_other_type_can_be_compared_with_null_only(value: Opaque) -> None:
    assert not equal(value, None)
    assert not equal(None, value)
    assert not equal("a", value)
    assert unequal(value, "a")
    assert not member(value, ["a", 1])
    assert equal([value], ["a"])  # as in cel-go: what cannot be compared makes no difference
    assert equal({"a": value}, {"a": 1})
    assert not equal({"a": value}, {"b": value})
    with pytest.raises(CelError, match="no such overload"):
        equal(value, "a")


@pytest.mark.parametrize("text", ["1e2147483647", "-1e-2147483648", "1e1000000000", "1e-9999"])
def test_a_quantity_beyond_measure_takes_no_time(text: str) -> None:
    quantity = Quantity.parse(text)
    assert quantity.compare(Quantity.parse("1")) != 0
    assert len(str(quantity)) < 20
    assert isinstance(quantity.approximation, float)
    assert quantity.integer is None


def test_a_quantity_has_an_end() -> None:
    with pytest.raises(CelError, match="a quantity has at most 100000 digits"):
        Quantity.parse("1" * 200_000)
    with pytest.raises(CelError, match="a quantity has at most 100000 digits"):
        Quantity.parse("1e1000000").plus(Quantity.parse("1n"))
