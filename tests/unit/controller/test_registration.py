"""What is written into the webhook configurations, as a whole."""

from __future__ import annotations

from webhook.controller.registration import MUTATE, VALIDATE, Endpoint, webhooks, with_bundle
from webhook.controller.rules import Condition, Entry
from webhook.model.configuration import NOBODY, Exempt
from webhook.model.policy import FailurePolicy, ResourceRule
from webhook.model.request import Object

ENTRY = Entry(
    FailurePolicy.FAIL,
    (ResourceRule(("cozystack.io",), ("*",), ("packages",), ("CREATE", "UPDATE")),),
    (Condition("wanted-0", "object != null"),),
)
ENDPOINT = Endpoint(namespace="guard")


def only(path: str = VALIDATE, entry: Entry = ENTRY, endpoint: Endpoint = ENDPOINT, exempt: Exempt = NOBODY) -> Object:
    (hook,) = webhooks(path, [entry], endpoint, exempt, "system:serviceaccount:guard:cozyguard")
    return hook


def test_every_field_is_written_out() -> None:
    hook = only(exempt=Exempt(users=frozenset({'"quoted"'}), namespaces=frozenset({"apps"})))
    conditions = {one["name"]: one["expression"] for one in hook.pop("matchConditions")}
    assert hook == {
        "name": "validate.cozyguard.io",
        "admissionReviewVersions": ["v1"],
        "clientConfig": {
            "service": {"namespace": "guard", "name": "cozyguard", "path": "/validate", "port": 443},
        },
        "failurePolicy": "Fail",
        "matchPolicy": "Equivalent",
        "namespaceSelector": {
            "matchExpressions": [
                {
                    "key": "kubernetes.io/metadata.name",
                    "operator": "NotIn",
                    "values": ["apps", "guard", "kube-node-lease", "kube-system"],
                }
            ]
        },
        "objectSelector": {},
        "rules": [
            {
                "apiGroups": ["cozystack.io"],
                "apiVersions": ["*"],
                "resources": ["packages"],
                "operations": ["CREATE", "UPDATE"],
                "scope": "*",
            }
        ],
        "sideEffects": "None",
        "timeoutSeconds": 5,
    }
    assert list(conditions) == ["not-exempt-group", "not-our-own", "not-exempt-user", "wanted-0"]
    assert '["cozyguard:break-glass"]' in conditions["not-exempt-group"]
    assert r'["\"quoted\"", "system:serviceaccount:guard:cozyguard"]' in conditions["not-exempt-user"]


def test_what_mutates_is_asked_again_after_others_have_changed_the_object() -> None:
    hook = only(MUTATE)
    assert hook["reinvocationPolicy"] == "IfNeeded"
    assert hook["clientConfig"]["service"]["path"] == "/mutate"


def test_each_failure_policy_has_a_name_of_its_own() -> None:
    ignore = Entry(FailurePolicy.IGNORE, ENTRY.rules, ())
    assert only(VALIDATE, ignore)["name"] == "validate-ignore.cozyguard.io"
    assert only(MUTATE, ignore)["name"] == "mutate-ignore.cozyguard.io"


def test_a_url_stands_in_place_of_the_service() -> None:
    endpoint = Endpoint(namespace="guard", url="https://guard.example.org:8443/")
    assert only(endpoint=endpoint)["clientConfig"] == {"url": "https://guard.example.org:8443/validate"}
    assert endpoint.hosts == ("guard.example.org",)


def test_a_service_is_reached_under_four_names() -> None:
    assert ENDPOINT.hosts == (
        "cozyguard",
        "cozyguard.guard",
        "cozyguard.guard.svc",
        "cozyguard.guard.svc.cluster.local",
    )


def test_without_a_service_account_nobody_but_the_exempt_is_exempt() -> None:
    (hook,) = webhooks(VALIDATE, [ENTRY], ENDPOINT, NOBODY, "")
    assert "not-exempt-user" not in {one["name"] for one in hook["matchConditions"]}


def test_every_webhook_gets_the_same_bundle() -> None:
    hooks = with_bundle([only(), only(MUTATE)], b"PEM")
    assert [hook["clientConfig"]["caBundle"] for hook in hooks] == ["UEVN", "UEVN"]
    assert "caBundle" not in only()["clientConfig"]
