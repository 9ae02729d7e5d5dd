"""`kind: Configuration` and `kind: PolicyException`: how a cluster wants the policies applied."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from webhook.model import configuration as model
from webhook.model.release import Minor
from webhook.sources.formats import rules
from webhook.sources.formats.base import Mapped
from webhook.sources.formats.fields import Glob, Line, Moment, ObjectName, ReleaseName, Words, moment
from webhook.sources.formats.match import LabelSelector, MatchResources
from webhook.sources.formats.place import Place
from webhook.sources.formats.policy import ApiVersion

Globs = Annotated[list[Glob], Field(min_length=1)]


class Mode(Mapped):
    """What becomes of the findings of some policies, in some namespaces, until a moment."""

    policies: Globs
    mode: Literal["deny", "warn", "audit", "off"]
    namespace_selector: LabelSelector | None = None
    until: Moment | None = None

    def build(self) -> model.Mode:
        """Make the model's word of it."""
        return model.Mode(
            policies=tuple(self.policies),
            mode=model.ModeName(self.mode),
            namespace_selector=self.namespace_selector.build() if self.namespace_selector else None,
            until=moment(self.until) if self.until else None,
        )


class Exempt(Mapped):
    """Requests that no policy looks at, by exact names."""

    users: list[Words] = []
    groups: list[Words] = []
    namespaces: list[ObjectName] = []

    def build(self) -> model.Exempt:
        """Make the model's word of it."""
        return model.Exempt(frozenset(self.users), frozenset(self.groups), frozenset(self.namespaces))


class ExceptedPolicy(Mapped):
    """A policy, or those that a glob names, and which of its rules; none named means all."""

    name: Glob
    rules: list[Words] = []


class ExceptionMatch(MatchResources):
    """Which requests are excepted: as `matchConstraints`, plus names of objects."""

    names: list[Glob] = []
    """Names of objects, or globs."""


class ExceptionSpec(Mapped):
    """A documented way past some rules for some objects; it always has an owner and an end."""

    policies: Annotated[list[ExceptedPolicy], Field(min_length=1)]
    """The policies it is about, and which of their rules."""
    match: ExceptionMatch
    """Which requests it is for; what is left out does not narrow it."""
    owner: Line
    """Who answers for it."""
    reason: Words
    """Why it is right."""
    expires_at: Moment
    """From this moment on it no longer counts."""

    def build(self, name: str, place: Place) -> model.PolicyException:
        """Make the model's word of it."""
        return model.PolicyException(
            name=name,
            policies=tuple(model.ExceptedPolicy(entry.name, tuple(entry.rules)) for entry in self.policies),
            match=self.match.build(),
            owner=self.owner.strip(),
            reason=self.reason.strip(),
            expires_at=moment(self.expires_at),
            names=tuple(self.match.names),
            location=place.location(),
        )


class PolicyException(Mapped):
    """An exception as a document of its own."""

    api_version: ApiVersion
    kind: Literal["PolicyException"]
    metadata: rules.Metadata
    spec: ExceptionSpec
    status: Any = None

    def build(self, root: Place) -> model.PolicyException:
        """Make the model's word of it."""
        return self.spec.build(self.metadata.name, root / "metadata" / "name")


class InlineException(ExceptionSpec):
    """An exception as an entry of a Configuration; without a name it is called by its index."""

    name: ObjectName | None = None

    def in_configuration(self, place: Place) -> model.PolicyException:
        """Make the model's word of it."""
        return self.build(self.name or f"exceptions[{place.path[-1]}]", place)


class Settings(Mapped):
    """What a Configuration says."""

    UNIQUE: ClassVar = {"exceptions": "name"}

    release: ReleaseName | None = None
    modes: list[Mode] = []
    exempt: Exempt | None = None
    exceptions: list[InlineException] = []
    policies: list[Words] = []

    def build(self, place: Place) -> model.Configuration:
        """Make the model's word of it; paths of policies are relative to the file."""
        folder = Path(place.file).parent
        return model.Configuration(
            release=Minor.parse(self.release) if self.release else None,
            modes=tuple(mode.build() for mode in self.modes),
            exempt=self.exempt.build() if self.exempt else model.NOBODY,
            exceptions=tuple(
                entry.in_configuration(place / "exceptions" / index) for index, entry in enumerate(self.exceptions)
            ),
            policies=tuple(str(folder / path) for path in self.policies),
        )


class Configuration(Settings):
    """A Configuration as people write it: a file that no cluster stores has no `spec`."""

    api_version: ApiVersion
    kind: Literal["Configuration"]
    metadata: Any = None


class WrappedConfiguration(Mapped):
    """The same written like an object of a cluster, under `spec`."""

    api_version: ApiVersion
    kind: Literal["Configuration"]
    metadata: Any = None
    spec: Settings
