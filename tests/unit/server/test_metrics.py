import json
from datetime import UTC, datetime

from webhook.model.configuration import PolicyException
from webhook.model.decision import Change, Decision, Excused, Finding, Outcome
from webhook.model.policy import MatchResources, Policy
from webhook.server.metrics import FAMILIES, Metrics, Samples, counters, exposition

POLICY = Policy(name="no-latest", match=MatchResources())
DENIED = Decision(allowed=False, findings=(Finding(Outcome.DENY, POLICY, "0"), Finding(Outcome.DENY, POLICY, "0")))
EXCEPTION = PolicyException("log-image", (), MatchResources(), "a team", "because", datetime(2099, 12, 31, tzinfo=UTC))
EXCUSED = Decision(allowed=True, excused=(Excused(Finding(Outcome.DENY, POLICY, "0"), EXCEPTION),) * 2)
PATCHED = Decision(allowed=True, changes=(Change(POLICY, "", ()),), patch=({"op": "add"},))


def reviewed(count: int = 1) -> Metrics:
    metrics = Metrics()
    for _ in range(count):
        metrics.review("validate", "CREATE", "denied", DENIED, 0.0002)
    return metrics


def lines(*processes: Samples) -> set[str]:
    return set(exposition(processes).decode().splitlines())


def test_a_review_is_counted_by_endpoint_operation_and_outcome() -> None:
    told = lines(reviewed().samples())
    assert 'cozyguard_requests_total{endpoint="validate",operation="CREATE",outcome="denied"} 1.0' in told


def test_findings_and_patches_are_counted_by_policy() -> None:
    metrics = reviewed()
    metrics.review("mutate", "CREATE", "patched", PATCHED, 0.0002)
    told = lines(metrics.samples())
    assert 'cozyguard_findings_total{outcome="deny",policy="no-latest"} 2.0' in told
    assert 'cozyguard_patches_total{policy="no-latest"} 1.0' in told


def test_what_exceptions_let_pass_is_counted_by_exception_and_policy() -> None:
    metrics = Metrics()
    metrics.review("validate", "CREATE", "allowed", EXCUSED, 0.0002)
    told = lines(metrics.samples(), metrics.samples())
    assert 'cozyguard_exceptions_total{exception="log-image",policy="no-latest"} 4.0' in told


def test_durations_fall_into_every_bucket_that_holds_them() -> None:
    told = lines(reviewed(3).samples())
    name = "cozyguard_review_duration_seconds"
    assert f'{name}_bucket{{endpoint="validate",le="0.0001"}} 0.0' in told
    assert f'{name}_bucket{{endpoint="validate",le="0.00025"}} 3.0' in told
    assert f'{name}_bucket{{endpoint="validate",le="+Inf"}} 3.0' in told
    assert f'{name}_count{{endpoint="validate"}} 3.0' in told


def test_a_review_slower_than_every_bound_is_still_counted() -> None:
    metrics = Metrics()
    metrics.review("validate", "CREATE", "allowed", Decision(allowed=True), 60.0)
    told = lines(metrics.samples())
    assert 'cozyguard_review_duration_seconds_bucket{endpoint="validate",le="10.0"} 0.0' in told
    assert 'cozyguard_review_duration_seconds_count{endpoint="validate"} 1.0' in told


def test_the_counts_of_several_processes_are_added_up() -> None:
    told = lines(reviewed(2).samples(), reviewed(3).samples())
    assert 'cozyguard_requests_total{endpoint="validate",operation="CREATE",outcome="denied"} 5.0' in told


def test_a_gauge_tells_of_the_process_that_is_worst_off() -> None:
    early: Samples = {"cozyguard_certificate_expiry_timestamp_seconds": [[1000.0]]}
    late: Samples = {"cozyguard_certificate_expiry_timestamp_seconds": [[2000.0]]}
    assert "cozyguard_certificate_expiry_timestamp_seconds 1000.0" in lines(late, early)


def test_what_ended_processes_counted_is_kept_but_not_their_gauges() -> None:
    samples = reviewed(2).samples() | {"cozyguard_policies": [[7]]}
    kept = counters((samples, reviewed(1).samples()))
    assert kept["cozyguard_requests_total"] == [["validate", "CREATE", "denied", 3]]
    assert "cozyguard_policies" not in kept
    assert "cozyguard_requests_in_flight" not in kept


def test_samples_survive_a_journey_as_json() -> None:
    samples = reviewed().samples()
    assert lines(json.loads(json.dumps(samples))) == lines(samples)


def test_every_metric_has_a_help_text_even_before_the_first_review() -> None:
    told = exposition([Metrics().samples()]).decode()
    assert all(f"# HELP {family.name}" in told for family in FAMILIES)
