"""The texts of documents with rules of their own: names, identifiers, expressions, moments."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any, Final

from pydantic import AfterValidator, Field

from webhook.model import path as paths
from webhook.model.release import Minor, ReleaseRange
from webhook.sources.formats.base import shown

_LABEL = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_NAME_PART = re.compile(r"[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?")
_IDENTIFIER = re.compile(r"[_a-zA-Z][_a-zA-Z0-9]*")
_KIND = re.compile(r"[A-Za-z](?:[-A-Za-z0-9]*[A-Za-z0-9])?")
_VERSION = re.compile(r"[a-z](?:[-a-z0-9]*[a-z0-9])?")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)")

RESERVED: Final = frozenset(
    (
        *("as", "break", "const", "continue", "else", "false", "for", "function", "if", "import", "in"),
        *("let", "loop", "namespace", "null", "package", "return", "true", "var", "void", "while"),
    )
)
"""Words that CEL's grammar keeps for itself."""


def subdomain(text: str) -> str:
    """Check a DNS-1123 subdomain, as names of cluster-scoped objects are. Raises ValueError."""
    if len(text) > 253 or not _SUBDOMAIN.fullmatch(text):
        raise ValueError(f"got {shown(text)}, want a DNS name: at most 253 lower-case letters, digits, `-` and `.`")
    return text


def name_part(text: str) -> str:
    """Check the part of a qualified name behind the slash. Raises ValueError."""
    if len(text) > 63 or not _NAME_PART.fullmatch(text):
        raise ValueError(f"got {shown(text)}, want at most 63 letters, digits, `-`, `_` and `.`, no sign at either end")
    return text


def qualified_name(text: str) -> str:
    """Check a qualified name: `name`, or `prefix/name` with a DNS prefix. Raises ValueError."""
    prefix, slash, name = text.rpartition("/")
    if slash:
        subdomain(prefix)
    name_part(name)
    return text


def label_value(text: str) -> str:
    """Check a label's value: a name part, or empty. Raises ValueError."""
    return name_part(text) if text else text


def identifier(text: str) -> str:
    """Check a CEL identifier. Raises ValueError."""
    if not _IDENTIFIER.fullmatch(text):
        raise ValueError(f"got {shown(text)}, want a CEL identifier: letters, digits and `_`, no digit first")
    if text in RESERVED:
        raise ValueError(f"`{text}` is a reserved word of CEL, want another name")
    return text


def given(text: str) -> str:
    """Check that a text says something. Raises ValueError."""
    if not text.strip():
        raise ValueError("empty, want text")
    return text


def one_line(text: str) -> str:
    """Check that a text says something on one line. Raises ValueError."""
    if "\n" in given(text).strip() or "\r" in text.strip():
        raise ValueError("has line breaks, want one line")
    return text


def _glob(text: str) -> str:
    if not re.fullmatch(r"(?:[^\s\[\]]|\[[^\s\[\]]+\])+", text):
        raise ValueError(f"got {shown(text)}, want a name or a pattern such as `kubevirt-*`")
    return text


def _api_version(text: str) -> str:
    group, _, version = text.rpartition("/")
    if group:
        subdomain(group)
    if not _VERSION.fullmatch(version):
        raise ValueError(f"got {shown(text)}, want `group/version`, or `v1` for the core group")
    return text


def _kind(text: str) -> str:
    if not _KIND.fullmatch(text):
        raise ValueError(f"got {shown(text)}, want a kind such as `Package`")
    return text


def _url(text: str) -> str:
    if not re.fullmatch(r"https?://[^\s/]+\S*", text):
        raise ValueError(f"got {shown(text)}, want a URL such as `https://cozystack.io/docs/…`")
    return text


def _path(text: str) -> str:
    """Check a field path, in which `[@]` stands for the current index or key."""
    paths.parse(text.replace("[@]", "[0]"))
    return given(text)


def moment(text: str) -> datetime:
    """Read a moment with its time zone, as RFC 3339 writes it. Raises ValueError."""
    if not _MOMENT.fullmatch(text):
        raise ValueError(f"got {shown(text)}, want a moment such as `2027-01-31T00:00:00Z`")
    try:
        return datetime.fromisoformat(text.upper())
    except ValueError:
        raise ValueError(f"got {shown(text)}, a day or time that does not exist") from None


def _readable(read: Callable[[str], Any]) -> AfterValidator:
    """Keep the text, but only if `read` understands it: models hold what is written, builders read it."""

    def check(text: str) -> str:
        read(text)
        return text

    return AfterValidator(check)


def _shape(**keywords: Any) -> Any:
    """Say in schemas what the check of a type comes to, as far as JSON Schema can."""
    return Field(json_schema_extra=keywords)


_GIVEN: Final = _shape(minLength=1)

ObjectName = Annotated[str, AfterValidator(subdomain), _shape(maxLength=253, pattern=f"^{_SUBDOMAIN.pattern}$")]
RuleName = Annotated[str, AfterValidator(name_part), _shape(maxLength=63, pattern=f"^{_NAME_PART.pattern}$")]
QualifiedName = Annotated[str, AfterValidator(qualified_name), _shape(minLength=1, maxLength=317)]
LabelValue = Annotated[str, AfterValidator(label_value), _shape(maxLength=63)]
Identifier = Annotated[str, AfterValidator(identifier), _shape(pattern=f"^{_IDENTIFIER.pattern}$")]
Cel = Annotated[str, AfterValidator(given), Field(description="a CEL expression", json_schema_extra={"minLength": 1})]
Glob = Annotated[str, AfterValidator(_glob), _GIVEN]
Words = Annotated[str, AfterValidator(given), _GIVEN]
Line = Annotated[str, AfterValidator(one_line), _GIVEN]
ObjectApiVersion = Annotated[str, AfterValidator(_api_version)]
Kind = Annotated[str, AfterValidator(_kind)]
Url = Annotated[str, AfterValidator(_url), _shape(pattern="^https?://")]
FieldPath = Annotated[str, Field(max_length=1024, json_schema_extra={"minLength": 1}), AfterValidator(_path)]
Moment = Annotated[str, _readable(moment), _shape(format="date-time")]
Releases = Annotated[str, _readable(ReleaseRange.parse)]
ReleaseName = Annotated[str, _readable(Minor.parse)]
