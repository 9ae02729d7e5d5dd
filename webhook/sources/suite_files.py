"""The files that a suite names, read with their faults told where they are named."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TypeVar

from webhook.errors import DocumentErrors
from webhook.model.request import Object
from webhook.sources import written
from webhook.sources.files import unreadable
from webhook.sources.formats.base import Mapped
from webhook.sources.formats.place import Place
from webhook.sources.written import Written

Format = TypeVar("Format", bound=Mapped)


def path(suite: Place, named: str) -> str:
    """Give a path that can be opened from where we are for one that is relative to the suite."""
    return os.path.normpath(Path(suite.file).parent / named)


def objects(place: Place, named: str) -> tuple[Object, ...]:
    """Read the objects of a file. Raises DocumentErrors, for what is no object too."""
    found = _read(place, named)
    if broken := [one.place.error("want an object") for one in found if not isinstance(one.value, dict)]:
        raise DocumentErrors(broken)
    return tuple(one.value for one in found)


def one(place: Place, named: str) -> Written:
    """Read a file's only document. Raises DocumentErrors."""
    found = _read(place, named)
    if len(found) != 1:
        raise DocumentErrors([place.error(f"`{path(place, named)}` holds {len(found)} objects, want one")])
    return found[0]


def one_object(place: Place, named: str) -> Object:
    """Read a file's only object. Raises DocumentErrors."""
    found = one(place, named)
    if not isinstance(found.value, dict):
        raise DocumentErrors([found.place.error("want an object")])
    return found.value


def checked(place: Place, named: str, format_: type[Format]) -> Format:
    """Read a file's only document, in a format. Raises DocumentErrors."""
    return one(place, named).check(format_)


def _read(place: Place, named: str) -> tuple[Written, ...]:
    file = Path(path(place, named))
    try:
        return written.read(str(file), file.read_bytes())
    except OSError as error:
        raise DocumentErrors([place.error(f"`{file}` {unreadable(str(file), error).message}")]) from None
