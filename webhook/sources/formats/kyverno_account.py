"""`parseServiceAccount(…)` of Kyverno, written in the CEL of Kubernetes."""

from __future__ import annotations

import re
from typing import Final

from webhook.model.policy import Expression, Policy
from webhook.sources.formats.kyverno_calls import Written, replaced
from webhook.sources.formats.kyverno_texts import rewritten

_CALL: Final = re.compile(r"(?<![\w.])(?:user\s*\.\s*)?(parseServiceAccount)\s*\(")
_ACCOUNT: Final = (
    "optional.of({0}).optMap(account_, account_.matches('^system:serviceaccount:[^:]*:') "
    "? {{'Namespace': account_.split(':', 4)[2], 'Name': account_.split(':', 4)[3]}} "
    ": {{'Namespace': '', 'Name': ''}}).value()"
)
"""A name is what follows the namespace, colons and all; a user that is no account has neither."""


def with_accounts(policy: Policy) -> Policy:
    """Write every call out."""
    return rewritten(policy, _changed)


def _changed(expression: Expression) -> Expression:
    return expression.rewritten(replaced(expression.text, _CALL, _written))


def _written(call: Written) -> str:
    return _ACCOUNT.format(*call.arguments) if len(call.arguments) == 1 else call.text
