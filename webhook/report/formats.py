"""The formats besides text, by name. A module is imported when its format is asked for: a start costs little."""

from __future__ import annotations

from importlib import import_module
from typing import Final, TextIO

from webhook.report import Report

FORMATS: Final = {
    "json": "JsonReport",
    "sarif": "SarifReport",
    "junit": "JunitReport",
    "tap": "TapReport",
    "github": "GithubReport",
    "gitlab": "GitlabReport",
    "html": "HtmlReport",
}
"""Each is a module of this package, with the class that writes it."""


def machine(name: str, out: TextIO) -> Report:
    """Make the report of that format."""
    report: Report = getattr(import_module(f"webhook.report.{name}"), FORMATS[name])(out)
    return report
