"""`check --from … --to …`: what an upgrade changes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

Run = Callable[..., Any]
Write = Callable[[str, Any], str]
Golden = Callable[[str, str], None]

ROUTES = """\
apiVersion: cozystack.io/v1alpha1
kind: Package
metadata: {name: cozystack.gpu-operator}
spec: {variant: container}
---
apiVersion: cozystack.io/v1alpha1
kind: Package
metadata: {name: cozystack.cozystack-platform}
spec:
  variant: isp-full
  components:
    platform:
      values:
        bundles:
          iaas: {gpuOperatorVariant: container}
"""
ONLY = ("--policy", "package-variant-known", "--policy", "platform-gpu-variant")


@pytest.fixture
def routes(write: Write) -> str:
    """Write a Package whose variant came with 1.5, and a bundle key that takes it from 1.7 on."""
    return write("routes.yaml", ROUTES)


def differences(document: dict[str, Any]) -> dict[str, list[str]]:
    """Give the policies of each kind of difference that there is."""
    kinds = ("newlyDenied", "newlyWarned", "notChecked", "newlyAllowed", "noLongerWarned", "newlyPatched")
    return {kind: [entry["policy"] for entry in document[kind]] for kind in kinds if document[kind]}


def test_what_an_upgrade_changes_is_shown_where_it_stands(cozyguard: Run, routes: str, golden: Golden) -> None:
    answer = cozyguard("check", routes, "--from", "1.4", "--to", "1.5", *ONLY)

    assert (answer.code, answer.err) == (1, "")
    golden("check/upgrade.txt", re.sub(r"in \d+\.\d\d s", "in 0.00 s", answer.out))


def test_the_same_in_json(cozyguard: Run, routes: str, golden: Golden) -> None:
    answer = cozyguard("check", routes, "--from", "1.4", "--to", "1.5", *ONLY, "-o", "json")

    assert (answer.code, answer.err) == (1, "")
    golden("check/upgrade.json", json.dumps(answer.document, indent=2) + "\n")


def test_an_upgrade_that_only_allows_more_is_zero(cozyguard: Run, routes: str) -> None:
    answer = cozyguard("check", routes, "--from", "1.6", "--to", "1.7", *ONLY, "-o", "json")

    assert answer.code == 0
    assert differences(answer.document) == {"newlyAllowed": ["platform-gpu-variant"]}


def test_nothing_that_changes_is_said_to_be_nothing(cozyguard: Run, routes: str) -> None:
    answer = cozyguard("check", routes, "--from", "1.5", "--to", "1.6", *ONLY)

    assert answer.code == 0
    assert re.fullmatch(r"from 1\.5 to 1\.6, checked 2 objects with 2 policies in .* s: nothing changes\n", answer.out)


def test_the_release_before_is_the_one_that_check_takes(cozyguard: Run, routes: str) -> None:
    assert cozyguard("check", routes, "--to", "1.7", *ONLY, "-o", "json").document["from"] == "1.6"
    assert cozyguard("check", routes, "--release", "1.4", "--to", "1.7", *ONLY, "-o", "json").document["from"] == "1.4"


def test_package_sources_of_the_cluster_count_until_the_upgrade(cozyguard: Run, routes: str, write: Write) -> None:
    def source(name: str) -> dict[str, Any]:
        spec = {"variants": [{"name": "container"}]}
        return {
            "apiVersion": "cozystack.io/v1alpha1",
            "kind": "PackageSource",
            "metadata": {"name": name},
            "spec": spec,
        }

    state = write("state.yaml", json.dumps(source("cozystack.gpu-operator")))
    answer = cozyguard("check", routes, "--cluster-state", state, "--from", "1.4", "--to", "1.3", *ONLY, "-o", "json")

    assert answer.code == 1
    assert differences(answer.document) == {"newlyDenied": ["package-variant-known"]}


POLICY = """\
apiVersion: cozyguard.io/v1alpha1
kind: AdmissionPolicy
metadata: {name: later}
spec:
  title: t
  severity: low
  releases: ">=1.6"
  why: w
  validationActions: [Warn]
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: ["*"], resources: [configmaps], operations: [CREATE]}
  lookups: [{name: other, apiVersion: v1, kind: ConfigMap, objectName: other, namespace: default}]
  validations:
  - {expression: "'a' in object.data", message: no a}
  - {expression: "lookups.other == null", message: there is another}
  mutations:
  - patchType: JSONPatch
    message: gets b
    jsonPatch: {expression: "[JSONPatch{op: 'add', path: '/data/b', value: '1'}]"}
"""


def test_warnings_patches_and_what_cannot_be_checked_are_told_too(cozyguard: Run, write: Write) -> None:
    file = write("x.yaml", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}, "data": {}})
    argv = ("check", file, "--policies", write("policy.yaml", POLICY), "--from", "1.5", "--to", "1.6")
    answer = cozyguard(*argv)

    assert (answer.code, answer.err) == (0, "")
    assert "x.yaml:7:11: newly warned: no a [later]\n" in answer.out
    assert "x.yaml:1:1: skip: not checked: needs ConfigMap default/other [later]\n" in answer.out
    assert "newly patched: gets b [later]\n" in answer.out
    assert answer.out.endswith(" s: 1 newly warned, 1 not checked, 1 newly patched\n")
    assert cozyguard(*argv, "--fail-on", "warn").code == 1
    assert cozyguard(*argv, "--fail-on", "skip").code == 1
    found = cozyguard(*argv, "-o", "json").document
    assert differences(found) == {"newlyWarned": ["later"], "notChecked": ["later"], "newlyPatched": ["later"]}


def test_faults_win_and_the_rest_is_still_judged(cozyguard: Run, routes: str, write: Write) -> None:
    answer = cozyguard("check", routes, write("broken.yaml", "a: ["), "--from", "1.4", "--to", "1.5", *ONLY)

    assert answer.code == 2
    assert "newly denied" in answer.out
    assert answer.err.startswith("broken.yaml:")


def test_standard_input_is_judged_twice(cozyguard: Run) -> None:
    answer = cozyguard("check", "-", "--from", "1.4", "--to", "1.5", *ONLY, "-o", "json", stdin=ROUTES)

    assert differences(answer.document) == {
        "newlyDenied": ["platform-gpu-variant"],
        "newlyAllowed": ["package-variant-known"],
    }


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--from", "1.6"], "error: `--from` is for an upgrade: give the release that it leads to with `--to`\n"),
        (
            ["--to", "1.7", "--write-baseline", "b.json"],
            "error: `--write-baseline` does not go with `--to`, which tells differences only\n",
        ),
        (["--to", "0.3"], "error: got release `0.3`, want one of the catalogue's, 1.0 to 1.7\n"),
    ],
)
def test_what_does_not_go_together_is_refused(cozyguard: Run, routes: str, argv: list[str], message: str) -> None:
    answer = cozyguard("check", routes, *argv)

    assert (answer.code, answer.out, answer.err) == (2, "", message)
