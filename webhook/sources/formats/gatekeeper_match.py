"""`spec.match` of a constraint, as rules, selectors and match conditions of ours.

`pkg/mutation/match` of github.com/open-policy-agent/gatekeeper.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator

from webhook.model import policy as model
from webhook.sources.formats.base import Fault, Mapped, shown
from webhook.sources.formats.match import LabelSelector
from webhook.sources.formats.place import Place

_ANY: Final = "*"


def _wildcard(text: str) -> str:
    if not re.fullmatch(r"\*?[-:.a-z0-9]*\*?", text):
        raise ValueError(f"got {shown(text)}, want a name or a pattern such as `kube-*`")
    return text


Wildcard = Annotated[str, AfterValidator(_wildcard)]
"""A name, or the beginning, the end or a part of one: `kube-*`, `*-system`, `*a*`."""


class Kinds(Mapped):
    """Kinds of some groups; either is all where nothing is said."""

    api_groups: list[str] = []
    kinds: list[str] = []

    @property
    def expression(self) -> str:
        """The test of a request in CEL."""
        tests = (
            f"request.kind.{field} in [{', '.join(map(repr, values))}]"
            for field, values in (("group", self.api_groups), ("kind", self.kinds))
            if values and _ANY not in values
        )
        return f"({' && '.join(tests) or 'true'})"


class Match(Mapped):
    """Which requests a constraint is about."""

    kinds: list[Kinds] = []
    scope: Literal["*", "Cluster", "Namespaced"] = "*"
    namespaces: list[Wildcard] = []
    excluded_namespaces: list[Wildcard] = []
    label_selector: LabelSelector | None = None
    namespace_selector: LabelSelector | None = None
    name: Wildcard = ""
    source: Literal["All", "Original", "Generated"] = "All"

    @classmethod
    def faults(cls, given: dict[str, Any]) -> Iterable[Fault]:
        """What is asked about here was written by somebody."""
        if given.get("source") == "Generated":
            yield ("source",), "got `Generated`: what ExpansionTemplates generate is not looked at here"

    def resources(self, operations: tuple[str, ...]) -> model.MatchResources:
        """Give the rules, as narrow as groups and scope make them, and the selectors."""
        groups = {group for one in self.kinds for group in one.api_groups or [_ANY]} or {_ANY}
        rule = model.ResourceRule(
            api_groups=(_ANY,) if _ANY in groups else tuple(sorted(groups)),
            api_versions=(_ANY,),
            resources=(_ANY,),
            operations=operations,
            scope=self.scope,
        )
        return model.MatchResources(
            (rule,),
            namespace_selector=self.namespace_selector.build() if self.namespace_selector else None,
            object_selector=self.label_selector.build() if self.label_selector else None,
        )

    def conditions(self, place: Place) -> Iterator[model.NamedExpression]:
        """Give what rules and selectors cannot say: kinds, and globs of names and namespaces."""
        for name, text in self._conditions():
            yield model.NamedExpression(name, (place / name).expression(text))

    def _conditions(self) -> Iterator[tuple[str, str]]:
        if self.kinds:
            yield "kinds", " || ".join(one.expression for one in self.kinds)
        if self.namespaces:
            yield "namespaces", f"!has(request.namespace) || {_any('request.namespace', self.namespaces)}"
        if self.excluded_namespaces:
            found = _any("request.namespace", self.excluded_namespaces)
            yield "excludedNamespaces", f"!has(request.namespace) || !({found})"
        if self.name:
            yield "name", _named(self.name)


def _any(value: str, globs: list[str]) -> str:
    return " || ".join(_fits(value, glob) for glob in globs)


def _fits(value: str, glob: str) -> str:
    """Write the test whether a value fits."""
    part = glob.strip(_ANY)
    match glob.startswith(_ANY), glob.endswith(_ANY):
        case True, True:
            return f"{value}.contains('{part}')"
        case True, _:
            return f"{value}.endsWith('{part}')"
        case _, True:
            return f"{value}.startsWith('{part}')"
        case _:
            return f"{value} == '{part}'"


def _named(glob: str) -> str:
    """Write the test of an object's name; of one that is generated only the beginning is known."""
    named = f"(has(request.name) && {_fits('request.name', glob)})"
    if not glob.endswith(_ANY):
        return named
    generated = "object.metadata.generateName"
    return f"{named} || (object != null && has({generated}) && {_fits(generated, glob)})"
