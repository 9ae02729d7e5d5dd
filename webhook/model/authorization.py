"""May somebody do something: the question, as a SubjectAccessReview puts it, and its answer."""

from __future__ import annotations

from dataclasses import dataclass

from webhook.model.request import UserInfo


@dataclass(frozen=True, slots=True)
class Attributes:
    """What is asked: a verb on a resource, or on a `path` that is no resource's.

    `namespace` is "" for the whole cluster, `name` for any object. Selectors are as they are written.
    """

    user: UserInfo
    verb: str = ""
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    field_selector: str = ""
    label_selector: str = ""
    path: str = ""

    def __str__(self) -> str:
        """Put the question in words: `whether alice may create pods.apps web in namespace team`."""
        resource = ".".join(filter(None, (self.resource, self.group)))
        what = self.path or "/".join(filter(None, (resource, self.subresource)))
        name = f" {self.name}" if self.name else ""
        place = f" in namespace {self.namespace}" if self.namespace else ""
        return f"whether {self.user.username} may {self.verb} {what}{name}{place}"


@dataclass(frozen=True, slots=True)
class Authorization:
    """The answer. `error` is what went wrong in finding it, which is then no permission."""

    allowed: bool
    reason: str = ""
    error: str = ""
