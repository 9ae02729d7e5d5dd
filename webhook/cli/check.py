"""`cozyguard check`: judge manifests as the cluster would, before it does."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from webhook.admission.synthesize import Circumstances
from webhook.cli import terminal
from webhook.cli.fixing import add_fix, check_fix, takes_stdout
from webhook.cli.options import (
    Arguments,
    Parser,
    add_policy_options,
    add_release,
    one_of,
    positive,
    release,
    selection,
)
from webhook.cli.preview import preview
from webhook.cli.rendering import add_rendered, rendered
from webhook.errors import DocumentError, UsageError
from webhook.model.decision import Outcome
from webhook.model.request import CREATE, DELETE, UPDATE, UserInfo
from webhook.model.result import Checked
from webhook.report import Report
from webhook.report.formats import FORMATS, machine
from webhook.report.style import Style
from webhook.report.summary import Summary
from webhook.report.text import TextReport, count
from webhook.runs.baseline import Baseline
from webhook.runs.baseline import read as read_baseline
from webhook.runs.scan import Found, ScanRequest, prepare, scan
from webhook.sources.files import Skipped

_EXAMPLES: Final = (
    ("cozyguard check gpu.yaml", "judge one file"),
    ("cozyguard check manifests/ --release 1.7", "judge a folder for another release"),
    ("cozyguard check manifests/ --from 1.6 --to 1.7", "tell only what an upgrade changes"),
    ("cozyguard check --helm charts/app -f prod.yaml", "judge what a chart renders"),
    ("cozyguard check gpu.yaml --cluster-state state.yaml", "let rules see the rest of the cluster"),
    ("cozyguard check manifests/ --schemas", "find misspelt fields, too"),
    ("cozyguard check manifests/ --fix", "mend what can be mended by a machine"),
    ("cozyguard check new.yaml --old old.yaml --as dev-1", "judge an update, and who makes it"),
)


def parser() -> Parser:
    """Describe the flags."""
    made = Parser("check", "Judge manifests as the cluster would, before it does.", _EXAMPLES)
    made.option("paths", nargs="*", default=[], metavar="PATH", help="files and folders; `-` is standard input")
    add_rendered(made)
    add_policy_options(made)
    add_release(made)
    made.option("--from", dest="before", type=release, metavar="VERSION", help="with --to: the release before")
    made.option("--to", dest="after", type=release, metavar="VERSION", help="tell only what this release changes")
    made.option("--cluster-state", metavar="FILE", help="objects of the cluster; complete for the kinds in it")
    made.switch("--closed-world", help="the files are the whole cluster")
    made.optional_value(
        "--schemas",
        metavar="[=PATH]",
        help="refuse what schemas do not allow: of Kubernetes, of Cozystack, of CRDs at hand, and those of PATH",
    )
    made.option("-n", "--namespace", metavar="NAME", default="default", help="where objects without one go")
    made.option(
        "--operation",
        type=one_of(CREATE, UPDATE, DELETE),
        metavar="OPERATION",
        help="CREATE (also the default), UPDATE (the default with --old) or DELETE",
    )
    made.option("--old", metavar="FILE", help="the objects as they are now: those found in it are updated")
    made.option("--as", dest="user", metavar="USER", help="who applies; without it, rules about the user are skipped")
    made.repeatable("--as-group", dest="groups", metavar="GROUP", help="the user's groups")
    made.repeatable(
        "--fail-on", type=one_of("warn", "skip"), metavar="OUTCOME", help="exit with 1 for warn or skip, too"
    )
    made.switch("--show-passed", help="list the rules that hold, too")
    made.option("--baseline", metavar="FILE", help="do not count the findings that this file lists")
    made.option("--write-baseline", metavar="FILE", help="accept all findings: write them to this file")
    add_fix(made)
    formats = "text, json, sarif, junit, tap, github, gitlab or html"
    made.option("-o", "--output", type=one_of("text", *FORMATS), metavar="FORMAT", default="text", help=formats)
    made.option("--jobs", type=positive, metavar="N", help="processes for long inputs (default: one per CPU)")
    terminal.add_colour(made)
    return made


def _report(arguments: Arguments) -> Report:
    out = sys.stderr if takes_stdout(arguments) else sys.stdout
    if arguments.output == "text":
        return TextReport(out, Style(terminal.colour(arguments.color, out)))
    return machine(arguments.output, out)


def run(argv: Sequence[str]) -> int:
    """Check, report, and answer with the exit code."""
    started = time.perf_counter()
    arguments = parser().parse(argv, os.environ)
    if arguments.after:
        return preview(_request(arguments), arguments, started)
    accepted = read_baseline(Path(arguments.baseline)) if arguments.baseline else ()
    baseline = Baseline(accepted, accept_all=bool(arguments.write_baseline))
    summary = Summary()
    if arguments.fix:
        from webhook.cli.fix import fix  # here: few runs mend

        prepared, summary.fixed = fix(_request(arguments), Baseline(accepted), arguments)
    else:
        prepared = prepare(_request(arguments))
    report = _report(arguments)
    terminal.tell(prepared.setup.policy_errors, "policy error")
    terminal.tell(prepared.notices, "note")
    summary.add_faults(prepared.setup.policy_errors)
    report.begin(prepared.setup)
    with terminal.Progress("checked", "objects") as progress:
        for found in scan(prepared):
            if not (isinstance(found, Checked) and found.silent):
                progress.clear()
            _take(found, baseline, summary, report)
            progress.show(summary.resources)
    report.end(summary, time.perf_counter() - started)
    _tell_baseline(baseline, arguments)
    return summary.exit_code([Outcome(name) for name in arguments.fail_on])


def _take(found: Found, baseline: Baseline, summary: Summary, report: Report) -> None:
    """Count and report one thing that the scan came upon."""
    match found:
        case Skipped():
            terminal.tell([found.note], "note")
        case DocumentError():
            terminal.tell([found], "input error")
            summary.add_faults([found])
            report.add_fault(found)
        case Checked():
            checked = baseline.apply(found)
            terminal.tell(checked.remarks, "note")
            summary.add(checked)
            report.add(checked)


def _tell_baseline(baseline: Baseline, arguments: Arguments) -> None:
    if arguments.write_baseline:
        written = baseline.write(Path(arguments.write_baseline))
        terminal.say(f"wrote {count(written, 'finding')} to {arguments.write_baseline}")
    elif stale := baseline.stale():
        terminal.say(f"{arguments.baseline}: no longer found, and can go (`--write-baseline` writes it anew):")
        for line in stale:
            terminal.say(f"  {line}")


def _request(arguments: Arguments) -> ScanRequest:
    if not (arguments.paths or arguments.kustomize or arguments.helm):
        raise UsageError("nothing to check: give files, folders or `-` for standard input")
    if arguments.operation == UPDATE and not arguments.old:
        raise UsageError("an UPDATE has an old object: give it with `--old FILE`")
    if arguments.old and arguments.operation in {CREATE, DELETE}:
        raise UsageError(f"`--old` is for UPDATE, got `--operation {arguments.operation}`")
    check_fix(arguments)
    if arguments.after and arguments.output not in ("text", "json"):
        raise UsageError(f"`--output {arguments.output}` does not go with `--to`: text and json tell differences")
    if arguments.after and arguments.schemas is not None:
        raise UsageError("`--schemas` does not go with `--to`, which tells differences")
    if arguments.before and not arguments.after:
        raise UsageError("`--from` is for an upgrade: give the release that it leads to with `--to`")
    made = rendered(arguments)
    return ScanRequest(
        paths=(*arguments.paths, *made),
        selection=selection(arguments),
        configuration=arguments.config,
        release=arguments.before or arguments.release,
        cluster_state=arguments.cluster_state,
        closed_world=arguments.closed_world,
        old=arguments.old,
        circumstances=Circumstances(
            operation=arguments.operation or CREATE, namespace=arguments.namespace, user=_user(arguments)
        ),
        passes=arguments.show_passed,
        replacements=arguments.output == "sarif",
        pictures=arguments.output == "html",
        contents=made,
        schemas=None if arguments.schemas is None else tuple(filter(None, arguments.schemas)),
        jobs=arguments.jobs,
    )


def _user(arguments: Arguments) -> UserInfo | None:
    """Make the user that the API server would see: everybody who is known is authenticated."""
    if not arguments.user:
        if arguments.groups:
            raise UsageError("`--as-group` needs a user: give one with `--as USER`")
        return None
    groups = list(arguments.groups)
    match arguments.user.split(":"):
        case ["system", "serviceaccount", namespace, _] if not groups:
            groups += ["system:serviceaccounts", f"system:serviceaccounts:{namespace}"]
    if "system:authenticated" not in groups:
        groups.append("system:authenticated")
    return UserInfo(arguments.user, tuple(groups))
