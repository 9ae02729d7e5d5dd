"""The settings of a webhook that have better values than those they were given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from webhook.model import path as paths
from webhook.model.diagnosis import Diagnosis, Level, Remedy
from webhook.model.path import Path
from webhook.model.request import CREATE
from webhook.runs.doctor.inventory import Registered
from webhook.runs.doctor.question import Question
from webhook.runs.doctor.samples import ADMINISTRATOR, Sample

LONG: Final = 10
"""Seconds. Kubernetes' default, and what it recommends is less:
https://kubernetes.io/docs/concepts/cluster-administration/admission-webhooks-good-practices/"""

TOO_LONG: Final = 30
"""Seconds for one request in all: the API server gives up after 60, many clients before."""

_POD: Final = Sample(
    CREATE, "v1", "Pod", "pods", ADMINISTRATOR, "tenant-example", {}, {"spec": {"containers": [{"name": "main"}]}}
)


def settings(registered: Registered, question: Question) -> Iterator[Diagnosis]:
    """Look at each setting on its own."""
    webhook = registered.webhook
    if webhook.timeout > LONG:
        yield registered.find(
            Level.REMARK,
            "timeout",
            ("timeoutSeconds",),
            f"has {webhook.timeout} s to answer",
            "when it hangs, each request that it is asked about waits so long, and clients give up before",
            _set(registered, "timeoutSeconds", 5),
        )
    if webhook.side_effects not in ("None", "NoneOnDryRun"):
        yield registered.find(
            Level.ERROR,
            "side-effects",
            ("sideEffects",),
            f"says sideEffects `{webhook.side_effects}`, want `None` or `NoneOnDryRun`",
            "the API server refuses the registration, and refused dry-runs while it took such ones",
            _set(registered, "sideEffects", "None"),
        )
    if "v1" not in webhook.review_versions:
        yield registered.find(
            Level.WARNING,
            "review-versions",
            ("admissionReviewVersions",),
            "is not asked in `v1`, the version of AdmissionReview that stays",
            "an API server that no longer speaks the versions named cannot ask it, and failurePolicy decides",
            "answer `v1`, and add it to admissionReviewVersions",
        )
    if webhook.match.match_policy == "Exact":
        yield registered.find(
            Level.WARNING,
            "match-policy",
            ("matchPolicy",),
            "is asked only about the very versions that `rules` name",
            "whoever sends the same object in another version of its API is not judged",
            _set(registered, "matchPolicy", "Equivalent"),
        )
    if registered.mutating and webhook.reinvocation_policy == "Never":
        yield registered.find(
            Level.REMARK,
            "reinvocation",
            ("reinvocationPolicy",),
            "is not asked again when a later webhook changes the object",
            "what the later one adds, such as a sidecar, is left as it is",
            _set(registered, "reinvocationPolicy", "IfNeeded"),
        )
    for fault in question.faults:
        yield registered.find(
            Level.WARNING,
            "match-condition",
            paths.parse(fault.path)[len(registered.path) :] if fault.path else ("matchConditions",),
            f"has a match condition that cannot be tested here: {fault.message.splitlines()[0]}",
            "it is taken to be true, so that what else is found may be more than there is",
            "see whether the expression is one that the API server takes",
        )


def waiting_in_line(asked: Sequence[tuple[Registered, Question]]) -> Iterator[Diagnosis]:
    """Add up the timeouts of the webhooks that a new pod waits for: those that mutate are asked one by one."""
    line = [each for each, question in asked if each.mutating and question.asks(_POD.request())]
    seconds = sum(each.webhook.timeout for each in line)
    if len(line) > 1 and seconds > TOO_LONG:
        worst = max(line, key=lambda each: each.webhook.timeout)
        yield worst.find(
            Level.REMARK,
            "timeouts-add-up",
            ("timeoutSeconds",),
            f"is one of {len(line)} webhooks that may change a new pod and have {seconds} s together",
            "they are asked one after the other: when they hang, the request is given up before all were asked",
            f"give each of them less: {', '.join(f'`{each.webhook.name}`' for each in line)}",
        )


def _set(registered: Registered, name: str, value: str | int) -> Remedy:
    at: Path = (*registered.path, name)
    return Remedy(f"set {paths.render(at)} to {value}", ({"op": "add", "path": paths.pointer(at), "value": value},))
