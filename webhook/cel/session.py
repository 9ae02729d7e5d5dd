"""One traced evaluation: the frames of a function and of the variables it read, and what follows from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from webhook.cel import provenance
from webhook.cel.activation import Activation
from webhook.cel.blame import Blame, blame, failed, first_path
from webhook.cel.errors import ERRORS, Budget, Exhausted
from webhook.cel.extent import position, source
from webhook.cel.frame import Frame
from webhook.cel.reasons import reason
from webhook.cel.runtime import fetch, wrap
from webhook.cel.slots import UNSET
from webhook.cel.trace import Trace
from webhook.cel.tree import Call, Ident, Select
from webhook.cel.values import Optional
from webhook.cel.values.maps import MISSING
from webhook.model.path import Path

if TYPE_CHECKING:
    from webhook.cel.instrument import Tracer


class Session:
    """Runs twins with a budget of its own, so that explaining a rule does not use up the review's."""

    def __init__(self, tracer: Tracer, activation: Activation) -> None:
        self._tracer = tracer
        self._activation = _again(activation)
        self._locations: dict[int, Path] | None = None
        self._failures: dict[str, Exception] = {}
        self._values: dict[str, Any] = {}
        self.frames: dict[str, Frame] = {}
        self.first_paths: dict[str, Path | None] = {}
        self.lazy_paths: dict[tuple[str, int | str | None], Path | None] = {}

    def trace(self, name: str, parameters: Sequence[Any], paths: Mapping[str, Path | None]) -> Trace:
        """Run the twin of a function and say what happened."""
        frame = Frame(self, self._tracer.layout(name), paths)
        try:
            value = self._tracer.twin(name)(self._activation, frame, *parameters)
        except ERRORS as error:
            return self._failure(frame, error)
        except Exhausted as error:
            return Trace(error=str(error), tell_steps=partial(_steps, frame))
        if value is False:
            return self._result(frame, value, blame(frame, frame.tree.root))
        root = frame.tree.root
        return self._result(frame, value, Blame(frame, root, first_path(frame, root)))

    def read(self, name: str) -> Any:
        """Give the value of a lazy name; the twin of a variable runs once."""
        if place := self._tracer.outside(name):
            slot, key = place
            value = self._activation.slots[slot]
            return fetch(self._activation, slot, key) if value is UNSET else value
        if name in self._failures:
            raise self._failures[name].with_traceback(None)
        if name not in self._values:
            frame = self.frames[name] = Frame(self, self._tracer.layout(name), {})
            try:
                self._values[name] = self._tracer.twin(name)(self._activation, frame)
            except ERRORS as error:
                self._failures[name] = error
                raise
        return self._values[name]

    def locate(self, value: Any) -> Path | None:
        """Find an object or list of the reviewed object by its identity: values are never copied."""
        if not isinstance(value, dict | list) or not value:
            return None
        if self._locations is None:
            self._locations = dict(_locations(self._activation.object, ()))
        return self._locations.get(id(value))

    def _failure(self, frame: Frame, error: Exception) -> Trace:
        chain, part = failed(frame, error)
        through = f" (in {', read by '.join(reversed(chain))})" if chain else ""
        marked = frame.marks.get(id(error))
        return self._result(
            frame,
            None,
            part,
            error=f"{error}{through}",
            error_position=position(frame.tree, frame.nodes[marked[1]]) if marked else None,
        )

    def _result(self, frame: Frame, value: Any, part: Blame | None, **more: Any) -> Trace:
        path = part.path if part else None
        found, has_found = _stands(self._activation.object, path)
        if "error" not in more:
            more["tell_reason"] = partial(reason, frame)
        return Trace(
            value=value,
            path=path,
            found=found,
            has_found=has_found,
            elements=dict(_elements(frame, value)),
            tell_part=partial(source, part.frame.tree, part.node) if part else str,
            tell_steps=partial(_steps, frame),
            **more,
        )


def _again(activation: Activation) -> Activation:
    """Give the same activation with a fresh budget; what was fetched stays fetched."""
    budget = Budget(activation.budget.limit, activation.budget.total, activation.budget.expired)
    again = Activation(
        activation.object,
        activation.oldObject,
        activation.request,
        activation.namespaceObject,
        activation.params,
        activation.release,
        activation.acknowledged,
        activation.authorizer,
        size=0,
        budget=budget,
        fetch=activation.fetch,
    )
    again.slots = activation.slots
    again.failures = activation.failures
    return again


def _locations(value: Any, path: Path) -> Iterator[tuple[int, Path]]:
    """Give every object and list below a value, by identity."""
    if isinstance(value, dict | list):
        yield id(value), path
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _locations(inner, (*path, key))


def _stands(value: Any, path: Path | None) -> tuple[Any, bool]:
    """Give what stands at a path of the object, and whether anything does."""
    if path is None:
        return None, False
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None, False
    return value, True


def _elements(frame: Frame, value: Any) -> Iterator[tuple[int | str, Path]]:
    """Give where the elements of a result stand."""
    if isinstance(value, Optional):
        value = value.value if value.has_value else None
    keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        if found := provenance.element(frame, frame.tree.root, key):
            yield key, found


def _steps(frame: Frame) -> Iterator[tuple[str, Any]]:
    """Give the sub-expressions that say something, in order: no literals, and of `a.b.c` the whole only."""
    inner = {node.operand.id for node in frame.nodes.values() if isinstance(node, Select)}
    inner |= {node.args[0].id for node in frame.nodes.values() if isinstance(node, Call) and node.function in _READS}
    for id_, value in frame.values.items():
        node = frame.nodes[id_]
        if id_ not in inner and not (isinstance(node, Ident) and node.name == "object"):
            yield source(frame.tree, node), wrap(value) if value is MISSING else value
    for error, id_ in frame.marks.values():
        yield source(frame.tree, frame.nodes[id_]), error


_READS = ("_[_]", "_?._", "_[?_]")
