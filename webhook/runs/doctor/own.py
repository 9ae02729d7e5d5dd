"""Is our own installation well: who leads, what replicas serve, what became of policies, which rights are missing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Final

from webhook.controller.controller import LEASE
from webhook.controller.keyring import LEAF
from webhook.controller.replicas import LABELS, POLICIES
from webhook.model.diagnosis import Diagnosis, Level
from webhook.model.webhook import CONFIGURATIONS
from webhook.runs.doctor.inventory import Held, Inventory
from webhook.runs.doctor.sync import unsent

REVIEW: Final = "SubjectAccessReview"

_LONG_AGO: Final = datetime.min.replace(tzinfo=UTC)


def registrations(inventory: Inventory) -> list[Held]:
    """Give our own webhook configurations: by their label, or by the names of their webhooks."""
    return [each for kind in CONFIGURATIONS for each in inventory.list(kind) if _is_ours(each)]


def own(inventory: Inventory, namespace: str, now: datetime) -> Iterator[Diagnosis]:
    """Examine what is installed in this namespace; nothing is found where nothing of ours is registered."""
    ours = registrations(inventory)
    if not ours:
        return
    yield from _registration(ours)
    if inventory.lacks("Lease"):
        yield from _leader(ours[0], inventory.get("Lease", namespace, LEASE), now)
        yield from _replicas(ours[0], inventory.list("Lease", namespace), now)
    for policy in inventory.list("AdmissionPolicy"):
        yield from _policy(policy)
    yield from unsent(inventory, ours)
    for exception in inventory.list("PolicyException"):
        yield from _exception(exception)
    for review in inventory.list(REVIEW):
        yield from _right(ours[0], review)


def _is_ours(held: Held) -> bool:
    names = [str(each.get("name")) for each in held.list("webhooks")]
    label = held.get("metadata", "labels").get("app.kubernetes.io/name")
    return label == LABELS["app.kubernetes.io/name"] or any(name.endswith(".cozyguard.io") for name in names)


def _registration(ours: Sequence[Held]) -> Iterator[Diagnosis]:
    if not any(each.list("webhooks") for each in ours):
        yield ours[0].find(
            Level.WARNING,
            "not-registered",
            ("webhooks",),
            "registers no webhooks",
            "no request is judged until the leading replica writes them",
            "see the log of the pods: each says who leads, and what keeps it from writing",
        )


def _leader(registration: Held, lease: Held | None, now: datetime) -> Iterator[Diagnosis]:
    if lease is None:
        yield registration.find(
            Level.WARNING,
            "leader",
            (),
            f"no replica has ever led: there is no Lease `{LEASE}`",
            "nobody registers the webhooks, or renews certificates and caBundle",
            "see the log of the pods, and whether they may create Leases",
        )
    elif not _is_fresh(lease, now):
        yield lease.find(
            Level.WARNING,
            "leader",
            ("spec", "renewTime"),
            f"no replica leads: the last one renewed it on {_renewed(lease):%Y-%m-%d %H:%M:%S} UTC",
            "nobody renews certificates and caBundle, or registers what new policies look at",
            "see whether the pods run, and whether they may update Leases",
        )


def _replicas(registration: Held, leases: Sequence[Held], now: datetime) -> Iterator[Diagnosis]:
    """Compare the replicas that live. A Lease that has run out is of one that has gone, which others clear away."""
    replicas = [each for each in leases if LABELS.items() <= each.get("metadata", "labels").items()]
    alive = [each for each in replicas if _is_fresh(each, now)]
    if not alive:
        yield registration.find(
            Level.ERROR,
            "replicas-silent",
            (),
            "no replica says that it lives: none has renewed its Lease",
            "nobody answers: what is judged under failurePolicy Fail cannot be changed",
            "see whether the pods run; the way out meanwhile is the break-glass group, or to delete both webhook "
            "configurations",
        )
    for annotation, check, what in ((LEAF, "leaf", "certificates"), (POLICIES, "policies-differ", "policies")):
        said: dict[str, list[str]] = {}
        for each in alive:
            value = each.get("metadata", "annotations").get(annotation)
            if isinstance(value, str) and value:
                said.setdefault(value, []).append(each.resource.name)
        if len(said) > 1:
            fewest = min(said.values(), key=len)
            yield next(each for each in alive if each.resource.name == fewest[0]).find(
                Level.WARNING,
                check,
                ("metadata", "annotations", annotation),
                f"serves other {what} than {len(alive) - len(fewest)} of {len(alive)} replicas do",
                "for a moment that is how a change begins; when it stays, the replica does not see what changes",
                "ask again in a minute; then see its log, and restart it",
            )


def _policy(policy: Held) -> Iterator[Diagnosis]:
    ready = _condition(policy, "Ready")
    if ready is None or ready.get("status") != "True":
        yield policy.find(
            Level.WARNING,
            "policy",
            ("status", "conditions"),
            f"is not in force as it is written: {_line(ready)}" if ready else "has not been looked at by any replica",
            "what it asks for is not judged, or by an older version of it",
            "mend what its status says" if ready else "see whether replicas run, and whether one leads",
        )


def _exception(exception: Held) -> Iterator[Diagnosis]:
    active = _condition(exception, "Active")
    if active is None or active.get("status") == "True":
        return
    expired = active.get("reason") == "Expired"
    yield exception.find(
        Level.REMARK if expired else Level.WARNING,
        "exception",
        ("status", "conditions"),
        f"lets nothing pass: {_line(active)}",
        "whoever relies on it is judged like everybody",
        "delete it, or agree on a new `expiresAt`" if expired else "mend what its status says",
    )


def _right(registration: Held, review: Held) -> Iterator[Diagnosis]:
    asked = review.get("spec", "resourceAttributes")
    if review.get("status").get("allowed") is True:
        return
    group, resource = str(asked.get("group") or ""), str(asked.get("resource"))
    if subresource := asked.get("subresource"):
        resource = f"{resource}/{subresource}"
    what = f"{resource}.{group}" if group else resource
    where = f" in namespace `{asked['namespace']}`" if asked.get("namespace") else ""
    name = f" `{asked['name']}`" if asked.get("name") else ""
    user = str(review.get("spec").get("user"))
    yield registration.find(
        Level.ERROR,
        "rights",
        (),
        f"`{user}` may not {asked.get('verb')} {what}{name}{where}",
        "what needs it is not done: rules that look such objects up fail, and their failurePolicy decides",
        f"grant the verb `{asked.get('verb')}` on `{resource}`, as the chart's roles do",
    )


def _condition(held: Held, kind: str) -> dict[str, Any] | None:
    return next((each for each in held.list("status", "conditions") if each.get("type") == kind), None)


def _line(condition: dict[str, Any]) -> str:
    return " ".join(str(condition.get("message") or condition.get("reason")).split())


def _is_fresh(lease: Held, now: datetime) -> bool:
    lasts = lease.get("spec").get("leaseDurationSeconds")
    return (now - _renewed(lease)).total_seconds() < (lasts if isinstance(lasts, int) else 0)


def _renewed(lease: Held) -> datetime:
    with suppress(ValueError):
        renewed = datetime.fromisoformat(str(lease.get("spec").get("renewTime")))
        return renewed if renewed.tzinfo else renewed.replace(tzinfo=UTC)
    return _LONG_AGO
