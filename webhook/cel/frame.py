"""What one run of a twin recorded: the value of each sub-expression, and which elements loops stand at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from webhook.cel import provenance
from webhook.cel.errors import ERRORS, Budget
from webhook.cel.scope import Binder, binders
from webhook.cel.tree import Node, Tree, walk
from webhook.model.path import Path

if TYPE_CHECKING:
    from webhook.cel.session import Session


@dataclass(frozen=True, slots=True)
class Layout:
    """A tree with its nodes and their binders by id: the same for every run."""

    tree: Tree
    nodes: Mapping[int, Node]
    binders: Mapping[int, Binder]

    @classmethod
    def of(cls, tree: Tree) -> Layout:
        """Walk the tree."""
        return cls(tree, {node.id: node for node in walk(tree.root)}, binders(tree.root))


class Frame:
    """The record of one expression; generated code knows it as `R`.

    `values` holds by node id what was seen last, so after a loop that has stopped early it holds what
    the deciding element gave. `at` is the element each loop stands at: its index, or its key. `kept`
    says for each loop that makes a list where its elements were read. `marks` says which node an error
    came from.
    """

    def __init__(self, session: Session, layout: Layout, paths: Mapping[str, Path | None]) -> None:
        self.session = session
        self.tree, self.nodes, self.binders = layout.tree, layout.nodes, layout.binders
        self.paths = paths
        self.values: dict[int, Any] = {}
        self.at: dict[int, int | str] = {}
        self.kept: dict[int, list[Path | None]] = {}
        self.marks: dict[int, tuple[Exception, int]] = {}

    def see(self, id_: int, value: Any) -> Any:
        """Record a value."""
        self.values[id_] = value
        return value

    def do(self, id_: int, helper: Callable[..., Any], *arguments: Any) -> Any:
        """Run an operator; an error is marked with its node."""
        try:
            return helper(*arguments)
        except ERRORS as error:
            self.marks.setdefault(id(error), (error, id_))
            raise

    def read(self, id_: int, name: str) -> Any:
        """Read a lazy value, through its own twin where it has one."""
        return self.do(id_, self.session.read, name)

    def loop(
        self, id_: int, helper: Callable[..., Iterable[Any]], budget: Budget, value: Any, cost: int
    ) -> Iterator[Any]:
        """Go through a loop, and remember where it stands."""
        self.kept[id_] = []
        entries = self.do(id_, helper, budget, value, cost)
        keys: Iterable[Any] = value if isinstance(value, dict) else range(len(value))
        for key, entry in zip(keys, entries, strict=True):
            self.at[id_] = key
            yield entry

    def keep(self, loop: int, body: int) -> None:
        """Remember where the element was read that a loop has just added to its list."""
        self.kept[loop].append(provenance.path(self, self.nodes[body]))
