"""A fault of an expression is told at its place in the file, in whatever style the expression is written."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from webhook.engine.compile import compile_policy
from webhook.errors import DocumentError, DocumentErrors
from webhook.sources.policies import read
from webhook.sources.policy_files import PolicyFile

HEAD = """\
apiVersion: cozyguard.io/v1alpha1
kind: AdmissionPolicy
metadata: {name: broken}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], resources: [pods], operations: [CREATE]}
  validations:
  - expression: "true"
"""

BREAK = " && "
"""Where an expression goes on on the next line, in the styles that can have more than one."""

STYLES: dict[str, Callable[[str], str]] = {
    "plain": lambda text: f"  - expression: {text}\n",
    "plain, on several lines": lambda text: f"  - expression:\n      {text.replace(BREAK, chr(10) + '       && ')}\n",
    "single quotes": lambda text: f"  - expression: '{text.replace(chr(39), chr(39) * 2)}'\n",
    "double quotes": lambda text: f"  - expression: {json.dumps(text)}\n",
    "double quotes, on several lines": lambda text: (
        f"  - expression: {json.dumps(text).replace(BREAK, chr(10) + '     && ')}\n"
    ),
    "literal": lambda text: f"  - expression: |\n      {text.replace(BREAK, BREAK + chr(10) + '        ')}\n",
    "literal, with an empty line": lambda text: f"  - expression: |- # why\n\n      {text}\n",
    "folded": lambda text: f"  - expression: >-\n      {text.replace(BREAK, chr(10) + '      && ')}\n",
    "folded, with an empty line": lambda text: (
        f"  - expression: >\n\n      {text.replace(BREAK, chr(10) * 2 + '      && ')}\n"
    ),
    "flow": lambda text: f"  - {{message: a, expression: {json.dumps(text)}}}\n",
    "flow, on several lines": lambda text: f"  - {{message: a,\n     expression: {json.dumps(text)}}}\n",
}

BAD = {
    "object.a == \"b\" && objekt.c == 'd' && true": ("objekt", "no variable `objekt`; did you mean `object`?"),
    "object.a == 'b' && object.c.startswith('d')": ("(", "no function `startswith`; did you mean `startsWith`?"),
    "object.a == 'b' && request.nam == 'c' && true": (".nam", "`request` has no field `nam`; did you mean `name`?"),
    "object.a == 'b' && 'c' + 1 == 'd'": ("+", "`+` cannot be applied to string and int"),
    "object.a == 'b' && variables.c == 1": ("variables", "no variable `variables.c`"),
    "object.a == 'b' && object.c in [1, 2, true]": ("true", "elements of one literal must have one type"),
    "object.a == 'b' && object.c == 9223372036854775808": ("9223", "`9223372036854775808` is too big for an int"),
    "object.a == 'b' && int(1e30) == 1": ("1e30", "`1e+30` is no int"),
    "object.a == 'b' && has(object['c'])": ("[", "has() takes a field such as `a.b`, not an index"),
    "object.a == 'b' && (object.c == )": (")", "cannot read the expression from `)` on"),
    f"object.a == 'b' && 1 {'+ 1 ' * 70} == 1": ("object", "the expression is nested too deep"),
    f"object.a == 'b' && object.c == '{'d' * 100_000}'": ("object", "the expression is too long"),
    f"object.c in [{', '.join(map(str, range(10_000)))}] && objekt": ("objekt", "no variable `objekt`"),
}


@pytest.mark.parametrize("style", STYLES.values(), ids=list(STYLES))
def test_a_fault_is_told_where_it_stands(style: Callable[[str], str]) -> None:
    for text, (place, message) in BAD.items():
        if style is STYLES["plain"] and len(text) > 1000:
            continue
        source = HEAD + style(text)
        (fault,) = _faults(source)
        assert fault.message.startswith(message)
        assert source.splitlines()[fault.line - 1][fault.column - 1 :].startswith(place), fault


def _faults(source: str) -> tuple[DocumentError, ...]:
    loaded = read([PolicyFile("p.yaml", source.encode(), strict=True, root="p.yaml")])
    assert not loaded.errors
    with pytest.raises(DocumentErrors) as raised:
        compile_policy(loaded.policies[0])
    return raised.value.errors
