"""Objects that nobody thought of: values of any schema of the API server's, and objects with some of their fields changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from functools import cached_property
from typing import Any, Final

from hypothesis import strategies as st

from tests.conformance.native import ApiServer
from webhook.model.request import GroupVersionKind, Object

GONE: Final = object()
TORN: Final[tuple[Any, ...]] = (GONE, None, {}, [], ["x"], [{}], "", "x", "true", 0, 7, 1.5, True)
"""What stands in place of a field, whatever its schema says."""

TEXTS: Final = (
    *(
        "",
        "a",
        "ab",
        "abc",
        "z",
        "x",
        "A",
        "a,b",
        " x ",
        "a\nb",
        "é",
        "日本",
        "aa1b2",
        "true",
        "0",
        "1",
        "7",
        "-5",
        "1.5",
    ),
    *("1Gi", "100m", "1e3", "10.0.0.1", "::1", "10.0.0.0/8", "fd00::/8", "http://u@h:1/p%20q?k=v#f", "1.2.3", "v1.2.3"),
    *("2024-02-29T01:02:03Z", "1h30m", "90s", "NaN", "example.org/x"),
)
NUMBERS: Final = (0, 1, 2, 3, 4, 5, 7, 50, -1, -7, 2**31 - 1)
_DEEPEST: Final = 5


class Schemas:
    """The OpenAPI documents of an API server."""

    def __init__(self, server: ApiServer) -> None:
        self._server = server
        self._documents: dict[str, Mapping[str, Any]] = {}

    def of(self, kind: GroupVersionKind) -> Schema:
        """Give the schema of a kind: anything, of one that is not there."""
        path = f"apis/{kind.group}/{kind.version}" if kind.group else f"api/{kind.version}"
        if path not in self._documents:
            answer = self._server.ask("GET", f"/openapi/v3/{path}")
            self._documents[path] = answer.body["components"]["schemas"] if answer.allowed else {}
        types = self._documents[path]
        wanted = kind._asdict()
        found = [one for one in types.values() if wanted in one.get("x-kubernetes-group-version-kind", ())]
        return Schema(found[0] if found else {}, types)


class Schema:
    """A schema, and the types that it may refer to."""

    def __init__(self, said: Mapping[str, Any], types: Mapping[str, Any]) -> None:
        self._types = types
        references = [one["$ref"] for one in (said, *said.get("allOf", ())) if "$ref" in one]
        target = types[references[0].rpartition("/")[2]] if references else {}
        self.said: Mapping[str, Any] = {**target, **said}

    @cached_property
    def fields(self) -> Mapping[str, Schema]:
        """The fields of a map."""
        return {name: self._inner(one) for name, one in self.said.get("properties", {}).items()}

    def values(self, depth: int = 0) -> st.SearchStrategy[Any]:
        """Draw values: small ones, and none that is known to be refused."""
        said = self.said
        if said.get("x-kubernetes-int-or-string") or said.get("format") == "int-or-string":
            return st.sampled_from((*NUMBERS[:6], "1", "50%", "x"))
        match said.get("type"):
            case "string":
                return st.sampled_from(said.get("enum") or TEXTS)
            case "integer":
                return st.sampled_from(NUMBERS)
            case "number":
                return st.sampled_from((0, 1, 2, 0.5, 1.5, -3.25, 1e21))
            case "boolean":
                return st.booleans()
            case "array":
                items = self._inner(said.get("items", {})).values(depth + 1)
                return st.lists(items, max_size=0 if depth > _DEEPEST else 3)
            case _:
                return self._maps(depth)

    def _maps(self, depth: int) -> st.SearchStrategy[Any]:
        if depth > _DEEPEST:
            return st.just({})
        if isinstance(others := self.said.get("additionalProperties"), Mapping):
            return st.dictionaries(st.sampled_from(("a", "b", "c")), self._inner(others).values(depth + 1), max_size=3)
        if not self.fields:
            return st.sampled_from(({}, {"a": 1}, {"a": {"b": {"c": "d"}}, "l": [1, "x"]}, {"a": {"b": "text"}}))
        needed = self.said.get("required", ())
        drawn = {name: one.values(depth + 1) for name, one in self.fields.items()}
        return st.fixed_dictionaries(
            {name: one for name, one in drawn.items() if name in needed},
            optional={name: one for name, one in drawn.items() if name not in needed},
        )

    def _inner(self, said: Mapping[str, Any]) -> Schema:
        return Schema(said, self._types)


@st.composite
def changed(draw: st.DrawFn, obj: Object, schema: Schema, most: int = 3) -> Object:
    """Change some fields below `spec` and its like: to what their schema says, or to what it does not."""
    made = deepcopy(obj)
    for _ in range(draw(st.integers(0, most))):
        if draw(st.booleans()):
            path, inner = draw(_reached(schema))
            _fill(made, path, draw(inner.values(len(path))))
        elif found := [path for path in places(made) if path[0] not in ("apiVersion", "kind", "metadata")]:
            put(made, draw(st.sampled_from(found)), draw(st.sampled_from(TORN)))
    return made


@st.composite
def _reached(draw: st.DrawFn, schema: Schema) -> tuple[tuple[str, ...], Schema]:
    """Walk from a schema to one of the fields below it."""
    path: tuple[str, ...] = ()
    for depth in range(draw(st.integers(1, 4))):
        names = [name for name in schema.fields if depth or name not in ("apiVersion", "kind", "metadata", "status")]
        if not names:
            break
        name = draw(st.sampled_from(names))
        path, schema = (*path, name), schema.fields[name]
    return path, schema


def _fill(obj: Object, path: tuple[str, ...], value: Any) -> None:
    """Put a value in its place, and make the maps on the way there."""
    for step in path[:-1]:
        if not isinstance(obj.get(step), dict):
            obj[step] = {}
        obj = obj[step]
    if path:
        obj[path[-1]] = value


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Give the path of everything below a value."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield (*path, key)
        yield from places(inner, (*path, key))


def put(obj: Object, path: tuple[Any, ...], value: Any) -> None:
    """Put a value in the place of another."""
    *above, last = path
    for step in above:
        obj = obj[step]
    if value is GONE:
        del obj[last]
    else:
        obj[last] = deepcopy(value)
