"""What is rendered, for whom, and what is not when it is switched off."""

from __future__ import annotations

import json
import re
from itertools import product
from pathlib import Path

import promql_parser
import pytest
import yaml

import webhook
from tests.chart.helm import CHART, EVERYTHING, Helm, HelmError, Object, Rendered

MINORS = [f"1.{minor}" for minor in range(30, 38)]

LABELS = {"helm.sh/chart", "app.kubernetes.io/name", "app.kubernetes.io/instance", "app.kubernetes.io/managed-by"}


def test_lint_finds_nothing(helm: Helm) -> None:
    printed = helm("lint", "--strict", str(CHART))
    assert [line for line in printed.splitlines() if line.startswith(("[WARNING]", "[ERROR]"))] == []


def test_the_version_is_that_of_the_package() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert chart["version"] == chart["appVersion"] == webhook.__version__


@pytest.mark.parametrize("minor", MINORS)
def test_every_supported_kubernetes_gets_the_same(
    helm: Helm, minor: str, default: Rendered, everything: Rendered
) -> None:
    flag = f"--kube-version={minor}.0"
    assert helm.template(None, flag) == default
    assert helm.template(EVERYTHING, flag) == everything


def test_a_kubernetes_that_is_too_old_is_refused(helm: Helm) -> None:
    with pytest.raises(HelmError, match=r"chart requires kubeVersion: >=1.30.0-0"):
        helm.template(None, "--kube-version=1.29.9")


def test_a_vendors_version_is_no_pre_release(helm: Helm) -> None:
    assert helm.template(None, "--kube-version=1.30.4-gke.100")


def test_what_can_be_switched_off_is_not_rendered(helm: Helm, default: Rendered, everything: Rendered) -> None:
    optional = {"ServiceMonitor", "PrometheusRule", "Certificate", "Issuer"}
    assert optional.isdisjoint(kind for kind, _ in default.names)
    assert optional < {kind for kind, _ in everything.names}
    bare = helm.template(
        {
            "networkPolicy": {"enabled": False},
            "podDisruptionBudget": {"enabled": False},
            "crds": {"install": False},
            "detectRelease": False,
        }
    )
    gone = {"NetworkPolicy", "PodDisruptionBudget", "CustomResourceDefinition"}
    assert {kind for kind, _ in default.names} - {kind for kind, _ in bare.names} == gone
    assert {obj["metadata"].get("namespace") for obj in bare} == {None, "cozyguard"}


def test_every_object_has_the_usual_labels(everything: Rendered) -> None:
    assert [obj["metadata"]["name"] for obj in everything if not obj["metadata"]["labels"].keys() >= LABELS] == []


def test_everything_of_another_release_has_its_name(helm: Helm) -> None:
    shared = {"CustomResourceDefinition"}
    assert {
        name
        for kind, name in helm.template(EVERYTHING, release="second").names
        if not name.startswith("second-cozyguard") and kind not in shared
    } == set()
    assert ("Deployment", "guard") in helm.template({"fullnameOverride": "guard"}).names


def test_no_image_and_no_hook_besides_our_own(everything: Rendered) -> None:
    assert "helm.sh/hook" not in str(everything)
    assert everything.container["image"] == f"ghcr.io/cozyguard/cozyguard:{webhook.__version__}@sha256:{'a' * 64}"
    assert everything.pod["imagePullSecrets"] == [{"name": "registry"}]


@pytest.mark.parametrize("kind", ["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"])
def test_the_registration_is_a_shell(default: Rendered, kind: str) -> None:
    shell = default.one(kind)
    assert shell.keys() == {"apiVersion", "kind", "metadata"}
    assert shell["metadata"].keys() == {"name", "labels"}


def test_the_definitions_are_the_generated_files_and_are_kept(default: Rendered) -> None:
    files = [yaml.safe_load(file.read_text()) for file in sorted((CHART / "files" / "crds").glob("*.yaml"))]
    rendered = list(default.of("CustomResourceDefinition"))
    assert rendered
    assert [crd["spec"] for crd in rendered] == [crd["spec"] for crd in files]
    assert [crd["metadata"]["annotations"] for crd in rendered] == [{"helm.sh/resource-policy": "keep"}] * len(files)
    assert not (CHART / "crds").exists(), "helm would install them once more, and never upgrade them"


def test_a_certificate_of_cert_manager_is_for_the_service(helm: Helm, everything: Rendered) -> None:
    leaf = everything.one("Certificate")["spec"]
    assert leaf["dnsNames"] == ["cozyguard.cozyguard.svc"]
    assert leaf["secretName"] == "cozyguard-tls"
    assert leaf["issuerRef"] == {"kind": "Issuer", "name": "cozyguard"}
    assert everything.one("Certificate", "cozyguard-ca")["spec"]["isCA"] is True

    issuer = {"kind": "ClusterIssuer", "name": "internal"}
    foreign = helm.template({"certificates": {"mode": "cert-manager", "certManager": {"issuerRef": issuer}}})
    (only,) = foreign.of("Certificate")
    assert only["spec"]["issuerRef"] == issuer
    assert not list(foreign.of("Issuer"))


def test_the_metrics_of_alerts_are_measured(everything: Rendered) -> None:
    from webhook.server.metrics import FAMILIES

    measured = {family.name + suffix for family in FAMILIES for suffix in (*family.suffixes, "")}
    named = {name for query in _queries(everything) for name in re.findall(r"\bcozyguard_\w+", query)}
    assert len(named) >= 3
    assert named - measured == set()


def test_prometheus_can_read_what_alerts_and_panels_ask(everything: Rendered) -> None:
    for query in _queries(everything):
        promql_parser.parse(query.replace("$__rate_interval", "5m"))


def test_panels_are_apart_and_say_what_they_show(everything: Rendered) -> None:
    taken: set[tuple[int, int]] = set()
    for panel in _dashboard(everything)["panels"]:
        place = panel["gridPos"]
        cells = set(product(range(place["x"], place["x"] + place["w"]), range(place["y"], place["y"] + place["h"])))
        assert not cells & taken, panel["title"]
        assert place["x"] + place["w"] <= 24
        assert panel["type"] == "row" or panel["description"].endswith(".")
        taken |= cells


def test_every_alert_says_what_it_means_and_what_to_do(everything: Rendered) -> None:
    for alert in _alerts(everything):
        assert alert["labels"]["severity"] in ("warning", "critical")
        assert len(alert["annotations"]["summary"]) < 80
        assert len(alert["annotations"]["description"]) > 80


def test_what_prometheus_scrapes_is_what_the_alerts_ask_for(everything: Rendered) -> None:
    service = everything.one("Service", "cozyguard-metrics")
    monitor = everything.one("ServiceMonitor")
    assert monitor["spec"]["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
    assert monitor["spec"]["endpoints"][0]["port"] == service["spec"]["ports"][0]["name"]
    assert monitor["metadata"]["labels"]["release"] == "prometheus"
    assert all('job="cozyguard-metrics"' in alert["expr"] for alert in _alerts(everything))


def _dashboard(rendered: Rendered) -> Object:
    found: Object = json.loads(rendered.one("ConfigMap", "cozyguard-dashboard")["data"]["cozyguard.json"])
    return found


def _queries(rendered: Rendered) -> list[str]:
    panels = [target["expr"] for panel in _dashboard(rendered)["panels"] for target in panel.get("targets", ())]
    return [*panels, *(alert["expr"] for alert in _alerts(rendered))]


def _alerts(rendered: Rendered) -> list[Object]:
    (group,) = rendered.one("PrometheusRule")["spec"]["groups"]
    alerts: list[Object] = group["rules"]
    return alerts


def test_the_archive_holds_what_the_folder_holds(helm: Helm, tmp_path: Path, default: Rendered) -> None:
    helm("package", str(CHART), "--destination", str(tmp_path))
    (archive,) = tmp_path.iterdir()
    printed = helm("template", "cozyguard", str(archive), "--namespace", "cozyguard")
    assert [obj for obj in yaml.safe_load_all(printed) if obj] == default
