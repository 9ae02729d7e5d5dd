"""Policies and exceptions of Kyverno → policies: an exception finds those that it names in any file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from webhook.errors import DocumentError, did_you_mean
from webhook.model.policy import NamedExpression, Policy
from webhook.sources.written import Written

if TYPE_CHECKING:
    from webhook.sources.formats.kyverno_exception import PolicyException

POLICIES: Final = ("ValidatingPolicy", "MutatingPolicy", "NamespacedValidatingPolicy", "NamespacedMutatingPolicy")
_EXCEPTION: Final = "PolicyException"
_GROUP: Final = "policies.kyverno.io/"


def is_read(entry: Written) -> bool:
    """Is this a policy or an exception of Kyverno's; other groups may have kinds of these names."""
    return entry.kind in (*POLICIES, _EXCEPTION) and entry.text("apiVersion").startswith(_GROUP)


def namespace(entry: Written) -> str:
    """Give the namespace that is part of an object's name; "" where it is none."""
    counts = is_read(entry) and (entry.kind.startswith("Namespaced") or entry.kind == _EXCEPTION)
    return entry.text("metadata", "namespace") if counts else ""


class Kyvernos:
    """What was read so far."""

    def __init__(self) -> None:
        """Start with nothing."""
        self._made: list[tuple[str, str, list[Policy]]] = []
        self._exceptions: list[tuple[Written, PolicyException]] = []
        self._notices: list[DocumentError] = []

    def add(self, entry: Written) -> None:
        """Take a policy or an exception. Raises DocumentErrors with its faults."""
        from webhook.sources.formats import kyverno, kyverno_exception  # here: a warm start needs no pydantic

        if entry.kind == _EXCEPTION:
            self._exceptions.append((entry, entry.check(kyverno_exception.PolicyException)))
            return
        policy = entry.check(kyverno.FORMATS[entry.kind])
        self._made.append((entry.kind, policy.metadata.name, policy.build(entry.place)))
        self._notices += policy.notices(entry.place)

    def policies(self) -> Iterator[Policy]:
        """Give the policies, with a condition for each exception that names them."""
        for kind, name, made in self._made:
            conditions = tuple(self._conditions(kind, name))
            yield from (replace(one, match_conditions=(*one.match_conditions, *conditions)) for one in made)

    def notices(self) -> Iterator[DocumentError]:
        """Say what counts for nothing: parts of policies, and exceptions from policies that are not there."""
        yield from self._notices
        for entry, exception in self._exceptions:
            for index, ref in enumerate(exception.spec.policy_refs):
                names = [name for kind, name, _ in self._made if kind == ref.kind]
                if ref.name not in names:
                    place = entry.place / "spec" / "policyRefs" / index / "name"
                    hint = did_you_mean(ref.name, names)
                    yield place.error(f"counts for nothing: no {ref.kind} is called `{ref.name}`{hint}")

    def _conditions(self, kind: str, name: str) -> Iterator[NamedExpression]:
        for entry, exception in self._exceptions:
            if any((ref.kind, ref.name) == (kind, name) for ref in exception.spec.policy_refs):
                yield exception.condition(entry.place)
