"""A copy of an object or request that may be written down: all that is known to be secret is replaced.

Besides Secrets, wherever they stand, and what policies call sensitive that is what its name gives away (a password in a
chart's values, a token in an environment variable, the user data of a virtual machine) and texts that tell one: a file
in a ConfigMap, an argument, a URL with a password in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from webhook.engine.secrecy import hidden
from webhook.model.path import Path
from webhook.model.request import AdmissionRequest, Object

REDACTED: Final = "(redacted)"

_NAMES: Final = (
    r"pass(word|wd|phrase)s?|tokens?|(api|access|secret|private)[-_]?keys?|client[-_]?secret|client-key-data"
)
_TELLING: Final = re.compile(
    rf"pass(word|wd|phrase)|({_NAMES}|credentials?|kubeconfig|dockerconfigjson|\.key)$|"
    r"(api|access|secret|private)[-_]?key|^(user|network)Data|^cloudInit",
    re.IGNORECASE,
)
"""Names whose text is a secret, or holds one."""
_TOLD: Final = re.compile(
    rf"({_NAMES})[\"']?[ \t]*[:=][ \t]*[^\s=]|-----BEGIN [A-Z ]*PRIVATE KEY|://[^/\s:@]*:[^/\s@]+@", re.IGNORECASE
)
"""What a text tells that holds a secret: one of the names with a value, a key, a URL with a password."""
_LONGEST_NAME: Final = 256
_LONGEST_TEXT: Final = 32 << 10
"""Characters; nothing longer is looked through: all threads, also those that answer reviews, wait while `re` does."""
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
    if isinstance(value, str):
        return REDACTED if len(value) > _LONGEST_TEXT or _tells(value) else value
    if isinstance(value, list):
        return [_copy(one) for one in value]
    if not isinstance(value, dict):
        return value
    copy = {key: _value(key, one) for key, one in value.items() if key not in _DROPPED}
    if isinstance(name := copy.get("name", copy.get("key")), str) and "value" in copy:  # an environment variable
        copy["value"] = _value(name, copy["value"])
    if str(copy.get("kind")).endswith("Secret"):  # also those within a list or a template, and a tenant's
        copy |= {key: _emptied(copy[key]) for key in ("data", "stringData") if key in copy}
    return copy


def _tells(text: str) -> bool:
    return (":" in text or "=" in text or "-----" in text) and bool(_TOLD.search(text))


def _value(name: str, value: Any) -> Any:
    telling = len(name) > _LONGEST_NAME or _TELLING.search(name)
    if not telling or isinstance(value, bool | dict | None):
        return _copy(value)
    if isinstance(value, list):
        return [_value(name, one) for one in value]
    return REDACTED


def _hide(value: Any, path: Path) -> None:
    """Replace what stands at a path of a copy."""
    *parents, last = path
    for step in parents:
        value = _child(value, step)
    found = _child(value, last)
    if found is not None:
        value[str(last) if isinstance(value, dict) else last] = _emptied(found)


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
