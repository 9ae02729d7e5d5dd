"""Every function that expressions can call: µs a call, beside cel-cpp's own where it has the function.

`python -m benchmarks functions`. Ours is the generated function of the expression, with its reading of `v`;
cel-cpp's is one evaluation, with a `v` to bind that has what the expression reads. A figure is the best of several
rounds.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from sys import maxsize
from typing import Any, Final

from cel_expr_python import cel
from cel_expr_python.ext import ext_optional, ext_strings

from benchmarks.engine import best
from benchmarks.machine import machine
from webhook.cel.errors import Budget
from webhook.cel.functions import LIBRARIES
from webhook.cel.program import Activation, Builder, SlotTable
from webhook.cel.values.authorizer import Authorizer
from webhook.model.authorization import Attributes, Authorization
from webhook.model.request import UserInfo

_USER: Final = UserInfo("ada")

VALUES: Final[Mapping[str, Any]] = {
    "text": "a text of forty characters, or not quite",
    "name": "cozystack.gpu-operator",
    "number": 42,
    "numbers": list(range(10)),
    "texts": ["gamma", "alpha", "beta"],
    "time": "2026-11-30T12:34:56Z",
    "span": "1h30m",
    "quantity": "1500Mi",
    "version": "1.6.2-rc.1",
    "ip": "10.96.0.10",
    "cidr": "10.96.0.0/16",
    "url": "https://user@example.com:8443/a/path?key=value",
}
"""What the calls read as `v.<name>`."""

_GIVEN: Final[dict[str, str]] = {
    "kubernetes.Quantity": "quantity(v.quantity)",
    "kubernetes.Semver": "semver(v.version)",
    "kubernetes.URL": "url(v.url)",
    "kubernetes.NamedFormat": "format.dns1123Subdomain()",
    "net.IP": "ip(v.ip)",
    "net.CIDR": "cidr(v.cidr)",
    "string": "v.text",
    "int": "1",
    "bool": "true",
    "bytes": "bytes(v.text)",
    "double": "1.5",
    "uint": "1u",
    "timestamp": "timestamp(v.time)",
    "duration": "duration(v.span)",
    "dyn": "v.number",
    "~A": "v.number",
    "list<string>": "v.texts",
    "list<dyn>": "v.numbers",
    "list<int>": "v.numbers",
    "list<~A>": "v.numbers",
    "list<list<~A>>": "[v.numbers]",
    "list<optional_type<~A>>": "[optional.of(1)]",
    "optional_type<~A>": "v[?'number']",
}
"""An argument of each type."""

_RIGHTS: Final[dict[str, str]] = {
    "kubernetes.authorization.Authorizer": "authorizer",
    "kubernetes.authorization.PathCheck": "authorizer.path('/healthz')",
    "kubernetes.authorization.GroupCheck": "authorizer.group('apps')",
    "kubernetes.authorization.ResourceCheck": "authorizer.group('apps').resource('deployments')",
    "kubernetes.authorization.Decision": "authorizer.path('/healthz').check('get')",
}
"""What is asked about rights; the answer is at hand."""

_CALLS: Final[Mapping[str, str]] = {
    **{name: f"timestamp(v.time).{name}()" for name in ("getFullYear", "getMonth", "getDate", "getDayOfMonth")},
    **{name: f"timestamp(v.time).{name}()" for name in ("getDayOfWeek", "getDayOfYear", "getHours", "getMinutes")},
    **{name: f"timestamp(v.time).{name}()" for name in ("getSeconds", "getMilliseconds")},
    **{name: f"{name}(v.number)" for name in ("int", "uint", "double", "string", "dyn", "type")},
    "bool": "bool('true')",
    "bytes": "bytes(v.text)",
    "timestamp": "timestamp(v.time)",
    "duration": "duration(v.span)",
    "size": "size(v.text)",
    "contains": "v.text.contains('forty')",
    "startsWith": "v.text.startsWith('a text')",
    "endsWith": "v.text.endsWith('quite')",
    "matches": "v.text.matches('[a-z]+, or')",
    "find": "v.text.find('[a-z]+, or')",
    "findAll": "v.text.findAll('[a-z]+')",
    "indexOf": "v.text.indexOf('forty')",
    "lastIndexOf": "v.text.lastIndexOf('forty')",
    "replace": "v.text.replace(' ', '-')",
    "split": "v.text.split(' ')",
    "format": "'%s of %d'.format([v.text, v.number])",
    "lists.range": "lists.range(10)",
    "@sortByAssociatedKeys": "v.numbers.sortBy(n, -n)",
    "slice": "v.numbers.slice(2, 5)",
    "first": "v.numbers.first()",
    "last": "v.numbers.last()",
    "optional.of": "optional.of(v.number)",
    "optional.none": "optional.none()",
    "optional.ofNonZeroValue": "optional.ofNonZeroValue(v.number)",
    "hasValue": "v[?'number'].hasValue()",
    "orValue": "v[?'none'].orValue(1)",
    "value": "v[?'number'].value()",
    "or": "v[?'none'].or(v[?'number'])",
    "isQuantity": "isQuantity(v.quantity)",
    "quantity": "quantity(v.quantity)",
    "isSemver": "isSemver(v.version)",
    "semver": "semver(v.version)",
    "isIP": "isIP(v.ip)",
    "ip": "ip(v.ip)",
    "ip.isCanonical": "ip.isCanonical(v.ip)",
    "isCIDR": "isCIDR(v.cidr)",
    "cidr": "cidr(v.cidr)",
    "containsIP": "cidr(v.cidr).containsIP(v.ip)",
    "containsCIDR": "cidr(v.cidr).containsCIDR(v.cidr)",
    "isURL": "isURL(v.url)",
    "url": "url(v.url)",
    "format.named": "format.named('uuid')",
    "serviceAccount": "authorizer.serviceAccount('default', 'builder')",
    "validate": "format.dns1123Subdomain().validate(v.name)",
}
"""Calls that the types of the first overload do not tell."""


def main() -> None:
    """Print the table."""
    os.sched_setaffinity(0, {0})
    print(f"## functions: µs a call\n\n{machine()}\n")
    print("| library | call | ours | cel-cpp |\n| --- | --- | ---: | ---: |")
    for library, text in calls():
        theirs = _theirs(text)
        print(f"| {library} | `{text}` | {_ours(text):.2f} | {'' if theirs is None else f'{theirs:.2f}'} |")


def calls() -> Iterator[tuple[str, str]]:
    """Give a call of every function, with the name of its library."""
    for library in LIBRARIES:
        for function in library.functions:
            yield library.name, _CALLS.get(function.name) or _call(function.name, function.overloads[0])


def _call(name: str, overload: Any) -> str:
    arguments = [(_GIVEN | _RIGHTS)[type_] for type_ in overload.parameters]
    receiver = f"{arguments.pop(0)}." if overload.receiver else ""
    return f"{receiver}{name}({', '.join(arguments)})"


def _ours(text: str) -> float:
    builder = Builder({"object": "dyn", "authorizer": "kubernetes.authorization.Authorizer"})
    builder.function("f", text.replace("v.", "object.").replace("v[", "object["), want="dyn")
    function = builder.build().link(SlotTable()).functions["f"]
    return best(function, Activation(dict(VALUES), size=0, budget=Budget(total=maxsize), authorizer=_authorizer))


def _authorizer() -> Authorizer:
    return Authorizer(lambda _: Authorization(True), _USER, Attributes(_USER))


def _theirs(text: str) -> float | None:
    """None where cel-cpp has no such function, or cannot evaluate it."""
    environment = cel.NewEnv(
        variables={"v": cel.Type.DYN}, extensions=[ext_optional.ExtOptional(), ext_strings.ExtStrings()]
    )
    try:
        expression = environment.compile(text)
    except RuntimeError:
        return None
    data = {"v": {name: value for name, value in VALUES.items() if name in text}}
    if expression.eval(data=data).type() == cel.Type.ERROR:
        return None
    return best(lambda: expression.eval(data=data))


if __name__ == "__main__":
    main()
