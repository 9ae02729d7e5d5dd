"""The catalogue that ships is what the generator reads off Cozystack's own tags.

It needs a checkout of Cozystack with its tags, which CI has not: `COZYSTACK_CHECKOUT=../cozystack pytest
tests/policies/test_catalogue_rebuilt.py`. The schemas need one of KubeVirt besides: `KUBEVIRT_CHECKOUT=../kubevirt`.
"""

from __future__ import annotations

import os

import pytest

from webhook.model.release import Minor
from webhook.report.catalog import entry_lines
from webhook.sources import catalog
from webhook.sources.bundled import bundled
from webhook.sources.checkout import Checkout
from webhook.sources.upstream import schemas
from webhook.sources.upstream.entry import build

CHECKOUT = os.environ.get("COZYSTACK_CHECKOUT")
KUBEVIRT = os.environ.get("KUBEVIRT_CHECKOUT")
FROM_TAGS = [minor for minor in catalog.releases() if not catalog.load(minor).documented_only]


@pytest.mark.skipif(not CHECKOUT, reason="COZYSTACK_CHECKOUT names no checkout of cozystack")
@pytest.mark.parametrize("minor", FROM_TAGS, ids=str)
def test_an_entry_equals_what_is_read_off_its_tag(minor: Minor) -> None:
    shipped = catalog.load(minor).facts
    entry = build(Checkout(CHECKOUT or "", shipped["source"]), minor)

    assert entry.not_read == {}
    assert entry.facts == shipped
    file = bundled() / "catalog" / f"{minor}.yaml"
    assert "\n".join(entry_lines(entry.facts)) + "\n" == file.read_text(encoding="utf-8")


@pytest.mark.skipif(not (CHECKOUT and KUBEVIRT), reason="no checkouts of cozystack and kubevirt are named")
def test_the_schemas_equal_what_is_read_off_the_tags() -> None:
    assert schemas.render(CHECKOUT or "", KUBEVIRT or "") == schemas.FILE.read_text(encoding="utf-8")
