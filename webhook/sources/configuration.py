"""The file that `--config` names → Configuration, with the exceptions that stand beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from webhook.errors import DocumentError, DocumentErrors
from webhook.model.configuration import Configuration, PolicyException
from webhook.sources import cache, written
from webhook.sources.files import unreadable
from webhook.sources.written import Written


class File(NamedTuple):
    """A file as it was read."""

    name: str
    content: bytes


def read(file: File) -> Configuration:
    """Read one `Configuration` and any number of `PolicyException` documents, or these alone.

    Raises DocumentErrors with every fault.
    """
    objects = written.read(file.name, file.content)
    errors: list[DocumentError] = []
    configurations: list[Configuration] = []
    exceptions: list[PolicyException] = []
    for entry in objects:
        try:
            match entry.kind:
                case "Configuration":
                    configurations.append(_configuration(entry))
                case "PolicyException":
                    exceptions.append(exception(entry))
                case kind:
                    place = entry.place / "kind"
                    errors.append(place.error(f"got `{kind}`, want `Configuration` or `PolicyException`"))
        except DocumentErrors as faults:
            errors += faults
    if not objects:
        errors.append(DocumentError(file.name, message="empty, want a `Configuration`"))
    errors += _more_than_one(objects)
    if errors:
        raise DocumentErrors(errors)
    configuration = configurations[0] if configurations else Configuration()
    return replace(configuration, exceptions=(*configuration.exceptions, *exceptions))


def load(path: str | Path, make: Callable[[File], Configuration] = read) -> Configuration:
    """Read a file; `make` reads what the cache does not hold. Raises DocumentErrors with every fault."""
    try:
        file = File(str(path), Path(path).read_bytes())
    except OSError as error:
        raise DocumentErrors([unreadable(str(path), error)]) from None
    return cache.remembered([b"configuration", file.name.encode(), file.content], lambda: make(file))


def _configuration(entry: Written) -> Configuration:
    from webhook.sources.formats import configuration as formats  # here: without --config nothing needs pydantic

    if "spec" in entry.value:
        return entry.check(formats.WrappedConfiguration).spec.build(entry.place / "spec")
    return entry.check(formats.Configuration).build(entry.place)


def exception(entry: Written) -> PolicyException:
    """Read one exception. Raises DocumentErrors with every fault."""
    from webhook.sources.formats import configuration as formats  # here: without --config nothing needs pydantic

    return entry.check(formats.PolicyException).build(entry.place)


def _more_than_one(objects: Iterable[Written]) -> Iterator[DocumentError]:
    """Find what there can be one of: the Configuration, and exceptions of a name."""
    seen: set[tuple[str, str]] = set()
    for entry in objects:
        name = entry.text("metadata", "name") if entry.kind == "PolicyException" else ""
        if (key := (entry.kind, name)) in seen and (name or entry.kind == "Configuration"):
            called = f"a second `{entry.kind}`" + (f" called `{name}`" if name else "")
            yield (entry.place / "kind").error(f"{called}, want one")
        seen.add(key)
