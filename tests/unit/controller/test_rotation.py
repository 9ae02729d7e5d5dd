"""Whatever happens to the Secret, to replicas and to the leader: what is served is what API servers trust."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from webhook.controller.certificates import LIFE, Fault, Pair, authorities, fingerprint, issue, signers, together
from webhook.controller.keyring import LEAF, NO_PAIR, Keyring
from webhook.controller.rotation import Seen, Step, advance, bundle, carries, plan

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
HOSTS = ("cozyguard.guard.svc",)
SETTLE = timedelta(seconds=30)


def seen(now: datetime = NOW, served: str = "", live: bytes = b"", carried: float | None = None) -> Seen:
    return Seen(
        hosts=HOSTS,
        now=now,
        served=frozenset({served} - {""}),
        live=live,
        carried=None if carried is None else timedelta(seconds=carried),
        settle=SETTLE,
    )


@pytest.fixture(scope="module")
def fresh() -> Keyring:
    return advance(Keyring(), Step.ISSUE, seen())


def test_without_anything_a_pair_is_made_at_once(fresh: Keyring) -> None:
    assert plan(Keyring(), seen()) is Step.ISSUE
    assert plan(fresh, seen(served=fresh.leaf)) is Step.REST
    assert fresh.fault(HOSTS, NOW) is None


def test_a_rotation_goes_step_by_step(fresh: Keyring) -> None:
    later = NOW + timedelta(days=61)
    assert plan(fresh, seen(later, fresh.leaf)) is Step.PREPARE
    prepared = advance(fresh, Step.PREPARE, seen(later, fresh.leaf, fresh.trusted))
    assert prepared.leaf == fresh.leaf
    assert len(authorities(prepared.trusted)) == 2
    assert plan(prepared, seen(later, fresh.leaf)) is Step.WAIT
    assert plan(prepared, seen(later, fresh.leaf, carried=29)) is Step.WAIT
    assert plan(prepared, seen(later, fresh.leaf, carried=30)) is Step.SWITCH
    switched = advance(prepared, Step.SWITCH, seen(later))
    assert switched.pair == prepared.upcoming
    assert plan(switched, seen(later, fresh.leaf, carried=99)) is Step.WAIT
    assert plan(switched, seen(later, switched.leaf)) is Step.RETIRE
    retired = advance(switched, Step.RETIRE, seen(later))
    assert retired.trusted == signers(switched.pair.certificate, switched.trusted)
    assert plan(retired, seen(later, switched.leaf)) is Step.REST


def test_a_pair_that_expired_while_nobody_was_there_is_replaced_at_once(fresh: Keyring) -> None:
    assert plan(fresh, seen(NOW + LIFE, fresh.leaf)) is Step.ISSUE


def test_a_pair_for_other_names_is_replaced_at_once(fresh: Keyring) -> None:
    elsewhere = replace(seen(served=fresh.leaf), hosts=("other.guard.svc",))
    assert plan(fresh, elsewhere) is Step.ISSUE


def test_a_broken_secret_is_mended_without_taking_from_replicas_what_they_serve(fresh: Keyring) -> None:
    emptied = Keyring()
    around = seen(served=fresh.leaf, live=fresh.trusted)
    assert plan(emptied, around) is Step.PREPARE
    prepared = advance(emptied, Step.PREPARE, around)
    assert carries(prepared.trusted, fresh)
    assert plan(prepared, replace(around, carried=SETTLE)) is Step.SWITCH


def test_a_consistent_pair_that_somebody_else_put_there_is_not_taken(fresh: Keyring) -> None:
    pair, authority = issue(HOSTS, NOW)
    edited = replace(fresh, pair=pair, trusted=authority)
    assert edited.fault(HOSTS, NOW) is Fault.FOREIGN
    assert carries(bundle(edited, seen(served=fresh.leaf, live=fresh.trusted)), fresh)


def test_a_secret_keeps_what_is_not_ours(fresh: Keyring) -> None:
    metadata = {"name": "tls", "namespace": "guard", "resourceVersion": "7", "labels": {"a": "b"}}
    secret = {"metadata": metadata, "type": "Opaque", "data": {"note": "aGk=", "next.crt": "AAAA"}}
    written = fresh.onto(secret, "guard", "tls")
    assert written["metadata"] == metadata | {"annotations": {LEAF: fresh.leaf}}
    assert written["type"] == "Opaque"
    assert written["data"]["note"] == "aGk="
    assert "next.crt" not in written["data"]
    assert Keyring.of(written) == fresh


@pytest.mark.parametrize("data", [None, {}, {"tls.crt": "%%%", "ca.crt": None, "tls.key": "AAAA"}])
def test_a_secret_may_hold_anything(data: object) -> None:
    assert Keyring.of({"data": data}).fault(HOSTS, NOW) is not None


@dataclass
class Replica:
    """What it serves; what it has told is in its Lease, which it writes before it serves anything at all."""

    served: bytes = b""
    lease: str = ""


@dataclass
class Configuration:
    """A webhook configuration, and how far behind two API servers are in reading it."""

    bundle: bytes = b""
    read: list[bytes] = field(default_factory=lambda: [b"", b""])


class Life(RuleBasedStateMachine):
    """The leader may stop after any rule: each is one write, and the next leader knows only what is stored."""

    @initialize()
    def start(self) -> None:
        self.now = NOW
        self.secret = advance(Keyring(), Step.ISSUE, seen())
        self.configurations = [Configuration(), Configuration()]
        self.replicas = [Replica()]
        self.carried_since: datetime | None = None
        self.carried_what = b""
        self.new = self.secret.pair.certificate

    def seen(self) -> Seen:
        carried = None if self.carried_since is None else self.now - self.carried_since
        return Seen(
            hosts=HOSTS,
            now=self.now,
            served=frozenset(one.lease for one in self.replicas if one.lease),
            live=together((one.bundle for one in self.configurations), self.now),
            carried=carried,
            settle=SETTLE,
        )

    @rule()
    def step(self) -> None:
        around = self.seen()
        step = plan(self.secret, around)
        self.secret = advance(self.secret, step, around)
        if step is Step.ISSUE:
            assert not any(one.served for one in self.replicas)
            self.new = self.secret.pair.certificate
        self.look()

    @rule(which=st.integers(0, 1))
    def write_one_bundle(self, which: int) -> None:
        self.configurations[which].bundle = bundle(self.secret, self.seen())
        self.look()

    @rule()
    def write_bundles(self) -> None:
        for one in self.configurations:
            one.bundle = bundle(self.secret, self.seen())
        self.look()

    def look(self) -> None:
        """Keep time of how long all configurations have had the CAs, as the leader does."""
        if not all(carries(one.bundle, self.secret) for one in self.configurations):
            self.carried_since = None
        elif self.carried_since is None or self.carried_what != self.secret.trusted:
            self.carried_since, self.carried_what = self.now, self.secret.trusted

    @rule()
    def another_leader(self) -> None:
        self.carried_since = None
        self.look()

    @rule(seconds=st.sampled_from([1, 10]))
    def a_moment(self, seconds: int) -> None:
        """API servers see what was written before half the time to settle is over."""
        self.api_servers_read()
        self.now += timedelta(seconds=seconds)

    @rule()
    def a_while(self) -> None:
        self.api_servers_read()
        self.now += SETTLE

    @rule()
    def two_months(self) -> None:
        """The pair becomes old, while the leader keeps up and replicas look, so that nothing served expires."""
        for one in self.replicas:
            self.take(one)
            one.lease = fingerprint(one.served) or one.lease
        self.write_bundles()
        self.api_servers_read()
        if self.secret.fault(HOSTS, self.now) is None and plan(self.secret, self.seen()) in (Step.REST, Step.RETIRE):
            self.now += timedelta(days=61)
            self.step()
            self.write_bundles()

    @rule(which=st.integers(0, 3))
    def one_api_server_reads(self, which: int) -> None:
        configuration = self.configurations[which // 2]
        configuration.read[which % 2] = configuration.bundle

    def api_servers_read(self) -> None:
        for one in self.configurations:
            one.read = [one.bundle, one.bundle]

    @rule()
    def a_replica_starts(self) -> None:
        if len(self.replicas) < 4:
            self.replicas.append(Replica())

    @precondition(lambda self: len(self.replicas) > 1)
    @rule()
    def a_replica_ends(self) -> None:
        self.replicas.pop(0)

    @rule(which=st.integers(0, 3))
    def a_replica_looks(self, which: int) -> None:
        self.take(self.replicas[which % len(self.replicas)])

    def take(self, replica: Replica) -> None:
        if self.secret.fault(HOSTS, self.now) is None:
            if not replica.served:
                replica.lease = self.secret.leaf
            replica.served = self.secret.pair.certificate

    @rule(which=st.integers(0, 3))
    def a_replica_tells(self, which: int) -> None:
        replica = self.replicas[which % len(self.replicas)]
        replica.lease = fingerprint(replica.served)

    @rule(what=st.sampled_from(["pair", "certificate", "key", "trusted", "upcoming", "all", "approved", "foreign"]))
    def somebody_edits_the_secret(self, what: str) -> None:
        match what:
            case "pair":
                self.secret = replace(self.secret, pair=NO_PAIR)
            case "certificate":
                self.secret = replace(self.secret, pair=Pair(b"junk", self.secret.pair.key))
            case "key":
                self.secret = replace(self.secret, pair=Pair(self.secret.pair.certificate, b"junk"))
            case "trusted":
                self.secret = replace(self.secret, trusted=b"")
            case "upcoming":
                self.secret = replace(self.secret, upcoming=NO_PAIR)
            case "all":
                self.secret = Keyring()
            case "approved":
                self.secret = replace(self.secret, approved="")
            case _:
                pair, authority = issue(HOSTS, self.now)
                self.secret = replace(self.secret, pair=pair, trusted=authority)
        self.look()

    @invariant()
    def what_is_served_is_trusted(self) -> None:
        """Only the very first pair, or one that is issued while nobody serves any, comes before its CA is known."""
        if self.new and all(signers(self.new, one) for each in self.configurations for one in each.read):
            self.new = b""
        for replica in self.replicas:
            if replica.served:
                for configuration in self.configurations:
                    assert replica.served == self.new or signers(replica.served, configuration.bundle)
                    assert replica.served == self.new or all(signers(replica.served, one) for one in configuration.read)
                assert x509.load_pem_x509_certificate(replica.served).not_valid_after_utc > self.now


TestLife = Life.TestCase
TestLife.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
