from __future__ import annotations

import gzip
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

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


def test_a_dry_run_leaves_all_as_it_is(write: Write) -> None:
    dry = {"requestURI": "/api/v1/namespaces/ml/pods/p?dryRun=All&fieldManager=kubectl"}
    found = requests(
        write(
            event("create", requestObject=pod(spec={"n": 1})),
            event("update", requestObject=pod(spec={"n": 2}), **dry),
            event("delete", **dry),
            event("update", requestObject=pod(spec={"n": 3})),
        )
    )
    assert [(one.request.dry_run, (one.request.old_object or {}).get("spec")) for one in found] == [
        (False, None),
        (True, {"n": 1}),
        (True, {"n": 1}),
        (False, {"n": 1}),
    ]


def test_so_much_of_objects_is_remembered_at_most(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recordings, "_REMEMBERED", 1500)
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


def test_a_compressed_log_that_is_damaged_is_a_fault(write: Write, tmp_path: Path) -> None:
    whole = gzip.compress(Path(write(*(review(f"p-{number}") for number in range(200)))).read_bytes())
    packed = tmp_path / "log.gz"
    for at in range(10, len(whole), 7):
        packed.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        assert any(isinstance(one, DocumentError) for one in Recordings().read([str(packed)])), at


def test_no_more_than_so_much_is_held_of_a_line_or_a_document(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recordings, "_LARGEST", 2000)
    want = "want AdmissionReviews or events of an audit log, one a line"
    file = write(review("a"), "x" * 6003, " " * 6003, review("b"), "y" * 1999, "z" * 2000)
    found = list(Recordings().read([file]))
    assert [one.request.name for one in found if isinstance(one, Recorded)] == ["a", "b"]
    assert [(one.line, one.message) for one in found if isinstance(one, DocumentError)] == [
        (2, f"got a line of more than 0 MiB, {want}"),
        (5, f"got no JSON, {want}"),
        (6, f"got a line of more than 0 MiB, {want}"),
    ]
    whole = tmp_path / "list.json"
    whole.write_text(json.dumps({"items": [event("create", requestObject=pod())] * 9}, indent=1))
    (fault,) = Recordings().read([str(whole)])
    assert isinstance(fault, DocumentError)
    assert fault.message == f"got a document of more than 0 MiB, {want}"


def test_what_is_no_recording_is_not_read_to_its_end(write: Write) -> None:
    *faults, last = Recordings().read([write(*["{}"] * 5000)])
    assert len(faults) == 1000
    assert isinstance(last, DocumentError)
    assert last.message.startswith("not read any further: got 1000 faults")


def test_a_document_may_stand_below_blank_lines(tmp_path: Path) -> None:
    file = tmp_path / "review.json"
    file.write_text("\n\n" + json.dumps(review("a"), indent=2))
    assert [(one.request.name, one.line) for one in requests(str(file))] == [("a", 3)]


def test_an_object_that_is_too_deep_to_be_remembered_is_not_known_later(write: Write) -> None:
    deep: dict[str, Any] = {}
    for _ in range(400):
        deep = {"a": deep}
    reader = Recordings()
    found = requests(write(event("create", requestObject=pod(spec=deep)), event("update", requestObject=pod())), reader)
    assert [one.request.operation for one in found] == ["CREATE"]
    assert sum(reader.not_judged.values()) == 1


ODD = st.sampled_from(
    [None, True, False, 0, -1, 5, 201, 1e300, "", "x", "create", "v1", [], ["x"], [1], [None], {}, {"kind": "Pod"}]
)
WHOLE = {
    "event": event("patch", requestObject=pod(), responseObject=pod()) | {"impersonatedUser": {"username": "x"}},
    "review": review(response={"uid": "1", "allowed": True}, recordedAt="now"),
}


def places(value: Any, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    inner = value.items() if isinstance(value, dict) else ()
    return [place for key, one in inner for place in ((*path, key), *places(one, (*path, key)))]


@given(st.data())
def test_whatever_stands_in_a_field_a_line_is_a_request_or_a_fault_or_counted(data: st.DataObject) -> None:
    document = json.loads(json.dumps(data.draw(st.sampled_from(list(WHOLE.values())))))
    for path in data.draw(st.lists(st.sampled_from(places(document)), min_size=1, max_size=3)):
        parent = document
        for step in path[:-1]:
            parent = parent.get(step, {}) if isinstance(parent, dict) else {}
        if isinstance(parent, dict):
            parent[path[-1]] = data.draw(ODD)
    reader = Recordings()
    for one in reader._document("log", 1, document):
        assert isinstance(one, Recorded | DocumentError)
        if isinstance(one, Recorded):
            request = one.request
            texts = (*request.kind, *request.resource, request.name, request.namespace, request.subresource, one.time)
            assert all(isinstance(text, str) for text in texts)
            assert request.display_name is not None
