import os
from pathlib import Path

import pytest

from webhook.errors import UsageError
from webhook.model.release import Minor
from webhook.server.settings import Settings, read


@pytest.fixture
def pair(tmp_path: Path) -> dict[str, str]:
    for name in ("tls.crt", "tls.key"):
        (tmp_path / name).touch()
    return {"tls_cert": str(tmp_path / "tls.crt"), "tls_key": str(tmp_path / "tls.key")}


def test_a_certificate_and_its_key_are_all_that_is_needed(pair: dict[str, str]) -> None:
    settings = read(pair, {})
    assert settings == Settings(tls_cert=Path(pair["tls_cert"]), tls_key=Path(pair["tls_key"]))


def test_every_setting_can_be_a_variable(pair: dict[str, str], tmp_path: Path) -> None:
    environ = {
        "COZYGUARD_TLS_CERT": pair["tls_cert"],
        "COZYGUARD_TLS_KEY": pair["tls_key"],
        "COZYGUARD_HOST": "127.0.0.1",
        "COZYGUARD_PORT": "9443",
        "COZYGUARD_PROBE_PORT": "9080",
        "COZYGUARD_POLICIES": f"{tmp_path}{os.pathsep}{pair['tls_cert']}",
        "COZYGUARD_ADD_POLICIES": str(tmp_path),
        "COZYGUARD_RELEASE": "v1.6.2",
        "COZYGUARD_CLUSTER_STATE": pair["tls_key"],
        "COZYGUARD_CONFIG": pair["tls_cert"],
        "COZYGUARD_WORKERS": "4",
        "COZYGUARD_LOG_LEVEL": "warning",
        "COZYGUARD_DRAIN_SECONDS": "0.5",
    }
    assert read({}, environ) == Settings(
        tls_cert=Path(pair["tls_cert"]),
        tls_key=Path(pair["tls_key"]),
        host="127.0.0.1",
        port=9443,
        probe_port=9080,
        policies=(tmp_path, Path(pair["tls_cert"])),
        add_policies=(tmp_path,),
        release=Minor(1, 6),
        cluster_state=Path(pair["tls_key"]),
        config=Path(pair["tls_cert"]),
        workers=4,
        log_level="warning",
        drain_seconds=0.5,
    )


def test_a_flag_wins_over_its_variable(pair: dict[str, str]) -> None:
    assert read(pair | {"port": "1"}, {"COZYGUARD_PORT": "2"}).port == 1


def test_all_faults_are_told_at_once() -> None:
    with pytest.raises(UsageError) as caught:
        read({"port": "70000", "workers": "0"}, {"COZYGUARD_RELEASE": "latest", "COZYGUARD_TLS_CERT": "/no/such"})
    assert str(caught.value).splitlines() == [
        "COZYGUARD_TLS_CERT: `/no/such` does not exist",
        "--port: got `70000`, want a number from 0 to 65535",
        "COZYGUARD_RELEASE: got `latest`, want a release such as `1.6` or `v1.6.2`",
        "--workers: got `0`, want a number from 1 to 256",
        "--tls-key is missing (or COZYGUARD_TLS_KEY): HTTPS needs a certificate and its key",
    ]


def test_both_ports_must_differ(pair: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="--probe-port: got 8443, the port of the webhook"):
        read(pair | {"port": "8443", "probe_port": "8443"}, {})


def test_the_system_may_choose_both_ports(pair: dict[str, str]) -> None:
    settings = read(pair | {"port": "0", "probe_port": "0"}, {})
    assert (settings.port, settings.probe_port) == (0, 0)


def test_a_folder_is_no_certificate(pair: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a folder, want a file"):
        read(pair | {"tls_cert": str(tmp_path)}, {})


def test_a_cluster_needs_no_certificate_from_files(tmp_path: Path) -> None:
    settings = read({"in_cluster": "true", "tls_secret": "cozyguard-tls", "register": "cozyguard"}, {})
    assert settings == Settings(in_cluster=True, tls_secret="cozyguard-tls", register="cozyguard")


def test_a_switch_can_be_a_variable() -> None:
    assert read({"tls_secret": "tls"}, {"COZYGUARD_IN_CLUSTER": "True"}).in_cluster
    with pytest.raises(UsageError, match="COZYGUARD_IN_CLUSTER: got `yes`, want true or false"):
        read({"tls_secret": "tls"}, {"COZYGUARD_IN_CLUSTER": "yes"})


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        ({"tls_secret": "tls"}, "--tls-secret needs a cluster: --in-cluster or --kubeconfig"),
        ({"register": "cozyguard"}, "--register needs a cluster: --in-cluster or --kubeconfig"),
        ({"in_cluster": "true", "tls_secret": "tls"}, "--tls-secret: there is a certificate from files as well"),
        ({"in_cluster": "true", "register": "cozyguard"}, "--register needs one of --tls-secret, --ca-bundle and"),
        ({"in_cluster": "true", "kubeconfig": __file__}, "--in-cluster and --kubeconfig name two clusters, want one"),
        ({"in_cluster": "true", "cluster_state": __file__}, "--cluster-state: the cluster itself is watched"),
        ({"webhook_url": "http://example.org"}, "--webhook-url: got `http://example.org`, want `https://host:port`"),
        ({"service": "Cozy_Guard"}, "--service: got `Cozy_Guard`, want the name of an object"),
        ({"inject_ca_from": "cert"}, "--inject-ca-from: got `cert`, want the `namespace/name` of a Certificate"),
    ],
)
def test_what_does_not_go_together_is_told(pair: dict[str, str], flags: dict[str, str], told: str) -> None:
    with pytest.raises(UsageError) as caught:
        read(pair | flags, {})
    assert told in str(caught.value)
