"""What a person takes out of a denial: YAML to write into the file, or a command."""

from __future__ import annotations

import re
from typing import Any

import yaml

from tests.e2e.kubectl import Object


def pasted(denial: str) -> list[str]:
    """Give the lines below each `fix:`, without their indent."""
    blocks = re.findall(r"^    fix:  .*\n((?:          .*\n)*)", denial, re.MULTILINE)
    return [re.sub(r"^ {10}", "", block, flags=re.MULTILINE) for block in blocks if block]


def command(denial: str) -> str | None:
    """Give the command that a denial offers."""
    lines = [line for block in pasted(denial) for line in block.splitlines()]
    return next((line for line in lines if line.startswith("kubectl ")), None)


def edited(obj: Object, denial: str) -> Object:
    """Write the YAML of all fixes into an object, as in an editor."""
    for block in pasted(denial):
        obj = _laid_over(obj, yaml.safe_load(block))
    return obj


def _laid_over(obj: Any, part: Any) -> Any:
    if not isinstance(obj, dict) or not isinstance(part, dict):
        return part
    return obj | {key: _laid_over(obj.get(key), value) for key, value in part.items()}
