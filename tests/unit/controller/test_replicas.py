from __future__ import annotations

from webhook.controller.keyring import LEAF
from webhook.controller.replicas import Dead, served
from webhook.model.request import Object


def lease(name: str, renewed: str, leaf: str = "") -> Object:
    return {"metadata": {"name": name, "annotations": {LEAF: leaf}}, "spec": {"renewTime": renewed}}


def test_what_replicas_serve_is_read_from_their_leases() -> None:
    leases = [lease("a", "1", "x"), lease("b", "1", "y"), lease("c", "1"), {"metadata": {"name": "d"}}]
    assert served(leases) == {"x", "y"}


def test_a_replica_is_dead_when_its_lease_was_not_renewed_for_too_long_by_our_own_clock() -> None:
    now = 0.0
    dead = Dead(600, lambda: now)
    assert dead.among([lease("a", "2001-01-01"), lease("b", "2001-01-01")]) == []
    now = 599
    assert dead.among([lease("a", "2001-01-01"), lease("b", "2001-01-02")]) == []
    now = 600
    assert dead.among([lease("a", "2001-01-01"), lease("b", "2001-01-02")]) == ["a"]


def test_a_lease_that_comes_back_is_given_its_time_anew() -> None:
    now = 0.0
    dead = Dead(600, lambda: now)
    dead.among([lease("a", "1")])
    now = 300
    dead.among([])
    now = 700
    assert dead.among([lease("a", "1")]) == []
