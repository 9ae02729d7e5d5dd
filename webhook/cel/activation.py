"""What one review hands to its expressions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from webhook.cel.errors import Budget, NotKnown
from webhook.cel.slots import UNSET


def _nothing(key: str, activation: Activation) -> Any:  # noqa: ARG001 - the signature of `fetch`
    raise NotKnown(key)


def _no_authorizer() -> Any:
    raise NotKnown("the user")


def _unbound(name: str, activation: Activation) -> Any:  # noqa: ARG001 - the signature of `late`
    return None


class Activation:
    """The variables of a review, and the lazy values that its expressions have computed so far.

    One is made per review and phase; `size` is the length of the slot table. Values are plain JSON and
    are never changed. `request` may be a dict whose `__missing__` raises NotKnown for `userInfo`.
    `authorizer` makes that variable, which few expressions read; `late` gives `namespaceObject` and
    `acknowledged` by name, where they are not given, and `fetch` the value of an outside name by its key;
    both may raise NotKnown. They are handed the activation instead of holding it, or each review would wait
    for the garbage collector. Expressions that see other `params` need an activation of their own: slots
    are shared by all that read this one.
    """

    __slots__ = (
        "acknowledged",
        "authorizer",
        "budget",
        "failures",
        "fetch",
        "late",
        "namespaceObject",
        "object",
        "oldObject",
        "params",
        "release",
        "request",
        "slots",
    )

    def __init__(
        self,
        object: Any = None,  # noqa: A002 - the CEL name
        oldObject: Any = None,  # noqa: N803 - the CEL name
        request: Any = None,
        namespaceObject: Any = UNSET,  # noqa: N803 - the CEL name
        params: Any = None,
        release: Any = None,
        acknowledged: Any = UNSET,
        authorizer: Callable[[], Any] = _no_authorizer,
        *,
        size: int,
        budget: Budget | None = None,
        fetch: Callable[[str, Activation], Any] = _nothing,
        late: Callable[[str, Activation], Any] = _unbound,
    ) -> None:
        self.object = object
        self.oldObject = oldObject
        self.request = request
        if namespaceObject is not UNSET:
            self.namespaceObject = namespaceObject
        self.params = params
        self.release = release
        if acknowledged is not UNSET:
            self.acknowledged = acknowledged
        self.authorizer = authorizer
        self.budget = budget or Budget()
        self.fetch = fetch
        self.late = late
        self.slots: list[Any] = [UNSET] * size
        self.failures: dict[int, Exception] = {}

    def __getattr__(self, name: str) -> Any:
        """Bind a variable that is read for the first time: its slot is empty until then."""
        if name not in ("namespaceObject", "acknowledged"):
            raise AttributeError(name)
        value = self.late(name, self)
        setattr(self, name, value)
        return value
