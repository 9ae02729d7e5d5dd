import asyncio
import json
from datetime import UTC, datetime

import pytest

from webhook.admission.codec import read
from webhook.model.configuration import PolicyException
from webhook.model.decision import Decision, Excused, Finding, Outcome
from webhook.model.policy import MatchResources, Policy
from webhook.model.request import AdmissionRequest
from webhook.server.logs import Log, failure

ALLOWED = Decision(allowed=True)
DENIED = Decision(allowed=False, findings=(Finding(Outcome.DENY, Policy("no-latest", MatchResources()), "0"),) * 3)


@pytest.fixture
def request_() -> AdmissionRequest:
    kind, resource = {"version": "v1", "kind": "Pod"}, {"version": "v1", "resource": "pods"}
    request = {"uid": "u", "operation": "CREATE", "kind": kind, "resource": resource, "userInfo": {}, "object": {}}
    return read({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request})


async def test_lines_of_reviews_are_written_together_and_soon(
    request_: AdmissionRequest, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    log = Log()
    for _ in range(3):
        log.decision("validate", request_, ALLOWED, 0.0001)
    assert capfdbinary.readouterr().err == b""
    await asyncio.sleep(0.1)
    assert len(capfdbinary.readouterr().err.splitlines()) == 3


async def test_no_write_is_so_long_that_lines_of_several_processes_could_mix(
    request_: AdmissionRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, writes = Log(), list[bytes]()
    monkeypatch.setattr(log, "_write_now", lambda lines: writes.append(bytes(lines)))
    for _ in range(100):
        log.decision("validate", request_, ALLOWED, 0.0001)
    log.flush()
    assert len(b"".join(writes).splitlines()) == 100
    assert max(map(len, writes)) <= 4096


async def test_a_rule_that_many_elements_break_is_named_once(
    request_: AdmissionRequest, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    log = Log()
    log.decision("validate", request_, DENIED, 0.0001)
    log.flush()
    line = json.loads(capfdbinary.readouterr().err)
    assert line["verdicts"] == [{"policy": "no-latest", "rule": "0", "outcome": "deny"}]


async def test_what_exceptions_let_pass_is_named_once(
    request_: AdmissionRequest, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    log = Log()
    exception = PolicyException("log-image", (), MatchResources(), "a team", "because", datetime.now(UTC))
    excused = tuple(Excused(finding, exception) for finding in DENIED.findings)
    log.decision("validate", request_, Decision(allowed=True, excused=excused), 0.0001)
    log.flush()
    line = json.loads(capfdbinary.readouterr().err)
    assert line["excused"] == [{"policy": "no-latest", "rule": "0", "exception": "log-image"}]
    assert "verdicts" not in line


def test_other_lines_are_written_at_once(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    Log().info("serving", port=8443)
    line = json.loads(capfdbinary.readouterr().err)
    assert (line["level"], line["msg"], line["port"]) == ("info", "serving", 8443)


def test_a_level_hides_what_is_less_important(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    log = Log("error")
    log.info("serving")
    log.warning("odd")
    log.error("broken")
    assert [json.loads(line)["msg"] for line in capfdbinary.readouterr().err.splitlines()] == ["broken"]


def test_a_failure_is_told_by_type_and_place() -> None:
    try:
        raise KeyError("hunter2")
    except KeyError as error:
        told = failure(error)
    assert told["error"] == "KeyError"
    assert any("test_a_failure_is_told_by_type_and_place" in place for place in told["at"])
    assert "hunter2" not in str(told)
