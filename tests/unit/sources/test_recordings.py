from __future__ import annotations

import gzip
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from webhook.errors import DocumentError
from webhook.model.recorded import Recorded
from webhook.sources import recordings
from webhook.sources.files import Skipped
from webhook.sources.recordings import Recordings

Write = Callable[..., str]


def pod(name: str = "p", **parts: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "ml"}} | parts


def review(name: str = "p", **parts: Any) -> dict[str, Any]:
    request = {
        "uid": "1",
        "operation": "CREATE",
        "kind": {"group": "", "version": "v1", "kind": "Pod"},
        "resource": {"group": "", "version": "v1", "resource": "pods"},
        "name": name,
        "userInfo": {"username": "dev-1"},
        "object": pod(name),
    }
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request} | parts


def event(verb: str, name: str = "p", **parts: Any) -> dict[str, Any]:
    return {
        "apiVersion": "audit.k8s.io/v1",
        "kind": "Event",
        "auditID": "1",
        "stage": "ResponseComplete",
        "verb": verb,
        "user": {"username": "dev-1"},
        "objectRef": {"resource": "pods", "namespace": "ml", "name": name, "apiVersion": "v1"},
        "responseStatus": {"code": 200},
        "requestReceivedTimestamp": "2026-11-30T10:00:00.000000Z",
    } | parts


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def lines(*documents: Any, end: str = "\n") -> str:
        file = tmp_path / "log"
        file.write_text("\n".join(one if isinstance(one, str) else json.dumps(one) for one in documents) + end)
        return str(file)

    return lines


def requests(path: str, reader: Recordings | None = None) -> list[Recorded]:
    return [one for one in (reader or Recordings()).read([path]) if isinstance(one, Recorded)]


def test_each_line_is_a_request(write: Write) -> None:
    file = write(
        review("a", response={"uid": "1", "allowed": False}, recordedAt="2026-11-30T10:00:00Z"), "", review("b")
    )
    one, other = requests(file)
    assert (one.request.name, one.line, one.time, one.allowed) == ("a", 1, "2026-11-30T10:00:00Z", False)
    assert (other.request.name, other.line, other.time, other.allowed) == ("b", 3, "", None)


def test_a_review_over_many_lines_is_read_too(tmp_path: Path) -> None:
    file = tmp_path / "review.json"
    file.write_text(json.dumps(review("a"), indent=2))
    assert [one.request.name for one in requests(str(file))] == ["a"]


def test_the_events_of_a_list_are_read_too(tmp_path: Path) -> None:
    file = tmp_path / "list.json"
    events = [event("create", requestObject=pod("a")), event("create", requestObject=pod("b"))]
    file.write_text(json.dumps({"kind": "EventList", "items": events}, indent=1))
    assert len(requests(str(file))) == 2


def test_a_compressed_log_is_read_as_it_is(write: Write, tmp_path: Path) -> None:
    packed = tmp_path / "log.gz"
    packed.write_bytes(gzip.compress(Path(write(review("a"), review("b"))).read_bytes()))
    assert [one.request.name for one in requests(str(packed))] == ["a", "b"]
    packed.write_bytes(packed.read_bytes()[:-12])
    assert [one for one in Recordings().read([str(packed)]) if isinstance(one, DocumentError)]


def test_standard_input_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(review("a")).encode())))
    (one,) = requests("-")
    assert (one.file, one.request.name) == ("<stdin>", "a")


def test_an_update_has_the_object_that_an_earlier_event_left(write: Write) -> None:
    reader = Recordings()
    found = requests(
        write(
            event("create", requestObject=pod(spec={"n": 1})),
            event("update", requestObject=pod(spec={"n": 2})),
            event("patch", requestObject={"spec": {"n": 3}}, responseObject=pod(spec={"n": 3})),
            event("delete"),
            event("update", requestObject=pod(spec={"n": 4})),
            event("update", requestObject=pod(spec={"n": 5})),
        ),
        reader,
    )
    told = [((one.request.old_object or {}).get("spec"), (one.request.object or {}).get("spec")) for one in found]
    assert told == [
        (None, {"n": 1}),
        ({"n": 1}, {"n": 2}),
        ({"n": 2}, {"n": 3}),
        ({"n": 3}, None),
        ({"n": 4}, {"n": 5}),
    ]
    assert reader.not_judged == {"the log does not hold the object as it was before": 1}


def test_what_a_subresource_takes_is_not_taken_for_the_object(write: Write) -> None:
    scale = event("create", requestObject={"apiVersion": "policy/v1", "kind": "Eviction"})
    scale["objectRef"] = scale["objectRef"] | {"subresource": "eviction"}
    found = requests(write(event("create", requestObject=pod()), scale, event("update", requestObject=pod())))
    assert [(one.request.kind.kind, one.request.subresource) for one in found] == [
        ("Pod", ""),
        ("Eviction", "eviction"),
        ("Pod", ""),
    ]
    assert found[2].request.old_object == pod()


def test_so_much_of_objects_is_remembered_at_most(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recordings, "_REMEMBERED", 200)
    reader = Recordings()
    made = [event("create", name, requestObject=pod(name)) for name in "abcdef"]
    changed = [event("update", name, requestObject=pod(name)) for name in "fa"]
    assert [one.request.name for one in requests(write(*made, *changed), reader)] == [*"abcdef", "f"]
    assert sum(reader.not_judged.values()) == 1


def test_every_fault_is_told_with_its_line_and_the_rest_is_read(write: Write, tmp_path: Path) -> None:
    file = write(review("a"), "nonsense", {"kind": "Pod"}, review("b") | {"request": {}}, review("c"), '{"cut', end="")
    found = list(Recordings().read([file, str(tmp_path / "nowhere"), str(tmp_path)]))
    faults = [one for one in found if isinstance(one, DocumentError)]
    assert [(one.line, one.message) for one in faults] == [
        (2, "got no JSON, want AdmissionReviews or events of an audit log, one a line"),
        (3, "the body is no AdmissionReview: want kind `AdmissionReview`"),
        (4, "request.uid: missing, so no answer could be matched to this request"),
        (0, "cannot be read: no such file or directory"),
        (0, "cannot be read: is a directory"),
    ]
    assert [one for one in found if isinstance(one, Skipped)] == [Skipped(f"{file}:6", "cut off within the line")]
    assert len([one for one in found if isinstance(one, Recorded)]) == 2


def test_a_file_of_something_else_is_one_fault(write: Write) -> None:
    (fault,) = Recordings().read([write("apiVersion: v1", "kind: Pod")])
    assert isinstance(fault, DocumentError)
    assert fault.message == "got no JSON, want AdmissionReviews or events of an audit log, one a line"
