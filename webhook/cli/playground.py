"""`cozyguard playground`: a local page to try a policy on an object."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import fields
from typing import Any, Final

from webhook.cli import terminal
from webhook.cli.options import Parser, add_policy_options, positive, selection
from webhook.model.policy import Policy
from webhook.model.trial import Try
from webhook.report.summary import ExitCode
from webhook.runs import loading, starts, trial
from webhook.sources import catalog

_EXAMPLES: Final = (
    ("cozyguard playground --open", "start, and open the page in a browser"),
    ("cozyguard playground --add-policies policies/", "offer policies of your own to start from, too"),
)

_SECONDS: Final = 5.0
"""What one try may take: an expression that goes on for longer is told to have run out of time."""


def parser() -> Parser:
    """Describe the flags."""
    made = Parser("playground", "Try a policy on an object, on a page of this machine alone.", _EXAMPLES)
    made.option("--port", type=positive, metavar="N", help="port of the page, on 127.0.0.1 (default: one that is free)")
    made.switch("--open", help="open the page in a browser")
    add_policy_options(made)
    return made


def run(argv: Sequence[str]) -> int:
    """Serve the page until a signal ends it."""
    arguments = parser().parse(argv, os.environ)
    chosen, configuration = selection(arguments), loading.configured(arguments.config)
    found = loading.load(chosen, configuration)
    terminal.tell(found.errors, "policy error")
    policies = [one.policy for one in found.policies if chosen.takes(one.policy)]
    from webhook.server.playground import serve  # here: whoever asks for help need not wait for the server's libraries

    def announce(url: str) -> None:
        print(f"the playground is at {url}\nCtrl-C ends it", flush=True)
        if arguments.open:
            import webbrowser  # here: few ask for it

            webbrowser.open(url)

    serve(_Playground(policies), arguments.port or 0, announce)
    return ExitCode.OK


class _Playground:
    """Answers what the page asks; the policies are those to start from."""

    def __init__(self, policies: Sequence[Policy]) -> None:
        self._policies = {one.name: one for one in policies}

    def page(self) -> str:
        from webhook.report.html.playground import page

        return page([str(release) for release in catalog.releases()])

    def starts(self) -> Any:
        from webhook.report.trial import policies_document

        return policies_document(self._policies.values())

    def start(self, name: str) -> Any:
        from webhook.report.trial import start_document

        if (policy := self._policies.get(name)) is None:
            return None
        return start_document(starts.text(policy), starts.cases(policy))

    def attempt(self, given: Any) -> Any:
        from webhook.report.trial import trial_document
        from webhook.server.deadline import Deadline

        began = time.perf_counter()
        tried = trial.attempt(_read(given), Deadline(_SECONDS, time.monotonic()))
        return trial_document(tried) | {"milliseconds": round(1000 * (time.perf_counter() - began))}


def _read(given: Any) -> Try:
    """Read what the page sends. Raises ValueError."""
    names = [field.name for field in fields(Try)]
    if not isinstance(given, dict) or not all(isinstance(given.get(name, ""), str) for name in names):
        raise ValueError(f"want a map of texts: {', '.join(names)}")
    return Try(**{name: given.get(name, "") for name in names})
