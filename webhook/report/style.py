"""Colour and weight on a terminal; nothing at all elsewhere."""

from __future__ import annotations

from typing import Final

_CODES: Final = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "blue": "34",
    "cyan": "36",
}
"""Select Graphic Rendition parameters of ECMA-48."""


class Style:
    """Paints text, or leaves it as it is where colour is not wanted."""

    def __init__(self, colour: bool = False) -> None:
        """Say once whether to colour."""
        self._colour = colour

    def __call__(self, text: str, *looks: str) -> str:
        """Wrap the text in the escapes of these looks (`bold`, `red`, …)."""
        if not self._colour or not text or not looks:
            return text
        return f"\x1b[{';'.join(_CODES[look] for look in looks)}m{text}\x1b[0m"
