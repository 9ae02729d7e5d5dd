"""What a value has to be for everybody who works with it."""

from __future__ import annotations

import re
from typing import Any, Final

MAX_DEPTH: Final = 200
"""orjson writes 254 levels and Python nests 1,000 calls; no Kubernetes object comes near."""

_ANYTHING: Final = re.compile(r"[\s\S]*")

TOO_DEEP: Final = f"got more than {MAX_DEPTH} lists and maps, one inside the other"


def is_sound(value: Any, key: re.Pattern[str] = _ANYTHING) -> bool:
    """Are there no more levels than allowed, and all keys texts of a form.

    Goes down level by level, as recursion would be the first to fail.
    """
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        below: list[Any] = []
        for each in level:
            if isinstance(each, dict):
                if not all(isinstance(name, str) and key.fullmatch(name) for name in each):
                    return False
                below += each.values()
            elif isinstance(each, list):
                below += each
        if not below:
            return True
        level = below
    return False
