"""While no server answers, the failurePolicy of the registration says what happens."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.e2e.guard import ADDRESS, Guard
from tests.e2e.kubectl import Kubectl, Object, until

Make = Callable[..., Object]


@pytest.fixture
def nobody(guard: Guard, kubectl: Kubectl) -> Guard:
    """The registered server, stopped for the time of the test."""
    guard.stop()
    return guard


def test_under_fail_nothing_that_is_named_can_be_changed(nobody: Guard, kubectl: Kubectl, config_map: Make) -> None:
    shown = kubectl.apply(config_map(colour="blue"))
    url = f"https://{ADDRESS}:{nobody.port}/mutate?timeout=5s"
    assert shown.code == 1
    assert shown.text == (
        f'Error from server (InternalError): error when creating "configmap.yaml": Internal error occurred: '
        f'failed calling webhook "e2e.cozyguard.io": failed to call webhook: Post "{url}": '
        f"dial tcp {ADDRESS}:{nobody.port}: connect: connection refused\n"
    )


def test_under_fail_what_is_not_named_goes_on(nobody: Guard, kubectl: Kubectl) -> None:
    assert kubectl("create", "secret", "generic", "token", "--namespace=e2e", "--dry-run=server").code == 0
    assert kubectl("create", "configmap", "settings", "--namespace=kube-system", "--dry-run=server").code == 0


def test_under_ignore_what_comes_meanwhile_is_not_judged(
    nobody: Guard, kubectl: Kubectl, package: Make, failure_policy: Callable[[str], None]
) -> None:
    failure_policy("Ignore")
    bad = package(variant="contaner")
    assert until(lambda: kubectl.apply(bad).code == 0)
    assert kubectl.stored(bad)


def test_a_server_that_is_back_is_asked_again(guard: Guard, kubectl: Kubectl, package: Make) -> None:
    guard.stop()
    assert "connection refused" in kubectl.apply(package(variant="contaner")).text
    guard.start()
    assert "did you mean `container`?" in kubectl.apply(package(variant="contaner")).text


@pytest.fixture
def failure_policy(kubectl: Kubectl) -> Iterator[Callable[[str], None]]:
    """Change the failurePolicy of both registrations; it is Fail again afterwards."""

    def change(to: str) -> None:
        operations = f'[{{"op":"replace","path":"/webhooks/0/failurePolicy","value":"{to}"}}]'
        for kind in ("validatingwebhookconfiguration", "mutatingwebhookconfiguration"):
            shown = kubectl("patch", kind, "cozyguard", "--type=json", f"--patch={operations}")
            assert shown.code == 0, shown.text

    yield change
    change("Fail")
