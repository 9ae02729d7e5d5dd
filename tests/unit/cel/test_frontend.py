"""What is refused, in which words and where; and what is taken that the CEL library's checker refuses."""

from __future__ import annotations

import pytest

from webhook.cel.environment import variable_type
from webhook.cel.errors import ExpressionErrors
from webhook.cel.frontend import compile_expression

NAMES = {
    "object": "dyn",
    "request": "kubernetes.AdmissionRequest",
    "namespaceObject": "kubernetes.Namespace",
    "variables.gates": "list(string)",
    "variables.items": "list(dyn)",
    "lookups.gpu": "dyn",
}

REFUSED = {
    # syntax
    "": "1:1: the expression ends too early",
    "object.a ==": "1:12: the expression ends too early",
    "object.a &&\n  (1 + )": "2:8: cannot read the expression from `)` on",
    "object.": "1:8: the expression ends too early",
    "object.a = 1": "1:10: `= ` means nothing in CEL",
    "'" + "a" * 100_001 + "'": "1:1: the expression is too long: got 100003 characters, want at most 100000",
    "object.a.matches('\\d+')": "1:19: `\\d` is no escape in CEL: write `\\\\` for a backslash, or a raw text, `r'…'`",
    "object.a == 'x": "1:13: the text that begins with `'x` is not closed",
    "object.a ==\n '\ud800'": "2:3: half a character, a surrogate",
    "object.a == 9223372036854775808": "1:13: `9223372036854775808` is too big for an int",
    "-0xFFFFFFFFFFFFFFFFF": "1:1: `-0xFFFFFFFFFFFFFFFFF` is too big for an int",
    "18446744073709551616u": "1:1: `18446744073709551616u` is too big for a uint",
    # names
    "variables == null": "1:1: `variables` is no value: write `variables.<name>`",
    "size(lookups)": "1:6: `lookups` is no value: write `lookups.<name>`",
    "variables['gates']": "1:1: `variables` is no value: write `variables.<name>`",
    "variables.gate": "1:1: no variable `variables.gate`; did you mean `variables.gates`?",
    "size(variables.nothing)": "1:6: no variable `variables.nothing`",
    "lookups.gpv.spec": "1:1: no variable `lookups.gpv`; did you mean `lookups.gpu`?",
    "objekt.spec.a": "1:1: no variable `objekt`; did you mean `object`?",
    "object.a.startswith('b')": "1:20: no function `startswith`; did you mean `startsWith`?",
    "request.nam": "1:8: `request` has no field `nam`; did you mean `name`?",
    "request.userInfo.user == 'x'": "1:17: `request.userInfo` has no field `user`; did you mean `username`?",
    "request.object": "1:8: `request` has no field `object`",
    "namespaceObject.status.conditions[0].kind": "1:37: `kubernetes.NamespaceCondition` has no field `kind`",
    "namespaceObject.metadata.ownerReferences": "1:25: `namespaceObject.metadata` has no field `ownerReferences`",
    "JSONPatch{opp: 'add'}": "1:14: `JSONPatch` has no field `opp`; did you mean `op`?",
    # what Kubernetes does not have
    "cel.bind(a, 1, a)": "1:9: `cel.bind` does not exist in Kubernetes; use a variable of the policy",
    "math.greatest(1, 2)": "1:14: `math.greatest` does not exist in Kubernetes",
    "base64.encode(b'a')": "1:14: `base64.encode` does not exist in Kubernetes",
    "quantity('1').sign()": "1:19: `sign` is no method: write `sign(…)`",
    "startsWith('a', 'b')": "1:11: `startsWith` is a method: write `….startsWith(…)`",
    # types
    "1 == 1.0": "1:3: `==` cannot be applied to int and double",
    "'a' + 1": "1:5: `+` cannot be applied to string and int",
    "size(1)": "1:5: `size` does not take (int)",
    "variables.gates == 'a'": "1:17: `==` cannot be applied to list(string) and string",
    "quantity('1') < quantity('2')": "1:15: `<` cannot be applied to kubernetes.Quantity and kubernetes.Quantity",
    "string(quantity('1'))": "1:7: `string` does not take (kubernetes.Quantity)",
    "quantity('1') == semver('1.0.0')": "1:15: `==` cannot be applied to kubernetes.Quantity and kubernetes.Semver",
    "namespaceObject.metadata.creationTimestamp == 'a'": "1:44: `==` cannot be applied to timestamp and string",
    "request.userInfo.extra == 1": "1:24: `==` cannot be applied to map(string,list(dyn)) and int",
    "[] == {}": "1:4: `==` cannot be applied to list(any) and map(any,any)",
    # literals that Kubernetes checks
    "[1, 'a']": "1:5: elements of one literal must have one type: got string after int; write dyn(…)",
    "[object.a, 'b']": "1:12: elements of one literal must have one type: got string after dyn; write dyn(…)",
    "[[], {}]": "1:6: elements of one literal must have one type: got map(dyn, dyn) after list(dyn); write dyn(…)",
    "[object.a, []]": "1:12: elements of one literal must have one type: got list(dyn) after dyn; write dyn(…)",
    "type(object) in [int, string]": "1:23: elements of one literal must have one type: got type(string)"
    " after type(int); write dyn(…)",
    "{'a': 1, 'b': 'c'}": "1:15: elements of one literal must have one type: got string after int; write dyn(…)",
    "{'a': 1, 2: 1}": "1:10: elements of one literal must have one type: got int after string; write dyn(…)",
    "'a'.matches('(')": "1:13: `(` is no regular expression: error parsing regexp: missing ): (",
    "object.a.find('[')": "1:15: `[` is no regular expression: Illegal regex: error parsing regexp: missing ]: [",
    "duration('1x')": "1:10: `1x` is no duration: type conversion error from 'string' to 'google.protobuf.Duration'",
    "timestamp('x')": "1:11: `x` is no timestamp: type conversion error from 'string' to 'google.protobuf.Timestamp'",
    "timestamp(99999999999999)": "1:11: `99999999999999` is no timestamp: timestamp overflow",
    "int('a')": "1:5: `a` is no int: type conversion error from 'string' to 'int'",
    "object.a || uint(-1) == 0u": "1:18: `-1` is no uint: unsigned integer overflow",
    "string(null)": "1:8: `null` is no string: no such overload: string(null_type)",
    "1e400": "1:1: the number is too big for a double",
    "object[null]": "1:8: nothing can be found under such a literal",
    "optional.of([1].exists_one(i, g, i == g)).optMap(x, x)": "1:39: no variable `g`",  # the library's checker
    "object[[1]]": "1:8: nothing can be found under such a literal",
    "object[?b'a']": "1:9: nothing can be found under such a literal",
    "dyn": "1:1: `dyn` is no type that a value can have",
    "google.protobuf.Timestamp{seconds: 1}": "1:1: `google.protobuf.Timestamp` cannot be made in Kubernetes",
    "'%d'.format(['a'])": "1:14: error during formatting: decimal clause can only be used on integers, was given string",
    "'%o'.format([true])": "1:14: error during formatting: octal clause can only be used on integers, was given bool",
    "'%s %s'.format([object.a])": "1:15: index 1 out of range",
    "'%d'.format([1, 2])": "1:12: too many arguments supplied to string.format (expected 1, got 2)",
    "'%q'.format([1])": '1:12: could not parse formatting clause: unrecognized formatting clause "q"',
    "'%s'.format([quantity('1')])": "1:22: error during formatting: string clause can only be used on strings, bools,"
    " bytes, ints, doubles, maps, lists, types, durations, and timestamps, was given kubernetes.Quantity",
    # forms
    'has(object.labels["a/b"])': '1:18: has() takes a field such as `a.b`, not an index: write `"a/b" in object.labels`',
    "object.`a-b`": "1:7: Kubernetes reads no quoted field names; write `['a-b']` for this field",
    "has(variables.gate)": "1:5: no variable `variables.gate`; did you mean `variables.gates`?",
    "variables.?gate": "1:1: no variable `variables.gate`; did you mean `variables.gates`?",
    "variables.gates.sortBy(g, [g])": "1:27: `sortBy` cannot order by list(string)",
    "{'a': 1}.sortBy(k, k)": "1:1: `sortBy` sorts lists, got map(string, int)",
    "variables.gates.sortBy(g, size(g))[0] == 1": "1:39: `==` cannot be applied to string and int",
    " + ".join(["1"] * 70): "1:1: the expression is nested too deep; move parts of it into variables",
}


@pytest.mark.parametrize(("text", "message"), REFUSED.items())
def test_a_wrong_expression_is_refused_in_plain_words(text: str, message: str) -> None:
    with pytest.raises(ExpressionErrors) as caught:
        compile_expression(text, NAMES)
    assert message in str(caught.value).splitlines()


TAKEN = {
    "1 < 2.0": "bool",
    "1u >= 1": "bool",
    "variables.gates.exists_one(i, g, g == 'a')": "bool",
    "variables.gates.existsOne(i, g, g == 'a')": "bool",
    "variables.gates.transformList(i, g, g)": "list(string)",
    "has(variables.gates)": "bool",
    "has(lookups.gpu) && has(variables.gates)": "bool",
    "variables.?gates": "optional_type(list(string))",
    "variables.?gates[?0].orValue('a') == 'b'": "bool",
    "variables.gates.sortBy(g, size(g))": "list(string)",
    "variables.gates.sortBy(g, size(g)).join(',')": "string",
    "variables.gates.map(g, [g, g].sortBy(h, h)[0])": "list(dyn)",
    "object.sortBy(x, size(x.a))": "list(dyn)",
    "Object{spec: Object.spec{anything: 1, ?other: object.?x}}": "dyn",
    "[JSONPatch{op: 'add', path: '/a', value: Object.a{b: 1}}]": "list(JSONPatch)",
    "[[], ['a']]": "list(list(string))",
    "['a', dyn(object.x) == 1 ? 'b' : 'c']": "list(string)",
    "request.userInfo.groups": "list(string)",
    "request.options.dryRun": "dyn",
    "namespaceObject == null || has(namespaceObject.metadata.labels)": "bool",
    "namespaceObject.metadata.labels['a']": "string",
    "object.?a.orValue('b')": "dyn",
    "object[?'a'].orValue(1)": "int",
    "'%d%%'.format([1])": "string",
    "'%f'.format(['NaN'])": "string",
    "'%s'.format([type(1)])": "string",
    "'%s'.format([duration('1s')])": "string",
    "'%s'.format([null])": "string",
    "'%s'.format([request.userInfo.groups])": "string",
    "'%d'.format([dyn('a')])": "string",
    "'%d'.format(object.list)": "string",
    "'%s: %d'.format([object.a, 1])": "string",
    "'%s: %d'.format(['a', 1].map(x, x))": "string",
    "[type(object), type(object.a)]": "list(type(dyn))",
    "[[], [[]], [['a']]]": "list(list(list(string)))",
    "request.userInfo.extra['a'][0] == 'b'": "bool",
    "[1, 2].sum()": "int",
    "duration('1h') < duration('2h')": "bool",
    "quantity('1').add(1)": "kubernetes.Quantity",
    "quantity('1') == null": "bool",
    "cidr('::/0').ip()": "net.IP",
    "format.named('uuid').value().validate('')": "optional_type(list(string))",
    "url('/').getQuery()": "map(string, list(string))",
    "string(ip('::1'))": "string",
    "type(ip('::1')) == net.IP": "bool",
}


@pytest.mark.parametrize(("text", "type_"), TAKEN.items())
def test_what_kubernetes_takes_is_taken_and_typed(text: str, type_: str) -> None:
    assert compile_expression(text, NAMES).type == type_


VARIABLES = {
    "object.a": "dyn",
    "[1.5]": "list(double)",
    "timestamp(0)": "timestamp",
    "quantity('1')": "dyn",
    "[optional.of(1)]": "list(dyn)",
    "{'a': type(1)}": "map(string, dyn)",
    "request": "dyn",
}


@pytest.mark.parametrize(("text", "type_"), VARIABLES.items())
def test_a_variable_keeps_the_types_that_kubernetes_keeps(text: str, type_: str) -> None:
    assert variable_type(compile_expression(text, NAMES).type) == type_


def test_every_fault_is_reported_at_once() -> None:
    with pytest.raises(ExpressionErrors) as caught:
        compile_expression("objekt.a == 1 &&\n request.nam == ''", NAMES)
    assert [(error.line, error.column) for error in caught.value.errors] == [(1, 1), (2, 9)]


@pytest.mark.parametrize("text", ["request.?object.?data.orValue('')", "true ? " * 300 + "true" + " : false" * 300])
def test_what_follows_from_a_fault_is_no_fault_of_its_own(text: str) -> None:
    with pytest.raises(ExpressionErrors) as caught:
        compile_expression(text, NAMES)
    (error,) = caught.value.errors
    assert error.line == 1


def test_positions_count_code_points() -> None:
    with pytest.raises(ExpressionErrors) as caught:
        compile_expression("'\U0001f600é' == x", NAMES)
    assert (caught.value.errors[0].line, caught.value.errors[0].column) == (1, 9)


def test_an_expression_that_macros_blow_up_is_refused() -> None:
    with pytest.raises(ExpressionErrors, match="move parts of it into variables"):
        compile_expression("object.?a" + ".optMap(x, x.b)" * 12, NAMES)
