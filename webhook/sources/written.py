"""An object as it is written in a file: its value, its place, and the check against a format."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from webhook.errors import DocumentError, DocumentErrors
from webhook.model.path import Path
from webhook.sources.formats.place import KEY, NoText, Place

if TYPE_CHECKING:
    from webhook.sources.formats.base import Mapped

Format = TypeVar("Format", bound="Mapped")


@dataclass(frozen=True, slots=True)
class Written:
    """One object of a file, with where it stands."""

    value: Any
    place: Place

    @property
    def kind(self) -> str:
        """The object's `kind`, "" where there is none to read."""
        kind = self.value.get("kind") if isinstance(self.value, dict) else None
        return kind if isinstance(kind, str) else ""

    def text(self, *path: str) -> str:
        """Read a text of an object that may be broken; "" where there is none."""
        value = self.value
        for step in path:
            value = value.get(step) if isinstance(value, dict) else None
        return value if isinstance(value, str) else ""

    def check(self, kind: type[Format]) -> Format:
        """Check the object against its format. Raises DocumentErrors with every fault, located."""
        from pydantic import ValidationError  # here: a warm start needs no pydantic

        try:
            return kind.model_validate(self.value)
        except ValidationError as error:
            faults = error.errors(include_url=False)
            raise DocumentErrors(self._located(fault["loc"], fault["msg"]) for fault in faults) from None

    def _located(self, path: Path, message: str) -> DocumentError:
        of_key = path[-1:] == (KEY,)
        return self.place.below(path[:-1] if of_key else path).error(message, of_key=of_key)


def of_object(name: str, value: Any) -> Written:
    """Take an object as the API server gave it: faults are told by `name` and field path."""
    return Written(value, Place(name, NoText()))


def read(file: str, content: bytes) -> tuple[Written, ...]:
    """Read a file's objects, those inside Lists one by one. Raises DocumentErrors."""
    from webhook.sources import yaml  # here: a warm start needs no YAML

    found: list[Written] = []
    for document in yaml.read(content, file):
        whole = Written(document.value, Place(file, document))
        found += _items(whole) if whole.kind.endswith("List") else [whole]
    return tuple(found)


def _items(whole: Written) -> list[Written]:
    """Take the objects out of a `kind: List`, or one such as `AdmissionPolicyList`."""
    items = whole.value.get("items")
    if not isinstance(items, list):
        raise DocumentErrors([(whole.place / "items").error("want a list of objects")])
    return [Written(item, replace(whole.place, prefix=("items", index))) for index, item in enumerate(items)]
