"""`cozyguard audit`: judge what a live cluster holds, as if it were applied now."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import socket
import sys
import time
from argparse import ArgumentTypeError
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from webhook.cli import terminal
from webhook.cli.options import Arguments, Parser, add_policy_options, add_release, one_of, positive, release, selection
from webhook.errors import UsageError
from webhook.report.audit_objects import FORMATS
from webhook.report.summary import ExitCode
from webhook.runs.audit.extent import WHOLE, Shard

if TYPE_CHECKING:
    from webhook.runs.audit.prepare import Asked
    from webhook.sources.compiled import Compiled

_EXAMPLES: Final = (
    ("cozyguard audit --kubeconfig ~/.kube/config", "judge everything that policies are about"),
    ("cozyguard audit --namespace tenant-a --kind HelmRelease", "judge one kind in one namespace"),
    ("cozyguard audit --to 1.7", "tell only what an upgrade to 1.7 changes"),
)

NOTHING: Final = "nothing"
"""For `--fail-on`: that something is denied is what an audit is there to tell, and no failure of the Job it runs in."""

_MANY: Final = 200_000
"""Containers that are made before a collection: those of a page or two."""


def parser() -> Parser:
    """Describe the flags."""
    made = Parser("audit", "Judge what a live cluster holds, as if it were applied now.", _EXAMPLES)
    made.option("--kubeconfig", type=Path, metavar="FILE", help="of the cluster (default: the pod's service account)")
    made.option("--context", metavar="NAME", default="", help="the kubeconfig's context (default: its current one)")
    made.repeatable("--namespace", metavar="NAME", help="only what lives in this namespace")
    made.repeatable("--kind", metavar="KIND", help="only this kind: Package, packages or packages.cozystack.io")
    made.option("--shard", type=_shard, metavar="I/N", default=WHOLE, help="only this share of N, from 0/N on")
    add_policy_options(made)
    add_release(made)
    made.option("--from", dest="before", type=release, metavar="VERSION", help="with --to: in place of --release")
    made.option("--to", dest="after", type=release, metavar="VERSION", help="tell only what this release changes")
    made.repeatable(
        "--fail-on",
        type=one_of("warn", "skip", NOTHING),
        metavar="OUTCOME",
        help="exit with 1 for warn or skip, too; nothing: not even for denials, as in a Job",
    )
    made.option(
        "--max-findings",
        type=positive,
        metavar="N",
        default=10_000,
        help="list so many at most, and count the others (default: 10000)",
    )
    made.option("--parallel", type=positive, metavar="N", default=4, help="kinds that are listed at once (default: 4)")
    made.option("--qps", type=positive, metavar="N", default=50, help="requests a second at most (default: 50)")
    made.option(
        "--report",
        type=one_of(*FORMATS),
        metavar="FORMAT",
        help="keep what is found in the cluster, as objects: policyreport or openreports",
    )
    made.switch("--events", help="write an Event about each object that would be refused, 200 at most")
    made.option(
        "-o",
        "--output",
        type=one_of("text", "json", "junit", "tap", "html", *FORMATS),
        metavar="FORMAT",
        default="text",
        help="text, json, junit, tap, html, policyreport or openreports",
    )
    made.option(
        "--state",
        type=Path,
        metavar="FILE",
        help="keep in FILE what is finished; when interrupted, run it again to go on",
    )
    terminal.add_colour(made)
    return made


def run(argv: Sequence[str]) -> int:
    """Audit, report, and answer with the exit code."""
    started = time.perf_counter()
    arguments = parser().parse(argv, os.environ)
    if arguments.before and not arguments.after:
        raise UsageError("`--from` is for an upgrade: give the release that it leads to with `--to`")
    _check_reports(arguments)
    from webhook.cluster.faults import Unreachable  # here: `--help` needs no cluster
    from webhook.runs import loading
    from webhook.runs.audit.prepare import Asked

    asked = Asked(
        selection(arguments),
        loading.configured(arguments.config),
        arguments.before or arguments.release,
        arguments.after,
        tuple(arguments.kind),
        tuple(dict.fromkeys(arguments.namespace)),
        arguments.shard,
    )
    files = loading.load(asked.selection, asked.configuration)  # here: with a loop running there is no forking
    try:
        return asyncio.run(_audit(asked, files, arguments, started))
    except Unreachable as error:
        terminal.fail(error)
        return ExitCode.UNREACHABLE
    except asyncio.CancelledError:  # by SIGTERM, before there was anything to tell
        return ExitCode.INTERRUPTED


def _shard(text: str) -> Shard:
    try:
        return Shard.parse(text)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from None


def _check_reports(arguments: Arguments) -> None:
    """Refuse what reports cannot tell, and what would make those in the cluster say less than there is to say."""
    if arguments.after and arguments.output not in ("text", "json"):
        raise UsageError(f"`--output {arguments.output}` does not go with `--to`, which tells differences only")
    chosen = {"--policy": arguments.policy, "--skip": arguments.skip, "--severity": arguments.severity}
    for flag, given in (chosen | {"--to": arguments.after}).items():
        if given and arguments.report:
            raise UsageError(f"`{flag}` does not go with `--report`: reports tell of all policies, as things are now")
    if arguments.after and arguments.events:
        raise UsageError("`--to` does not go with `--events`: they tell of how things are now")


async def _audit(asked: Asked, files: Compiled, arguments: Arguments, started: float) -> ExitCode:
    from webhook.cli.audited import Differences, Findings
    from webhook.cluster.access import Access
    from webhook.cluster.client import Client
    from webhook.cluster.pager import Pager
    from webhook.cluster.rate import Rate
    from webhook.runs.audit.announce import Announcer
    from webhook.runs.audit.prepare import ready
    from webhook.runs.audit.publish import Publisher, staleness
    from webhook.runs.audit.state import State, owner
    from webhook.runs.audit.walk import walk

    _end_in_order()
    access, rate = Access(arguments.kubeconfig, arguments.context), Rate(arguments.qps)
    async with await Client.connect(access) as client, ready(client, rate, asked, files) as audit:
        terminal.tell(audit.setup.policy_errors, "policy error")
        terminal.tell(audit.notices, "note")
        pager, publisher, state = Pager(client, rate), None, None
        if arguments.state:
            state = State.open(arguments.state, await owner(asked, audit, pager))
            terminal.tell(state.notices(), "note")
        if arguments.report:
            api_version, *kinds = FORMATS[arguments.report]
            publisher = await Publisher.connect(client, api_version, kinds, rate)
        announcer = Announcer(client, rate, socket.gethostname()) if arguments.events else None
        with _few_collections(), terminal.Progress("audited", "objects") as progress:
            found = (
                Differences(audit, audit.after, arguments, progress)
                if audit.after
                else Findings(audit, arguments, progress, publisher, announcer)
            )
            coverage = await walk(audit.targets, audit.extent, pager, arguments.parallel, found.take, state)
        if publisher:
            await publisher.sweep(staleness(asked, audit, coverage))
    code = found.finish(coverage, time.perf_counter() - started)
    if state:
        terminal.tell(state.end(whole=not (coverage.interrupted or coverage.unreachable)), "note")
    return code


def _end_in_order() -> None:
    """Take SIGTERM, with which Kubernetes ends a pod, as asyncio takes Ctrl-C: what was found is told."""
    task = asyncio.current_task()
    if task and sys.platform != "win32":  # where loops handle no signals
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)


@contextmanager
def _few_collections() -> Iterator[None]:
    """Keep the garbage collector from what it finds nothing in: policies stay, and objects are trees, gone when read.

    It would take a quarter of the time.
    """
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(_MANY)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
