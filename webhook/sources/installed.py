"""Policies and exceptions that are objects of the cluster → what of them is in force, and what is wrong with the rest.

They go the way of files: the same formats, the same compiler. Only what has changed is read again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, ClassVar, Final, Generic, TypeVar

from webhook.engine.compile import CompiledPolicy
from webhook.errors import DocumentError, DocumentErrors
from webhook.model.configuration import Configuration, PolicyException
from webhook.model.request import Object
from webhook.sources import compiled, configuration, written
from webhook.sources.written import Written

POLICY: Final = "AdmissionPolicy"
EXCEPTION: Final = "PolicyException"
_API_VERSION: Final = "cozyguard.io/v1alpha1"
_METADATA: Final = ("name", "uid", "generation", "resourceVersion")

Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class Document:
    """The part of an object that decides: `content` is JSON, without what status and other metadata may become."""

    kind: str
    name: str
    content: bytes

    root: ClassVar = ""
    strict: ClassVar = True

    @classmethod
    def of(cls, kind: str, name: str, spec: Any) -> Document:
        """Take kind, name and spec."""
        whole = {"apiVersion": _API_VERSION, "kind": kind, "metadata": {"name": name}, "spec": spec}
        return cls(kind, name, json.dumps(whole, sort_keys=True).encode())

    @property
    def spec(self) -> Object:
        """What the object says."""
        spec: Object = json.loads(self.content)["spec"]
        return spec

    def read(self) -> tuple[Written, ...]:
        """Read its object."""
        return (written.of_object(f"{self.kind.lower()}/{self.name}", json.loads(self.content)),)


@dataclass(frozen=True, slots=True)
class Reading:
    """What one object is: a policy, an exception, or nothing but faults."""

    made: CompiledPolicy | PolicyException | None
    faults: tuple[DocumentError, ...] = ()


def read(documents: Iterable[Document]) -> tuple[Reading, ...]:
    """Read and compile each. Nothing is raised: what is broken is in `faults`."""
    return tuple(_policy(one) if one.kind == POLICY else _exception(one) for one in documents)


def _policy(document: Document) -> Reading:
    found = compiled.compile_files((document,))
    return Reading(found.policies[0] if found.policies else None, _ordered(found.errors))


def _exception(document: Document) -> Reading:
    try:
        return Reading(configuration.exception(*document.read()))
    except DocumentErrors as faults:
        return Reading(None, _ordered(faults))


def _ordered(faults: Iterable[DocumentError]) -> tuple[DocumentError, ...]:
    """Sort by field: most faults have no line."""
    return tuple(sorted(faults, key=lambda fault: (fault.path, fault.line, fault.column)))


@dataclass(frozen=True, slots=True)
class Standing(Generic[Made]):
    """How it stands with one object: its faults, and what of it is in force, if anything is.

    `since` is the generation in force, an older one while a newer is invalid; its spec is then `last_good`.
    """

    object: Object
    faults: tuple[DocumentError, ...] = ()
    in_force: Made | None = None
    since: int | None = None
    last_good: Object | None = None

    @property
    def name(self) -> str:
        """The object's name."""
        return _name(self.object)


@dataclass(frozen=True, slots=True)
class Installed:
    """All that is installed, ordered by name."""

    policies: tuple[Standing[CompiledPolicy], ...] = ()
    exceptions: tuple[Standing[PolicyException], ...] = ()

    def faults(self) -> Iterator[DocumentError]:
        """Give what is wrong with any of them."""
        yield from chain.from_iterable(one.faults for one in self.policies)
        yield from chain.from_iterable(one.faults for one in self.exceptions)

    def over(self, files: Iterable[CompiledPolicy]) -> tuple[CompiledPolicy, ...]:
        """Give the policies in force: each that is installed replaces those of its name that come from files."""
        own = {one.name: one.in_force for one in self.policies if one.in_force}
        return (*(one for one in files if one.policy.name not in own), *own.values())

    def added_to(self, given: Configuration) -> Configuration:
        """Add the exceptions in force to those of a configuration."""
        own = tuple(one.in_force for one in self.exceptions if one.in_force)
        return replace(given, exceptions=(*given.exceptions, *own)) if own else given


@dataclass(frozen=True, slots=True)
class _Object:
    """One object as it is now; `noted` is the last good version that its status kept through a restart."""

    object: Object
    uid: str
    generation: int
    document: Document
    noted: tuple[int, Document] | None

    @classmethod
    def of(cls, kind: str, obj: Object) -> _Object:
        metadata, noted = obj["metadata"], obj.get("status", {}).get("lastGood")
        name = metadata["name"]
        return cls(
            obj,
            metadata.get("uid", ""),
            metadata.get("generation", 0),
            Document.of(kind, name, obj.get("spec")),
            (noted["generation"], Document.of(kind, name, noted["spec"])) if noted else None,
        )


@dataclass(frozen=True, slots=True)
class _Good:
    policy: CompiledPolicy
    generation: int
    document: Document


class Installation:
    """Remembers what each object was read to be, and the last good version of each policy."""

    def __init__(self, read: Callable[[tuple[Document, ...]], tuple[Reading, ...]] = read) -> None:
        """Start with nothing; `read` does the work, perhaps in another process."""
        self._read = read
        self._readings: dict[Document, Reading] = {}
        self._good: dict[tuple[str, str], _Good] = {}

    def load(self, policies: Iterable[Object], exceptions: Iterable[Object]) -> Installed:
        """Tell how it stands with all the objects that there are; what is not given has been deleted."""
        own = [_Object.of(POLICY, one) for one in sorted(policies, key=_name)]
        others = [_Object.of(EXCEPTION, one) for one in sorted(exceptions, key=_name)]
        self._read_new({*(one.document for one in (*own, *others)), *(one.noted[1] for one in own if one.noted)})
        self._good = {(one.document.name, one.uid): good for one in own if (good := self._last_good(one))}
        return Installed(tuple(map(self._policy, own)), tuple(map(self._exception, others)))

    def _read_new(self, documents: set[Document]) -> None:
        """Read those that are new, all in one go, and forget those that are gone."""
        new = tuple(documents - self._readings.keys())
        read = dict(zip(new, self._read(new), strict=True)) if new else {}
        self._readings = {one: self._readings.get(one) or read[one] for one in documents}

    def _last_good(self, one: _Object) -> _Good | None:
        """Give what is in force of a policy: itself, else what was before, else what its status kept."""
        if good := self._made(one.generation, one.document):
            return good
        return self._good.get((one.document.name, one.uid)) or (self._made(*one.noted) if one.noted else None)

    def _made(self, generation: int, document: Document) -> _Good | None:
        made = self._readings[document].made
        return _Good(made, generation, document) if isinstance(made, CompiledPolicy) else None

    def _policy(self, one: _Object) -> Standing[CompiledPolicy]:
        faults = self._readings[one.document].faults
        good = self._good.get((one.document.name, one.uid))
        if not good:
            return Standing(one.object, faults)
        last_good = good.document.spec if faults else None
        return Standing(one.object, faults, good.policy, good.generation, last_good)

    def _exception(self, one: _Object) -> Standing[PolicyException]:
        reading = self._readings[one.document]
        if not isinstance(reading.made, PolicyException):
            return Standing(one.object, reading.faults)
        return Standing(one.object, (), reading.made, one.generation)


def kept(obj: Object) -> Object:
    """Leave out what a watch need not remember: managed fields and annotations outweigh many a policy."""
    metadata = {key: obj["metadata"][key] for key in _METADATA if key in obj["metadata"]}
    return {key: obj[key] for key in ("apiVersion", "kind", "spec", "status") if key in obj} | {"metadata": metadata}


def version(obj: Object) -> tuple[str, int, int]:
    """Give what differs when an object has to be read again: it has changed, or the last good version that another
    replica told of. Whoever saw only the broken one that came right after it takes that.
    """
    metadata, noted = obj["metadata"], obj.get("status", {}).get("lastGood")
    return metadata["uid"], metadata["generation"], noted["generation"] if noted else 0


def _name(obj: Object) -> str:
    return str(obj["metadata"]["name"])
