"""A policy → the native objects that stand for it, and what of it they cannot say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from webhook.engine.compile import name_of
from webhook.engine.policyset import LinkedPolicy
from webhook.model.policy import Action, Lookup, MatchResources, Params, PatchType, Policy, Reason, ResourceRule
from webhook.model.release import Release
from webhook.model.request import DELETE, UPDATE, Object
from webhook.model.selector import LabelSelector
from webhook.runs.export.expressions import Expressions
from webhook.runs.export.rules import Rule, rules_of

API_VERSION: Final = "admissionregistration.k8s.io/v1"
VALIDATING: Final = "ValidatingAdmissionPolicy"
MUTATING: Final = "MutatingAdmissionPolicy"
RELEASE: Final = "cozyguard.io/release"
TITLE: Final = "cozyguard.io/title"

_NOT_BEING_DELETED: Final = "!oldObject.?metadata.?deletionTimestamp.hasValue()"
_WHAT: Final = {PatchType.JSON_PATCH: "jsonPatch", PatchType.APPLY_CONFIGURATION: "applyConfiguration"}
_OPERATIONS_WITH_OLD: Final = frozenset({UPDATE, DELETE, "*"})


@dataclass(frozen=True, slots=True)
class Note:
    """What is not exported, or what decides otherwise then. `part` is a rule or a mutation, "" the whole policy."""

    policy: str
    part: str
    text: str


@dataclass(frozen=True, slots=True)
class Exported:
    """The native objects of a policy, none where it cannot be one, and what there is to say about them."""

    objects: tuple[Object, ...]
    notes: tuple[Note, ...]


def export(policy: LinkedPolicy, release: Release) -> Exported:
    """Write a policy as native ones for a release: all that depends on the release is decided now."""
    one = policy.policy
    if one.releases is not None and release.version not in one.releases:
        return _nothing(one, f"is for Cozystack {one.releases.text}, and this is {release.version}")
    expressions = Expressions(policy, release)
    for index, condition in enumerate(one.match_conditions):
        if fault := expressions.condition_fault(name_of("condition", index)):
            return _nothing(one, f"match condition `{condition.name}`: {fault}")
    rules = rules_of(policy, expressions)
    objects = [
        *_validating(policy, expressions, [rule for rule in rules if not rule.fault]),
        *_bound(MUTATING, policy, expressions, *_mutating(policy, expressions)),
    ]
    return Exported(tuple(objects), tuple(_notes(policy, expressions, rules, exported=bool(objects))))


def _nothing(policy: Policy, why: str) -> Exported:
    return Exported((), (Note(policy.name, "", f"not exported: {why}"),))


def _validating(policy: LinkedPolicy, expressions: Expressions, rules: list[Rule]) -> Iterator[Object]:
    """Write one policy of the rules that look at the object alone, and one for each object that rules look up."""
    alone = [rule for rule in rules if rule.guard is None]
    annotations, names = _annotations(policy, expressions)
    own = ({"validations": [rule.write() for rule in alone]} if alone else {}) | annotations
    yield from _bound(VALIDATING, policy, expressions, own, [*_used(alone), *names])
    for lookup in policy.policy.lookups:
        if guarded := [rule for rule in rules if rule.guard == lookup]:
            own = {"validations": [rule.write() for rule in guarded]}
            yield from _bound(VALIDATING, policy, expressions, own, _used(guarded), lookup)


def _used(rules: list[Rule]) -> list[str]:
    return [name for rule in rules for name in rule.used]


def _annotations(policy: LinkedPolicy, expressions: Expressions) -> tuple[Object, list[str]]:
    """Write the audit annotations, and name the expressions in them."""
    names, annotations = [], []
    for annotation in policy.policy.audit_annotations:
        name = name_of("annotation", annotation.key)
        if not _annotation_fault(expressions, name):
            names.append(name)
            annotations.append({"key": annotation.key, "valueExpression": expressions.text(name)})
    return {"auditAnnotations": annotations} if annotations else {}, names


def _mutating(policy: LinkedPolicy, expressions: Expressions) -> tuple[Object, list[str]]:
    names, mutations = [], []
    for index, mutation in enumerate(policy.policy.mutations):
        name, kind = name_of("mutation", index), mutation.patch_type
        if not mutation_fault(expressions, name, kind):
            names.append(name)
            mutations.append({"patchType": kind.value, _WHAT[kind]: {"expression": expressions.text(name)}})
    spec = {"mutations": mutations, "reinvocationPolicy": policy.policy.reinvocation_policy}
    return spec if mutations else {}, names


def _annotation_fault(expressions: Expressions, name: str) -> str:
    if expressions.asks_authorizer(name):
        return "asks `authorizer`, which native annotations cannot"
    return expressions.fault(name)


def mutation_fault(expressions: Expressions, name: str, kind: PatchType) -> str:
    """Say why a mutation cannot be exported; "" where it can."""
    type_ = expressions.type(name)
    if kind is PatchType.JSON_PATCH and type_ != "list(JSONPatch)":
        return f"gives {type_}, and a native policy wants list(JSONPatch)"
    if not expressions.policy.policy.native and (path := expressions.deep_addition(name)):
        return f"adds `{path}`, and a native policy makes no parents that are missing"
    return expressions.fault(name)


def _bound(
    kind: str,
    policy: LinkedPolicy,
    expressions: Expressions,
    own: Object,
    names: list[str],
    lookup: Lookup | None = None,
) -> Iterator[Object]:
    """Write a native policy and its binding, if it says anything. A `lookup` is its param, and in its name."""
    if not own:
        return
    one = policy.policy
    name = f"{_name(one)}-{lookup.name.lower()}" if lookup else _name(one)
    params = _param_of(lookup) if lookup else one.params
    annotations = {RELEASE: str(expressions.release.version)} | ({TITLE: one.title} if one.title else {})
    spec: Object = {"failurePolicy": one.failure_policy.value, "matchConstraints": _match(one.match)}
    if params:
        spec["paramKind"] = {"apiVersion": params.api_version, "kind": params.kind}
    if conditions := list(_conditions(policy, expressions)):
        spec["matchConditions"] = conditions
    if variables := expressions.variables(names):
        spec["variables"] = variables
    metadata = {"name": name, "annotations": annotations}
    yield {"apiVersion": API_VERSION, "kind": kind, "metadata": metadata, "spec": {**spec, **own}}
    binding: Object = {"policyName": name}
    if kind == VALIDATING:
        binding["validationActions"] = sorted(action.value for action in one.actions)
    if params:
        binding["paramRef"] = _param_ref(params)
    if one.binding_match:
        binding["matchResources"] = _match(one.binding_match)
    yield {"apiVersion": API_VERSION, "kind": f"{kind}Binding", "metadata": {"name": name}, "spec": binding}


def _name(policy: Policy) -> str:
    """Give a name that a native policy can have: others have a namespace or a kind in theirs, or several policies."""
    generated = {"": "", "cronjobs": "-cronjobs"}.get(policy.generated_for, "-pod-controllers")
    return f"{policy.name.lower().replace('/', '.')}{generated}"


def _conditions(policy: LinkedPolicy, expressions: Expressions) -> Iterator[Object]:
    for index, condition in enumerate(policy.policy.match_conditions):
        name = re.sub(r"[^-\w./]+", "-", condition.name)  # Kyverno takes any text
        yield {"name": name, "expression": expressions.condition(name_of("condition", index))}
    if not policy.policy.native and _sees_old(policy.policy):
        yield {"name": "not-being-deleted.cozyguard.io", "expression": _NOT_BEING_DELETED}


def _sees_old(policy: Policy) -> bool:
    return any(_OPERATIONS_WITH_OLD & set(rule.operations) for rule in policy.match.resource_rules)


def _match(match: MatchResources) -> Object:
    made: Object = {"matchPolicy": match.match_policy}
    for name, rules in (
        ("resourceRules", match.resource_rules),
        ("excludeResourceRules", match.exclude_resource_rules),
    ):
        if rules:
            made[name] = list(map(_resource_rule, rules))
    for name, selector in (("namespaceSelector", match.namespace_selector), ("objectSelector", match.object_selector)):
        if selector:
            made[name] = _selector(selector)
    return made


def _resource_rule(rule: ResourceRule) -> Object:
    made: Object = {
        "apiGroups": list(rule.api_groups),
        "apiVersions": list(rule.api_versions),
        "resources": list(rule.resources),
        "operations": list(rule.operations),
        "scope": rule.scope,
    }
    return made | ({"resourceNames": list(rule.resource_names)} if rule.resource_names else {})


def _selector(selector: LabelSelector) -> Object:
    return {"matchExpressions": list(map(_requirement, selector.requirements))}


def _requirement(requirement: Any) -> Object:
    made: Object = {"key": requirement.key, "operator": requirement.operator}
    return made | ({"values": list(requirement.values)} if requirement.values else {})


def _param_of(lookup: Lookup) -> Params:
    """Make a param of what is looked up: a rule that it guards is not asked where there is none."""
    return Params(lookup.api_version, lookup.kind, lookup.object_name.literal, lookup.namespace.literal, required=False)


def _param_ref(params: Params) -> Object:
    made: Object = {"parameterNotFoundAction": "Deny" if params.required else "Allow"}
    if params.namespace:
        made["namespace"] = params.namespace
    return made | (
        {"name": params.name} if params.name else {"selector": _selector(params.selector or LabelSelector(()))}
    )


def _notes(policy: LinkedPolicy, expressions: Expressions, rules: Iterable[Rule], *, exported: bool) -> Iterator[Note]:
    one = policy.policy
    for lookup in {rule.guard.name: rule.guard for rule in rules if rule.guard and not rule.fault}.values():
        yield Note(
            one.name,
            "",
            f"what reads `lookups.{lookup.name}` is evaluated where that is there; elsewhere it passes, whatever fails",
        )
    for rule in rules:
        part = f"rule `{rule.validation.name}`"
        if rule.fault:
            yield Note(one.name, part, f"not exported: {rule.fault}")
        elif rule.message_fault:
            yield Note(one.name, part, f"says less: {rule.message_fault}")
        if rule.validation.reason is Reason.UNAUTHORIZED:
            yield Note(one.name, part, "has the reason Forbidden, as Kubernetes takes no Unauthorized")
    for index, mutation in enumerate(one.mutations):
        if fault := mutation_fault(expressions, name_of("mutation", index), mutation.patch_type):
            yield Note(one.name, f"mutation {index}", f"not exported: {fault}")
    for annotation in one.audit_annotations:
        if fault := _annotation_fault(expressions, name_of("annotation", annotation.key)):
            yield Note(one.name, f"audit annotation `{annotation.key}`", f"not exported: {fault}")
    if exported and expressions.knows_packages:
        yield Note(
            one.name, "", "knows the packages of the release alone; ours also counts the cluster's PackageSources"
        )
    if exported and one.on_existing_violation is Action.WARN and Action.DENY in one.actions and _sees_old(one):
        yield Note(one.name, "", "denies an UPDATE of what broke a rule before; ours lets it pass with a warning")
