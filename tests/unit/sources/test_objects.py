from __future__ import annotations

from typing import Any

import pytest

from webhook.cel.errors import NotKnown
from webhook.model.request import GroupVersionKind
from webhook.model.selector import LabelSelector, Requirement
from webhook.sources.objects import ObjectStore

API = "cozystack.io/v1alpha1"


def package(name: str, **labels: str) -> dict[str, Any]:
    return {"apiVersion": API, "kind": "Package", "metadata": {"name": name, "labels": labels}}


def pod(name: str, namespace: str | None) -> dict[str, Any]:
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata}


def test_an_object_of_the_files_is_found() -> None:
    assert ObjectStore([package("a")]).get(API, "Package", "", "a") == package("a")


def test_an_object_that_nobody_gave_is_not_known() -> None:
    with pytest.raises(NotKnown) as error:
        ObjectStore([package("a")]).get(API, "Package", "", "b")
    assert error.value.what == "Package b"


def test_what_is_not_known_in_a_namespace_is_named_with_it() -> None:
    with pytest.raises(NotKnown) as error:
        ObjectStore().get("v1", "Pod", "ml", "infer")
    assert error.value.what == "Pod ml/infer"


def test_the_cluster_state_is_complete_for_the_kinds_in_it() -> None:
    store = ObjectStore(state=[package("a")])
    assert store.get(API, "Package", "", "b") is None
    with pytest.raises(NotKnown):
        store.get(API, "PackageSource", "", "b")


def test_an_empty_typed_list_says_that_there_is_none() -> None:
    store = ObjectStore(state=[{"apiVersion": API, "kind": "PackageList", "items": []}])
    assert store.get(API, "Package", "", "a") is None
    assert store.list(API, "Package", "", None) == []


def test_in_a_closed_world_whatever_was_not_given_does_not_exist() -> None:
    store = ObjectStore(closed_world=True)
    assert store.get(API, "Package", "", "a") is None
    assert store.list("v1", "Pod", "ml", None) == []


def test_files_alone_do_not_know_all_objects_of_a_kind() -> None:
    with pytest.raises(NotKnown) as error:
        ObjectStore([package("a")]).list(API, "Package", "", None)
    assert error.value.what == "every Package"


def test_a_list_is_chosen_by_namespace_and_labels() -> None:
    store = ObjectStore(state=[package("a", tier="gpu"), package("b"), pod("x", "ml"), pod("y", "web")])
    selector = LabelSelector((Requirement("tier", "In", ("gpu",)),))
    assert store.list(API, "Package", "", selector) == [package("a", tier="gpu")]
    assert store.list("v1", "Pod", "ml", None) == [pod("x", "ml")]
    assert len(store.list("v1", "Pod", "", None)) == 2


def test_an_object_of_the_files_wins_over_the_one_in_the_cluster() -> None:
    store = ObjectStore([package("a", new="yes")], state=[package("a", new="no"), package("b")])
    assert store.get(API, "Package", "", "a") == package("a", new="yes")
    assert len(store.list(API, "Package", "", None)) == 2


def test_the_version_of_a_kind_does_not_matter() -> None:
    assert ObjectStore([package("a")]).get("cozystack.io/v1", "Package", "", "a") is not None
    with pytest.raises(NotKnown):
        ObjectStore([package("a")]).get("other.io/v1alpha1", "Package", "", "a")


def test_objects_that_name_no_namespace_are_in_the_one_given() -> None:
    store = ObjectStore([pod("x", None)], namespace="ml")
    assert store.get("v1", "Pod", "ml", "x") is not None
    with pytest.raises(NotKnown):
        store.get("v1", "Pod", "default", "x")


def test_a_namespace_is_no_part_of_what_lives_in_none() -> None:
    stray = package("a")
    stray["metadata"]["namespace"] = "ml"
    store = ObjectStore([stray])
    assert store.get(API, "Package", "", "a") is stray
    assert store.get(API, "Package", "other", "a") is stray


def test_objects_inside_lists_are_found() -> None:
    store = ObjectStore([{"apiVersion": "v1", "kind": "List", "items": [package("a"), pod("x", "ml")]}])
    assert store.get(API, "Package", "", "a") is not None
    assert store.get("v1", "Pod", "ml", "x") is not None


@pytest.mark.parametrize("broken", [None, [], "x", {}, {"apiVersion": "v1", "kind": "Pod"}, {"items": [None]}])
def test_what_is_no_object_is_passed_over(broken: Any) -> None:
    store = ObjectStore([broken], state=[broken], closed_world=True)
    assert store.list("v1", "Pod", "", None) == []


def test_a_namespace_that_nobody_gave_has_its_name_label_alone() -> None:
    assert ObjectStore().namespace("ml")["metadata"]["labels"] == {"kubernetes.io/metadata.name": "ml"}


def test_a_namespace_that_was_given_has_its_own_labels_and_the_one_of_every_namespace() -> None:
    given = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ml", "labels": {"team": "a"}}}
    found = ObjectStore([given]).namespace("ml")
    assert found == given | {
        "metadata": {"name": "ml", "labels": {"kubernetes.io/metadata.name": "ml", "team": "a"}},
    }


def test_crds_among_the_objects_tell_plurals_and_scope() -> None:
    crd = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "mice.example.org"},
        "spec": {"group": "example.org", "names": {"kind": "Mouse", "plural": "mice"}, "scope": "Cluster"},
    }
    store = ObjectStore([crd])
    kind = GroupVersionKind("example.org", "v1", "Mouse")
    assert (store.resource(kind), store.namespaced(kind)) == ("mice", False)
