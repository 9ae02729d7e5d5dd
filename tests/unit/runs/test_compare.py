from __future__ import annotations

from typing import Any

from webhook.model.release import Minor, Release
from webhook.model.result import Edit
from webhook.runs.compare import changes


def release(gpu: dict[str, Any], packages: dict[str, Any]) -> Release:
    return Release(Minor(1, 6), {"version": "1.6", "source": "v1.6.2", "gpu": gpu, "packages": packages})


def test_what_is_new_gone_or_other_is_told_with_its_path() -> None:
    before = release({"bundleKey": False, "gone": 1}, {"p": {"variants": {"default": ["a"], "old": []}}})
    after = release({"bundleKey": True, "new": None}, {"p": {"variants": {"default": ["a", "b"]}}, "q": {}})

    assert list(changes(before, after)) == [
        Edit(("gpu", "bundleKey"), (False,), (True,)),
        Edit(("gpu", "gone"), (1,), ()),
        Edit(("gpu", "new"), (), (None,)),
        Edit(("packages", "p", "variants", "default"), (["a"],), (["a", "b"],)),
        Edit(("packages", "p", "variants", "old"), ([],), ()),
        Edit(("packages", "q"), (), ({},)),
    ]


def test_a_release_does_not_differ_from_itself() -> None:
    one = release({"bundleVariants": ["default"]}, {"p": {"variants": {"default": []}}})

    assert list(changes(one, one)) == []
