"""The objects of a kind, without an API server."""

from __future__ import annotations

from typing import Any

from webhook.cluster.table import Table

Object = dict[str, Any]


def obj(name: str, namespace: str = "", version: str = "1", **more: Any) -> Object:
    metadata = {"name": name, "resourceVersion": version} | ({"namespace": namespace} if namespace else {})
    return {"metadata": metadata} | more


def test_an_object_is_in_its_namespace_alone() -> None:
    table = Table()
    table.replace([obj("a", "one"), obj("a", "two"), obj("b", "two")])
    assert table.get("one", "a") == obj("a", "one")
    assert table.get("one", "b") is None
    assert [each["metadata"]["name"] for each in table.list("two")] == ["a", "b"]
    assert len(table) == len(table.list()) == 3


def test_a_cluster_scoped_object_is_found_whatever_namespace_is_asked_for() -> None:
    table = Table()
    table.put(obj("a"))
    assert table.get("any", "a") == table.get("", "a") == obj("a")


def test_a_namespace_whose_last_object_goes_leaves_nothing_behind() -> None:
    table = Table()
    table.put(obj("a", "one"))
    table.remove(obj("a", "one"))
    table.remove(obj("a", "one"))
    assert not table.list("one")
    assert not table._namespaces


def test_only_what_says_something_else_is_told_as_a_change() -> None:
    told: list[None] = []
    table = Table(lambda: told.append(None))
    table.put(obj("a", spec=1))
    table.put(obj("a", version="2", spec=1))
    table.replace([obj("a", version="3", spec=1)])
    assert len(told) == 1
    table.put(obj("a", version="4", spec=2))
    table.replace([obj("a", version="5", spec=3)])
    table.replace([])
    table.remove(obj("a"))
    assert len(told) == 4
