"""The request made for a file is the one that the API server would have made, and nothing more."""

from __future__ import annotations

from typing import Any

import pytest

from webhook.admission.plurals import Plurals
from webhook.admission.synthesize import Circumstances, synthesize
from webhook.model.request import UserInfo

PACKAGE: dict[str, Any] = {
    "apiVersion": "cozystack.io/v1alpha1",
    "kind": "Package",
    "metadata": {"name": "cozystack.gpu-operator"},
}
POD: dict[str, Any] = {"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "infer-"}}
RESOURCES = Plurals(())


def test_a_create_names_the_plural_resource_and_leaves_out_what_is_empty() -> None:
    request = synthesize(PACKAGE, RESOURCES, Circumstances())
    assert (request.operation, request.resource.resource) == ("CREATE", "packages")
    assert request.object is PACKAGE
    assert request.old_object is None
    assert request.cel["requestResource"] == {"group": "cozystack.io", "version": "v1alpha1", "resource": "packages"}
    assert "namespace" not in request.cel
    assert "userInfo" not in request.cel


def test_the_user_stays_unknown_until_somebody_names_one() -> None:
    assert synthesize(PACKAGE, RESOURCES, Circumstances()).user is None
    known = synthesize(PACKAGE, RESOURCES, Circumstances(user=UserInfo("ada", ("admins",))))
    assert known.cel["userInfo"] == {"username": "ada", "groups": ["admins"]}


def test_a_namespaced_object_gets_the_namespace_it_leaves_out_without_being_changed() -> None:
    request = synthesize(POD, RESOURCES, Circumstances(namespace="ml"))
    assert request.namespace == request.cel["namespace"] == "ml"
    assert request.object is not None
    assert request.object["metadata"] == {"generateName": "infer-", "namespace": "ml"}
    assert "namespace" not in POD["metadata"]


def test_an_object_without_a_name_yet_is_shown_by_its_prefix() -> None:
    request = synthesize(POD, RESOURCES, Circumstances())
    assert request.name == ""
    assert "name" not in request.cel
    assert request.display_name == "infer-*"


def test_a_namespace_is_in_itself_and_its_object_says_nothing_of_it() -> None:
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ml"}}
    request = synthesize(namespace, RESOURCES, Circumstances())
    assert request.namespace == "ml"
    assert request.object == namespace


def test_a_delete_has_only_the_object_that_goes() -> None:
    request = synthesize(PACKAGE, RESOURCES, Circumstances(operation="DELETE"))
    assert request.object is None
    assert request.old_object == PACKAGE


def test_an_update_has_both() -> None:
    old = {**PACKAGE, "spec": {"variant": "default"}}
    request = synthesize(PACKAGE, RESOURCES, Circumstances(operation="UPDATE"), old)
    assert (request.object, request.old_object) == (PACKAGE, old)


@pytest.mark.parametrize("metadata", [None, [], "text", {}, {"name": 7}, {"namespace": 7}])
def test_metadata_that_is_no_metadata_is_not_our_failure(metadata: Any) -> None:
    request = synthesize({"apiVersion": "v1", "kind": "Pod", "metadata": metadata}, RESOURCES, Circumstances())
    assert request.name == ""
