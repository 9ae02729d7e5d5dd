"""Compiling policies in a process that ends with it.

What compiling needs (the CEL library, pydantic) would stay in the server for good, 50 MiB of it, and compiling holds
Python's lock: at every reload, reviews would wait.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from webhook.errors import CozyguardError
from webhook.sources import compiled
from webhook.sources.compiled import Compiled


def compile_policies(paths: Iterable[Path]) -> Compiled:
    """Do what `compiled.load` does, over there."""
    command = [sys.executable, "-P", "-m", __name__, *map(str, paths)]  # -P: whatever the current folder holds
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False)  # noqa: S603 - ourselves
    if done.returncode:
        raise CozyguardError(f"the process that compiles policies ended with {done.returncode}")
    made: Compiled = pickle.loads(done.stdout)  # noqa: S301 - written by ourselves
    return made


if __name__ == "__main__":
    pickle.dump(compiled.load(sys.argv[1:]), sys.stdout.buffer)
