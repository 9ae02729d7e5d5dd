"""`authorizer` and what its methods give: a question that is put together step by step, then its answer.

Who answers is handed in: asking a cluster takes time, which an expression never does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from webhook.cel.errors import CelError, NotKnown
from webhook.cel.values.opaque import Opaque
from webhook.cel.values.types import cel_type
from webhook.model.authorization import Attributes, Authorization
from webhook.model.request import UserInfo

Ask = Callable[[Attributes], Authorization | None]
"""Answers what it knows: None says that somebody else has to be asked first."""

UNKNOWN_USER = UserInfo("")
"""Who asks where nobody knows; no question about this user has an answer."""


class _Incomparable(Opaque):
    """A value that the API server cannot compare with anything, not even with itself."""

    __slots__ = ()

    def _equals(self, other: Any) -> bool:  # noqa: ARG002 - whatever it is
        raise CelError("no such overload")


@dataclass(frozen=True, slots=True, eq=False)
class _Question(_Incomparable):
    """What has been said so far of what is asked."""

    ask: Ask
    attributes: Attributes

    def check(self, verb: str) -> Decision:
        """Ask. Raises NotKnown, which names the question, when the answer is not at hand."""
        attributes = replace(self.attributes, verb=verb)
        if attributes.user is UNKNOWN_USER:
            raise NotKnown("the user")
        answer = self.ask(attributes)
        if answer is None:
            raise NotKnown(str(attributes))
        return Decision(answer)


@cel_type("kubernetes.authorization.PathCheck")
class PathCheck(_Question):
    """`authorizer.path('/healthz')`."""

    __slots__ = ()


@cel_type("kubernetes.authorization.ResourceCheck")
class ResourceCheck(_Question):
    """`authorizer.group('apps').resource('deployments')`, and `authorizer.requestResource`."""

    __slots__ = ()

    def having(self, **more: Any) -> ResourceCheck:
        """The same question, told more of."""
        return ResourceCheck(self.ask, replace(self.attributes, **more))


@cel_type("kubernetes.authorization.GroupCheck")
class GroupCheck(_Question):
    """`authorizer.group('apps')`."""

    __slots__ = ()


@cel_type("kubernetes.authorization.Authorizer")
@dataclass(frozen=True, slots=True, eq=False)
class Authorizer(_Incomparable):
    """The variable `authorizer`: questions about one user. `requested` is what the request itself is about."""

    ask: Ask
    user: UserInfo
    requested: Attributes

    @property
    def request_resource(self) -> ResourceCheck:
        """`authorizer.requestResource`."""
        return ResourceCheck(self.ask, self.requested)


@cel_type("kubernetes.authorization.Decision")
@dataclass(frozen=True, slots=True, eq=False)
class Decision(_Incomparable):
    """What `check` gives."""

    answer: Authorization
