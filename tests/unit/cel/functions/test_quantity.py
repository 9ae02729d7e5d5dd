"""Quantities, and their order.

The expected values are those of k8s.io/apiserver 1.37.
"""

from __future__ import annotations

from typing import Any

import pytest

VALUES = {
    "quantity('50k').asInteger() == 50000": True,
    "quantity('1.0').isInteger()": False,
    "quantity('1E').isInteger()": True,
    "quantity('1Ei').isInteger()": False,
    "quantity('9223372036854775807').isInteger()": False,
    "quantity('9.5').isInteger()": False,
    "quantity('-9').asInteger()": -9,
    "quantity('50k').sub(20000).asApproximateFloat()": 30000.0,
    "quantity('1n').asApproximateFloat()": 1e-09,
    "quantity('1e400').asApproximateFloat()": float("inf"),
    "quantity('0.1').asApproximateFloat()": 0.1,
    "quantity('123456789012345678901').asApproximateFloat()": 1.2345678901234568e20,
    "sign(quantity('-1m'))": -1,
    "sign(quantity('0'))": 0,
    "sign(quantity('+5'))": 1,
    "quantity('50k').add(quantity('20k')) == quantity('70k')": True,
    "quantity('50k').add(20).sub(quantity('100k')).sub(-50000).asInteger()": 20,
    "quantity('200M').compareTo(quantity('0.2G'))": 0,
    "quantity('50M').compareTo(quantity('50Mi'))": -1,
    "quantity('1e30').compareTo(quantity('1e29'))": 1,
    "quantity('150Mi').isGreaterThan(quantity('100Mi'))": True,
    "quantity('50M').isLessThan(quantity('100M'))": True,
    "quantity('100M').isLessThan(quantity('50M'))": False,
    "quantity('1Ei').isLessThan(quantity('8Ei'))": True,
    "quantity('8Ei') == quantity('9Ei')": True,
    "quantity('1').sub(-9223372036854775808).asInteger()": -9223372036854775807,
    "quantity('0.1n') == quantity('1n')": True,
    "isQuantity('1.3Gi')": True,
    "isQuantity('1,3G')": False,
    "isQuantity('10000k')": True,
    "isQuantity('200K')": False,
    "isQuantity('Three')": False,
    "isQuantity('Mi')": True,
    "isQuantity('')": False,
    "isQuantity('-')": True,
    "isQuantity('.')": True,
    "isQuantity('1e5')": True,
    "isQuantity('1E+5')": True,
    "isQuantity('1e0000000000000000000000003')": True,
    "isQuantity('1e')": False,
    "isQuantity('.Ei')": False,
    "isQuantity(' 1')": False,
    "isQuantity('1e99999999999999999999')": False,
    "quantity('1') == null": False,
    "quantity('1') != dyn('1')": True,
    "dyn('1') == quantity('1')": False,
    "[quantity('1')] == [quantity('1000m')]": True,
    "quantity('1') in [quantity('2'), quantity('1000m')]": True,
    "{'a': quantity('1')} == {'a': quantity('2')}": False,
    "[quantity('2'), quantity('1')].indexOf(quantity('1000m'))": 1,
    "type(quantity('1')) == type(quantity('2Gi'))": True,
    "has(dyn(quantity('1')).a)": False,
}


@pytest.mark.parametrize(("text", "value"), VALUES.items())
def test_quantities_are_those_of_the_api_server(outcome: Any, text: str, value: Any) -> None:
    assert outcome(text) == value


ERRORS = {
    "quantity('')": "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    "quantity('200K')": "unable to parse quantity's suffix",
    "quantity('1e')": "unable to parse quantity's suffix",
    "quantity('.Ei')": "unable to parse numeric part of quantity",
    "quantity('1.5').asInteger()": "cannot convert value to integer",
    "quantity('9999999999999999999999999999999999999G').asInteger()": "cannot convert value to integer",
    "quantity('2') == quantity('1').add(1)": "no such overload",
    "quantity('1') == dyn('1')": "no such overload",
    "string(dyn(quantity('1')))": "no such overload: string(kubernetes.Quantity)",
    "quantity(dyn(1))": "no such overload: quantity(int)",
    "quantity('1').add(dyn('1'))": "no such overload: add(kubernetes.Quantity, string)",
    "dyn(1).isInteger()": "no such overload: isInteger(int)",
    "quantity('1').isLessThan(dyn(semver('1.0.0')))": "no such overload: isLessThan(kubernetes.Quantity, kubernetes.Semver)",
}


@pytest.mark.parametrize(("text", "message"), ERRORS.items())
def test_what_goes_wrong_with_a_quantity(outcome: Any, text: str, message: str) -> None:
    assert outcome(text).message == message
