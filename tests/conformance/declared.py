"""What the API server declares: the overloads of its functions, and what its own library gives for calls of them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

from webhook.cel.functions import FUNCTIONS, LIBRARIES, Overload

FILE: Final = Path(__file__).with_name("kubernetes-functions.txt")


@dataclass(frozen=True)
class Declared:
    """An overload: `calls` are expressions, each with the kind and the text of its value."""

    since: str
    call: str
    result: str
    calls: list[tuple[str, Any]] = field(default_factory=list)

    @property
    def signature(self) -> str:
        """The call and its result, with the type parameters called alike."""
        return _alike(f"{self.call}: {self.result}")


@cache
def declared() -> Mapping[str, list[Declared]]:
    """Give the overloads by the name of their function; what we do not have is called ""."""
    found: dict[str, list[Declared]] = {}
    row = Declared("", "", "")
    for line in FILE.read_text(encoding="utf-8").splitlines():
        if line.startswith("  "):
            expression, value = line.strip().split(" => ")
            row.calls.append((expression, json.loads(value)))
        elif not line.startswith("#"):
            since, signature = line.split(" ", 1)
            call, result = signature.rsplit(": ", 1)
            row = Declared(since, call, result)
            found.setdefault(_name(call), []).append(row)
    return found


def registered() -> dict[str, str]:
    """Give the signature of each overload that we declare ourselves, with the release that brought it."""
    return {
        _signature(function.name, overload): overload.since or library.since
        for library in LIBRARIES
        for function in library.functions
        for overload in function.overloads
        if not function.name.startswith("@")
    }


def _name(call: str) -> str:
    head = call[: _opening(call)]
    return max((name for name in FUNCTIONS if f".{head}".endswith(f".{name}")), key=len, default="")


def _opening(call: str) -> int:
    """Find where the arguments begin: types before them have parentheses of their own."""
    depth = 0
    for place in range(len(call) - 1, -1, -1):
        depth += (call[place] == ")") - (call[place] == "(")
        if depth == 0:
            return place
    raise ValueError(call)


def _signature(name: str, overload: Overload) -> str:
    types = [_shown(type_) for type_ in overload.parameters]
    receiver = f"{types.pop(0)}." if overload.receiver else ""
    return _alike(f"{receiver}{name}({', '.join(types)}): {_shown(overload.result)}")


def _shown(type_: str) -> str:
    return type_.replace("~", "").replace("<", "(").replace(">", ")")


def _alike(signature: str) -> str:
    names: dict[str, str] = {}
    return re.sub(r"\b[A-Z]\b", lambda found: names.setdefault(found[0], f"T{len(names)}"), signature)
