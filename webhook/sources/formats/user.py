"""Who asks, as a `UserInfo` of Kubernetes is written."""

from __future__ import annotations

from webhook.model import request as model
from webhook.sources.formats.base import Mapped


class User(Mapped):
    """`userInfo`."""

    username: str = ""
    uid: str = ""
    groups: list[str] = []
    extra: dict[str, list[str]] = {}

    def build(self) -> model.UserInfo:
        """Make the model's word of it."""
        return model.UserInfo(self.username, tuple(self.groups), self.uid, self.extra)
