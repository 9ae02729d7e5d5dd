"""The policies for pod controllers that Kyverno makes of a policy about pods, made as Kyverno makes them.

Kyverno rewrites texts, not syntax trees (`pkg/cel/autogen` and `pkg/cel/policies/{vpol,mpol}/autogen` of
github.com/kyverno/kyverno): what it does not see as text stays as it is, here too, so that both decide alike.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Final

from webhook.model.policy import Expression, MatchResources, Origin, PatchType, Policy, ResourceRule
from webhook.sources.formats.kyverno_texts import named, rewritten

CONTROLLERS: Final = {
    "daemonsets": "apps",
    "deployments": "apps",
    "replicasets": "apps",
    "statefulsets": "apps",
    "jobs": "batch",
    "cronjobs": "batch",
}
"""The pod controllers that there are policies for, and their groups."""

_TEMPLATE: Final = "spec.template"
_JOB_TEMPLATE: Final = "spec.jobTemplate.spec.template"
_WRAPPED: Final = re.compile(r"Object[ \t\r\n]*\{")

Rewrite = Callable[[str], str]


def generated(policy: Policy, controllers: Iterable[str] | None) -> Iterator[Policy]:
    """Make the policies for these controllers; for all where nobody chose. CronJobs have one of their own."""
    if not _is_about_pods(policy.match):
        return
    chosen = set(CONTROLLERS if controllers is None else controllers) & CONTROLLERS.keys()
    for names, template in ((chosen - {"cronjobs"}, _TEMPLATE), (chosen & {"cronjobs"}, _JOB_TEMPLATE)):
        if names:
            yield _for(policy, sorted(names), template)


def _is_about_pods(match: MatchResources) -> bool:
    """Is a policy about pods alone, all of them: `CanAutoGen`."""
    if match.exclude_resource_rules or len(match.resource_rules) != 1:
        return False
    if match.object_selector and match.object_selector.requirements:
        return False
    rule = match.resource_rules[0]
    return not rule.resource_names and (rule.api_groups, rule.api_versions, rule.resources) == (
        ("",),
        ("v1",),
        ("pods",),
    )


def _for(policy: Policy, names: list[str], template: str) -> Policy:
    operations = policy.match.resource_rules[0].operations
    groups = sorted({CONTROLLERS[name] for name in names})
    rules = (
        ResourceRule((group,), ("v1",), tuple(name for name in names if CONTROLLERS[name] == group), operations)
        for group in groups
    )
    match = MatchResources(tuple(rules), namespace_selector=policy.match.namespace_selector)
    made = replace(policy, match=match, generated_for=", ".join(names))
    if policy.origin is Origin.MUTATING_POLICY:
        return _mutating(made, partial(_in_mutations, template))
    return _validating(made, partial(_in_validations, template))


def _validating(policy: Policy, rewrite: Rewrite) -> Policy:
    """Rewrite every text of the policy."""
    made = rewritten(policy, partial(_expression, policy, rewrite))
    told = (
        replace(one, message=replace(one.message, literal=rewrite(one.message.literal))) for one in made.validations
    )
    return replace(made, validations=tuple(told))


def _mutating(policy: Policy, rewrite: Rewrite) -> Policy:
    """Rewrite conditions and ApplyConfigurations; variables and JSON patches stay as they are."""
    change = partial(_expression, policy, rewrite)
    mutations = (
        one if one.patch_type is PatchType.JSON_PATCH else replace(one, patch=change(one.patch))
        for one in policy.mutations
    )
    return replace(policy, match_conditions=named(policy.match_conditions, change), mutations=tuple(mutations))


def _expression(policy: Policy, rewrite: Rewrite, given: Expression) -> Expression:
    """Rewrite a text; a fault in it is told of the controllers that it was made for."""
    at = given.location
    return replace(
        given.rewritten(rewrite(given.text)), location=replace(at, path=f"{at.path} for {policy.generated_for}")
    )


def _in_validations(template: str, text: str) -> str:
    """Put the template's fields in the place of the pod's, but for the namespace, which is the controller's."""
    for name in ("object", "oldObject"):
        text = re.sub(rf"{name}\.spec(?!\.namespace\b)", f"{name}.{template}.spec", text, flags=re.ASCII)
    for name in ("object", "oldObject"):
        text = re.sub(rf"{name}\.metadata(?!\.namespace\b)", f"{name}.{template}.metadata", text, flags=re.ASCII)
    return text


def _in_mutations(template: str, text: str) -> str:
    for field in ("spec", r"metadata\.(?:labels|annotations)"):
        pattern = rf"\b(object|oldObject|Object)\.({field})"
        text = re.sub(pattern, rf"\1.{template}.\2", text, flags=re.ASCII)
    return _wrapped(template, text)


def _wrapped(template: str, text: str) -> str:
    """Put what an `Object{…}` gives where the pod is: in the template."""
    stripped = text.strip()
    if not (opening := _WRAPPED.match(stripped)):
        return text
    depth, end = 1, 0
    for index, character in enumerate(stripped[opening.end() :], opening.end()):
        depth += {"{": 1, "}": -1}.get(character, 0)
        if not depth:
            end = index
            break
    if end <= opening.end():
        return text
    inner, rest = stripped[opening.end() : end], stripped[end + 1 :]
    for depth, field in reversed(list(enumerate(steps := template.split("."), 1))):
        inner = f"{field}: Object.{'.'.join(steps[:depth])}{{{inner}}}"
    return f"Object{{{inner}}}{rest}"
