"""What a policy looks at is sent, once, and to the webhook whose failurePolicy is that of the policy."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from webhook.controller.resources import NEVER, Pattern
from webhook.controller.rules import MOST_CONDITIONS, Entry, Registration, registration
from webhook.engine.activation import activate
from webhook.engine.compile import compile_policy
from webhook.engine.context import Context
from webhook.engine.match import rules_may_match
from webhook.engine.policyset import PolicySet
from webhook.model.configuration import Configuration, Mode, ModeName
from webhook.model.policy import (
    NOWHERE,
    Action,
    Expression,
    FailurePolicy,
    MatchResources,
    Mutation,
    NamedExpression,
    Policy,
    ResourceRule,
    Validation,
)
from webhook.model.release import Minor, Release, ReleaseRange
from webhook.model.request import AdmissionRequest, GroupVersionKind, GroupVersionResource, Object
from webhook.model.selector import LabelSelector, Requirement
from webhook.sources.objects import ObjectStore

NOW = datetime(2026, 11, 30, tzinfo=UTC)
RELEASE = Minor(1, 6)
GPU = "object.?spec.?gpu.orValue(false) == true"
NAMED = "request.?name.orValue('') == 'a'"
PODS = ResourceRule(("",), ("v1",), ("pods",), ("CREATE", "UPDATE"))


def policy(name: str = "p", *rules: ResourceRule, conditions: Iterable[str] = (), **more: object) -> Policy:
    one = Policy(
        name=name,
        match=MatchResources(resource_rules=rules or (PODS,)),
        match_conditions=tuple(
            NamedExpression(f"c{index}", Expression(text, NOWHERE)) for index, text in enumerate(conditions)
        ),
        validations=(Validation("0", Expression("true", NOWHERE)),),
    )
    return replace(one, **more)  # type: ignore[arg-type]  # fields of Policy, as each test wants them


def registered(
    *policies: Policy, configuration: Configuration | None = None, refused: Iterable[str] = ()
) -> Registration:
    return registration(policies, RELEASE, configuration or Configuration(), NOW, frozenset(refused))


def request(
    group: str = "",
    resource: str = "pods",
    operation: str = "CREATE",
    name: str = "a",
    namespace: str = "ns",
    *,
    gpu: bool = True,
) -> AdmissionRequest:
    plural, _, subresource = resource.partition("/")
    gvr = GroupVersionResource(group, "v1", plural)
    obj: Object | None = {"metadata": {"name": name}, "spec": {"gpu": gpu}} if operation != "DELETE" else None
    cel = {
        "resource": {"group": group, "version": "v1", "resource": plural},
        "subResource": subresource,
        "operation": operation,
        "name": name,
    }
    kind = GroupVersionKind(group, "v1", "Any")
    return AdmissionRequest("", operation, kind, gvr, gvr, subresource, name, namespace, None, obj, None, False, cel)


def is_sent(entry: Entry, asked: AdmissionRequest) -> bool:
    """Do as the API server does."""
    return rules_may_match(MatchResources(resource_rules=entry.rules), asked) and holds(
        [one.expression for one in entry.conditions], asked
    )


def holds(conditions: Iterable[str], asked: AdmissionRequest) -> bool:
    linked = PolicySet.link([compile_policy(policy(conditions=conditions))])
    context = Context(release=Release(RELEASE, {}), cluster=ObjectStore())
    activation = activate(linked, asked, context, obj=asked.object, old=None)
    return all(condition(activation) for condition in linked.policies[0].conditions)


def sent_to(made: Iterable[Entry], asked: AdmissionRequest) -> list[FailurePolicy]:
    return [entry.failure_policy for entry in made if is_sent(entry, asked)]


def patterns(made: Iterable[Entry]) -> list[tuple[str, str]]:
    return [(rule.api_groups[0], one) for entry in made for rule in entry.rules for one in rule.resources]


def test_resources_of_a_group_share_a_rule() -> None:
    apps = ResourceRule(("apps",), ("*",), ("deployments", "daemonsets"), ("UPDATE", "CREATE"))
    more = ResourceRule(("apps",), ("*",), ("statefulsets",), ("CREATE", "UPDATE"))
    made = registered(policy("a", apps), policy("b", more))
    want = ResourceRule(("apps",), ("*",), ("daemonsets", "deployments", "statefulsets"), ("CREATE", "UPDATE"))
    assert [entry.rules for entry in made.validating] == [(want,)]
    assert made.mutating == ()


def test_a_policy_of_another_release_is_not_registered() -> None:
    assert registered(policy(releases=ReleaseRange.parse(">=1.7"))) == Registration((), ())


def test_a_policy_that_is_off_everywhere_is_not_registered() -> None:
    off = Mode(("p*",), ModeName.OFF)
    for_some = replace(off, namespace_selector=LabelSelector((Requirement("a", "Exists"),)))
    over = replace(off, until=NOW - timedelta(days=1))
    assert registered(policy(), configuration=Configuration(modes=(off,))).validating == ()
    assert registered(policy(), configuration=Configuration(modes=(for_some,))).validating
    assert registered(policy(), configuration=Configuration(modes=(over,))).validating


def test_for_a_policy_that_only_warns_nothing_is_refused_while_nobody_answers() -> None:
    for made in (
        registered(policy(actions=frozenset({Action.WARN}))),
        registered(policy(), configuration=Configuration(modes=(Mode(("p",), ModeName.WARN),))),
        registered(policy(failure_policy=FailurePolicy.IGNORE)),
    ):
        assert [entry.failure_policy for entry in made.validating] == [FailurePolicy.IGNORE]


def test_what_mutates_is_never_asked_about_deletions_nor_about_aggregated_kinds() -> None:
    everything = ResourceRule(("",), ("v1",), ("pods",), ("*",))
    deleted = ResourceRule(("",), ("v1",), ("secrets",), ("DELETE",))
    tenants = ResourceRule(("apps.cozystack.io",), ("*",), ("kuberneteses",), ("CREATE",))
    mutation = (Mutation(Expression("[]", NOWHERE)),)
    made = registered(policy("p", everything, deleted, tenants, mutations=mutation))
    assert [entry.rules for entry in made.mutating] == [
        (ResourceRule(("",), ("v1",), ("pods",), ("CREATE", "UPDATE", "CONNECT")),)
    ]
    assert ("apps.cozystack.io", "kuberneteses") in patterns(made.validating)


def test_what_a_cluster_cannot_do_without_is_never_sent() -> None:
    named = ResourceRule(("coordination.k8s.io",), ("v1",), ("leases",), ("*",))
    everything = ResourceRule(("*",), ("*",), ("*/*",), ("*",))
    assert registered(policy("p", named)).validating == ()
    made = registered(policy("p", everything)).validating
    assert sent_to(made, request("apps", "deployments")) == [FailurePolicy.FAIL]
    for pattern in NEVER:
        resource = pattern.resource.replace("*/*", "anything").replace("/*", "")
        assert sent_to(made, request(pattern.group, resource)) == [], pattern


def test_only_what_some_policy_wants_is_sent() -> None:
    made = registered(policy("a", conditions=[GPU]), policy("b", conditions=[NAMED])).validating
    assert sent_to(made, request(gpu=True, name="b")) == [FailurePolicy.FAIL]
    assert sent_to(made, request(gpu=False, name="a")) == [FailurePolicy.FAIL]
    assert sent_to(made, request(gpu=False, name="b")) == []


def test_names_of_a_rule_become_a_condition() -> None:
    made = registered(policy("a", replace(PODS, resource_names=("a", "it's")))).validating
    assert sent_to(made, request(name="it's")) == [FailurePolicy.FAIL]
    assert sent_to(made, request(name="b")) == []


def test_a_condition_that_the_api_server_cannot_test_is_left_out() -> None:
    for condition in ("variables.a", "lookups.a == null", "release.version == '1.6'", "'a' in acknowledged"):
        (entry,) = registered(policy(conditions=[condition])).validating
        assert entry.conditions == ()


def test_what_the_api_server_has_refused_is_sent_without() -> None:
    (entry,) = registered(policy(conditions=[GPU])).validating
    (condition,) = entry.conditions
    (without,) = registered(policy(conditions=[GPU]), refused=condition.guards).validating
    assert without == replace(entry, conditions=())


def test_what_is_refused_of_one_operation_is_sent_without_too() -> None:
    updates = replace(PODS, operations=("UPDATE",))
    some = (policy("a", conditions=[NAMED]), policy("b", updates, conditions=[GPU]))
    (entry,) = registered(*some).validating
    assert entry.conditions[0].guards == {f"({NAMED})", f"({GPU})"}
    (without,) = registered(*some, refused=[f"({GPU})"]).validating
    assert GPU not in without.conditions[0].expression
    assert sent_to([without], request(operation="UPDATE", name="b", gpu=False)) == [FailurePolicy.FAIL]
    assert sent_to([without], request(operation="CREATE", name="b")) == []


def test_a_wildcard_of_one_scope_takes_nothing_from_a_rule_of_another() -> None:
    namespaced = replace(PODS, resources=("*",), scope="Namespaced")
    nodes = replace(PODS, resources=("nodes",))
    for failure_policy in FailurePolicy:
        made = registered(policy("a", namespaced), policy("b", nodes, failure_policy=failure_policy)).validating
        assert len(sent_to(made, request(resource="nodes", namespace=""))) == 1


def test_a_policy_about_everything_may_have_conditions() -> None:
    made = registered(policy("a", ResourceRule(("*",), ("*",), ("*",), ("*",)), conditions=[GPU])).validating
    assert sent_to(made, request("apps", "deployments", gpu=True)) == [FailurePolicy.FAIL]
    assert sent_to(made, request("apps", "deployments", gpu=False)) == []


def test_the_order_of_policies_changes_nothing() -> None:
    some = [
        policy(f"p{index}", replace(PODS, resources=(f"r{index % 3}",)), conditions=[f"{index} > 0"])
        for index in range(9)
    ]
    assert registered(*some) == registered(*reversed(some))


def test_there_are_never_more_conditions_than_a_webhook_may_have() -> None:
    some = [
        policy(f"p{index}", replace(PODS, resources=(f"r{index}",)), conditions=[f"{index} > 0"])
        for index in range(100)
    ]
    (entry,) = registered(*some).validating
    assert len(entry.conditions) == MOST_CONDITIONS


NAMES = ("pods", "pods/status", "deployments")
RULES = st.builds(
    ResourceRule,
    st.sampled_from([("",), ("apps",), ("", "apps"), ("*",)]),
    st.sampled_from([("v1",), ("*",)]),
    st.sampled_from(
        [*((one,) for one in NAMES), ("pods", "deployments"), ("*",), ("*/*",), ("pods/*",), ("*/status",)]
    ),
    st.sampled_from([("CREATE",), ("UPDATE",), ("CREATE", "UPDATE"), ("*",), ("DELETE",)]),
    st.sampled_from([(), (), ("a",)]),
    st.sampled_from(["*", "Namespaced"]),
)
POLICIES = st.lists(
    st.builds(
        lambda rules, conditions, failure: policy("p", *rules, conditions=conditions, failure_policy=failure),
        st.lists(RULES, min_size=1, max_size=2),
        st.sampled_from([(), (), (GPU,), (NAMED,), (GPU, NAMED)]),
        st.sampled_from(FailurePolicy),
    ),
    min_size=1,
    max_size=4,
)
REQUESTS = st.builds(
    request,
    st.sampled_from(["", "apps"]),
    st.sampled_from(NAMES),
    st.sampled_from(["CREATE", "UPDATE", "DELETE"]),
    st.sampled_from(["a", "b"]),
    st.sampled_from(["ns", ""]),
    gpu=st.booleans(),
)


@given(POLICIES, st.lists(REQUESTS, min_size=4, max_size=4))
@settings(max_examples=200, deadline=None)
def test_whatever_the_policies_a_request_is_sent_once_and_to_the_right_webhook(
    some: list[Policy], asked: list[AdmissionRequest]
) -> None:
    named = [replace(one, name=f"p{index}") for index, one in enumerate(some)]
    made = registered(*named).validating
    for one in asked:
        wanting = {each.failure_policy for each in named if wants(each, one)}
        to = sent_to(made, one)
        assert len(to) <= 1
        if FailurePolicy.FAIL in wanting:
            assert to == [FailurePolicy.FAIL]
        elif wanting:
            assert to
        if to and one.namespace and not overlapping(named):  # a kind has one scope: the other one is never asked about
            assert wanting


def wants(one: Policy, asked: AdmissionRequest) -> bool:
    rules = [rule for rule in one.match.resource_rules if not rule.resource_names or asked.name in rule.resource_names]
    fits = bool(rules) and rules_may_match(MatchResources(resource_rules=tuple(rules)), asked)
    return fits and holds([condition.expression.text for condition in one.match_conditions], asked)


def overlapping(some: Iterable[Policy]) -> bool:
    found = {
        Pattern(group, resource)
        for one in some
        for rule in one.match.resource_rules
        for group in rule.api_groups
        for resource in rule.resources
    }
    return any(a != b and a.overlaps(b) for a in found for b in found)


@given(POLICIES)
@settings(max_examples=100)
def test_no_rule_names_what_another_one_covers(some: list[Policy]) -> None:
    for entry in registered(*some).validating:
        for rule in entry.rules:
            for one, other in pairwise(rule.resources):
                first, second = Pattern(rule.api_groups[0], one), Pattern(rule.api_groups[0], other)
                assert not first.covers(second)
                assert not second.covers(first)
