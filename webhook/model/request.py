"""What the API server asks: an admission request, as Kubernetes defines it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple, Self

Object = dict[str, Any]
"""A Kubernetes object, or any JSON object: as parsed, never copied, never changed in place."""

CREATE: Final = "CREATE"
UPDATE: Final = "UPDATE"
DELETE: Final = "DELETE"
CONNECT: Final = "CONNECT"
OPERATIONS: Final = (CREATE, UPDATE, DELETE, CONNECT)


class GroupVersionKind(NamedTuple):
    """The type of an object; the core group is ""."""

    group: str
    version: str
    kind: str

    @classmethod
    def of(cls, obj: Object) -> Self:
        """Read `apiVersion` and `kind` of an object; what is missing is ""."""
        group, _, version = str(obj.get("apiVersion") or "").rpartition("/")
        return cls(group, version, str(obj.get("kind") or ""))

    @property
    def api_version(self) -> str:
        """As it is written in a manifest: `group/version`, or the version alone."""
        return f"{self.group}/{self.version}" if self.group else self.version


class GroupVersionResource(NamedTuple):
    """The REST resource: the plural, lower-case name (`packages`)."""

    group: str
    version: str
    resource: str


@dataclass(frozen=True, slots=True)
class UserInfo:
    """Who asks."""

    username: str
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: dict[str, list[str]] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class AdmissionRequest:
    """One request to decide about.

    `resource` is what the object has been converted to, `request_resource` what the user sent: they
    differ where a webhook asks for `matchPolicy: Equivalent`. `user` is None where nobody knows who
    will apply the object (a file on disk): a rule that reads the user is then skipped, never
    guessed. `cel` is the CEL variable `request`, in the shape that Kubernetes gives it.
    """

    uid: str
    operation: str
    kind: GroupVersionKind
    resource: GroupVersionResource
    request_resource: GroupVersionResource
    subresource: str
    name: str
    namespace: str
    user: UserInfo | None
    object: Object | None
    old_object: Object | None
    dry_run: bool
    cel: Object

    def with_object(self, obj: Object | None) -> AdmissionRequest:
        """Give the same request about another object: what is left after a mutation."""
        return replace(self, object=obj)

    @property
    def display_name(self) -> str:
        """The name people know it by: `infer-7d9c-*` while only `generateName` is known."""
        if self.name:
            return self.name
        metadata = (self.object or {}).get("metadata")
        if not isinstance(metadata, dict):
            return ""
        return str(metadata.get("name") or f"{metadata.get('generateName') or ''}*")
