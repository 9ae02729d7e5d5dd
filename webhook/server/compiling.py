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
from webhook.sources.policy_files import PolicyFile


def compile_policies(paths: Iterable[Path]) -> Compiled:
    """Do what `compiled.load` does; what the cache does not hold is compiled over there."""
    return compiled.load(paths, _elsewhere)


def _elsewhere(files: tuple[PolicyFile, ...]) -> Compiled:
    command = [sys.executable, "-P", "-m", __name__]  # -P: whatever the current folder holds
    done = subprocess.run(command, input=pickle.dumps(files), stdout=subprocess.PIPE, check=False)  # noqa: S603 - ourselves
    if done.returncode:
        raise CozyguardError(f"the process that compiles policies ended with {done.returncode}")
    made: Compiled = pickle.loads(done.stdout)  # noqa: S301 - written by ourselves
    return made


if __name__ == "__main__":
    pickle.dump(compiled.compile_files(pickle.load(sys.stdin.buffer)), sys.stdout.buffer)  # noqa: S301 - from our parent
