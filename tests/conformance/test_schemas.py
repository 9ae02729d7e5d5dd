"""The same broken objects to a real API server, asked strictly, and to our reading of its schemas."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

from tests.conformance.native import Answer, ApiServer
from tests.controlplane.plane import ControlPlane
from webhook.admission.structures import Structure
from webhook.model.path import Path as Place
from webhook.model.path import render
from webhook.model.request import GroupVersionKind, Object
from webhook.sources import yaml
from webhook.sources.objects import ObjectStore
from webhook.sources.schemas import Fault, Schemas, conform, decodes

FOLDER: Final = Path(__file__).parent / "schemas"
STRICT: Final = "?dryRun=All&fieldValidation=Strict"
STRIDE: Final = int(os.environ.get("COZYGUARD_CONFORMANCE_STRIDE", "7"))
"""One of so many changes is asked about; 1 asks about all, some 3,600 in 15 seconds."""

OTHERS: Final[tuple[Any, ...]] = (7, 1.5, "text", True, {}, {"a": "b"}, [], ["a"], None, -1, "")
ODD: Final = ("binaryData.c is []", "data.a is []", "spec.when is []", "spec.when is ['a']")
"""Go reads a list of numbers as bytes, too, and a time may be a list as far as the API server looks; we refuse both."""


def documents(name: str) -> list[Object]:
    return [each.value for each in yaml.read((FOLDER / name).read_bytes(), name)]


OBJECTS: Final = documents("objects.yaml")


@pytest.fixture(scope="module")
def server(control_plane: ControlPlane) -> Iterator[ApiServer]:
    definition = str(FOLDER / "thing.yaml")
    control_plane.install(FOLDER / "thing.yaml")
    with closing(ApiServer(control_plane)) as made:
        yield made
    control_plane.kubectl("delete", "--filename", definition, "--wait=false")


def structure_of(obj: Object) -> Structure:
    store = ObjectStore(documents("thing.yaml"))
    kind = GroupVersionKind.of(obj)
    found = Schemas("1.6", cluster=store).of(kind, store.resource(kind))
    assert found
    return found


@pytest.mark.parametrize("obj", OBJECTS, ids=[one["kind"] for one in OBJECTS])
def test_what_we_refuse_the_api_server_refuses_and_what_it_cannot_decode_we_refuse(
    server: ApiServer, obj: Object
) -> None:
    structure, path = structure_of(obj), server.collection(obj, "default") + STRICT
    answer = server.ask("POST", path, obj)
    assert answer.allowed, answer.message
    assert not conform(obj, structure)
    assert not conform(answer.body, structure), "as the API server gives it back"
    for what, made in list(broken(obj))[::STRIDE]:
        answer, faults = server.ask("POST", path, made), conform(made, structure)
        said = f"{what}: {answer.code} {answer.message} {faults}"
        if what in ODD:
            continue
        if faults:
            assert not answer.allowed, said
        if not answer.allowed and not faults:
            assert answer.code == 422, said  # by code of its own, of which no schema tells
        if not structure.native and not answer.allowed:
            assert faults, said
        assert any(map(undecodable, faults)) <= refused_outright(answer), said
        assert decodes(made) is not any(map(undecodable, faults)), said


def undecodable(fault: Fault) -> bool:
    return fault.undecodable and fault.path[:2] != ("spec", "embedded")


def refused_outright(answer: Answer) -> bool:
    return answer.code == 400 and "strict decoding" not in answer.message


def broken(obj: Object) -> Iterator[tuple[str, Object]]:
    """Change one place at a time: a key misspelt, a field left out, a value of another type."""
    for path, value in places(obj):
        if path[0] in ("apiVersion", "kind") or path == ("metadata",) or path[:2] == ("metadata", "name"):
            continue
        for what, change in changes(path[-1], value):
            made = deepcopy(obj)
            parent: Any = made
            for step in path[:-1]:
                parent = parent[step]
            change(parent)
            yield f"{render(path)} {what}", made


def places(value: Any, path: Place = ()) -> Iterator[tuple[Place, Any]]:
    items: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in items:
        yield (*path, step), inner
        yield from places(inner, (*path, step))


def changes(step: str | int, value: Any) -> Iterator[tuple[str, Callable[[Any], None]]]:
    yield "left out", lambda parent: parent.pop(step)
    if isinstance(step, str):
        yield "misspelt", lambda parent: parent.update({f"{step}s": parent.pop(step)})
    others = [*OTHERS, [*value, *value]] if isinstance(value, list) else OTHERS
    for other in others:
        if type(other) is not type(value) or other != value:
            yield f"is {other!r}", partial(put, step, other)


def put(step: str | int, value: Any, parent: Any) -> None:
    parent[step] = value
