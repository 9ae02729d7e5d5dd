"""`resource.Get(…)` and `resource.List(…)` of Kyverno, as lookups of ours.

The kind has to be written out: what is watched, or looked for in files, is known before the first request. What names
the object can be computed, from the request; variables in it are written out, as lookups are made before them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Final

from webhook.admission.plurals import Plurals
from webhook.admission.structures import kinds
from webhook.errors import DocumentError, DocumentErrors
from webhook.model.policy import Expression, Lookup, Policy, Text
from webhook.model.request import GroupVersionKind
from webhook.sources.formats.kyverno_calls import Written, masked, replaced
from webhook.sources.formats.kyverno_texts import rewritten

_CALL: Final = re.compile(r"(?<![\w.])resource\s*\.\s*(Get|get|List|list)\s*\(")
_VARIABLE: Final = re.compile(r"(?<![\w.])variables\s*\.\s*(\w+)")
_LONGEST: Final = 4096
_LITERAL: Final = re.compile(r"""(["'])([^"'\\]*)\1""")
_WRITTEN: Final = {
    "get": "optional.ofNonZeroValue(lookups.{0}).value()",
    "list": "dyn({{'items': lookups.{0}}})",
}
"""What stands in the place of a call: an object that is not there is an error, as for Kyverno."""


def with_lookups(policy: Policy, namespace: str) -> Policy:
    """Turn the calls of a policy into lookups; one of a namespaced policy looks in its own `namespace`.

    Raises DocumentErrors for calls of which it is not known what they read.
    """
    suffix = re.sub(r"\W+", "_", f"_{policy.generated_for}") if policy.generated_for else ""
    found = _Found(_inlined(policy), namespace, suffix)
    changed = rewritten(policy, found.change)
    if found.errors:
        raise DocumentErrors(found.errors)
    return replace(changed, lookups=tuple(found.lookups.values())) if found.lookups else policy


@dataclass(frozen=True, slots=True)
class _Found:
    """The calls so far: those with the same words are one lookup. `suffix` makes names that no other policy has."""

    variables: dict[str, str]
    namespace: str
    suffix: str
    lookups: dict[str, Lookup] = field(default_factory=dict)
    errors: list[DocumentError] = field(default_factory=list)

    def change(self, expression: Expression) -> Expression:
        """Put a lookup in the place of every call; what comes after it stays where it is."""

        def write(call: Written) -> str:
            try:
                lookup = self._lookup(call, expression)
            except ValueError as error:
                at = expression.location
                message = f"`resource.{call.name}` {error}"
                self.errors.append(DocumentError(at.file, at.line, at.column, at.path, message))
                return call.text
            return _WRITTEN[call.name.lower()].format(lookup.name)

        return expression.rewritten(replaced(expression.text, _CALL, write))

    def _lookup(self, call: Written, expression: Expression) -> Lookup:
        if call.text in self.lookups:
            return self.lookups[call.text]
        names = ["apiVersion", "resource", *([] if self.namespace else ["namespace"])]
        names += ["name"] if call.name.lower() == "get" else []
        if len(call.arguments) != len(names):
            raise ValueError(f"takes {', '.join(names)} here")
        given = dict(zip(names, call.arguments, strict=True))
        kind = _kind(_literal(given["apiVersion"]), _literal(given["resource"]))
        made = Lookup(
            name=f"resource{len(self.lookups)}{self.suffix}",
            api_version=kind.api_version,
            kind=kind.kind,
            object_name=self._text(given.get("name", ""), expression),
            namespace=Text(self.namespace) if self.namespace else self._text(given["namespace"], expression),
            location=expression.location,
        )
        self.lookups[call.text] = made
        return made

    def _text(self, argument: str, expression: Expression) -> Text:
        if not argument:
            return Text()
        if found := _LITERAL.fullmatch(argument):
            return Text(found[2])
        return Text(expression=expression.rewritten(f"string({_with(self.variables, argument)})"))


def _inlined(policy: Policy) -> dict[str, str]:
    """Write each variable without the ones before it; one that would get too long is left out."""
    made: dict[str, str] = {}
    for variable in policy.variables:
        text = _with(made, variable.expression.text)
        if len(text) <= _LONGEST:
            made[variable.name] = text
    return made


def _with(variables: dict[str, str], text: str) -> str:
    """Put what variables are in the place of their names; a comment may end a text."""
    for found in reversed(list(_VARIABLE.finditer(masked(text)))):
        if found[1] in variables:
            text = f"{text[: found.start()]}({variables[found[1]]}\n){text[found.end() :]}"
    return text


def _literal(argument: str) -> str:
    """Read a text that is written out. Raises ValueError."""
    if not (found := _LITERAL.fullmatch(argument)):
        raise ValueError(f"reads what only `{argument}` tells; want apiVersion and resource as literal text")
    return found[2]


def _kind(api_version: str, resource: str) -> GroupVersionKind:
    """Find the kind of a resource. Raises ValueError for those of CRDs: which kind it is stands in the CRD alone."""
    if kind := _known().get((api_version, resource)):
        return kind
    raise ValueError(f"reads `{resource}` of {api_version}, whose kind is not known here; write a lookup of ours")


@cache
def _known() -> dict[tuple[str, str], GroupVersionKind]:
    plurals = Plurals()
    return {(kind.api_version, plurals.resource(kind)): kind for kind in kinds("")}
