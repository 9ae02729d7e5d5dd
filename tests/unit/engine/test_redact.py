from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webhook.admission.codec import read
from webhook.engine.redact import REDACTED, redact, redacted
from webhook.model.path import parse

WORD = "hunter2"


def config_map(**parts: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}} | parts


def test_of_a_secret_the_keys_stay() -> None:
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": "s",
            "annotations": {"a": "b", "kubectl.kubernetes.io/last-applied-configuration": WORD},
            "managedFields": [{"manager": "kubectl"}],
        },
        "type": "Opaque",
        "data": {"key": WORD},
        "stringData": {"other": WORD},
    }
    assert redacted(secret, ()) == {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "s", "annotations": {"a": "b"}},
        "type": "Opaque",
        "data": {"key": REDACTED},
        "stringData": {"other": REDACTED},
    }


def test_what_a_policy_calls_sensitive_is_replaced_and_what_is_not_there_stays_away() -> None:
    obj = config_map(spec={"a": [{"b": {"c": WORD, "d": [1, {"e": True}]}}, "x"]})
    fields = [parse("spec.a[0].b"), parse("spec.a[7].b"), parse("spec.none.there"), parse("spec.a[1].c")]
    assert redacted(obj, fields)["spec"] == {"a": [{"b": {"c": REDACTED, "d": [REDACTED, {"e": REDACTED}]}}, "x"]}


@pytest.mark.parametrize(
    "part",
    [
        {"password": WORD},
        {"adminPassword": WORD},
        {"token": WORD},
        {"secretKey": WORD},
        {"aws_secret_access_key": WORD},
        {"cloudInitNoCloud": {"userData": WORD, "networkDataBase64": WORD}},
        {"env": [{"name": "DB_PASSWORD", "value": WORD}, {"name": "API_KEY", "value": WORD}]},
        {"params": [{"key": "token", "value": WORD}]},
        {"passwords": [WORD, [WORD]], "tokens": [WORD]},
        {"password": [{"name": "password", "value": [WORD]}]},
        {"cloudInit": WORD},
        {"oidc": {"clientSecret": WORD}, "args": [f"--client-secret={WORD}"]},
        {"kubeconfig": WORD, "tls.key": WORD, ".dockerconfigjson": WORD},
        {"status": {"token": WORD}},
        {"application.yaml": f"db:\n  user: a\n  password: {WORD}\n"},
        {"config.json": f'{{"apiKey": "{WORD}"}}'},
        {"config": f"users:\n- user:\n    client-key-data: {WORD}"},
        {"args": ["--verbose", f"--db-password={WORD}"]},
        {"uri": f"postgres://app:{WORD}@db.ml.svc/app"},
        {"redis": f"redis://:{WORD}@cache:6379"},
        {"pem": f"-----BEGIN RSA PRIVATE KEY-----\n{WORD}"},
        {"items": [{"apiVersion": "v1", "kind": "Secret", "data": {"a": WORD}, "stringData": {"b": WORD}}]},
        {"dashboard.json": WORD + " " * (32 << 10)},
        {"x" * 300: WORD},
        {"kind": "TenantSecret", "data": {"a": WORD}},
    ],
)
def test_what_its_name_gives_away_is_replaced(part: dict[str, Any]) -> None:
    told = json.dumps(redacted(config_map(values=part), ()))
    assert WORD not in told
    assert REDACTED in told


def test_a_number_can_be_a_password() -> None:
    assert redacted(config_map(values={"password": 123456}), ())["values"] == {"password": REDACTED}


def test_an_index_that_a_policy_names_can_be_a_key() -> None:
    assert redacted(config_map(spec={"0": WORD}), [parse("spec[0]")])["spec"] == {"0": REDACTED}


def test_what_only_names_a_secret_stays() -> None:
    part = {
        "imagePullSecrets": [{"name": "pull"}],
        "secretName": "s",
        "env": [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}],
        "automountServiceAccountToken": False,
        "passwordSecretRef": {"name": "s", "key": "k"},
        "args": ["--token-file=/var/run/token", "--password-from-env", "a=b", "https://host:8080/a@b"],
        "expression": "object.spec.token == 'x' || has(object.spec.password)",
        "hostname": "token.ml.svc",
        "tolerations": [{"key": "nvidia.com/gpu", "value": "present"}],
    }
    assert redacted(config_map(values=part), ())["values"] == part


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "name", "value"]), inner),
    max_leaves=15,
)


@given(JSON)
def test_what_holds_no_secret_is_as_it_was(value: Any) -> None:
    obj = config_map(spec=value)
    before = json.dumps(obj)
    assert redacted(obj, ()) == obj
    redacted(obj, [parse("spec"), parse("spec.a[0]")])
    assert json.dumps(obj) == before, "the object itself must not change"


def test_a_redacted_request_can_be_read_as_a_review_again() -> None:
    review = {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "1",
            "operation": "UPDATE",
            "kind": {"group": "", "version": "v1", "kind": "ConfigMap"},
            "resource": {"group": "", "version": "v1", "resource": "configmaps"},
            "name": "a",
            "userInfo": {"username": "dev-1", "groups": ["devs"], "extra": {"credential": [WORD]}},
            "object": config_map(data={"password": WORD}),
            "oldObject": config_map(data={"password": WORD + "!"}),
        },
    }
    again = read(review | {"request": redact(read(review), ())})
    assert WORD not in str(again)
    assert again.user == read(review).user or again.user
    assert (again.name, again.operation, again.object) == ("a", "UPDATE", config_map(data={"password": REDACTED}))
