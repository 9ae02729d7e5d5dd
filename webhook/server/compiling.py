"""Work in a process that ends with it, such as compiling policies.

What it needs (the CEL library, pydantic) would stay in the server for good, 50 MiB of it, and it holds Python's lock:
at every reload, reviews would wait.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TypeVar

from webhook.errors import CozyguardError
from webhook.model.configuration import Configuration
from webhook.sources import compiled, configuration
from webhook.sources.compiled import Compiled

Given = TypeVar("Given")
Made = TypeVar("Made")


def compile_policies(paths: Iterable[Path]) -> Compiled:
    """Do what `compiled.load` does; what the cache does not hold is compiled over there."""
    return compiled.load(paths, partial(elsewhere, compiled.compile_files))


def read_configuration(path: Path) -> Configuration:
    """Do what `configuration.load` does; what the cache does not hold is read over there."""
    return configuration.load(path, partial(elsewhere, configuration.read))


def elsewhere(function: Callable[[Given], Made], given: Given) -> Made:
    """Call a function of a module in a process of its own. Raises CozyguardErrors that it raises."""
    command = [sys.executable, "-P", "-m", __name__]  # -P: whatever the current folder holds
    work = pickle.dumps((function, given))
    done = subprocess.run(command, input=work, stdout=subprocess.PIPE, check=False)  # noqa: S603 - ourselves
    if done.returncode:
        raise CozyguardError(f"the process that does `{function.__name__}` ended with {done.returncode}")
    made, error = pickle.loads(done.stdout)  # noqa: S301 - written by ourselves
    if error:
        raise error
    result: Made = made
    return result


def _work() -> None:
    function, given = pickle.load(sys.stdin.buffer)  # noqa: S301 - from our parent
    made, error = None, None
    try:
        made = function(given)
    except CozyguardError as raised:
        error = raised
    pickle.dump((made, error), sys.stdout.buffer)


if __name__ == "__main__":
    _work()
