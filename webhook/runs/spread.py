"""Work spread over processes, its results in the order of the input."""

from __future__ import annotations

import gc
import os
import pickle
import signal
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from functools import partial
from itertools import islice
from typing import BinaryIO, Final, TypeVar

from webhook.errors import CozyguardError

Item = TypeVar("Item")
Answer = TypeVar("Answer")

_END: Final = None


def spread(
    items: Callable[[], Iterable[Item]], work: Callable[[Item], Iterable[Answer]], processes: int
) -> Iterator[Answer]:
    """Yield every answer of `work(item)` for every item of `items()`, in order.

    Each process goes through all items itself and works on its share, every n-th: nothing but
    answers has to be sent, and a process that is far ahead waits at its full pipe, so that memory
    stays flat. Answers must be picklable. Raises CozyguardError when a process ends early.
    """
    if processes < 2:
        for item in items():
            yield from work(item)
        return
    gc.freeze()  # what the processes share must not be written to, or it is copied
    children: list[int] = []
    with ExitStack() as stack:
        stack.callback(_end, children)
        pipes = []
        for share in range(processes):
            part = islice(items(), share, None, processes)
            pid, pipe = _start(partial(_answer, part, work))
            children.append(pid)
            pipes.append(stack.enter_context(pipe))
        yield from _in_turn(pipes)


def _in_turn(pipes: list[BinaryIO]) -> Iterator[Answer]:
    """Read the answers to an item from each process in turn; the first that has none left ends it, for it was next."""
    while True:
        for pipe in pipes:
            try:
                answers = pickle.load(pipe)  # noqa: S301 - our own process wrote it
            except EOFError:
                message = "a worker process ended before its work was done; try again with `--jobs 1`"
                raise CozyguardError(message) from None
            if answers is _END:
                return
            yield from answers


def _start(run: Callable[[BinaryIO], None]) -> tuple[int, BinaryIO]:
    """Fork a process that writes to a pipe; its parent gets its id and the end to read from."""
    reading, writing = os.pipe()
    if pid := os.fork():
        os.close(writing)
        return pid, os.fdopen(reading, "rb")
    code = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C reaches us too, and only the parent speaks
        os.close(reading)
        with os.fdopen(writing, "wb") as out:
            run(out)
        code = 0
    except BrokenPipeError:
        pass  # nobody wants the rest
    except Exception:  # noqa: BLE001 - a fault of ours must be seen before the process is gone
        traceback.print_exc()
    finally:
        os._exit(code)


def _answer(items: Iterable[Item], work: Callable[[Item], Iterable[Answer]], out: BinaryIO) -> None:
    for item in items:
        pickle.dump(list(work(item)), out, pickle.HIGHEST_PROTOCOL)
        out.flush()
    pickle.dump(_END, out)


def _end(children: list[int]) -> None:
    """Stop whoever still works, and collect all."""
    for child in children:
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGTERM)
        os.waitpid(child, 0)
