"""`cozyguard explain`: all policies, one policy, or one decision, in words."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from webhook.admission.codec import decode
from webhook.admission.synthesize import Circumstances
from webhook.cli import terminal
from webhook.cli.examples import Example, passing, speaking
from webhook.cli.options import (
    Arguments,
    Parser,
    add_policy_options,
    add_release,
    one_of,
    selection,
)
from webhook.errors import ReviewError, UsageError, did_you_mean
from webhook.model.policy import Policy
from webhook.model.request import AdmissionRequest
from webhook.model.story import Story
from webhook.model.suite import Expected
from webhook.report.plain import visible
from webhook.report.policies import list_document, list_lines, policy_entry, policy_lines
from webhook.report.story import Telling, story_lines
from webhook.report.story_json import story_document
from webhook.report.style import Style
from webhook.report.summary import ExitCode
from webhook.runs.scan import Prepared, ScanRequest, prepare
from webhook.runs.story import story
from webhook.sources.files import STDIN, unreadable

_EXAMPLES: Final = (
    ("cozyguard explain", "list all policies"),
    ("cozyguard explain package-variant-known", "tell what a policy is for, and how to get along with it"),
    ("cozyguard explain -f review.json", "tell how the decision about a recorded AdmissionReview comes about"),
)


def parser() -> Parser:
    """Describe the flags."""
    made = Parser("explain", "Tell policies and decisions in words.", _EXAMPLES)
    made.option("name", nargs="?", metavar="POLICY", help="a policy to tell about (default: list all)")
    made.option("-f", "--file", metavar="FILE", help="an AdmissionReview as JSON, to tell its decision; or `-`")
    add_policy_options(made)
    add_release(made)
    made.option("--cluster-state", metavar="FILE", help="with -f: objects of the cluster; complete for the kinds in it")
    made.switch("--closed-world", help="with -f: the cluster state is the whole cluster")
    made.switch("--show-passed", help="with -f: tell the rules that hold and name every policy, too")
    made.option("-o", "--output", type=one_of("text", "json"), metavar="FORMAT", default="text", help="text or json")
    terminal.add_colour(made)
    return made


def run(argv: Sequence[str]) -> int:
    """Tell what is asked for; policies that do not load are told too, and make the exit code 2."""
    arguments = parser().parse(argv, os.environ)
    if arguments.name and arguments.file:
        raise UsageError("give a policy or, with `-f`, a review; `--policy` chooses among the policies that judge it")
    review = _read(arguments.file) if arguments.file else None
    prepared = prepare(_request(arguments))
    terminal.tell(prepared.setup.policy_errors, "policy error")
    style = Style(terminal.colour(arguments.color, sys.stdout))
    told = [one.policy for one in prepared.policies.policies]
    if review is not None:
        terminal.tell(prepared.notices, "note")
        _tell_story(story(prepared.policies, prepared.context, review), arguments, style)
    elif arguments.name:
        _tell_policy(_named(told, arguments.name), arguments, style)
    else:
        _tell_list(_in_force(told, prepared), arguments, style)
    return ExitCode.FAULTY if prepared.setup.policy_errors else ExitCode.OK


def _request(arguments: Arguments) -> ScanRequest:
    return ScanRequest(
        paths=(),
        selection=selection(arguments),
        circumstances=Circumstances(),
        release=arguments.release,
        configuration=arguments.config,
        cluster_state=arguments.cluster_state,
        closed_world=arguments.closed_world,
    )


def _read(file: str) -> AdmissionRequest:
    """Read a review. Raises UsageError for what is none."""
    try:
        body = sys.stdin.buffer.read() if file == STDIN else Path(file).read_bytes()
        return decode(body)
    except OSError as error:
        raise UsageError(str(unreadable(file, error))) from None
    except ReviewError as error:
        raise UsageError(f"{file}: {error}\na manifest is judged by `cozyguard check`") from None


def _tell_story(told: Story, arguments: Arguments, style: Style) -> None:
    if arguments.output == "json":
        print(json.dumps(story_document(told), indent=1))
        return
    for line in story_lines(told, Telling(style, terminal.columns(sys.stdout), everything=arguments.show_passed)):
        print(line)


def _in_force(policies: list[Policy], prepared: Prepared) -> list[Policy]:
    """Leave out what does not hold on a release that was named."""
    if prepared.request.release is None:
        return policies
    release = prepared.context.release.version
    return [one for one in policies if one.releases is None or release in one.releases]


def _tell_list(policies: list[Policy], arguments: Arguments, style: Style) -> None:
    if arguments.output == "json":
        print(json.dumps(list_document(policies), indent=1))
        return
    for line in list_lines(policies, style):
        print(line)


def _named(policies: list[Policy], name: str) -> list[Policy]:
    """Give the policies of a name: a native one has one for each of its bindings."""
    found = [one for one in policies if one.name == name]
    if not found:
        hint = did_you_mean(name, [one.name for one in policies])
        raise UsageError(f"no policy is called `{name}`{hint}\n`cozyguard explain` lists all")
    return found


def _tell_policy(named: list[Policy], arguments: Arguments, style: Style) -> None:
    policy = named[0]
    examples = list(_examples(policy))
    if arguments.output == "json":
        print(json.dumps({**list_document([]), "policies": [_entry(one, examples) for one in named]}, indent=1))
        return
    for one in named:
        for line in policy_lines(one, style):
            print(line)
    for head, example in examples:
        for line in _example_lines(head, example, style):
            print(line)


def _entry(policy: Policy, examples: list[tuple[str, Example]]) -> dict[str, Any]:
    told = [
        {
            "name": one.name,
            "files": dict(one.files),
            "command": ["cozyguard", *one.command],
            "output": one.output,
        }
        for _, one in examples
    ]
    return policy_entry(policy) | {"examples": told}


def _examples(policy: Policy) -> Iterator[tuple[str, Example]]:
    """Take a case that the policy's own tests expect to be denied, warned about or patched, and one that passes."""
    from webhook.sources import suites  # here: the list needs none, nor the pydantic that reads them

    suite = suites.beside(policy)
    if suite is None:
        return
    worst_first = sorted(suite.cases, key=lambda case: case.expect.outcome is not Expected.DENY)
    speaks = next(speaking(policy, replace(suite, cases=tuple(worst_first))), None)
    passes = next(passing(policy, suite), None)
    if speaks:
        yield "example", speaks
    if passes:
        yield "example that passes", passes


def _example_lines(head: str, example: Example, style: Style) -> Iterator[str]:
    yield ""
    yield f"{style(head, 'bold')}: {visible(example.name)}"
    yield ""
    for text in example.files.values():
        yield from (f"  {visible(line)}" for line in text.splitlines())
        yield ""
    yield f"  $ cozyguard {' '.join(example.command)}"
    yield from (f"  {line}".rstrip() for line in example.output.splitlines())
