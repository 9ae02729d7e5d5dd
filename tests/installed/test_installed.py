"""From `helm install` to a denial, and what changes while it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.chart.helm import NAMESPACE, RELEASE, Object
from tests.e2e.guard import ROOT
from tests.e2e.kubectl import until
from tests.installed.installation import PACKAGE, SHELLS, Installation, package

MOST_MEMORY = 100 * 1024
"""KiB that a replica may have resident."""

BUNDLED = len(list((ROOT / "policies").glob("*/*/policy.yaml")))

SOURCE: Object = {
    "apiVersion": "cozystack.io/v1alpha1",
    "kind": "PackageSource",
    "metadata": {"name": "cozystack.gpu-operator"},
    "spec": {"variants": [{"name": "homegrown", "components": []}]},
}

POLICY: Object = {
    "apiVersion": "cozyguard.io/v1alpha1",
    "kind": "AdmissionPolicy",
    "metadata": {"name": "no-latest"},
    "spec": {
        "matchConstraints": {
            "resourceRules": [
                {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["CREATE"]}
            ]
        },
        "validations": [{"expression": "object.?data.?tag.orValue('') != 'latest'", "message": "name a version"}],
    },
}

CONFIG_MAP: Object = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "release", "namespace": "tenant-demo"},
    "data": {"tag": "latest"},
}


@pytest.fixture
def made(installation: Installation) -> Iterator[Callable[[Object], None]]:
    """Make an object for as long as the test runs."""
    objects: list[Object] = []

    def make(obj: Object) -> None:
        shown = installation.applied(obj)
        assert shown.code == 0, shown.text
        objects.append(obj)

    yield make
    for obj in objects:
        installation.kubectl("delete", "--filename=-", stdin=obj)


def loaded(installation: Installation) -> set[int]:
    """How many policies each replica has in force."""
    return {replica.policies["loaded"] for replica in installation.replicas}


def denied(installation: Installation, obj: Object) -> str:
    return installation.dry_run(obj).denial


def test_what_is_wrong_is_refused_and_said(installation: Installation) -> None:
    shown = installation.dry_run(package("contaner"))
    assert "did you mean `container`?" in shown.denial
    assert installation.dry_run(PACKAGE).code == 0


def test_a_replica_stays_small(installation: Installation) -> None:
    for replica in installation.replicas:
        status = Path(f"/proc/{replica.pid}/status").read_text()
        resident = int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS")))
        assert resident < MOST_MEMORY


def test_a_package_source_of_the_cluster_says_which_variants_there_are(
    installation: Installation, made: Callable[[Object], None]
) -> None:
    assert denied(installation, package("homegrown"))
    made(SOURCE)
    until(lambda: not denied(installation, package("homegrown")))
    assert denied(installation, package("container"))


def test_the_operators_image_says_which_release_it_is(
    installation: Installation, made: Callable[[Object], None]
) -> None:
    until(lambda: not denied(installation, package("container")))  # the newest release has it
    labels = {"app": "cozystack-operator"}
    container = {"name": "operator", "image": "ghcr.io/cozystack/cozystack/cozystack-operator:v1.4.2"}
    made(
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "cozystack-operator", "namespace": "cozy-system"},
            "spec": {
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
            },
        }
    )
    until(lambda: "does not exist in Cozystack 1.4" in denied(installation, package("container")))


def test_a_policy_that_is_installed_comes_into_force_and_says_so(
    installation: Installation, made: Callable[[Object], None]
) -> None:
    assert not denied(installation, CONFIG_MAP)
    made(POLICY)
    until(lambda: "name a version" in denied(installation, CONFIG_MAP))
    until(lambda: installation.condition("admissionpolicy", "no-latest", "Ready").get("status") == "True")


def test_what_a_user_may_is_asked_with_the_right_that_the_chart_gives_for_it(
    installation: Installation, made: Callable[[Object], None]
) -> None:
    """Without `rbac.accessReviews` nothing can be told, and the failure policy says what that means."""
    rule = {"expression": "authorizer.requestResource.check('delete').allowed()", "message": "you may not delete it"}
    kubectl = installation.plane.kubectl
    kubectl("-n", "tenant-demo", "create", "role", "maker", "--verb=create", "--resource=configmaps")
    kubectl("-n", "tenant-demo", "create", "rolebinding", "maker", "--role=maker", "--user=eve")
    made(POLICY | {"spec": POLICY["spec"] | {"validations": [rule]}})
    until(lambda: "whether admin may delete configmaps release" in denied(installation, CONFIG_MAP))
    installation.helmed("upgrade", "--reuse-values", "--set=rbac.accessReviews=true", "--wait=hookOnly")
    until(lambda: not denied(installation, CONFIG_MAP))
    assert "you may not delete it" in installation.dry_run(CONFIG_MAP, "--as=eve").denial


def test_of_a_policy_that_is_broken_the_last_good_version_stays_in_force(
    installation: Installation, made: Callable[[Object], None]
) -> None:
    until(lambda: loaded(installation) == {BUNDLED})  # one of its name may still be in force, from before
    made(POLICY)
    until(lambda: loaded(installation) == {BUNDLED + 1})
    assert denied(installation, CONFIG_MAP)
    broken = POLICY | {"spec": POLICY["spec"] | {"validations": [{"expression": "object.data.tag =="}]}}
    assert installation.applied(broken).code == 0
    until(lambda: installation.condition("admissionpolicy", "no-latest", "Ready").get("status") == "False")
    ready = installation.condition("admissionpolicy", "no-latest", "Ready")
    assert "spec.validations[0].expression" in ready["message"]
    assert "name a version" in denied(installation, CONFIG_MAP)


def test_an_exception_lets_pass_what_it_names_until_it_expires(
    installation: Installation, made: Callable[[Object], None]
) -> None:
    def exception(expires: datetime) -> dict[str, Any]:
        return {
            "apiVersion": "cozyguard.io/v1alpha1",
            "kind": "PolicyException",
            "metadata": {"name": "lab"},
            "spec": {
                "policies": [{"name": "package-variant-known"}],
                "match": {
                    "resourceRules": [
                        {
                            "apiGroups": ["cozystack.io"],
                            "apiVersions": ["*"],
                            "resources": ["packages"],
                            "operations": ["*"],
                        }
                    ]
                },
                "owner": "gpu team",
                "reason": "a build of our own",
                "expiresAt": expires.isoformat(),
            },
        }

    assert denied(installation, package("contaner"))
    made(exception(datetime.now(UTC) + timedelta(hours=1)))
    until(lambda: not denied(installation, package("contaner")))
    made(exception(datetime.now(UTC) + timedelta(seconds=2)))
    until(lambda: denied(installation, package("contaner")))
    until(lambda: installation.condition("policyexception", "lab", "Active").get("reason") == "Expired")


def test_a_change_of_the_registration_is_undone(installation: Installation) -> None:
    kubectl = installation.plane.kubectl
    before = installation.read(SHELLS[0], RELEASE)["webhooks"]
    kubectl("patch", SHELLS[0], RELEASE, "--type=json", '--patch=[{"op": "remove", "path": "/webhooks/0/rules/0"}]')
    until(lambda: installation.read(SHELLS[0], RELEASE)["webhooks"] == before)


def test_another_replica_leads_when_the_leader_stops(installation: Installation) -> None:
    leader = installation.leader
    replica = next(one for one in installation.replicas if leader.endswith(f"-{one.pid}"))
    replica.stop()
    try:
        until(lambda: installation.leader not in ("", leader))
        assert denied(installation, package("contaner"))
    finally:
        replica.launch()
        replica.wait()


def test_a_secret_that_somebody_spoils_is_made_anew_and_nobody_notices(installation: Installation) -> None:
    before = installation.bundles()
    patch = '{"data": {"tls.crt": "aGVsbG8=", "tls.key": "aGVsbG8="}}'
    installation.plane.kubectl("patch", "secret", f"{RELEASE}-tls", f"--namespace={NAMESPACE}", f"--patch={patch}")
    assert denied(installation, package("contaner"))
    until(lambda: installation.bundles() != before)
    assert denied(installation, package("contaner"))
