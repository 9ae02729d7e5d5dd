"""Functions of Kubernetes that are not here yet, so that an expression with one is refused by name."""

from __future__ import annotations

from typing import Final, NamedTuple


class Later(NamedTuple):
    """Which library a function belongs to, and the minor release of Kubernetes that brought it."""

    library: str
    since: str


_LIBRARIES: Final = {
    Later("authorizer", "1.27"): """
        path group serviceAccount resource subresource namespace name check allowed reason errored error
    """,
    Later("authorizer", "1.31"): "fieldSelector labelSelector",
}

LATER: Final[dict[str, Later]] = {name: library for library, names in _LIBRARIES.items() for name in names.split()}
"""Every such function by its name."""
