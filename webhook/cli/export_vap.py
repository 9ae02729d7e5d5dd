"""`cozyguard export vap`: policies as Kubernetes' own kinds, with their bindings."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from webhook.cli import terminal
from webhook.cli.options import Parser, add_policy_options, add_release, one_of, selection
from webhook.engine.policyset import PolicySet
from webhook.report.export import json_lines, note_lines, yaml_lines
from webhook.report.summary import ExitCode
from webhook.runs import loading
from webhook.runs.export.policy import export
from webhook.sources import catalog

_EXAMPLES: Final = (
    ("cozyguard export vap", "write all bundled policies that can be native, for the newest release"),
    ("cozyguard export vap 'package-*' --release 1.5", "write some, for a release"),
)


def parser() -> Parser:
    """Describe the flags."""
    made = Parser(
        "export vap",
        "Write policies as ValidatingAdmissionPolicies and MutatingAdmissionPolicies with bindings, which the API "
        "server enforces by itself, for one release of Cozystack. What cannot be said natively is listed on stderr.",
        _EXAMPLES,
    )
    made.option("names", metavar="POLICY", nargs="*", default=[], help="names of policies, or globs (default: all)")
    add_policy_options(made)
    add_release(made)
    made.option("--output", "-o", type=one_of("yaml", "json"), default="yaml", metavar="FORMAT", help="yaml or json")
    return made


def run(argv: Sequence[str]) -> int:
    """Write the native objects; policies that are none make no failure, unless all that were asked for are."""
    arguments = parser().parse(argv, os.environ)
    chosen = selection(arguments)
    chosen = replace(chosen, only=(*chosen.only, *arguments.names))
    given = loading.configured(arguments.config)
    loaded = loading.load(chosen, given)
    terminal.tell(loaded.errors, "policy error")
    policies = PolicySet.link(one for one in loaded.policies if chosen.takes(one.policy)).policies
    chosen.check({one.policy.name for one in loaded.policies})
    wanted = arguments.release or given.release
    release = catalog.nearest(wanted)[0] if wanted else catalog.newest()
    exported = [export(one, release) for one in policies]
    objects = [obj for one in exported for obj in one.objects]
    for line in (yaml_lines if arguments.output == "yaml" else json_lines)(objects):
        print(line)
    for line in note_lines(note for one in exported for note in one.notes):
        terminal.say(line)
    written = sum(bool(one.objects) for one in exported)
    terminal.say(f"exported {written} of {len(exported)} policies for Cozystack {release.version}")
    return ExitCode.FAULTY if loaded.errors or not objects else ExitCode.OK
