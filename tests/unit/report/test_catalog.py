from __future__ import annotations

from pathlib import Path

import pytest

from webhook.model.result import Edit
from webhook.report.catalog import entry_lines, words
from webhook.sources import catalog
from webhook.sources.bundled import bundled


@pytest.mark.parametrize("file", sorted((bundled() / "catalog").glob("*.yaml")), ids=lambda file: file.stem)
def test_an_entry_that_ships_is_written_as_it_stands(file: Path) -> None:
    facts = catalog.read(file).facts

    assert "\n".join(entry_lines(facts)) + "\n" == file.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("edit", "text"),
    [
        (Edit(("gpu", "bundleKey"), (False,), (True,)), "gpu.bundleKey: false → true"),
        (Edit(("gpu", "bundleVariants"), (None,), (["a", "b"],)), "gpu.bundleVariants: null → [a, b]"),
        (Edit(("gpu", "packageVariants"), (["a", "b"],), (["b", "c"],)), "gpu.packageVariants: c new; a gone"),
        (Edit(("gpu", "packageVariants"), (["a", "b"],), (["b", "a"],)), "gpu.packageVariants: now in the order b, a"),
        (Edit(("gpu", "defaultSelectors", "10DE:1"), (), ("x",)), 'gpu.defaultSelectors["10DE:1"] is new: x'),
        (Edit(("gpu", "x"), (1,), ()), "gpu.x is gone"),
        (
            Edit(("packages", "a.b"), (), ({"variants": {"default": ["c"], "vgpu": []}},)),
            "package a.b is new, with variants default, vgpu",
        ),
        (Edit(("packages", "a.b"), ({"variants": {}},), ()), "package a.b is gone"),
        (Edit(("packages", "a.b", "variants", "v"), (), (["c"],)), "package a.b: variant v is new, with component c"),
        (Edit(("packages", "a.b", "variants", "v"), (), ([],)), "package a.b: variant v is new"),
        (Edit(("packages", "a.b", "variants", "v"), (["c"],), (["c", "d"],)), "package a.b: variant v: d new"),
    ],
)
def test_a_change_is_said_in_words(edit: Edit, text: str) -> None:
    assert words(edit) == text
