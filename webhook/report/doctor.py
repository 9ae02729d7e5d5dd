"""What the doctor found, as compilers write it, and as JSON (version 1)."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from typing import Any, Final

from webhook.model import path as paths
from webhook.model.diagnosis import Diagnosis, Examination, Level
from webhook.report.json import fault_entry, resource_entry, source_entry
from webhook.report.plain import visible
from webhook.report.style import Style
from webhook.report.text import count, excerpt_lines, place

VERSION: Final = 1

_COLOURS: Final = {Level.ERROR: "red", Level.WARNING: "yellow", Level.REMARK: "cyan"}


def lines(found: Examination, style: Style) -> Iterator[str]:
    """Write every finding; of those that differ in the webhook alone, only the first with all that there is to say."""
    told: set[tuple[str, str, str]] = set()
    short = False
    for one in found.diagnoses:
        first, *more = _lines(one, style)
        key = one.check, one.why, one.fix.text
        if key not in told and short:
            yield ""
        yield first
        short = key in told
        if not short:
            yield from (*more, "")
        told.add(key)
    if short:
        yield ""


def _lines(one: Diagnosis, style: Style) -> Iterator[str]:
    """Write one finding: where, what, the line itself or the field, what happens, and the way out."""
    label = style(f"{one.level}:", "bold", _COLOURS[one.level])
    name = style(f"[{one.check}]", "dim")
    yield f"{place(one.source)}: {label} {style(visible(one.message), 'bold')} {name}"
    gutter = " " * (len(str(one.source.line)) + 3) if one.source.excerpt is not None else "    "
    if one.source.excerpt is not None:
        yield from excerpt_lines(one.source, gutter, "", style)
    elif one.at:
        yield f"{gutter}{style('=', 'blue')} at: {visible(paths.render(one.at))}"
    for title, text in (("why", one.why), ("fix", one.fix.text), ("run", command(one))):
        if text:
            yield f"{gutter}{style('=', 'blue')} {title}: {visible(text)}"


def command(one: Diagnosis) -> str:
    """Write the command that mends an object of a cluster, where that is mechanical; "" for what is in a file."""
    if not one.fix.patch or one.source.line:
        return ""
    resource = one.resource
    namespace = f" --namespace={shlex.quote(resource.namespace)}" if resource.namespace else ""
    patch = shlex.quote(json.dumps(list(one.fix.patch)))
    return f"kubectl patch {resource.kind.lower()} {shlex.quote(resource.name)}{namespace} --type=json --patch={patch}"


def summary_line(found: Examination, seconds: float) -> str:
    """Count what was found."""
    levels = found.levels
    counted = ", ".join(count(levels[level], level.value) for level in Level if levels[level]) or "nothing to mend"
    return f"examined {count(found.webhooks, 'webhook')} in {seconds:.2f} s: {counted}"


def document(found: Examination) -> dict[str, Any]:
    """Write everything for machines."""
    return {
        "version": VERSION,
        "summary": {"webhooks": found.webhooks, **{level.value: found.levels[level] for level in Level}},
        "findings": [_entry(one) for one in found.diagnoses],
        "notRead": list(found.unknown),
        "inputErrors": [fault_entry(fault) for fault in found.faults],
    }


def _entry(one: Diagnosis) -> dict[str, Any]:
    return {
        "level": one.level.value,
        "check": one.check,
        "message": one.message,
        "why": one.why,
        "field": paths.render(one.at),
        "fix": {"text": one.fix.text, "patch": list(one.fix.patch), "command": command(one)},
        "resource": resource_entry(one.resource),
        "source": source_entry(one.source),
    }
