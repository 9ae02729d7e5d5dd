"""What every mapping of a document has in common: all faults at once, in words for people."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar, Final, Self

from pydantic import BaseModel, ConfigDict, ModelWrapValidatorHandler, ValidationError, model_validator
from pydantic.alias_generators import to_camel
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError

from webhook.errors import did_you_mean
from webhook.model.path import Path
from webhook.sources.formats.place import KEY

Fault = tuple[Path, str]
"""Where below the mapping at hand, and what was expected there."""

_FAULT: Final = "fault"

_WANTED: Final = {
    "bool_type": "`true` or `false`",
    "dict_type": "a mapping",
    "int_type": "a whole number",
    "list_type": "a list",
    "model_type": "a mapping",
    "string_type": "text",
}
"""What pydantic's type errors mean to the writer of a YAML file."""


class Mapped(BaseModel):
    """One mapping of a document, spelled as in the file: `messageExpression`, not `message_expression`.

    A field that is null counts as absent, as the API server reads it.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, alias_generator=to_camel)

    REFUSED: ClassVar[Mapping[str, str]] = {}
    """Fields that people may expect here and we do not read: name, and what to do instead."""
    AT_MOST_ONE: ClassVar[tuple[tuple[str, ...], ...]] = ()
    """Groups of fields of which one can be given."""
    UNIQUE: ClassVar[Mapping[str, str]] = {}
    """Lists of mappings, and the field whose value must differ between their entries."""
    RULES: ClassVar[Mapping[str, str]] = {}
    """What of `faults` the API server checks too, where documents of this kind are installed: CEL → what is wrong."""

    @model_validator(mode="wrap")
    @classmethod
    def _report_every_fault(cls, value: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        """Check fields and what holds between them in one go; pydantic alone stops after the fields."""
        if not isinstance(value, dict):
            return handler(value)
        given = {key: item for key, item in value.items() if item is not None or key not in cls.field_names()}
        faults: list[Fault] = []
        made: Self | None = None
        try:
            made = handler(given)
        except ValidationError as error:
            faults += [(_path(detail), cls._translate(detail)) for detail in error.errors()]
        faults += [*cls._shared_faults(given), *cls.faults(given)]
        if made is None or faults:
            raise _failure(cls.__name__, faults)
        return made

    @classmethod
    def field_names(cls) -> list[str]:
        """Names of the fields as they are written."""
        return [field.alias or name for name, field in cls.model_fields.items()]

    @classmethod
    def faults(cls, given: dict[str, Any]) -> Iterable[Fault]:  # noqa: ARG003 - what subclasses look at
        """Check what holds between fields. `given` is as written: any value may be of any type."""
        return ()

    @classmethod
    def _shared_faults(cls, given: dict[str, Any]) -> Iterator[Fault]:
        for group in cls.AT_MOST_ONE:
            present = [name for name in group if name in given]
            if len(present) > 1:
                yield (present[1],), f"cannot be given together with `{present[0]}`"
        for name, key in cls.UNIQUE.items():
            yield from repeated(given, name, key)

    @classmethod
    def _translate(cls, detail: ErrorDetails) -> str:
        key = detail["loc"][-1] if detail["loc"] else ""
        match detail["type"]:
            case "fault":
                return detail["msg"]
            case "missing":
                return "missing, and required"
            case "extra_forbidden":
                return cls._unknown(str(key))
            case "literal_error" | "enum":
                options = re.findall(r"'([^']*)'", str(detail["ctx"]["expected"]))
                return (
                    f"got {shown(detail['input'])}, want {one_of(options)}{did_you_mean(str(detail['input']), options)}"
                )
            case "too_short":
                return "empty, want at least one entry"
            case "too_long":
                return f"{detail['ctx']['actual_length']} entries, want at most {detail['ctx']['max_length']}"
            case "string_too_long":
                return f"{len(detail['input'])} characters, want at most {detail['ctx']['max_length']}"
            case "greater_than_equal":
                return f"got {shown(detail['input'])}, want at least {detail['ctx']['ge']}"
            case "less_than_equal":
                return f"got {shown(detail['input'])}, want at most {detail['ctx']['le']}"
            case "value_error":
                return str(detail["ctx"]["error"])
            case kind:
                found, wanted = detail["input"], _WANTED[kind]
                return f"got {shown(found)}, want {wanted}{_quoting_hint(kind, found)}"

    @classmethod
    def _unknown(cls, name: str) -> str:
        if name in cls.REFUSED:
            return cls.REFUSED[name]
        names = cls.field_names()
        return f"unknown field{did_you_mean(name, names) or f'; known here: {listed(names)}'}"


def repeated(given: dict[str, Any], name: str, key: str) -> Iterator[Fault]:
    """Find the entries of a list of mappings that repeat an earlier one's `key`."""
    seen: dict[str, int] = {}
    for index, value in texts(given, name, key):
        if value in seen:
            yield (name, index, key), f"`{value}` is taken already by `{name}[{seen[value]}]`"
        seen.setdefault(value, index)


def entries(given: dict[str, Any], name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield index and entry of a list of mappings, passing over whatever is of another type."""
    listed_entries = given.get(name)
    for index, entry in enumerate(listed_entries if isinstance(listed_entries, list) else ()):
        if isinstance(entry, dict):
            yield index, entry


def texts(given: dict[str, Any], name: str, key: str) -> Iterator[tuple[int, str]]:
    """Yield index and `key` of each mapping in a list whose `key` is text."""
    for index, entry in entries(given, name):
        if isinstance(value := entry.get(key), str):
            yield index, value


def shown(value: Any) -> str:
    """Write a value as in a one-line YAML file, shortened, in backticks."""
    text = value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False, default=str)
    return f"`{text if len(text) <= 60 else text[:59] + '…'}`"


def listed(names: Iterable[str]) -> str:
    """Join names in backticks with commas."""
    return ", ".join(f"`{name}`" for name in names)


def one_of(names: list[str]) -> str:
    """Join names in backticks, the last with `or`."""
    return " or ".join(filter(None, (listed(names[:-1]), listed(names[-1:]))))


def _path(detail: ErrorDetails) -> Path:
    """Where the fault is. Pydantic marks a fault of a key with one more step; so do we."""
    return (*detail["loc"], KEY) if detail["type"] == "extra_forbidden" else detail["loc"]


def _quoting_hint(kind: str, value: Any) -> str:
    """YAML's typical trap: `message: yes` is no text."""
    return "; put it in quotes" if kind == "string_type" and isinstance(value, bool | int | float) else ""


def _failure(title: str, faults: list[Fault]) -> ValidationError:
    return ValidationError.from_exception_data(
        title,
        [
            InitErrorDetails(type=PydanticCustomError(_FAULT, "{text}", {"text": text}), loc=path, input=None)
            for path, text in faults
        ],
    )
