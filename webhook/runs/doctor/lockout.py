"""Can a webhook that does not answer keep the cluster, or its own pods, from coming back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from webhook.model.diagnosis import Diagnosis, Level
from webhook.model.policy import FailurePolicy
from webhook.runs.doctor.dangers import DANGERS, INFRASTRUCTURE, Danger
from webhook.runs.doctor.exclusion import SELECTOR, exclude
from webhook.runs.doctor.inventory import Inventory, Registered
from webhook.runs.doctor.question import Question
from webhook.runs.doctor.samples import Sample, coming_up
from webhook.runs.doctor.workload import behind


def lockouts(registered: Registered, question: Question, inventory: Inventory) -> Iterator[Diagnosis]:
    """Find the requests of a living cluster that wait for this webhook."""
    for danger in DANGERS:
        yield from _danger(registered, question, danger)
    if registered.webhook.failure_policy is FailurePolicy.FAIL:
        yield from _namespaces(registered, question, inventory)


def _danger(registered: Registered, question: Question, danger: Danger) -> Iterator[Diagnosis]:
    fails = registered.webhook.failure_policy is FailurePolicy.FAIL
    if not fails and not danger.waits:
        return
    hit = [sample for sample in danger.samples if question.asks(sample.request())]
    if not hit:
        return
    where = _where(hit)
    condition = "; ".join(dict.fromkeys(f"`{_condition(sample)}`" for sample in hit))
    yield registered.find(
        danger.level if fails else Level.WARNING,
        danger.check,
        ("rules", question.rule(hit[0].request())),
        f"is asked about {where}, under failurePolicy {registered.webhook.failure_policy}",
        f"when it does not answer: {danger.why}"
        if fails
        else f"each of them waits up to {registered.webhook.timeout} s when it does not answer: {danger.why}",
        f"name in `rules` what its policies are about and no more, or add to `matchConditions` {condition}",
    )


def _condition(sample: Sample) -> str:
    """Write the match condition that leaves the sample's resource out."""
    group = sample.api_version.rpartition("/")[0]
    resource, _, subresource = sample.resource.partition("/")
    tests = [f"request.resource.group == '{group}'", f"request.resource.resource == '{resource}'"]
    if subresource:
        tests.append(f"request.?subResource.orValue('') == '{subresource}'")
    return f"!({' && '.join(tests)})"


def _namespaces(registered: Registered, question: Question, inventory: Inventory) -> Iterator[Diagnosis]:
    own = registered.namespace
    waiting = {
        name: hit
        for name in dict.fromkeys((own, "kube-system", *INFRASTRUCTURE))
        if name and (hit := _waiting(name, _labels(registered, inventory) if name == own else {}, question, inventory))
    }
    blocked = list(waiting)
    if own in waiting:
        yield registered.find(
            Level.ERROR,
            "own-namespace",
            (SELECTOR,),
            f"is asked about {_where(waiting[own])}, where its own pods run, under failurePolicy Fail",
            "once all its replicas are down no new one can start, and whatever it is asked about cannot be changed",
            exclude(registered, [own], blocked),
        )
    if own != "kube-system" and "kube-system" in waiting:
        yield registered.find(
            Level.ERROR,
            "kube-system",
            (SELECTOR,),
            f"is asked about {_where(waiting['kube-system'])}, under failurePolicy Fail",
            "when it does not answer, nothing that the cluster itself consists of can start again",
            exclude(registered, ["kube-system"], blocked),
        )
    if others := [name for name in waiting if name in INFRASTRUCTURE and name != own]:
        yield _infrastructure(registered, others, waiting[others[0]], blocked)


def _infrastructure(
    registered: Registered, names: Sequence[str], hit: Sequence[Sample], blocked: Sequence[str]
) -> Diagnosis:
    what = ", ".join(dict.fromkeys(INFRASTRUCTURE[name] for name in names))
    listed = ", ".join(f"`{name}`" for name in names)
    return registered.find(
        Level.WARNING,
        "infrastructure",
        (SELECTOR,),
        f"is asked about {_resources(hit)} in namespaces {listed}, under failurePolicy Fail",
        f"its own pods need what runs there ({what}): when both are down, neither can start",
        exclude(registered, names, blocked),
    )


def _waiting(namespace: str, labels: dict[str, str], question: Question, inventory: Inventory) -> list[Sample]:
    """Give what a pod in a namespace would wait for. Of a cluster's namespaces only those count that are there."""
    if inventory.lacks("Namespace") and not inventory.get("Namespace", "", namespace):
        return []
    return [sample for sample in coming_up(namespace, labels) if question.asks(sample.request())]


def _labels(registered: Registered, inventory: Inventory) -> dict[str, str]:
    """Give the labels of its own pods, as far as they are at hand."""
    service = registered.webhook.service
    return next((each.labels for each in behind(service, inventory)), {}) if service else {}


def _where(samples: Sequence[Sample]) -> str:
    """Say what, and in which namespaces."""
    names = dict.fromkeys(sample.namespace for sample in samples if sample.namespace and sample.kind != "Namespace")
    place = f" in namespace {', '.join(f'`{name}`' for name in names)}" if names else ""
    return f"{_resources(samples)}{place}"


def _resources(samples: Sequence[Sample]) -> str:
    return ", ".join(dict.fromkeys(f"`{sample.resource}`" for sample in samples))
