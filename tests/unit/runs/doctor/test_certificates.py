import base64
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import trustme

HOST = "policy.policy-system.svc"
NOW = datetime(2026, 11, 30, tzinfo=UTC)
LABELS = {"app": "policy"}
PLACE = {"name": "policy", "namespace": "policy-system"}
CA = trustme.CA()


def b64(pem: bytes) -> str:
    return base64.b64encode(pem).decode()


def leaf(*names: str, days: float = 60, ca: trustme.CA = CA) -> Any:
    start = NOW - timedelta(days=90)
    return ca.issue_cert(*(names or (HOST,)), not_before=start, not_after=NOW + timedelta(days=days))


def behind(secret: dict[str, Any] | None, **pod: Any) -> list[dict[str, Any]]:
    """Make what answers: a Service and a DaemonSet, and the Secret that it has its certificate from."""
    container = {"name": "main", "readinessProbe": {}, "ports": [{"containerPort": 443}]}
    mounted = {"containers": [container], "volumes": [{"name": "tls", "secret": {"secretName": "policy-tls"}}]} | pod
    template = {"metadata": {"labels": LABELS}, "spec": mounted}
    budget = {"selector": {"matchLabels": LABELS}, "maxUnavailable": 1}
    found = [
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": PLACE,
            "spec": {"selector": LABELS, "ports": [{"port": 443}]},
        },
        {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": PLACE, "spec": {"template": template}},
        {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": PLACE, "spec": budget},
    ]
    if secret is not None:
        metadata = {"name": "policy-tls", "namespace": "policy-system"}
        found.append({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, **secret})
    return found


def secret_of(issued: Any) -> dict[str, Any]:
    pem = b"".join(each.bytes() for each in issued.cert_chain_pems)
    return {"data": {"tls.crt": b64(pem), "tls.key": b64(issued.private_key_pem.bytes())}}


@pytest.fixture
def asked(registration: Any, hook: Any) -> Any:
    """Make a registration that trusts this, by Service or URL."""

    def make(bundle: str | None, url: str = "") -> Any:
        client: dict[str, Any] = {"url": url} if url else {"service": PLACE}
        if bundle is not None:
            client["caBundle"] = bundle
        made = registration(hook(clientConfig=client))
        del made["metadata"]["annotations"]
        return made

    return make


TRUSTED = b64(CA.cert_pem.bytes())


def test_a_certificate_of_the_trusted_ca_with_the_name_of_the_service_is_sound(doctor: Any, asked: Any) -> None:
    assert doctor(asked(TRUSTED), *behind(secret_of(leaf()))).checks == {}


def test_a_missing_bundle_is_an_error_in_a_cluster_and_a_remark_in_files(doctor: Any, asked: Any) -> None:
    assert doctor(asked(None)).checks == {"ca-bundle": "remark"}
    assert doctor(asked(None), *behind(None), live=True).checks["ca-bundle"] == "error"


def test_a_bundle_that_cert_manager_writes_may_be_missing(doctor: Any, asked: Any) -> None:
    made = asked(None)
    made["metadata"]["annotations"] = {"cert-manager.io/inject-ca-from": "policy-system/policy"}
    assert doctor(made).checks == {}


def test_a_url_may_be_trusted_as_any_other(doctor: Any, asked: Any) -> None:
    assert doctor(asked(None, url="https://guard.example.org/validate")).checks == {}


@pytest.mark.parametrize(
    ("bundle", "says"),
    [
        ("LS0tLS1CRUdJTi…", "is no base64"),
        (b64(b"hello"), "holds no certificate as PEM"),
        (b64(CA.private_key_pem.bytes()), "holds a private key, which everybody can read there: make a new one"),
    ],
)
def test_a_bundle_that_cannot_be_used_is_an_error(bundle: str, says: str, doctor: Any, asked: Any) -> None:
    found = doctor(asked(bundle))
    assert found.checks == {"ca-bundle": "error"}
    assert found.field("ca-bundle") == "webhooks[0].clientConfig.caBundle"
    assert found["ca-bundle"].message == f"`check.example.org` has a caBundle that {says}"


def test_another_ca_than_the_one_that_signed_is_found(doctor: Any, asked: Any) -> None:
    found = doctor(asked(b64(trustme.CA().cert_pem.bytes())), *behind(secret_of(leaf())))
    assert found.checks == {"ca-mismatch": "error"}


def test_of_several_cas_in_the_bundle_one_is_enough(doctor: Any, asked: Any) -> None:
    both = trustme.CA().cert_pem.bytes() + CA.cert_pem.bytes()
    assert doctor(asked(b64(both)), *behind(secret_of(leaf()))).checks == {}


def test_a_chain_that_leads_to_the_ca_is_followed(doctor: Any, asked: Any) -> None:
    assert doctor(asked(TRUSTED), *behind(secret_of(leaf(ca=CA.create_child_ca())))).checks == {}


def test_a_certificate_that_is_trusted_itself_needs_no_ca(doctor: Any, asked: Any) -> None:
    issued = leaf()
    bundle = b64(issued.cert_chain_pems[0].bytes())
    assert doctor(asked(bundle), *behind(secret_of(issued))).checks == {}


def test_a_name_that_is_missing_is_found(doctor: Any, asked: Any) -> None:
    found = doctor(asked(TRUSTED), *behind(secret_of(leaf("policy.default.svc"))))
    assert found.checks == {"certificate-names": "error"}
    assert found.field("certificate-names") == 'data["tls.crt"]'
    assert found["certificate-names"].message == f"holds a certificate for `policy.default.svc`, want `{HOST}`"


@pytest.mark.parametrize(("days", "level", "says"), [(-1, "error", "expired on"), (13, "warning", "expires on")])
def test_a_certificate_that_expires_is_found(days: int, level: str, says: str, doctor: Any, asked: Any) -> None:
    found = doctor(asked(TRUSTED), *behind(secret_of(leaf(days=days))))
    assert found.checks == {"certificate-expiry": level}
    assert says in found["certificate-expiry"].message


def test_a_ca_that_has_expired_is_found(doctor: Any, asked: Any) -> None:
    short = leaf(days=-1).cert_chain_pems[0].bytes()
    found = doctor(asked(b64(short)))
    assert found.checks == {"ca-expiry": "error"}


def test_a_ca_that_has_expired_may_stand_beside_a_new_one(doctor: Any, asked: Any) -> None:
    short = leaf(days=-1).cert_chain_pems[0].bytes()
    assert doctor(asked(b64(short + CA.cert_pem.bytes()))).checks == {}


@pytest.mark.parametrize("args", [["--tls-secret=policy-tls"], ["serve", "--tls-secret", "policy-tls"]])
def test_a_secret_that_is_read_by_name_is_found(args: list[str], doctor: Any, asked: Any) -> None:
    container = {"name": "main", "readinessProbe": {}, "args": args}
    objects = behind(secret_of(leaf(days=1)), volumes=None, containers=[container])
    assert doctor(asked(TRUSTED), *objects).checks == {"certificate-expiry": "warning"}


def test_text_that_is_no_certificate_is_an_error(doctor: Any, asked: Any) -> None:
    assert doctor(asked(TRUSTED), *behind({"data": {"tls.crt": "!"}})).checks == {"certificate": "error"}
    assert doctor(asked(TRUSTED), *behind({"stringData": {"tls.crt": "hello"}})).checks == {"certificate": "error"}


def test_a_secret_without_a_certificate_says_nothing(doctor: Any, asked: Any) -> None:
    assert doctor(asked(TRUSTED), *behind({"data": {"password": "eA=="}})).checks == {}


def test_no_finding_holds_any_of_a_key(doctor: Any, asked: Any) -> None:
    issued = leaf("other.example.org", days=-1)
    key = issued.private_key_pem.bytes().decode()
    found = doctor(asked(b64(key.encode())), *behind(secret_of(issued) | {"stringData": {"tls.key": key}}))
    assert found.diagnoses
    lines = [line for line in (*key.splitlines(), b64(key.encode())) if len(line) > 20 and "-----" not in line]
    assert not any(line in repr(found.diagnoses) for line in lines)
