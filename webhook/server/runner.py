"""The event loop that everything runs on."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine
from typing import Any

if sys.platform == "win32":
    from asyncio import new_event_loop
else:
    from uvloop import new_event_loop


def run_loop(main: Coroutine[Any, Any, None]) -> None:
    """Run until `main` is done."""
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(main)
