"""A copy of an object or request that may be written down: all that is known to be secret is replaced.

Besides Secrets and what policies call sensitive that is what its name gives away: a password in a chart's values, a
token in an environment variable, the user data of a virtual machine.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from webhook.engine.secrecy import hidden
from webhook.model.path import Path
from webhook.model.request import AdmissionRequest, Object

REDACTED: Final = "(redacted)"

_TELLING: Final = re.compile(
    r"pass(word|wd|phrase)|token$|(api|access|secret|private)[-_]?key|credentials?$|^(user|network)Data", re.IGNORECASE
)
"""Names whose text is a secret, or holds one."""
_DROPPED: Final = frozenset({"managedFields", "kubectl.kubernetes.io/last-applied-configuration"})
"""Bookkeeping, which repeats the object."""


def redact(request: AdmissionRequest, sensitive: Iterable[Path]) -> Object:
    """Give the `request` of an AdmissionReview, without secrets; `sensitive` are fields that policies call so."""
    fields = tuple(sensitive)
    user = request.cel.get("userInfo")
    review = {"uid": request.uid, **request.cel}
    if isinstance(user, dict):  # what authenticators add can be a credential
        review["userInfo"] = {key: value for key, value in user.items() if key != "extra"}
    for name, obj in (("object", request.object), ("oldObject", request.old_object)):
        review[name] = None if obj is None else redacted(obj, fields)
    return review


def redacted(obj: Object, sensitive: Iterable[Path]) -> Object:
    """Copy an object without its secrets: their keys stay, their values do not."""
    copy: Object = _copy(obj)
    for path in hidden(obj, sensitive):
        _hide(copy, path)
    return copy


def _copy(value: Any) -> Any:
    if isinstance(value, list):
        return [_copy(one) for one in value]
    if not isinstance(value, dict):
        return value
    copy = {key: _value(key, one) for key, one in value.items() if key not in _DROPPED}
    if isinstance(copy.get("name"), str) and isinstance(copy.get("value"), str):  # an environment variable
        copy["value"] = _value(copy["name"], copy["value"])
    return copy


def _value(name: str, value: Any) -> Any:
    return REDACTED if isinstance(value, str) and _TELLING.search(name) else _copy(value)


def _hide(value: Any, path: Path) -> None:
    """Replace what stands at a path of a copy."""
    *parents, last = path
    for step in parents:
        value = _child(value, step)
    found = _child(value, last)
    if found is not None:
        value[last] = _emptied(found)


def _child(value: Any, step: str | int) -> Any:
    if isinstance(value, dict):
        return value.get(str(step))
    if isinstance(value, list) and isinstance(step, int) and step < len(value):
        return value[step]
    return None


def _emptied(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _emptied(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_emptied(one) for one in value]
    return REDACTED
