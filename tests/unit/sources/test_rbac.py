"""RBAC objects as the authorizer."""

from __future__ import annotations

from typing import Any

import pytest

from webhook.cel.errors import NotKnown
from webhook.model.authorization import Attributes, Authorization
from webhook.model.request import UserInfo
from webhook.sources.objects import ObjectStore
from webhook.sources.rbac import RbacAuthorizer

API = "rbac.authorization.k8s.io/v1"
ALICE = UserInfo("alice", ("devs", "system:authenticated"))
BOT = UserInfo("system:serviceaccount:team:bot")


def role(name: str, *rules: dict[str, list[str]], namespace: str = "") -> dict[str, Any]:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": API, "kind": "Role" if namespace else "ClusterRole", "metadata": metadata, "rules": [*rules]}


def binding(name: str, role: str, subject: dict[str, str], namespace: str = "", kind: str = "ClusterRole") -> Any:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": role}
    kind = "RoleBinding" if namespace else "ClusterRoleBinding"
    return {"apiVersion": API, "kind": kind, "metadata": metadata, "roleRef": reference, "subjects": [subject]}


OBJECTS = [
    role("read-pods", {"apiGroups": [""], "resources": ["pods", "*/scale"], "verbs": ["get", "list"]}),
    role("health", {"nonResourceURLs": ["/healthz", "/logs/*"], "verbs": ["*"]}),
    role("all", {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}),
    role("one", {"apiGroups": ["apps"], "resources": ["deployments"], "resourceNames": ["web"], "verbs": ["update"]}),
    role("status", {"apiGroups": ["apps"], "resources": ["deployments/status"], "verbs": ["patch"]}, namespace="team"),
    binding("devs", "read-pods", {"kind": "Group", "name": "devs"}),
    binding("alice-health", "health", {"kind": "User", "name": "alice"}),
    binding("bot", "all", {"kind": "ServiceAccount", "name": "bot"}, namespace="team"),
    binding("alice-one", "one", {"kind": "User", "name": "alice"}, namespace="team"),
    binding("alice-status", "status", {"kind": "User", "name": "alice"}, namespace="team", kind="Role"),
    binding("dangling", "nothing", {"kind": "User", "name": "alice"}),
]


@pytest.fixture
def ask() -> RbacAuthorizer:
    return RbacAuthorizer(ObjectStore(OBJECTS, closed_world=True))


@pytest.mark.parametrize(
    ("attributes", "allowed"),
    [
        (Attributes(ALICE, "get", resource="pods"), True),
        (Attributes(ALICE, "get", resource="pods", namespace="other"), True),
        (Attributes(ALICE, "delete", resource="pods"), False),
        (Attributes(ALICE, "get", group="apps", resource="pods"), False),
        (Attributes(ALICE, "get", resource="pods", subresource="log"), False),
        (Attributes(ALICE, "get", resource="anything", subresource="scale"), True),
        (Attributes(ALICE, "get", path="/healthz"), True),
        (Attributes(ALICE, "get", path="/logs/a"), True),
        (Attributes(ALICE, "get", path="/metrics"), False),
        (Attributes(ALICE, "update", "apps", "deployments", namespace="team", name="web"), True),
        (Attributes(ALICE, "update", "apps", "deployments", namespace="team", name="db"), False),
        (Attributes(ALICE, "update", "apps", "deployments", namespace="other", name="web"), False),
        (Attributes(ALICE, "patch", "apps", "deployments", "status", "team", "web"), True),
        (Attributes(BOT, "delete", "apps", "deployments", namespace="team"), True),
        (Attributes(BOT, "delete", "apps", "deployments", namespace="other"), False),
        (Attributes(UserInfo("root", ("system:masters",)), "delete", resource="nodes"), True),
    ],
    ids=str,
)
def test_a_rule_allows_what_it_lists(ask: RbacAuthorizer, attributes: Attributes, allowed: bool) -> None:
    assert ask(attributes).allowed is allowed


def test_the_reason_names_the_binding_as_the_api_server_does(ask: RbacAuthorizer) -> None:
    assert ask(Attributes(ALICE, "get", resource="pods")) == Authorization(
        True, 'RBAC: allowed by ClusterRoleBinding "devs" of ClusterRole "read-pods" to Group "devs"'
    )
    assert ask(Attributes(BOT, "get", resource="pods", namespace="team")).reason == (
        'RBAC: allowed by RoleBinding "bot/team" of ClusterRole "all" to ServiceAccount "bot/team"'
    )


@pytest.mark.parametrize("known", [[], OBJECTS[:5], OBJECTS[5:7]])
def test_without_all_bindings_and_their_roles_nothing_is_known(known: list[Any]) -> None:
    with pytest.raises(NotKnown):
        RbacAuthorizer(ObjectStore(state=known))(Attributes(ALICE, "get", resource="pods", namespace="team"))
