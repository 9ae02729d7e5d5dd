"""Regular expressions, in RE2's language and by RE2, which cannot backtrack for ever.

Sources: `matches` of cel-go (`common/types/string.go`), `find` and `findAll` of the API server
(`pkg/cel/library/regex.go`).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from webhook.cel.errors import Budget, CelError
from webhook.cel.functions.library import Function, Library, charging, method
from webhook.cel.values.arithmetic import text_cost


@lru_cache(maxsize=128)
def _compiled(pattern: str) -> Any:
    import re2  # not above: a command whose policies need no regular expression starts sooner

    options = re2.Options()
    options.log_errors = False  # it would print to stderr
    options.never_capture = True  # nothing here asks for groups, and matching is cheaper without
    options.max_mem = 2 << 20  # bytes; a pattern can come from the object, and 128 of them are kept
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        reason = error.args[0]
        raise CelError(f"error parsing regexp: {reason.decode() if isinstance(reason, bytes) else reason}") from None


def _readable(pattern: str) -> Any:
    try:
        return _compiled(pattern)
    except CelError as error:
        raise CelError(f"Illegal regex: {error}") from None


def _search(pattern: Any, text: str) -> Any:
    """The first match in UTF-8: bytes spare re2 the translation of offsets that nobody asks for."""
    return pattern.search(text.encode())


def _cost(text: str, pattern: str) -> int:
    """What the API server charges: a tenth of the text's length for every four characters of pattern."""
    return text_cost(len(text) + 1) * -(-len(pattern) // 4)


def _matches(budget: Budget, text: Any, pattern: Any) -> bool:
    if type(text) is not str or type(pattern) is not str:
        raise CelError("no such overload")
    budget.charge(_cost(text, pattern))
    return _search(_compiled(pattern), text) is not None


def _find(budget: Budget, text: str, pattern: str) -> str:
    budget.charge(_cost(text, pattern))
    found = _search(_readable(pattern), text)
    return found.group().decode() if found else ""


def _find_all(budget: Budget, text: str, pattern: str, limit: int = -1) -> list[str]:
    budget.charge(_cost(text, pattern))
    found: list[str] = []
    end = -1
    searched = text.encode() if text.isascii() else text  # bytes end between characters only where each is one
    for match in _readable(pattern).finditer(searched):
        if len(found) == limit:
            break
        start, stop = match.span()
        if start == stop == end:
            continue  # Go leaves out an empty match that touches the one before
        budget.charge(1)
        end = stop
        found.append(text[start:stop])
    return found


LIBRARIES: Final = (
    Library(
        "regex",
        "1.0",
        (
            Function("matches", (), _matches, charges=True),
            charging("find", _find, method("string", "string", result="string")),
            charging(
                "findAll",
                _find_all,
                method("string", "string", result="list<string>"),
                method("string", "string", "int", result="list<string>"),
            ),
        ),
    ),
)
