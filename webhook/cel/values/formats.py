"""Named formats of strings, such as `dns1123Label`, and what is wrong with a string that has not the format.

The messages are the API server's. Sources: `pkg/cel/library/format.go` of the API server,
`pkg/api/validate/content` of k8s.io/apimachinery, `pkg/validation/strfmt` of k8s.io/kube-openapi.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Final

from webhook.cel.errors import CelError
from webhook.cel.values.opaque import Opaque
from webhook.cel.values.types import cel_type
from webhook.cel.values.url import URL

Faults = list[str]


@cel_type("kubernetes.NamedFormat")
@dataclass(frozen=True, slots=True)
class NamedFormat(Opaque):
    """A format. `faults` gives what is wrong with a string; `cost` is what a call costs for ten characters."""

    name: str
    faults: Callable[[str], Faults] = field(compare=False)
    cost: int = field(compare=False)

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class _Pattern:
    """A regular expression, with the words for a string that does not match it, and the longest that may."""

    expression: str
    words: str
    examples: tuple[str, ...]
    longest: int
    unit: str = "characters"
    """What the API server says that it counts; it counts bytes."""

    def __call__(self, text: str) -> Faults:
        return [*self.too_long(text), *([] if self.matches(text) else [self.advice])]

    def matches(self, text: str) -> bool:
        return re.fullmatch(self.expression, text) is not None

    def too_long(self, text: str) -> Faults:
        return [f"must be no more than {self.longest} {self.unit}"] if len(text.encode()) > self.longest else []

    @property
    def advice(self) -> str:
        examples = " or ".join(f"'{example}', " for example in self.examples)
        return f"{self.words} (e.g. {examples}regex used for validation is '{self.expression}')"


_ALPHANUMERIC: Final = "and must start and end with an alphanumeric character"
_LABEL: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_KEY: Final = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"

_DNS_LABEL: Final = _Pattern(
    _LABEL,
    f"a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', {_ALPHANUMERIC}",
    ("my-name", "123-abc"),
    63,
)
_DNS_SUBDOMAIN: Final = _Pattern(
    rf"{_LABEL}(\.{_LABEL})*",
    f"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', {_ALPHANUMERIC}",
    ("example.com",),
    253,
)
_KEY_PREFIX: Final = replace(_DNS_SUBDOMAIN, unit="bytes")
_DNS_1035_LABEL: Final = _Pattern(
    "[a-z]([-a-z0-9]*[a-z0-9])?",
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
    "and end with an alphanumeric character",
    ("my-name", "abc-123"),
    63,
)
_LABEL_KEY: Final = _Pattern(
    _KEY,
    f"must consist of alphanumeric characters, '-', '_' or '.', {_ALPHANUMERIC}",
    ("MyName", "my.name", "123-abc"),
    63,
    "bytes",
)
_LABEL_VALUE: Final = _Pattern(
    f"({_KEY})?",
    f"a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', {_ALPHANUMERIC}",
    ("MyValue", "my_value", "12345"),
    63,
    "bytes",
)
_UUID: Final = "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$"
_TIME: Final = "^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$"
_BASE64: Final = "(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})"
_DATE: Final = re.compile("([0-9]{4})-([0-9]{2})-([0-9]{2})")
_LOWER: Final = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


def _dns_label(text: str) -> Faults:
    if not _DNS_LABEL.matches(text) and _DNS_SUBDOMAIN.matches(text):
        return [*_DNS_LABEL.too_long(text), "must not contain dots"]
    return _DNS_LABEL(text)


def _qualified_name(text: str) -> Faults:
    prefix, slash, name = text.rpartition("/")
    if "/" in prefix:
        example = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        return [f"a valid label key {_LABEL_KEY.advice} {example}"]
    faults = _KEY_PREFIX(prefix) if prefix else ["must be non-empty"] if slash else []
    empty = [] if name else ["must be non-empty"]
    return [
        *(f"prefix part {fault}" for fault in faults),
        *(f"name part {fault}" for fault in [*empty, *_LABEL_KEY(name)]),
    ]


def _prefix_of(faults: Callable[[str], Faults]) -> Callable[[str], Faults]:
    """Take a string to which something is appended: the API server puts an `a` for its last two characters."""
    return lambda text: faults(text[:-2] + "a" if len(text) > 1 and text.endswith("-") else text)


def _uri(text: str) -> Faults:
    try:
        URL.check(text)
    except CelError as error:
        return [str(error)]
    return []


def _one_fault(valid: Callable[[str], bool], fault: str) -> Callable[[str], Faults]:
    return lambda text: [] if valid(text) else [fault]


def _is_uuid(text: str) -> bool:
    return re.fullmatch(_UUID.removesuffix("$"), text, re.ASCII) is not None


def _is_base64(text: str) -> bool:
    return re.fullmatch(_BASE64, text) is not None


def _is_date(text: str) -> bool:
    match = _DATE.fullmatch(text)
    if match is None:
        return False
    year, month, day = map(int, match.groups())
    try:
        date(year % 400 + 400, month, day)  # Go has a year 0, Python has not
    except ValueError:
        return False
    return True


def _is_datetime(text: str) -> bool:
    """What stands after a second `t` does not count, as in the API server."""
    day, _, time = text.translate(_LOWER).partition("t")
    match = re.fullmatch(_TIME.removesuffix("$"), time.partition("t")[0])
    return _is_date(day) and match is not None and match[1] <= "23" and match[2] <= "59" and match[3] <= "59"


def _format(name: str, size: int, faults: Callable[[str], Faults]) -> NamedFormat:
    return NamedFormat(name, faults, -(-size // 4))


FORMATS: Final[Mapping[str, NamedFormat]] = {
    "dns1123Label": _format("DNS1123Label", 30, _dns_label),
    "dns1123Subdomain": _format("DNS1123Subdomain", 60, _DNS_SUBDOMAIN),
    "dns1035Label": _format("DNS1035Label", 30, _DNS_1035_LABEL),
    "qualifiedName": _format("QualifiedName", 60, _qualified_name),
    "dns1123LabelPrefix": _format("DNS1123LabelPrefix", 30, _prefix_of(_dns_label)),
    "dns1123SubdomainPrefix": _format("DNS1123SubdomainPrefix", 60, _prefix_of(_DNS_SUBDOMAIN)),
    "dns1035LabelPrefix": _format("DNS1035LabelPrefix", 30, _prefix_of(_DNS_1035_LABEL)),
    "labelValue": _format("LabelValue", 40, _LABEL_VALUE),
    "uri": _format("URI", 1103, _uri),
    "uuid": _format("uuid", len(_UUID), _one_fault(_is_uuid, "does not match the UUID format")),
    "byte": _format("byte", 84, _one_fault(_is_base64, "invalid base64")),
    "date": _format("date", len(_TIME), _one_fault(_is_date, "invalid date")),
    "datetime": _format("datetime", len(_TIME), _one_fault(_is_datetime, "invalid datetime")),
}
"""Every format under the name that expressions give it. The sizes are those of regular expressions, for the cost."""
