import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
Write = Callable[[str, Any], str]
Package = Callable[[str], str]
Native = Callable[..., str]
Golden = Callable[[str, str], None]


def untimed(text: str) -> str:
    return re.sub(r"in \d+\.\d\d s", "in 0.00 s", text)


def test_a_wrong_variant_is_shown_where_it_stands(cozyguard: Run, package: Package, golden: Golden) -> None:
    answer = cozyguard("check", package("contaner"), "--release", "1.6", "--policy", "package-variant-known")

    golden("check/wrong-variant.txt", untimed(answer.out))
    assert (answer.code, answer.err) == (1, "")


def test_the_same_in_json(cozyguard: Run, package: Package, golden: Golden) -> None:
    answer = cozyguard(
        "check", package("contaner"), "--release", "1.6", "--policy", "package-variant-known", "-o", "json"
    )

    golden("check/wrong-variant.json", json.dumps(answer.document, indent=2) + "\n")
    assert (answer.code, answer.err) == (1, "")


def test_nothing_denied_is_zero(cozyguard: Run, package: Package) -> None:
    answer = cozyguard("check", package("container"), "--release", "1.6", "--policy", "package-variant-known")

    assert answer.code == 0
    assert untimed(answer.out) == "checked 1 object with 1 policy in 0.00 s: 0 denied\n"


def test_the_release_decides(cozyguard: Run, package: Package, monkeypatch: pytest.MonkeyPatch) -> None:
    file = package("container")

    assert cozyguard("check", file, "--release", "1.4").code == 1
    monkeypatch.setenv("COZYGUARD_RELEASE", "v1.4.2")
    assert cozyguard("check", file).code == 1
    assert cozyguard("check", file, "--release", "1.6").code == 0


def test_a_newer_release_than_known_is_the_newest_known_with_a_warning(cozyguard: Run, package: Package) -> None:
    answer = cozyguard("check", package("container"), "--release", "9.9", "-o", "json")

    assert answer.document["release"] == "1.7"
    assert "release 9.9 is newer than the catalogue" in answer.err


def test_standard_input_is_read(cozyguard: Run) -> None:
    answer = cozyguard(
        "check",
        "-",
        stdin="kind: Package\napiVersion: cozystack.io/v1alpha1\nmetadata: {name: cozystack.hami}\nspec: {variant: x}\n",
    )

    assert answer.out.startswith("<stdin>:4:17: error: ")
    assert answer.code == 1


def test_a_folder_gives_all_its_manifests(cozyguard: Run, write: Write) -> None:
    for name in ("a.yaml", "b.json", "sub/c.yml"):
        write(f"all/{name}", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}})
    write("all/notes.txt", "no manifest")

    answer = cozyguard("check", "all", "-o", "json")

    assert answer.document["summary"]["resources"] == 3


def test_what_is_broken_is_an_input_error_and_the_rest_is_still_judged(
    cozyguard: Run, write: Write, package: Package
) -> None:
    broken = write("broken.yaml", "a: [1\n")

    answer = cozyguard("check", broken, package("contaner"), "no/such", "-o", "json")

    assert answer.code == 2
    assert answer.document["summary"]["resourcesDenied"] == 1
    assert [error["file"] for error in answer.document["inputErrors"]] == ["broken.yaml", "no/such"]
    assert answer.document["inputErrors"][0]["line"] == 1 or answer.document["inputErrors"][0]["line"] == 2
    assert "no/such: input error: " in answer.err


def test_a_policy_that_does_not_compile_is_an_error_and_the_others_run(
    cozyguard: Run, native: Native, package: Package
) -> None:
    broken = native("object.spec.variant ==", resources="packages", group="cozystack.io")

    answer = cozyguard("check", package("contaner"), "--add-policies", broken, "-o", "json")

    assert answer.code == 2
    assert ("deny", "package-variant-known", "spec.variant") in answer.findings
    (error,) = answer.document["policyErrors"]
    assert error["path"] == "spec.validations[0].expression"
    assert error["line"] > 0
    assert "native.yaml" in answer.err


def test_policies_can_be_replaced_added_chosen_and_skipped(cozyguard: Run, native: Native, package: Package) -> None:
    file = package("contaner")
    own = native("object.spec.variant != 'contaner'", resources="packages", group="cozystack.io")

    def policies(*flags: str) -> set[str]:
        return {policy for _, policy, _ in cozyguard("check", file, "-o", "json", *flags).findings}

    assert policies("--policies", own) == {"native"}
    assert policies("--add-policies", own) == {"native", "package-variant-known"}
    assert policies("--add-policies", own, "--skip", "package-*") == {"native"}
    assert policies("--add-policies", own, "--policy", "package-variant-known") == {"package-variant-known"}
    assert policies("--add-policies", own, "--severity", "high") == {"package-variant-known"}


def test_a_misspelt_name_of_a_policy_is_no_run_that_finds_nothing(cozyguard: Run, package: Package) -> None:
    answer = cozyguard("check", package("contaner"), "--policy", "package-varient-known")

    assert (answer.code, answer.out) == (2, "")
    assert "no policy is called `package-varient-known`; did you mean `package-variant-known`?" in answer.err


def test_passed_rules_are_listed_when_asked_for(cozyguard: Run, package: Package) -> None:
    answer = cozyguard(
        "check", package("container"), "--policy", "package-variant-known", "--show-passed", "-o", "json"
    )

    assert [entry["outcome"] for entry in answer.document["results"]] == ["pass"]
    shown = cozyguard("check", "gpu.yaml", "--policy", "package-variant-known", "--show-passed").out
    assert "pass: rule variant holds [package-variant-known]" in shown
    assert answer.document["summary"]["pass"] == 1


LOOKUP_NEEDED = {
    "apiVersion": "kubevirt.io/v1",
    "kind": "KubeVirt",
    "metadata": {"name": "kubevirt", "namespace": "cozy-kubevirt"},
    "spec": {"configuration": {"developerConfiguration": {"featureGates": ["HostDevices"]}}},
}
GATE = "kubevirt-no-host-devices-on-container"


def test_what_is_not_known_is_skipped_and_said(cozyguard: Run, write: Write) -> None:
    file = write("kubevirt.json", LOOKUP_NEEDED)

    answer = cozyguard("check", file, "--policy", GATE)

    assert answer.code == 0
    assert "skip: not checked: needs Package cozystack.gpu-operator [" in answer.out
    assert "1 not checked" in answer.out
    assert cozyguard("check", file, "--policy", GATE, "--fail-on", "skip").code == 1


def test_the_files_answer_for_what_they_hold(cozyguard: Run, write: Write, package: Package) -> None:
    file = write("kubevirt.json", LOOKUP_NEEDED)

    answer = cozyguard("check", file, package("container"), "--policy", GATE, "-o", "json")

    assert answer.findings == [("deny", GATE, "spec.configuration.developerConfiguration.featureGates[0]")]


def test_the_cluster_state_answers_but_is_not_judged(cozyguard: Run, write: Write, package: Package) -> None:
    file, state = write("kubevirt.json", LOOKUP_NEEDED), package("container")

    answer = cozyguard("check", file, "--cluster-state", state, "--policy", GATE, "-o", "json")

    assert [outcome for outcome, _, _ in answer.findings] == ["deny"]
    assert answer.document["summary"]["resources"] == 1


def test_in_a_closed_world_what_is_not_there_is_absent(cozyguard: Run, write: Write) -> None:
    file = write("kubevirt.json", LOOKUP_NEEDED)

    assert cozyguard("check", file, "--closed-world", "--policy", GATE, "-o", "json").findings == []


def test_package_sources_at_hand_are_laid_over_the_catalogue(cozyguard: Run, write: Write, package: Package) -> None:
    source = {
        "apiVersion": "cozystack.io/v1alpha1",
        "kind": "PackageSource",
        "metadata": {"name": "cozystack.gpu-operator"},
        "spec": {"variants": [{"name": "homegrown", "components": []}]},
    }

    assert cozyguard("check", package("homegrown"), write("source.json", source)).code == 0


@pytest.mark.parametrize("flags", [["--as", "admin-1"], ["--as", "admin-1", "--as-group", "ops"]])
def test_who_applies_is_known_when_told(cozyguard: Run, native: Native, package: Package, flags: list[str]) -> None:
    policy = native(
        "request.userInfo.username != 'admin-1' || !('system:authenticated' in request.userInfo.groups)",
        resources="packages",
        group="cozystack.io",
    )
    file = package("container")

    assert cozyguard("check", file, "--policies", policy, *flags).code == 1
    unknown = cozyguard("check", file, "--policies", policy)
    assert unknown.code == 0
    assert "not checked: needs the user" in unknown.out


def test_a_service_account_is_in_its_groups(cozyguard: Run, native: Native, package: Package) -> None:
    policy = native(
        "!('system:serviceaccounts:flux' in request.userInfo.groups)", resources="packages", group="cozystack.io"
    )

    user = "system:serviceaccount:flux:helm"
    assert cozyguard("check", package("container"), "--policies", policy, "--as", user).code == 1


def test_an_old_object_makes_an_update(cozyguard: Run, native: Native, write: Write, package: Package) -> None:
    policy = native("oldObject.spec.variant == object.spec.variant", resources="packages", group="cozystack.io")
    new, old = package("container"), write("old.yaml", Path("gpu.yaml").read_text().replace("container", "vgpu"))

    assert cozyguard("check", new, "--old", old, "--policies", policy).code == 1
    assert cozyguard("check", new, "--old", new, "--policies", policy).code == 0
    missing = cozyguard("check", new, "--old", write("none.yaml", ""), "--operation", "UPDATE", "--policies", policy)
    assert missing.code == 2
    assert "gpu.yaml:4:9: input error: metadata.name: cannot be an UPDATE" in missing.err


def test_warnings_fail_only_when_asked_to(cozyguard: Run, native: Native, package: Package) -> None:
    policy = native("false", resources="packages", group="cozystack.io", actions=["Warn"])
    file = package("container")

    answer = cozyguard("check", file, "--policies", policy)

    assert answer.code == 0
    assert "gpu.yaml:1:1: warning: no [native]" in answer.out
    assert cozyguard("check", file, "--policies", policy, "--fail-on", "warn").code == 1


def test_a_native_policy_without_a_binding_is_said_to_do_nothing(
    cozyguard: Run, native: Native, package: Package
) -> None:
    policy = native("false", resources="packages", group="cozystack.io")
    text = Path(policy).read_text()
    Path(policy).write_text(text[: text.index("---")])

    answer = cozyguard("check", package("container"), "--add-policies", policy)

    assert answer.code == 0
    assert "policy `native` does nothing" in answer.err


def test_a_patch_is_shown_as_a_diff_with_its_reason(cozyguard: Run, write: Write, golden: Golden) -> None:
    policy = {
        "apiVersion": "cozyguard.io/v1alpha1",
        "kind": "AdmissionPolicy",
        "metadata": {"name": "team-label"},
        "spec": {
            "title": "Every ConfigMap has a team",
            "matchConstraints": {
                "resourceRules": [
                    {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["CREATE"]}
                ]
            },
            "mutations": [
                {
                    "patchType": "JSONPatch",
                    "jsonPatch": {
                        "expression": "[JSONPatch{op: 'add', path: '/metadata/labels/example.org~1team', value: 'core'}]"
                    },
                    "message": "nobody else claims it",
                }
            ],
        },
    }
    file = write("map.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\n")

    answer = cozyguard("check", file, "--policies", write("policy.yaml", policy))

    golden("check/patch.txt", untimed(answer.out))
    assert answer.code == 0
    document = cozyguard("check", file, "--policies", "policy.yaml", "-o", "json").document
    assert document["patches"][0]["operations"] == [
        {"op": "add", "path": "/metadata/labels", "value": {"example.org/team": "core"}}
    ]


def test_the_namespace_is_where_objects_without_one_go(cozyguard: Run, native: Native, write: Write) -> None:
    policy = native("request.namespace == 'tenant-a'", resources="configmaps")
    file = write("map.json", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}})

    answer = cozyguard("check", file, "--policies", policy, "-o", "json")

    assert answer.code == 1
    assert answer.document["results"][0]["resource"]["namespace"] == "default"
    assert cozyguard("check", file, "--policies", policy, "-n", "tenant-a").code == 0


def test_long_input_gives_the_same_on_one_process_and_on_three(cozyguard: Run, write: Write) -> None:
    objects = [
        {
            "apiVersion": "cozystack.io/v1alpha1",
            "kind": "Package",
            "metadata": {"name": f"cozystack.p{number}", "annotations": {"filling": "x" * 5000}},
            "spec": {"variant": "odd"},
        }
        for number in range(300)
    ]
    text = "\n---\n".join(["# many", *map(json.dumps, objects)])
    file = write("many.yaml", text)

    alone = cozyguard("check", file, "-o", "json", "--jobs", "1")
    together = cozyguard("check", file, "-o", "json", "--jobs", "3")

    assert alone.document["summary"]["resources"] == 300
    assert together == alone
    piped = cozyguard("check", "-", "-o", "json", "--jobs", "2", stdin=text)
    assert piped.out == alone.out.replace("many.yaml", "<stdin>")


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        ([], "nothing to check"),
        (["x", "--operation", "UPDATE"], "an UPDATE has an old object: give it with `--old FILE`"),
        (["x", "--operation", "PATCH"], "got `PATCH`, want CREATE, UPDATE or DELETE"),
        (["x", "--old", "y", "--operation", "DELETE"], "`--old` is for UPDATE"),
        (["x", "--as-group", "ops"], "`--as-group` needs a user"),
        (["x", "--release", "banana"], "got `banana`, want a release such as"),
        (["x", "--release", "0.1"], "got release `0.1`"),
        (["x", "--severity", "hi"], "got `hi`, want critical, high, medium or low"),
        (["x", "--to", "1.6", "-o", "sarif"], "`--output sarif` does not go with `--to`"),
        (["x", "-o", "yaml"], "got `yaml`, want text, json, sarif, junit, tap, github, gitlab or html"),
        (["x", "--config", "none.yaml"], "none.yaml"),
        (["x", "--cluster-state", "none.yaml"], "none.yaml: error: cannot be read: no such file or directory"),
        (["x", "--old", "none.yaml"], "none.yaml: error: cannot be read: no such file or directory"),
        (["x", "--baseline", "none.json"], "cannot read the baseline `none.json`"),
    ],
)
def test_a_command_that_cannot_be_carried_out_says_why(cozyguard: Run, argv: list[str], message: str) -> None:
    answer = cozyguard("check", *argv)

    assert answer.code == 2
    assert message in answer.err
    assert answer.out == ""


def test_configuration_and_exceptions_are_honoured(cozyguard: Run, write: Write, package: Package) -> None:
    file = package("contaner")
    softened = write(
        "soft.yaml",
        "apiVersion: cozyguard.io/v1alpha1\nkind: Configuration\nmodes:\n- {policies: [package-*], mode: warn}\n",
    )

    assert cozyguard("check", file, "--config", softened, "-o", "json").findings == [
        ("warn", "package-variant-known", "spec.variant")
    ]


def test_what_an_exception_lets_pass_is_shown_with_its_owner_and_its_end(
    cozyguard: Run, write: Write, package: Package, golden: Golden
) -> None:
    exception = write(
        "exception.yaml",
        "apiVersion: cozyguard.io/v1alpha1\nkind: PolicyException\nmetadata: {name: gpu-lab}\nspec:\n"
        "  policies: [{name: package-variant-known}]\n  match: {names: [cozystack.gpu-operator]}\n  owner: gpu team\n"
        "  reason: the lab runs a build of its own\n  expiresAt: '2099-12-31T00:00:00Z'\n",
    )

    told = cozyguard("check", package("contaner"), "--config", exception)
    assert told.code == 0
    golden("check/excused.txt", untimed(told.out))

    document = cozyguard("check", package("contaner"), "--config", exception, "-o", "json").document
    assert document["summary"] | {"deny": 0, "silenced": 1, "resourcesDenied": 0} == document["summary"]
    assert [one["silenced"] for one in document["results"]] == [
        {
            "by": "exception",
            "reason": "the lab runs a build of its own",
            "exception": "gpu-lab",
            "owner": "gpu team",
            "until": "2099-12-31T00:00:00Z",
        }
    ]


@pytest.mark.parametrize("output", ["sarif", "junit", "tap", "github", "gitlab"])
def test_the_examples_in_each_format_for_machines(
    cozyguard: Run, output: str, golden: Golden, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(__file__).parents[2])

    answer = cozyguard("check", "examples/manifests", "-o", output)

    assert answer.code == 1
    golden(f"check/examples.{output}.txt", untimed(answer.out))
