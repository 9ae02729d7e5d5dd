"""Policy files → policies: every error of every file, and all the policies that have none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from webhook.errors import DocumentError, DocumentErrors, did_you_mean
from webhook.model.policy import Policy
from webhook.sources import policy_files
from webhook.sources.bundled import bundled
from webhook.sources.policy_files import NO_POLICIES
from webhook.sources.written import Written

if TYPE_CHECKING:
    from webhook.sources.formats.native import ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding

__all__ = ["Loaded", "Source", "bundled", "load", "read"]

OWN, NATIVE, BINDING = "AdmissionPolicy", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"
_READ: Final = (OWN, NATIVE, BINDING)
_READ_ELSEWHERE: Final = ("PolicyTest", "PolicyException", "Configuration")
_LATER: Final = ("MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding")


@dataclass(frozen=True, slots=True)
class Loaded:
    """What policy files gave. `notices` are worth saying and no fault: a native policy without a binding."""

    policies: tuple[Policy, ...]
    errors: tuple[DocumentError, ...] = ()
    notices: tuple[DocumentError, ...] = ()


def load(paths: Iterable[str | Path]) -> Loaded:
    """Read the policies of files and folders. Nothing is raised: what is broken is in `errors`."""
    files, errors = policy_files.find(paths)
    loaded = read(files)
    return Loaded(loaded.policies, tuple(sorted((*errors, *loaded.errors))), loaded.notices)


class Source(Protocol):
    """What holds policies: a `PolicyFile`, or an object that the API server gave."""

    @property
    def root(self) -> str: ...
    @property
    def strict(self) -> bool: ...
    def read(self) -> tuple[Written, ...]: ...


def read(files: Iterable[Source]) -> Loaded:
    """Read the policies of files that are in memory already."""
    collection = _Collection()
    for file in files:
        collection.add_file(file)
    return collection.finish()


class _Collection:
    """What was read so far: names must be unique across files, and bindings find their policy in any."""

    def __init__(self) -> None:
        self.policies: list[Policy] = []
        self.errors: list[DocumentError] = []
        self.notices: list[DocumentError] = []
        self._roots: dict[str, bool] = {}
        self._names: dict[tuple[bool, str], Written] = {}
        self._bound: set[str] = set()
        self._native: dict[str, tuple[Written, ValidatingAdmissionPolicy]] = {}
        self._bindings: list[tuple[Written, ValidatingAdmissionPolicyBinding]] = []

    def add_file(self, file: Source) -> None:
        """Read a file's objects and sort them by kind."""
        self._roots.setdefault(file.root, False)
        try:
            objects = file.read()
        except DocumentErrors as faults:
            self._roots[file.root] = True
            self.errors += faults
            return
        strict = file.strict or any(entry.kind in _READ for entry in objects)
        for entry in objects:
            self._roots[file.root] |= self._add(entry, strict=strict)

    def finish(self) -> Loaded:
        """Bring bindings and policies together, when all files are read."""
        for entry, binding in self._bindings:
            self._bind(entry, binding)
        for name, (entry, _) in self._native.items():
            if name not in self._bound:
                place = entry.place / "metadata" / "name"
                self.notices.append(place.error(f"policy `{name}` does nothing: no {BINDING} names it"))
        self.errors += (
            DocumentError(root, message=NO_POLICIES) for root, any_found in self._roots.items() if not any_found
        )
        return Loaded(tuple(self.policies), tuple(sorted(self.errors)), tuple(sorted(self.notices)))

    def _add(self, entry: Written, *, strict: bool) -> bool:
        """Take an object in; False when it has nothing to do with policies."""
        try:
            if entry.kind in _READ:
                self._read(entry)
            elif fault := _foreign(entry, strict=strict):
                self.errors.append(fault)
            else:
                return False
        except DocumentErrors as faults:
            self.errors += faults
        return True

    def _read(self, entry: Written) -> None:
        from webhook.sources.formats import native, policy  # here: a warm start needs no pydantic

        taken = list(self._claim_name(entry))
        self.errors += taken
        if entry.kind == BINDING:
            self._bound.add(entry.text("spec", "policyName"))
        formats = (policy.AdmissionPolicy, native.ValidatingAdmissionPolicy, native.ValidatingAdmissionPolicyBinding)
        match entry.check(formats[_READ.index(entry.kind)]):
            case _ if taken:
                pass
            case policy.AdmissionPolicy() as own:
                self.policies.append(own.build(entry.place))
            case native.ValidatingAdmissionPolicy() as checked:
                self._native[checked.metadata.name] = (entry, checked)
            case native.ValidatingAdmissionPolicyBinding() as binding:
                self._bindings.append((entry, binding))

    def _claim_name(self, entry: Written) -> Iterator[DocumentError]:
        """Take a name; policies of both kinds share theirs, since results and exceptions speak of them by name."""
        name = entry.text("metadata", "name")
        first = self._names.setdefault((entry.kind == BINDING, name), entry)
        if name and first is not entry:
            at = (first.place / "metadata" / "name").location()
            place = entry.place / "metadata" / "name"
            yield place.error(f"`{name}` is taken already, at {at.file}:{at.line}:{at.column}")

    def _bind(self, entry: Written, binding: ValidatingAdmissionPolicyBinding) -> None:
        name = binding.spec.policy_name
        if name in self._native:
            place, checked = self._native[name][0].place, self._native[name][1]
            self.policies.append(checked.build(place, binding))
        elif (False, name) not in self._names or self._names[False, name].kind == OWN:
            hint = did_you_mean(name, self._native)
            place = entry.place / "spec" / "policyName"
            self.errors.append(place.error(f"no {NATIVE} is called `{name}`{hint}"))


def _foreign(entry: Written, *, strict: bool) -> DocumentError | None:
    """Say what an object is doing among policies, where it may not stand there."""
    kind, own_group = entry.kind, entry.text("apiVersion").startswith("cozyguard.io/")
    place = entry.place / "kind"
    if kind in _LATER:
        return place.error(f"{kind} comes in a later version; until then write an AdmissionPolicy with `mutations`")
    if not strict and (kind in _READ_ELSEWHERE or not own_group):
        return None
    hint = did_you_mean(kind, _READ)
    return place.error(f"got `{kind}`, want one of {', '.join(f'`{name}`' for name in _READ)}{hint}")
