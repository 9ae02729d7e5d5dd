"""What runs between entering and leaving: whatever was started is stopped, also when the rest cannot start."""

from __future__ import annotations

from contextlib import ExitStack
from types import TracebackType
from typing import Self


class Started:
    """Subclasses start in `_start`, and put what is to be undone on `_stack`."""

    def __init__(self) -> None:
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        try:
            self._start()
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def _start(self) -> None:
        raise NotImplementedError
