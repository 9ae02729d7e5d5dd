"""Policy files → policies: every error of every file, and all the policies that have none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias, cast

from webhook.errors import DocumentError, DocumentErrors, did_you_mean
from webhook.model.policy import Policy
from webhook.sources import constraints, kyvernos, policy_files
from webhook.sources.bundled import bundled
from webhook.sources.constraints import Constraints
from webhook.sources.kyvernos import Kyvernos
from webhook.sources.policy_files import NO_POLICIES
from webhook.sources.written import Written

if TYPE_CHECKING:
    from webhook.sources.formats.base import Mapped
    from webhook.sources.formats.native import (
        MutatingAdmissionPolicy,
        MutatingAdmissionPolicyBinding,
        ValidatingAdmissionPolicy,
        ValidatingAdmissionPolicyBinding,
    )
    from webhook.sources.formats.place import Place

    _Native: TypeAlias = ValidatingAdmissionPolicy | MutatingAdmissionPolicy
    _Binding: TypeAlias = ValidatingAdmissionPolicyBinding | MutatingAdmissionPolicyBinding

__all__ = ["Loaded", "Source", "bundled", "load", "read"]

OWN: Final = "AdmissionPolicy"
_NATIVE: Final = ("ValidatingAdmissionPolicy", "MutatingAdmissionPolicy")
_BINDINGS: Final = tuple(f"{kind}Binding" for kind in _NATIVE)
_SHARING: Final = (*_NATIVE, *kyvernos.POLICIES)
"""Kinds whose names no policy of ours can have, too."""
_READ: Final = (OWN, *_NATIVE, *_BINDINGS, *kyvernos.POLICIES)
_READ_ELSEWHERE: Final = ("PolicyTest", "PolicyException", "Configuration")
_OTHER_ENGINES: Final = {
    **dict.fromkeys(("kyverno.io/", "policies.kyverno.io/"), "Kyverno"),
    **{f"{name}.gatekeeper.sh/": "Gatekeeper" for name in ("config", "expansion", "externaldata", "mutations")},
}
"""Groups whose other kinds change what is decided, too: nobody may take them for read."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """What policy files gave. `notices` are worth saying and no fault: a native policy without a binding.

    Such policies are `unbound`: they decide nothing, and can be looked at.
    """

    policies: tuple[Policy, ...]
    errors: tuple[DocumentError, ...] = ()
    notices: tuple[DocumentError, ...] = ()
    unbound: tuple[Policy, ...] = ()


def load(paths: Iterable[str | Path]) -> Loaded:
    """Read the policies of files and folders. Nothing is raised: what is broken is in `errors`."""
    files, errors = policy_files.find(paths)
    loaded = read(files)
    return replace(loaded, errors=tuple(sorted((*errors, *loaded.errors))))


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
        self._names: dict[tuple[str, str], Written] = {}
        self._bound: set[tuple[str, str]] = set()
        self._native: dict[tuple[str, str], tuple[Written, _Native]] = {}
        self._bindings: list[tuple[Written, _Binding]] = []
        self._kyvernos = Kyvernos()
        self._constraints = Constraints()

    def add_file(self, file: Source) -> None:
        """Read a file's objects and sort them by kind."""
        self._roots.setdefault(file.root, False)
        try:
            objects = file.read()
        except DocumentErrors as faults:
            self._roots[file.root] = True
            self.errors += faults
            return
        strict = file.strict or any(map(_is_read, objects))
        for entry in objects:
            self._roots[file.root] |= self._add(entry, strict=strict)

    def finish(self) -> Loaded:
        """Bring bindings and policies together, when all files are read."""
        for entry, binding in self._bindings:
            self._bind(entry, binding)
        unbound: list[Policy] = []
        for key, (entry, checked) in self._native.items():
            if key not in self._bound:
                place = entry.place / "metadata" / "name"
                self.notices.append(place.error(f"policy `{key[1]}` does nothing: no {key[0]}Binding names it"))
                unbound.append(_as_if_bound(entry, checked))
        self.policies += (*self._kyvernos.policies(), *self._constraints.policies())
        self.errors += self._constraints.errors()
        self.notices += (*self._kyvernos.notices(), *self._constraints.notices())
        self.errors += (
            DocumentError(root, message=NO_POLICIES) for root, any_found in self._roots.items() if not any_found
        )
        return Loaded(tuple(self.policies), tuple(sorted(self.errors)), tuple(sorted(self.notices)), tuple(unbound))

    def _add(self, entry: Written, *, strict: bool) -> bool:
        """Take an object in; False when it has nothing to do with policies."""
        try:
            if _is_read(entry):
                self._read(entry)
            elif fault := _foreign(entry, strict=strict):
                self.errors.append(fault)
            else:
                return False
        except DocumentErrors as faults:
            self.errors += faults
        return True

    def _read(self, entry: Written) -> None:
        taken = list(self._claim_name(entry))
        self.errors += taken
        if entry.kind in _BINDINGS:
            self._bound.add((_bound_kind(entry), entry.text("spec", "policyName")))
        if kyvernos.is_read(entry):
            self._kyvernos.add(entry)
        elif constraints.is_read(entry):
            self._constraints.add(entry)
        else:
            self._read_ours(entry, taken=bool(taken))

    def _read_ours(self, entry: Written, *, taken: bool) -> None:
        """Read what is ours or Kubernetes' own; one whose name is taken is only checked."""
        from webhook.sources.formats import policy  # here: a warm start needs no pydantic

        checked = entry.check(_format(entry.kind))
        if taken:
            return
        if isinstance(checked, policy.AdmissionPolicy):
            self.policies.append(checked.build(entry.place))
        elif entry.kind in _NATIVE:
            self._native[entry.kind, entry.text("metadata", "name")] = (entry, cast("_Native", checked))
        else:
            self._bindings.append((entry, cast("_Binding", checked)))

    def _claim_name(self, entry: Written) -> Iterator[DocumentError]:
        """Take a name. Ours and all other policies share theirs: results and exceptions speak of them by name.

        Of the other kinds each has its own, so that one policy's rules and changes can stand side by side.
        """
        name = "/".join(filter(None, (kyvernos.namespace(entry), entry.text("metadata", "name"))))
        others = _SHARING if entry.kind == OWN else (OWN,) if entry.kind in _SHARING else ()
        first = self._names.setdefault((entry.kind, name), entry)
        found = [first, *(self._names[kind, name] for kind in others if (kind, name) in self._names)]
        for one in found:
            if name and one is not entry:
                at = (one.place / "metadata" / "name").location()
                place = entry.place / "metadata" / "name"
                yield place.error(f"`{name}` is taken already, at {at.file}:{at.line}:{at.column}")

    def _bind(self, entry: Written, binding: _Binding) -> None:
        kind, name = _bound_kind(entry), binding.spec.policy_name
        if (kind, name) in self._native:
            policy, checked = self._native[kind, name]
            build = cast("Callable[[Place, _Binding, Place], Policy]", checked.build)  # the kinds of both go together
            self.policies.append(build(policy.place, binding, entry.place))
        elif (kind, name) not in self._names:
            hint = did_you_mean(name, [one for of, one in self._native if of == kind])
            place = entry.place / "spec" / "policyName"
            self.errors.append(place.error(f"no {kind} is called `{name}`{hint}"))


def _as_if_bound(entry: Written, checked: _Native) -> Policy:
    """Make a policy that no binding names, as one that denies would."""
    from webhook.sources.formats import native  # here: a warm start needs no pydantic

    mutates = isinstance(checked, native.MutatingAdmissionPolicy)
    binding = native.MutatingAdmissionPolicyBinding if mutates else native.ValidatingAdmissionPolicyBinding
    spec = {"policyName": checked.metadata.name} | ({} if mutates else {"validationActions": ["Deny"]})
    document = {"apiVersion": checked.api_version, "kind": binding.__name__, "metadata": {"name": "none"}, "spec": spec}
    build = cast("Callable[[Place, _Binding, Place], Policy]", checked.build)  # the kinds of both go together
    return replace(build(entry.place, binding.model_validate(document), entry.place), binding="")


def _bound_kind(binding: Written) -> str:
    return binding.kind.removesuffix("Binding")


def _format(kind: str) -> type[Mapped]:
    from webhook.sources.formats import native, policy  # here: a warm start needs no pydantic

    return policy.AdmissionPolicy if kind == OWN else cast("type[Mapped]", getattr(native, kind))


def _is_read(entry: Written) -> bool:
    if entry.kind in kyvernos.POLICIES:
        return kyvernos.is_read(entry)
    return entry.kind in _READ or kyvernos.is_read(entry) or constraints.is_read(entry)


def _foreign(entry: Written, *, strict: bool) -> DocumentError | None:
    """Say what an object is doing among policies, where it may not stand there."""
    kind, api_version = entry.kind, entry.text("apiVersion")
    place = entry.place / "kind"
    if engine := next((name for group, name in _OTHER_ENGINES.items() if api_version.startswith(group)), ""):
        wanted = (
            f"one of {_listed(kyvernos.POLICIES)}"
            if engine == "Kyverno"
            else f"a `{constraints.TEMPLATE}` or a constraint"
        )
        return place.error(f"`{kind}` of {engine} is not read: want {wanted}")
    if not strict and (kind in _READ_ELSEWHERE or not api_version.startswith("cozyguard.io/")):
        return None
    hint = did_you_mean(kind, _READ)
    return place.error(f"got `{kind}`, want one of {_listed(_READ)}{hint}")


def _listed(kinds: Iterable[str]) -> str:
    return ", ".join(f"`{kind}`" for kind in kinds)
