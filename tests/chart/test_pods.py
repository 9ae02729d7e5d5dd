"""The pods: what they may, how they are placed, when they count as ready, and what they are told."""

from __future__ import annotations

import pytest

from tests.chart.helm import Helm, Object, Rendered
from webhook.cli.serve import parser


@pytest.fixture(params=["default", "everything"])
def rendered(request: pytest.FixtureRequest) -> Rendered:
    found: Rendered = request.getfixturevalue(request.param)
    return found


def test_a_pod_may_as_little_as_can_be(rendered: Rendered) -> None:
    assert rendered.pod["securityContext"] == {
        "runAsNonRoot": True,
        "runAsUser": 65532,
        "runAsGroup": 65532,
        "fsGroup": 65532,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    assert rendered.container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert not {"hostNetwork", "hostPID", "hostIPC", "initContainers"} & rendered.pod.keys()


def test_only_temporary_files_can_be_written(rendered: Rendered) -> None:
    mounts = rendered.container["volumeMounts"]
    assert [mount["mountPath"] for mount in mounts if not mount.get("readOnly")] == ["/tmp"]  # noqa: S108
    assert next(volume for volume in rendered.pod["volumes"] if volume["name"] == "tmp")["emptyDir"]["sizeLimit"]


def test_the_token_is_mounted_where_it_is_used_and_nowhere_else(rendered: Rendered) -> None:
    assert rendered.pod["automountServiceAccountToken"] is True
    assert rendered.one("ServiceAccount")["automountServiceAccountToken"] is False


def test_memory_is_limited_and_the_processor_is_not(rendered: Rendered) -> None:
    resources = rendered.container["resources"]
    assert resources["requests"].keys() == {"cpu", "memory"}
    assert resources["limits"].keys() == {"memory"}


def test_replicas_keep_apart_and_never_all_go_at_once(default: Rendered) -> None:
    deployment = default.one("Deployment")["spec"]
    assert deployment["replicas"] == 2
    assert deployment["strategy"]["rollingUpdate"] == {"maxUnavailable": 0, "maxSurge": 1}
    assert default.one("PodDisruptionBudget")["spec"]["maxUnavailable"] == 1
    assert "preferredDuringSchedulingIgnoredDuringExecution" in default.pod["affinity"]["podAntiAffinity"]
    spread = default.pod["topologySpreadConstraints"]
    assert [each["topologyKey"] for each in spread] == ["kubernetes.io/hostname", "topology.kubernetes.io/zone"]
    assert {each["whenUnsatisfiable"] for each in spread} == {"ScheduleAnyway"}
    assert default.pod["priorityClassName"] == "system-cluster-critical"


def test_everything_that_selects_pods_selects_these_and_stays_as_it_is(rendered: Rendered) -> None:
    selector = {
        "app.kubernetes.io/name": "cozyguard",
        "app.kubernetes.io/instance": "cozyguard",
        "app.kubernetes.io/component": "webhook",
    }
    assert rendered.one("Deployment")["spec"]["template"]["metadata"]["labels"].items() >= selector.items()
    assert rendered.one("Deployment")["spec"]["selector"]["matchLabels"] == selector
    assert rendered.one("Service")["spec"]["selector"] == selector
    assert rendered.one("Service", "cozyguard-metrics")["spec"]["selector"] == selector
    assert rendered.one("PodDisruptionBudget")["spec"]["selector"]["matchLabels"] == selector
    assert rendered.one("NetworkPolicy")["spec"]["podSelector"]["matchLabels"] == selector


def test_labels_of_ones_own_do_not_change_what_is_selected(helm: Helm) -> None:
    mine = helm.template({"podLabels": {"app.kubernetes.io/component": "other"}})
    labels = mine.one("Deployment")["spec"]["template"]["metadata"]["labels"]
    assert labels["app.kubernetes.io/component"] == "webhook"


@pytest.mark.parametrize(
    ("probe", "path"), [("startupProbe", "/healthz"), ("readinessProbe", "/readyz"), ("livenessProbe", "/healthz")]
)
def test_probes_ask_the_port_that_has_no_certificate(default: Rendered, probe: str, path: str) -> None:
    assert default.container[probe]["httpGet"] == {"path": path, "port": "probes"}
    ports = {port["name"]: port["containerPort"] for port in default.container["ports"]}
    assert ports == {"webhook": 8443, "probes": 8080}


@pytest.mark.parametrize(("drain", "grace"), [(0, 20), (5, 25), (7.5, 28), (60, 80)])
def test_a_stopping_pod_has_time_for_what_has_begun(helm: Helm, drain: float, grace: int) -> None:
    rendered = helm.template({"drainSeconds": drain})
    assert rendered.pod["terminationGracePeriodSeconds"] == grace
    assert f"--drain-seconds={drain}" in rendered.container["args"]


CERTIFICATES: list[tuple[Object, set[str]]] = [
    ({"mode": "self"}, {"--tls-secret=cozyguard-tls"}),
    (
        {"mode": "cert-manager"},
        {
            "--tls-cert=/etc/cozyguard/tls/tls.crt",
            "--tls-key=/etc/cozyguard/tls/tls.key",
            "--inject-ca-from=cozyguard/cozyguard",
        },
    ),
    (
        {"mode": "files", "files": {"secretName": "mine"}},
        {
            "--tls-cert=/etc/cozyguard/tls/tls.crt",
            "--tls-key=/etc/cozyguard/tls/tls.key",
            "--ca-bundle=/etc/cozyguard/tls/ca.crt",
        },
    ),
    (
        {"mode": "files", "files": {"secretName": "mine", "caBundle": "PEM"}},
        {
            "--tls-cert=/etc/cozyguard/tls/tls.crt",
            "--tls-key=/etc/cozyguard/tls/tls.key",
            "--ca-bundle=/etc/cozyguard/config/ca.crt",
        },
    ),
]


@pytest.mark.parametrize(("certificates", "flags"), CERTIFICATES)
def test_the_server_is_told_where_its_certificate_is(helm: Helm, certificates: Object, flags: set[str]) -> None:
    rendered = helm.template({"certificates": certificates})
    about = ("--tls-", "--ca-bundle", "--inject-ca")
    assert {flag for flag in rendered.container["args"] if flag.startswith(about)} == flags
    secrets = [volume["secret"]["secretName"] for volume in rendered.pod["volumes"] if "secret" in volume]
    assert secrets == {"self": [], "cert-manager": ["cozyguard-tls"], "files": ["mine"]}[certificates["mode"]]


@pytest.mark.parametrize("certificates", [certificates for certificates, _ in CERTIFICATES])
def test_the_server_knows_all_that_it_is_told(helm: Helm, certificates: Object, everything: Rendered) -> None:
    for rendered in (everything, helm.template({"certificates": certificates})):
        command, *flags = rendered.container["args"]
        assert command == "serve"
        parser().parse(flags, environ={})


def test_every_file_that_the_server_is_told_of_is_mounted(rendered: Rendered) -> None:
    mounted = tuple(f"{mount['mountPath']}" for mount in rendered.container["volumeMounts"])
    paths = [flag.partition("=")[2] for flag in rendered.container["args"] if "=/" in flag]
    assert paths
    assert [path for path in paths if not path.startswith(mounted)] == []


def test_the_release_can_be_said(everything: Rendered, default: Rendered) -> None:
    assert everything.container["env"] == [{"name": "COZYGUARD_RELEASE", "value": "1.6"}]
    assert "env" not in default.container
