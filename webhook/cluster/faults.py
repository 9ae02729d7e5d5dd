"""What can go wrong when the API server is asked; nothing of the HTTP library is let through.

ApiError           it answered, and the answer is no
└── Unreachable    no answer: refused, timed out, TLS that does not hold
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import orjson

from webhook.errors import CozyguardError
from webhook.model.request import Object


class ApiError(CozyguardError):
    """The API server refuses, or says that it cannot.

    `status` is the HTTP status, `reason` Kubernetes' word for it (`NotFound`, `Expired`; "" where it gives none),
    `details` its `Status.details`, and `retry_after` the seconds after which it wants to be asked again. With a list
    that `is_gone` comes the `token` of the next page all the same: of the objects as they are now.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int = 0,
        reason: str = "",
        retry_after: float | None = None,
        details: Object | None = None,
        token: str = "",
    ) -> None:
        """Keep the parts beside the message, which names the request."""
        self.message = message
        self.status = status
        self.reason = reason
        self.retry_after = retry_after
        self.details = details or {}
        self.token = token
        super().__init__(message)

    @property
    def is_not_found(self) -> bool:
        """The object is not there, or the resource is not served."""
        return self.status == HTTPStatus.NOT_FOUND

    @property
    def is_conflict(self) -> bool:
        """The object has changed meanwhile, a field is owned by somebody else, or a new object exists already."""
        return self.status == HTTPStatus.CONFLICT

    @property
    def is_forbidden(self) -> bool:
        """RBAC, or a webhook, does not allow it."""
        return self.status == HTTPStatus.FORBIDDEN

    @property
    def is_gone(self) -> bool:
        """The resourceVersion or the continue token is too old: the list has to be asked for anew."""
        return self.status == HTTPStatus.GONE


class Unreachable(ApiError):
    """There is no answer; whether the request was carried out is not known."""


def of_response(request: str, status: int, headers: Mapping[str, str], content: bytes) -> ApiError:
    """Make the error of an answer; `request` is its method and path."""
    try:
        answer = orjson.loads(content)
    except orjson.JSONDecodeError:
        answer = None
    if not isinstance(answer, dict):  # a proxy's page, say: nothing of it is worth quoting
        answer = {}
    return of_status(request, {"code": status} | answer, _seconds(headers.get("Retry-After")))


def of_status(request: str, answer: Object, retry_after: float | None = None) -> ApiError:
    """Make the error of a `Status` object, as watches send them too."""
    code = answer.get("code")
    status = code if isinstance(code, int) else HTTPStatus.INTERNAL_SERVER_ERROR
    details = _mapping(answer.get("details"))
    reason = str(answer.get("reason") or "")
    words = str(answer.get("message") or reason or "the answer gives no reason")
    return ApiError(
        f"{request}: {words} ({int(status)})",
        status=status,
        reason=reason,
        retry_after=retry_after,
        details=details,
        token=str(_mapping(answer.get("metadata")).get("continue") or ""),
    )


def _mapping(value: Any) -> Object:
    return value if isinstance(value, dict) else {}


def _seconds(header: str | None) -> float | None:
    """Read a `Retry-After`; the API server always gives seconds."""
    return float(header) if header and header.isdecimal() else None
