"""What changes while the server runs is in force for the API server, without a registration or a restart."""

from __future__ import annotations

import json
from collections.abc import Callable

from tests.e2e.guard import Guard
from tests.e2e.kubectl import Kubectl, Object, until

Make = Callable[..., Object]


def test_a_policy_that_is_written_is_in_force_and_one_that_is_removed_is_not(
    guard: Guard, kubectl: Kubectl, config_map: Make
) -> None:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["CREATE"]}
    validation = {"expression": "!('size' in object.?data.orValue({}))", "message": "nothing has a size"}
    policy = {
        "apiVersion": "cozyguard.io/v1alpha1",
        "kind": "AdmissionPolicy",
        "metadata": {"name": "no-size"},
        "spec": {"matchConstraints": {"resourceRules": [rule]}, "validations": [validation]},
    }
    sized = config_map(size="big")
    assert kubectl.apply(sized, "--dry-run=server").code == 0
    file = guard.policies / "no-size.yaml"
    file.write_text(json.dumps(policy))
    try:
        told = until(lambda: (shown := kubectl.apply(sized, "--dry-run=server")).code and shown.text)
        assert told.startswith('The ConfigMap "settings" is invalid: ')
        assert "nothing has a size [no-size]" in told
        assert kubectl.apply(config_map(colour="red"), "--dry-run=server").code == 0
    finally:
        file.unlink()
    assert until(lambda: kubectl.apply(sized, "--dry-run=server").code == 0)


def test_a_certificate_that_is_replaced_is_trusted_if_its_authority_is(
    guard: Guard, kubectl: Kubectl, package: Make
) -> None:
    before = guard.certificate()
    guard.issue()
    until(lambda: guard.certificate() != before)
    assert "did you mean `container`?" in kubectl.apply(package(variant="contaner")).text
    assert kubectl.apply(package(variant="container")).code == 0
