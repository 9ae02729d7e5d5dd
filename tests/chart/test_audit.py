"""The audit's CronJob: what it runs, and that its account may list what the bundled policies are about, and no more."""

from __future__ import annotations

from itertools import product

import pytest

from tests.chart.helm import NAMESPACE, Helm, HelmError, Object, Rendered
from webhook.cli.audit import parser
from webhook.sources import compiled
from webhook.sources.bundled import bundled

NAME = "cozyguard-audit"


def job(rendered: Rendered) -> Object:
    spec: Object = rendered.one("CronJob", NAME)["spec"]["jobTemplate"]["spec"]
    return spec


def container(rendered: Rendered) -> Object:
    (found,) = job(rendered)["template"]["spec"]["containers"]
    one: Object = found
    return one


@pytest.fixture(scope="module")
def plain(helm: Helm) -> Rendered:
    return helm.template({"audit": {"enabled": True}})


def test_there_is_none_unless_it_is_asked_for(default: Rendered) -> None:
    assert [name for _, name in default.names if name == NAME] == []


def test_it_runs_the_command_with_the_webhooks_configuration(plain: Rendered) -> None:
    command, *flags = container(plain)["args"]
    assert command == "audit"
    told = parser().parse(flags, {})
    assert (told.config, told.report, told.qps, told.fail_on) == (
        "/etc/cozyguard/config/cozyguard.yaml",
        None,
        50,
        ["nothing"],
    )
    assert "completions" not in job(plain)


def test_a_large_cluster_is_shared_out_by_an_indexed_job(everything: Rendered) -> None:
    spec = job(everything)
    assert (spec["completionMode"], spec["completions"], spec["parallelism"]) == ("Indexed", 10, 2)
    flags = [flag.replace("$(JOB_COMPLETION_INDEX)", "9") for flag in container(everything)["args"][1:]]
    told = parser().parse(flags, {})
    assert (told.shard.index, told.shard.count) == (9, 10)
    assert told.report == "openreports"
    assert told.add_policies == ["/etc/cozyguard/policies"]


def test_its_pod_may_as_little_as_the_webhooks(everything: Rendered) -> None:
    pod = job(everything)["template"]["spec"]
    assert pod["securityContext"] == everything.pod["securityContext"]
    assert container(everything)["securityContext"] == everything.container["securityContext"]
    assert pod["serviceAccountName"] == NAME
    assert everything.one("ServiceAccount", NAME)["automountServiceAccountToken"] is False
    policy = everything.one("NetworkPolicy", NAME)["spec"]
    assert policy["podSelector"]["matchLabels"].items() <= job(everything)["template"]["metadata"]["labels"].items()
    assert "ingress" not in policy


def test_it_may_list_exactly_what_bundled_policies_are_about(plain: Rendered) -> None:
    about = {
        (group, resource)
        for one in compiled.load([bundled()]).policies
        for rule in one.policy.match.resource_rules
        for group, resource in product(rule.api_groups, rule.resources)
    }
    rules = [rule for rule in plain.one("ClusterRole", NAME)["rules"] if rule["verbs"] == ["list"]]
    assert {each for rule in rules for each in product(rule["apiGroups"], rule["resources"])} == about


@pytest.mark.parametrize(("report", "group"), [("policyreport", "wgpolicyk8s.io"), ("openreports", "openreports.io")])
def test_it_may_write_the_reports_that_it_keeps_and_nothing_else(helm: Helm, report: str, group: str) -> None:
    rules = helm.template({"audit": {"enabled": True, "report": report}}).one("ClusterRole", NAME)["rules"]
    writing = [rule for rule in rules if not {"create", "patch", "delete"}.isdisjoint(rule["verbs"])]
    assert [rule["apiGroups"] for rule in writing] == [["events.k8s.io"], [group]]


def test_it_may_ask_what_accounts_may_do_where_the_webhook_may(helm: Helm) -> None:
    rules = helm.template({"audit": {"enabled": True}, "rbac": {"accessReviews": True}}).one("ClusterRole", NAME)[
        "rules"
    ]
    asking = [rule["verbs"] for rule in rules if rule["resources"] == ["subjectaccessreviews"]]
    assert asking == [["create"]]


def test_the_leader_can_do_it_with_the_rights_of_the_webhook(helm: Helm) -> None:
    rendered = helm.template({"audit": {"enabled": True, "mode": "leader", "everyHours": 6, "report": "policyreport"}})
    flags = [flag for flag in rendered.container["args"] if "audit" in flag]
    assert flags == ["--audit-every=6", "--audit-report=policyreport"]
    assert ("CronJob", NAME) not in rendered.names
    (account,) = rendered.one("ClusterRoleBinding", NAME)["subjects"]
    assert account["name"] == rendered.pod["serviceAccountName"]


def test_its_account_can_read_the_release_where_the_webhooks_can(plain: Rendered, helm: Helm) -> None:
    account = {"kind": "ServiceAccount", "name": NAME, "namespace": NAMESPACE}
    assert account in plain.one("RoleBinding", namespace="cozy-system")["subjects"]
    assert plain.one("ClusterRoleBinding", NAME)["subjects"] == [account]
    alone = helm.template({"audit": {"enabled": True}, "detectRelease": False})
    assert not [binding for binding in alone.of("RoleBinding") if account in binding["subjects"]]


@pytest.mark.parametrize("wrong", [{"report": "policyreports"}, {"shards": 0}, {"rules": [{"apiGroups": ["*"]}]}])
def test_a_value_that_cannot_be_is_refused(helm: Helm, wrong: Object) -> None:
    with pytest.raises(HelmError, match="audit"):
        helm.template({"audit": {"enabled": True} | wrong})
