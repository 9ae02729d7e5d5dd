"""Everything that can go wrong, in one tree.

    CozyguardError
    ├── UsageError          a flag, a path or a setting cannot be used          (exit code 2)
    ├── DocumentErrors      faults of files that people wrote, all at once      (exit code 2)
    └── ReviewError         an AdmissionReview that cannot be read              (HTTP 4xx)

A broken *object* is none of these: it is a decision. A rule that cannot be evaluated is none of
these either: it is a verdict, and the policy's `failurePolicy` says what it means.

Messages are lower case, without a full stop, with the user's own text in backticks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from http import HTTPStatus


class CozyguardError(Exception):
    """The root: whatever cozyguard itself raises on purpose."""


class UsageError(CozyguardError):
    """The command or a setting cannot be carried out as given."""


@dataclass(frozen=True, slots=True, order=True)
class DocumentError:
    """One fault of a file: where it is and what was expected there.

    `line` and `column` count from 1; 0 means that the fault has no place in the file (it cannot be
    opened, say). `path` is the field path, written as everywhere (`spec.validations[0].expression`).
    """

    file: str
    line: int = 0
    column: int = 0
    path: str = ""
    message: str = ""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        return f"{place}: {self.path}: {self.message}" if self.path else f"{place}: {self.message}"


class DocumentErrors(CozyguardError):
    """All faults that were found in files, never only the first."""

    def __init__(self, errors: Iterable[DocumentError]) -> None:
        """Keep the errors in reading order."""
        self.errors = tuple(sorted(errors))
        super().__init__("\n".join(map(str, self.errors)))

    def __reduce__(self) -> tuple[type[DocumentErrors], tuple[tuple[DocumentError, ...]]]:
        return type(self), (self.errors,)  # for other processes: an exception is copied by its words otherwise

    def __iter__(self) -> Iterator[DocumentError]:
        return iter(self.errors)


class ReviewError(CozyguardError):
    """The body is no AdmissionReview that can be answered; `status` is the HTTP status to send."""

    def __init__(self, message: str, status: HTTPStatus = HTTPStatus.BAD_REQUEST) -> None:
        """Keep the status beside the message."""
        self.status = status
        super().__init__(message)


def closest(word: str, known: Iterable[str]) -> str | None:
    """Give the known word that was probably meant, if one is near. Letter case does not count."""
    from difflib import get_close_matches  # here: only a fault needs it

    names = {name.lower(): name for name in sorted(known)}  # of two that differ in case alone the lower one
    return next((names[near] for near in get_close_matches(word.lower(), names, n=1)), None)


def did_you_mean(word: str, known: Iterable[str], prefix: str = "") -> str:
    """Point out the near match, if there is one, as the end of a message; `prefix` is written before it."""
    near = closest(word, known)
    return f"; did you mean `{prefix}{near}`?" if near is not None else ""
