"""What every page begins and ends with, and text made safe to stand in one."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable, Iterator
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any

from webhook.report.plain import shorten, visible

_FOLDER = Path(__file__).parent


def asset(name: str) -> str:
    """Read one of the files beside this one: the look of all pages, and the script of one of them."""
    return (_FOLDER / name).read_text(encoding="utf-8")


def page(title: str, body: Iterable[str], script: str = "", *, talks: bool = False) -> Iterator[str]:
    """Write a page in parts, all ASCII, so that no encoding of a terminal or shell can spoil it. The title is plain.

    Its policy (https://www.w3.org/TR/CSP3/) lets a browser run this script alone and fetch nothing: were a name or
    value ever to get into the page as markup, it could do nothing there. A page that `talks` may ask its own server.
    """
    look = asset("look.css")
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    yield f'<meta http-equiv="Content-Security-Policy" content="{_policy(look, script, talks=talks)}">\n'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    yield f"<title>{title}</title>\n<style>{look}</style>\n</head>\n<body>\n"
    yield from map(_ascii, body)
    if script:
        yield f"<script>{script}</script>\n"
    yield "</body>\n</html>\n"


def _policy(look: str, script: str, *, talks: bool) -> str:
    scripts = f"; script-src '{_hash(script)}'" if script else ""
    scripts += "; connect-src 'self'" if talks else ""
    return f"default-src 'none'; style-src '{_hash(look)}'{scripts}; base-uri 'none'; form-action 'none'"


def _hash(content: str) -> str:
    return f"sha256-{b64encode(sha256(content.encode()).digest()).decode()}"


def text(words: str, most: int = 0) -> str:
    """Write text that people see, without anything that a browser would take for markup, nor what does not print.

    With `most` it is cut after so many columns.
    """
    return _ascii(escape(visible(shorten(words[: 2 * most], most) if most else words)))


def _ascii(markup: str) -> str:
    """Write other characters as references, so that lengths are true."""
    return markup if markup.isascii() else markup.encode("ascii", "xmlcharrefreplace").decode()


def data(name: str, value: Any) -> str:
    """Write a value for the script of the page; no text in it can end the element."""
    dumped = json.dumps(value, separators=(",", ":"))
    for character in "<>&":
        dumped = dumped.replace(character, f"\\u{ord(character):04x}")
    return f'<script type="application/json" id="{name}">{dumped}</script>\n'


def link(url: str, words: str) -> str:
    """Write a link out of the page, to the web alone; what has another scheme stays text."""
    if not url.startswith(("https://", "http://")):
        return text(words)
    return f'<a href="{text(url)}" rel="noreferrer">{text(words)}</a>'
