"""Named formats.

The expected values are those of k8s.io/apiserver 1.37.
"""

from __future__ import annotations

from typing import Any

import pytest

LABEL = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
SUBDOMAIN = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
LABEL_1035 = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
KEY = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
VALUE = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"

FAULTS = [
    ("format.dns1123Label", "my-name", []),
    ("format.dns1123Label", "My", [LABEL]),
    ("format.dns1123Label", "a.b", ["must not contain dots"]),
    ("format.dns1123Label", "a" * 64, ["must be no more than 63 characters"]),
    ("format.dns1123Subdomain", "example.com", []),
    ("format.dns1123Subdomain", "example..com", [SUBDOMAIN]),
    ("format.dns1035Label", "a1", []),
    ("format.dns1035Label", "1a", [LABEL_1035]),
    ("format.qualifiedName", "example.com/My_Name.1", []),
    (
        "format.qualifiedName",
        "a/b/c",
        [f"a valid label key {KEY} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"],
    ),
    ("format.qualifiedName", "/b", ["prefix part must be non-empty"]),
    ("format.qualifiedName", "A_b/", [f"prefix part {SUBDOMAIN}", "name part must be non-empty", f"name part {KEY}"]),
    ("format.dns1123LabelPrefix", "my-", []),
    ("format.dns1123LabelPrefix", "-", [LABEL]),
    ("format.dns1123LabelPrefix", "my--", []),
    ("format.dns1123SubdomainPrefix", "a.b-", []),
    ("format.dns1123SubdomainPrefix", "a.-", []),
    ("format.dns1035LabelPrefix", "a-", []),
    ("format.dns1035LabelPrefix", "1-", []),
    ("format.labelValue", "", []),
    ("format.labelValue", "My_Value.1", []),
    ("format.labelValue", "-a", [VALUE]),
    ("format.uri", "https://example.com", []),
    ("format.uri", "x", ['parse "x": invalid URI for request']),
    ("format.uuid", "123E4567e89b12d3a456426614174000", []),
    ("format.uuid", "123e4567-e89b-12d3-a456-42661417400", ["does not match the UUID format"]),
    ("format.byte", "aGVsbG8=", []),
    ("format.byte", "", ["invalid base64"]),
    ("format.date", "2020-02-29", []),
    ("format.date", "0000-02-29", []),
    ("format.date", "2021-02-29", ["invalid date"]),
    ("format.datetime", "2021-01-01T23:59:59.5+01:00", []),
    ("format.datetime", "2021-01-01t00:00:00Ztail", []),
    ("format.datetime", "2021-01-01T24:00:00Z", ["invalid datetime"]),
]


@pytest.mark.parametrize(("name", "text", "faults"), FAULTS)
def test_a_format_tells_what_is_wrong(outcome: Any, name: str, text: str, faults: list[str]) -> None:
    assert outcome(f"{name}().validate({text!r}).orValue([])") == faults
    assert outcome(f"format.named({name.removeprefix('format.')!r}).value().validate({text!r}).hasValue()") is bool(
        faults
    )


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("format.named('uuid').value() == format.uuid()", True),
        ("format.uuid() == format.date()", False),
        ("format.named('UUID').hasValue()", False),
        ("type(format.uuid()) == type(format.date())", True),
    ],
)
def test_formats_are_found_by_name(outcome: Any, text: str, value: bool) -> None:
    assert outcome(text) is value


def test_a_long_text_is_judged_in_time_that_grows_with_its_length(outcome: Any) -> None:
    assert outcome(f"format.dns1123Subdomain().validate('{'a.' * 20_000}!').value().size()") == 2
