"""The next step of the certificates' life, from what there is: nothing is remembered, so any replica can go on.

    ISSUE    nothing is served that anybody could use: a new pair, at once
    PREPARE  the pair is old, or broken while replicas still serve an earlier one: a new pair is put beside it, its CA
             into the bundle
    SWITCH   the API servers have had the new CA for a while: the new pair is the one to serve
    RETIRE   every replica serves it: the old CA goes

Each step is one write of the Secret. At every moment the bundle of the webhook configurations verifies whatever a
replica serves, wherever the leader stops and whatever somebody does to the Secret by hand.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from webhook.controller.certificates import (
    Fault,
    authorities,
    fingerprint,
    is_old,
    issue,
    judge,
    signers,
    together,
)
from webhook.controller.keyring import NO_PAIR, Keyring


class Step(StrEnum):
    """What to do next; WAIT and REST are nothing, in the midst of a rotation and outside one."""

    ISSUE = "issue"
    PREPARE = "prepare"
    WAIT = "wait"
    SWITCH = "switch"
    RETIRE = "retire"
    REST = "rest"


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What the leader sees around the Secret.

    `hosts` are the names that the leaf needs, `served` the fingerprints of the leaves that replicas serve, `live` the
    bundles of the webhook configurations, PEM. `carried` says for how long they all have had every CA of the Secret,
    None if they do not; `settle` is how long that has to be.
    """

    hosts: tuple[str, ...]
    now: datetime
    served: frozenset[str]
    live: bytes
    carried: timedelta | None
    settle: timedelta


def plan(kept: Keyring, seen: Seen) -> Step:
    """Say what comes next."""
    fault = kept.fault(seen.hosts, seen.now)
    if fault and not seen.served - _useless(kept, fault):
        return Step.ISSUE
    if kept.upcoming != NO_PAIR and judge(kept.upcoming, kept.trusted, seen.hosts, seen.now) is None:
        return Step.SWITCH if seen.carried is not None and seen.carried >= seen.settle else Step.WAIT
    if fault or kept.upcoming != NO_PAIR or is_old(kept.pair.certificate, seen.now):
        return Step.PREPARE
    if set(authorities(kept.trusted)) == set(authorities(signers(kept.pair.certificate, kept.trusted))):
        return Step.REST
    return Step.RETIRE if seen.served <= {kept.leaf} else Step.WAIT


def advance(kept: Keyring, step: Step, seen: Seen) -> Keyring:
    """Do it: give what the Secret is to hold. WAIT and REST change nothing."""
    match step:
        case Step.ISSUE | Step.PREPARE:
            pair, authority = issue(seen.hosts, seen.now)
            trusted = together((kept.trusted, seen.live, authority), seen.now)
            if step is Step.PREPARE:
                return replace(kept, upcoming=pair, trusted=trusted)
            return Keyring(pair, trusted, approved=fingerprint(pair.certificate))
        case Step.SWITCH:
            return Keyring(kept.upcoming, kept.trusted, approved=fingerprint(kept.upcoming.certificate))
        case Step.RETIRE:
            return replace(kept, trusted=signers(kept.pair.certificate, kept.trusted))
        case _:
            return kept


def bundle(kept: Keyring, seen: Seen) -> bytes:
    """Give the bundle that the webhook configurations are to carry: none is taken from it that may be needed."""
    if seen.served <= {kept.leaf} and not kept.fault(seen.hosts, seen.now):
        return kept.trusted
    return together((kept.trusted, seen.live), seen.now)


def carries(live: bytes, kept: Keyring) -> bool:
    """Does a webhook configuration's bundle have every CA of the Secret."""
    return set(authorities(kept.trusted)) <= set(authorities(live))


def _useless(kept: Keyring, fault: Fault) -> frozenset[str]:
    """Name the leaf that replicas may serve as they please: no API server takes it."""
    return frozenset({kept.leaf}) if fault in (Fault.EXPIRED, Fault.NAMES) else frozenset()
