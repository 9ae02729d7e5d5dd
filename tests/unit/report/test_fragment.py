from typing import Any

import pytest

from webhook.model.fragment import block, scalar
from webhook.model.result import Edit
from webhook.report.fragment import difference


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("container", "container"),
        ("on", '"on"'),
        ("1.6", '"1.6"'),
        ("", '""'),
        ("two words", '"two words"'),
        (True, "true"),
        (None, "null"),
        (8, "8"),
        ([], "[]"),
        ({}, "{}"),
    ],
)
def test_a_value_reads_back_as_itself(value: Any, text: str) -> None:
    assert scalar(value) == text


def test_nested_values_become_block_yaml() -> None:
    value = {"driver": {"enabled": False}, "env": [{"name": "A", "value": "1"}, "plain"]}

    assert list(block(value)) == [
        "driver:",
        "  enabled: false",
        "env:",
        "  - name: A",
        '    value: "1"',
        "  - plain",
    ]


def test_an_edit_shows_the_keys_that_lead_to_it() -> None:
    edit = Edit(("spec", "values", "nvlink"), after=({"enabled": False},))

    assert list(difference([edit])) == [
        "  spec:",
        "    values:",
        "+     nvlink:",
        "+       enabled: false",
    ]


def test_a_replaced_value_shows_both_and_a_list_item_its_index() -> None:
    edits = [
        Edit(("spec", "nodes", 1, "label"), before=("off",), after=("on",)),
        Edit(("spec", "nodes", 1, "gone"), before=(1,)),
        Edit(("spec", "nodes", 2), after=("new",)),
    ]

    assert list(difference(edits)) == [
        "  spec:",
        "    nodes:",
        "      - # [1]",
        '-       label: "off"',
        '+       label: "on"',
        "-       gone: 1",
        "+     - new",
    ]
