"""The handler when the engine itself fails; all that goes well is tested over real sockets in `tests/http`."""

import json
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest
from aiohttp.test_utils import RawTestServer, TestClient

from webhook.model.configuration import Configuration
from webhook.model.policy import FailurePolicy, MatchResources, Policy
from webhook.model.release import Minor, Release
from webhook.server import handler
from webhook.server.handler import Handler
from webhook.server.logs import Log
from webhook.server.metrics import Metrics

REVIEW = {
    "apiVersion": "admission.k8s.io/v1",
    "kind": "AdmissionReview",
    "request": {
        "uid": "0a6c7f10",
        "operation": "CREATE",
        "kind": {"group": "", "version": "v1", "kind": "ConfigMap"},
        "resource": {"group": "", "version": "v1", "resource": "configmaps"},
        "userInfo": {"username": "dev-1"},
        "object": {"data": {"password": "hunter2"}},
    },
}


def fail(*_: Any, **__: Any) -> NoReturn:
    raise KeyError("hunter2")


async def answer(*failure_policies: FailurePolicy) -> tuple[dict[str, Any], Metrics]:
    """Post the review to a handler that has these policies and an engine that fails."""
    linked = [SimpleNamespace(policy=Policy("p", MatchResources(), failure_policy=one)) for one in failure_policies]
    world = SimpleNamespace(
        policies=SimpleNamespace(policies=linked),
        release=Release(Minor(1, 6), {}),
        configuration=Configuration(),
        cluster=None,
        authorizer=None,
    )
    metrics = Metrics()
    watched: Any = SimpleNamespace(current=world)
    client: TestClient[Any, Any] = TestClient(RawTestServer(Handler(watched, metrics, Log())))
    async with client:
        response = await client.post("/validate", json=REVIEW)
        assert response.status == 200
        return json.loads(await response.read())["response"], metrics


@pytest.fixture(autouse=True)
def broken_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handler, "review", fail)


async def test_our_own_failure_refuses_under_the_uid_where_a_policy_says_fail() -> None:
    response, metrics = await answer(FailurePolicy.IGNORE, FailurePolicy.FAIL)
    assert (response["uid"], response["allowed"]) == ("0a6c7f10", False)
    assert response["status"]["code"] == 500
    assert "0a6c7f10" in response["status"]["message"]
    assert ["validate", "CREATE", "failed", 1] in metrics.samples()["cozyguard_requests_total"]


async def test_our_own_failure_lets_through_where_all_policies_say_ignore() -> None:
    response, _ = await answer(FailurePolicy.IGNORE, FailurePolicy.IGNORE)
    assert (response["uid"], response["allowed"]) == ("0a6c7f10", True)
    assert "status" not in response
    assert response["warnings"]


async def test_our_own_failure_is_logged_by_place_and_never_by_value(capfd: pytest.CaptureFixture[str]) -> None:
    response, _ = await answer(FailurePolicy.FAIL)
    text = capfd.readouterr().err
    line = json.loads(text)
    assert (line["level"], line["uid"], line["error"]) == ("error", "0a6c7f10", "KeyError")
    assert any("handler.py" in place for place in line["at"])
    assert "hunter2" not in text + json.dumps(response)
