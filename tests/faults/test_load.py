"""How an answer is judged: what is not known to be right counts against us."""

from __future__ import annotations

import pytest

from tests.faults.load import Counts, Request

_BODY = {"kind": "ConfigMap", "metadata": {"name": "settings"}}
_DENIED = Request("/", _BODY, denied_by="colours")
_PATCHED = Request("/", _BODY, made={"data": {"shade": "bright"}})


@pytest.mark.parametrize(
    ("request_", "status", "answer", "became"),
    [
        (_DENIED, 403, {"message": "black is no colour [colours]"}, "right"),
        (_DENIED, 403, {"message": "black is no colour [others]"}, "failed"),
        (_DENIED, 201, _BODY, "admitted"),
        (_DENIED, 500, {"message": "failed calling webhook: connection refused"}, "failed"),
        (_PATCHED, 201, _BODY | {"data": {"shade": "bright", "colour": "blue"}}, "right"),
        (_PATCHED, 201, _BODY, "admitted"),
        (_PATCHED, 403, {"message": "black is no colour [colours]"}, "failed"),
        (_PATCHED, 404, {"message": "not found"}, "failed"),
        (_PATCHED, 503, {"message": "apiserver is shutting down"}, "untaken"),
        (_PATCHED, 503, {"message": "failed calling webhook: 503"}, "failed"),
        (_PATCHED, 403, {"message": "not yet ready to handle request"}, "untaken"),
        (_PATCHED, 500, {"message": "etcdserver: request timed out"}, "untaken"),
    ],
)
def test_an_answer_is_counted_once(request_: Request, status: int, answer: dict[str, object], became: str) -> None:
    counts = Counts()
    counts.judge(request_, status, answer, 0.1)
    numbers = {
        "right": counts.right,
        "failed": len(counts.failed),
        "admitted": len(counts.admitted),
        "untaken": len(counts.untaken),
    }
    assert numbers == {name: int(name == became) for name in numbers}
