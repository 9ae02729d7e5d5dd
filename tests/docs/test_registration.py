"""The registration that people copy asks about all that the bundled policies look at."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import chain, product
from pathlib import Path
from typing import Any

import pytest

from webhook.model.policy import Policy
from webhook.sources import policies, yaml

PAGE = Path(__file__).parents[2] / "docs" / "serve.md"


@pytest.mark.parametrize(
    ("kind", "concerned"),
    [
        ("ValidatingWebhookConfiguration", lambda policy: policy.validations),
        ("MutatingWebhookConfiguration", lambda policy: policy.mutations),
    ],
)
def test_the_registration_names_what_the_bundled_policies_look_at(
    kind: str, concerned: Callable[[Policy], tuple[Any, ...]]
) -> None:
    looked_at = {
        asked
        for policy in policies.load([policies.bundled()]).policies
        if concerned(policy)
        for rule in policy.match.resource_rules
        for asked in product(rule.api_groups, rule.resources, rule.operations)
    }
    assert set(_registered(kind)) == looked_at


def _registered(kind: str) -> Iterable[tuple[str, str, str]]:
    block = re.search(r"^```yaml\n(# registration\.yaml\n.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert block
    for document in yaml.read(block[1].encode(), "registration.yaml"):
        if document.value["kind"] == kind:
            for rule in chain.from_iterable(webhook["rules"] for webhook in document.value["webhooks"]):
                yield from product(rule["apiGroups"], rule["resources"], rule["operations"])
