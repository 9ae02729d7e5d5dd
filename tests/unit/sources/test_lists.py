from __future__ import annotations

from webhook.model.request import GroupVersionKind
from webhook.sources.lists import is_list, item_kind, unfold

A = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}


def test_an_object_stays_as_it_is() -> None:
    assert list(unfold(A)) == [((), A)]


def test_the_items_of_a_list_come_with_their_paths() -> None:
    assert list(unfold({"apiVersion": "v1", "kind": "List", "items": [A, A]})) == [(("items", 0), A), (("items", 1), A)]


def test_lists_inside_lists_are_unfolded_too() -> None:
    inner = {"apiVersion": "v1", "kind": "List", "items": [A]}
    assert list(unfold({"apiVersion": "v1", "kind": "List", "items": [inner]})) == [(("items", 0, "items", 0), A)]


def test_items_of_a_typed_list_inherit_its_kind() -> None:
    typed = {"apiVersion": "cozystack.io/v1alpha1", "kind": "PackageList", "items": [{"metadata": {"name": "a"}}]}
    ((_, item),) = unfold(typed)
    assert item == {"apiVersion": "cozystack.io/v1alpha1", "kind": "Package", "metadata": {"name": "a"}}
    assert typed["items"] == [{"metadata": {"name": "a"}}]


def test_a_typed_list_tells_its_kind_even_when_it_is_empty() -> None:
    assert item_kind({"apiVersion": "v1", "kind": "PodList", "items": []}) == GroupVersionKind("", "v1", "Pod")
    assert item_kind({"apiVersion": "v1", "kind": "List", "items": []}) is None
    assert item_kind(A) is None


def test_a_kind_that_only_sounds_like_a_list_is_none() -> None:
    assert not is_list({"apiVersion": "example.org/v1", "kind": "AllowList", "spec": {"items": []}})
