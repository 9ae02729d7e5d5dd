"""Is a webhook asked about more than it should be, or can those it is about keep it from being asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from webhook.admission.plurals import is_cluster_scoped
from webhook.model.diagnosis import Diagnosis, Level
from webhook.model.policy import FailurePolicy, ResourceRule
from webhook.model.request import DELETE
from webhook.runs.doctor.inventory import Registered
from webhook.runs.doctor.question import Question
from webhook.runs.doctor.samples import namespace_controller_deletes

_ANY: Final = "*"
_SUBRESOURCES: Final = {
    "status": "controllers cannot report what they have done",
    "scale": "nothing can be scaled, by hand or by an autoscaler",
    "finalizers": "owners cannot be set",
    "finalize": "namespaces stay Terminating",
    _ANY: "controllers cannot report status, nothing can be scaled, no pod can be bound or evicted",
}


def breadth(registered: Registered, question: Question) -> Iterator[Diagnosis]:
    """Find rules that are too wide under failurePolicy Fail, and an objectSelector that invites to escape."""
    if registered.webhook.failure_policy is FailurePolicy.FAIL:
        for index, rule in enumerate(registered.webhook.match.resource_rules):
            yield from _everything(registered, index, rule)
            yield from _subresources(registered, index, rule)
        yield from _deletion(registered, question)
    yield from _escape(registered)


def _everything(registered: Registered, index: int, rule: ResourceRule) -> Iterator[Diagnosis]:
    if _ANY in rule.api_groups and any(resource.startswith(_ANY) for resource in rule.resources):
        yield registered.find(
            Level.WARNING,
            "everything",
            ("rules", index, "resources"),
            "is asked about every resource, under failurePolicy Fail",
            "when it does not answer, nothing that the rule covers can be changed, also not what nobody has thought of",
            "name the groups and resources that its policies are about",
        )


def _subresources(registered: Registered, index: int, rule: ResourceRule) -> Iterator[Diagnosis]:
    for position, resource in enumerate(rule.resources):
        _, _, subresource = resource.partition("/")
        if subresource in _SUBRESOURCES:
            yield registered.find(
                Level.WARNING,
                "subresource",
                ("rules", index, "resources", position),
                f"is asked about `{resource}`, under failurePolicy Fail",
                f"when it does not answer: {_SUBRESOURCES[subresource]}",
                f"leave `{resource}` out, or judge it in a webhook of its own with failurePolicy Ignore",
            )


def _deletion(registered: Registered, question: Question) -> Iterator[Diagnosis]:
    """Look for a resource of namespaces that the namespace controller could not delete; the first one is enough."""
    for index, rule in enumerate(registered.webhook.match.resource_rules):
        if not {DELETE, _ANY} & set(rule.operations):
            continue
        for group, resource in _deleted(rule):
            version = "v1" if _ANY in rule.api_versions else rule.api_versions[0]
            api_version = f"{group}/{version}" if group else version
            sample = namespace_controller_deletes(api_version, resource, "tenant-example")
            if question.asks(sample.request()):
                yield registered.find(
                    Level.WARNING,
                    "deletion",
                    ("rules", index, "operations"),
                    f"is asked when `{resource}` are deleted, under failurePolicy Fail",
                    "when it does not answer, namespaces with such objects stay Terminating when they are deleted",
                    "leave DELETE out, or let the namespace controller pass by `matchConditions`: "
                    "`request.userInfo.username != 'system:serviceaccount:kube-system:namespace-controller'`",
                )
                return


def _deleted(rule: ResourceRule) -> Iterator[tuple[str, str]]:
    """Give groups and resources of a rule that live in namespaces; ConfigMaps stand for everything."""
    for group in rule.api_groups:
        for resource in rule.resources:
            if resource in (_ANY, "*/*"):
                yield ("" if group == _ANY else group), "configmaps"
            elif "/" not in resource and not is_cluster_scoped(group, resource):
                yield ("" if group == _ANY else group), resource


def _escape(registered: Registered) -> Iterator[Diagnosis]:
    selector = registered.webhook.match.object_selector
    for requirement in selector.requirements if selector else ():
        outside = requirement.operator in ("NotIn", "DoesNotExist")
        yield registered.find(
            Level.WARNING if outside else Level.REMARK,
            "escape",
            ("objectSelector",),
            f"is not asked about objects {'with' if outside else 'without'} the label `{requirement.key}`",
            f"whoever may write such an object can {'set' if outside else 'leave out'} the label, and is not judged",
            "choose by `namespaceSelector`, or by `matchConditions` on the user; "
            "or judge who may set the label in a webhook without the selector",
        )
        return
