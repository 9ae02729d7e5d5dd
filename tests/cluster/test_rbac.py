"""What RBAC objects allow, as files hold them, is what the API server answers to a SubjectAccessReview."""

from __future__ import annotations

from itertools import product
from typing import Any

from webhook.cluster.client import Client
from webhook.model.authorization import Attributes
from webhook.model.request import UserInfo
from webhook.sources.objects import ObjectStore
from webhook.sources.rbac import RbacAuthorizer

RBAC = "/apis/rbac.authorization.k8s.io/v1"
KINDS = {"ClusterRole": "clusterroles", "ClusterRoleBinding": "clusterrolebindings"} | {
    "Role": "roles",
    "RoleBinding": "rolebindings",
}
USERS = [
    UserInfo("ada", ("devs", "system:authenticated")),
    UserInfo("root", ("system:masters",)),
    UserInfo("system:kube-scheduler", ("system:authenticated",)),
]


async def test_rbac_objects_allow_what_the_api_server_allows(client: Client, namespace: str) -> None:
    await _give_rights(client, namespace)
    held = [
        {**one, "apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind}
        for kind in KINDS
        for one in (await client.get(f"{RBAC}/{KINDS[kind]}"))["items"]
    ]
    ours = RbacAuthorizer(ObjectStore(state=held))
    bot = UserInfo(f"system:serviceaccount:{namespace}:bot", ("system:serviceaccounts",))
    for question in _questions([*USERS, bot], namespace):
        answer = ours(question)
        status = await _answer(client, question)
        assert (question, answer.allowed) == (question, status["allowed"])
        if question.namespace == namespace and answer.allowed:  # else several bindings may be named
            assert answer.reason == status.get("reason", "")


async def _give_rights(client: Client, namespace: str) -> None:
    rules = [
        {"apiGroups": ["apps"], "resources": ["deployments", "*/scale"], "verbs": ["get", "update"]},
        {"apiGroups": [""], "resources": ["secrets"], "resourceNames": ["tls"], "verbs": ["*"]},
    ]
    await client.create(f"{RBAC}/namespaces/{namespace}/roles", {"metadata": {"name": "some"}, "rules": rules})
    for name, role, subject in [
        ("devs", {"kind": "Role", "name": "some"}, {"kind": "Group", "name": "devs"}),
        (
            "bot",
            {"kind": "ClusterRole", "name": "view"},
            {"kind": "ServiceAccount", "name": "bot", "namespace": namespace},
        ),
        ("gone", {"kind": "Role", "name": "gone"}, {"kind": "User", "name": "ada"}),
    ]:
        group = {} if subject["kind"] == "ServiceAccount" else {"apiGroup": "rbac.authorization.k8s.io"}
        binding = {
            "metadata": {"name": name},
            "roleRef": {**role, "apiGroup": "rbac.authorization.k8s.io"},
            "subjects": [{**subject, **group}],
        }
        await client.create(f"{RBAC}/namespaces/{namespace}/rolebindings", binding)


def _questions(users: list[UserInfo], namespace: str) -> list[Attributes]:
    resources = [("", "pods", ""), ("", "secrets", ""), ("apps", "deployments", ""), ("apps", "replicasets", "scale")]
    asked = product(users, ("get", "update"), resources, (namespace, "default", ""), ("", "tls"))
    paths = product(users, ("get", "post"), ("/healthz", "/version/", "/apis/a", "/metrics"))
    return [
        *(Attributes(user, verb, *what, namespace=place, name=name) for user, verb, what, place, name in asked),
        *(Attributes(user, verb, path=path) for user, verb, path in paths),
    ]


async def _answer(client: Client, question: Attributes) -> Any:
    spec: dict[str, Any] = {"user": question.user.username, "groups": list(question.user.groups)}
    if question.path:
        spec["nonResourceAttributes"] = {"verb": question.verb, "path": question.path}
    else:
        spec["resourceAttributes"] = {
            name: getattr(question, name) for name in ("verb", "group", "resource", "subresource", "namespace", "name")
        }
    review = await client.create("/apis/authorization.k8s.io/v1/subjectaccessreviews", {"spec": spec})
    return review["status"]
