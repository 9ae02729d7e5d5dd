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
        "--tls-key is missing (or COZYGUARD_TLS_KEY): HTTPS needs a certificate and its key",
        "--port: got `70000`, want a number from 0 to 65535",
        "COZYGUARD_RELEASE: got `latest`, want a release such as `1.6` or `v1.6.2`",
        "--workers: got `0`, want a number from 1 to 256",
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
