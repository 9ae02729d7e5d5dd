"""What lint found: as compilers write it, as JSON (version 1), and as a table of codes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any, Final, TextIO

import webhook
from webhook.model.diagnosis import Level
from webhook.model.lint import Check, Finding, Linted, Requirement
from webhook.model.release import Minor
from webhook.model.result import Source
from webhook.report.finding import file_path
from webhook.report.github import command, fault_command
from webhook.report.json import fault_entry
from webhook.report.plain import visible
from webhook.report.sarif import HOME, SCHEMA, notification, physical_location
from webhook.report.style import Style
from webhook.report.text import count, excerpt_lines, place

VERSION: Final = 1

_COLOURS: Final = {Level.ERROR: "red", Level.WARNING: "yellow", Level.REMARK: "cyan"}
_SARIF: Final = {Level.ERROR: "error", Level.WARNING: "warning", Level.REMARK: "note"}
_GITHUB: Final = {Level.ERROR: "error", Level.WARNING: "warning", Level.REMARK: "notice"}


def source(one: Finding) -> Source:
    """Say where a finding is."""
    return Source(one.at.file, 0, one.at.line, one.at.column, one.length, one.excerpt)


def text(found: Linted, seconds: float, out: TextIO, style: Style) -> None:
    """Write every finding: where, what, the line itself, what happens, the way out; then what it takes, and count."""
    out.writelines("\n".join(_lines(one, style)) + "\n\n" for one in found.findings)
    if needed := newest(found):
        out.write(
            f"Kubernetes itself can evaluate them from {needed.version} on: {needed.because} in {needed.policy}\n"
        )
    out.write(style(summary_line(found, seconds), "bold") + "\n")


def newest(found: Linted) -> Requirement | None:
    """Give the policy that needs the newest Kubernetes."""
    return max(found.requirements, key=lambda one: Minor.parse(one.version), default=None)


def _lines(one: Finding, style: Style) -> Iterator[str]:
    at, label = source(one), f"{one.check.level}"
    if one.silenced:
        label = f"silenced {label}"
    head = style(f"{label}:", "bold", "dim" if one.silenced else _COLOURS[one.check.level])
    code = style(f"[{one.check.code}]", "dim")
    yield f"{place(at)}: {head} {style(visible(one.message), 'bold')} {code}"
    gutter = " " * (len(str(at.line)) + 3)
    if one.excerpt:
        yield from excerpt_lines(at, gutter, "", style)
    if one.silenced:
        yield f"{gutter}{style('=', 'blue')} silenced by {one.silenced.by}: {visible(one.silenced.reason)}"
        return
    yield f"{gutter}{style('=', 'blue')} in:  {visible(one.policy)}, {visible(one.at.path)}"
    yield f"{gutter}{style('=', 'blue')} why: {visible(one.check.why)}"
    yield f"{gutter}{style('=', 'blue')} fix: {visible(one.fix)}"


def summary_line(found: Linted, seconds: float) -> str:
    """Count what was found."""
    levels = found.levels
    counted = [count(levels[level], level.value) for level in Level if levels[level]]
    silenced = sum(1 for one in found.findings if one.silenced)
    counted += [f"{silenced} silenced"] if silenced else []
    said = ", ".join(counted) or "nothing to mend"
    return f"linted {count(found.policies, 'policy', 'policies')} in {seconds:.2f} s: {said}"


def document(found: Linted) -> dict[str, Any]:
    """Write everything for machines."""
    return {
        "version": VERSION,
        "policies": [
            {"policy": one.policy, "kubernetes": one.version, "because": one.because} for one in found.requirements
        ],
        "summary": {"policies": found.policies, **{level.value: found.levels[level] for level in Level}},
        "findings": [_entry(one) for one in found.findings],
        "policyErrors": [fault_entry(one) for one in found.faults],
    }


def _entry(one: Finding) -> dict[str, Any]:
    silenced = {"by": one.silenced.by, "reason": one.silenced.reason} if one.silenced else None
    return {
        "level": one.check.level.value,
        "check": one.check.code,
        "policy": one.policy,
        "field": one.at.path,
        "message": one.message,
        "why": one.check.why,
        "fix": one.fix,
        "silenced": silenced,
        "source": {"file": one.at.file, "line": one.at.line, "column": one.at.column},
    }


def sarif(found: Linted, checks: tuple[Check, ...]) -> dict[str, Any]:
    """Write a SARIF 2.1.0 document; each check is a rule of it."""
    driver = {
        "name": "cozyguard",
        "version": webhook.__version__,
        "informationUri": HOME,
        "rules": [_rule(one) for one in checks],
    }
    faults = [notification(one) for one in found.faults]
    invocation = {"executionSuccessful": not faults, "toolConfigurationNotifications": faults}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "invocations": [invocation],
        "results": [_result(one) for one in found.findings],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(one: Check) -> dict[str, Any]:
    return {
        "id": one.code,
        "shortDescription": {"text": one.title},
        "fullDescription": {"text": one.why},
        "help": {"text": one.why},
        "defaultConfiguration": {"level": _SARIF[one.level]},
        "properties": {"tags": ["kubernetes", "policy"], "precision": "high"},
    }


def _result(one: Finding) -> dict[str, Any]:
    said = f"{one.policy}: {one.message}\nfix: {one.fix}"
    logical = {"fullyQualifiedName": f"{one.policy} {one.at.path}", "kind": "member"}
    entry: dict[str, Any] = {
        "ruleId": one.check.code,
        "kind": "fail",
        "level": _SARIF[one.check.level],
        "message": {"text": visible_lines(said)},
        "locations": [{"physicalLocation": physical_location(source(one)), "logicalLocations": [logical]}],
        "partialFingerprints": {"cozyguard/v1": _fingerprint(one)},
    }
    if one.silenced:
        entry["suppressions"] = [{"kind": "inSource", "status": "accepted", "justification": one.silenced.reason}]
    return entry


def _fingerprint(one: Finding) -> str:
    """Recognise a finding by check, policy, field and words: lines do not change it. 64 hex digits."""
    what = (one.check.code, one.policy, one.at.path, one.message)
    return hashlib.sha256("\0".join(what).encode(errors="surrogateescape")).hexdigest()


def visible_lines(said: str) -> str:
    """Write text without characters that do not print, but for line breaks."""
    return "\n".join(map(visible, said.splitlines()))


def github(found: Linted, seconds: float, out: TextIO) -> None:
    """Write a command for each finding that counts, which GitHub's runner shows beside the line, and count."""
    out.writelines(fault_command(error, "policy error") for error in found.faults)
    for one in found.findings:
        if not one.silenced:
            place_ = (one.at.line, one.at.column, one.at.column + one.length)
            said = f"{one.message}\nwhy: {one.check.why}\nfix: {one.fix}"
            title = f"{one.policy}: {one.check.title}"
            out.write(command(_GITHUB[one.check.level], file_path(one.at.file), place_, title, visible_lines(said)))
    out.write(summary_line(found, seconds) + "\n")


def write(name: str, found: Linted, checks: tuple[Check, ...], seconds: float, out: TextIO, style: Style) -> None:
    """Write in the format of that name: text, json, sarif or github."""
    match name:
        case "json":
            out.write(json.dumps(document(found), indent=1, ensure_ascii=False) + "\n")
        case "sarif":
            out.write(json.dumps(sarif(found, checks), indent=1) + "\n")
        case "github":
            github(found, seconds, out)
        case _:
            text(found, seconds, out, style)
