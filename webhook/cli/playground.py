"""`cozyguard playground`: a local page to try a policy on an object."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any, Final

from webhook.cli import terminal
from webhook.cli.options import Parser, add_policy_options, positive, selection
from webhook.errors import did_you_mean
from webhook.model.configuration import Configuration
from webhook.model.policy import Policy
from webhook.model.trial import Try
from webhook.report.summary import ExitCode
from webhook.runs import loading, starts, trial
from webhook.sources import catalog
from webhook.sources.files import unreadable

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

    serve(Backend(policies, configuration), arguments.port or 0, announce)
    return ExitCode.OK


class Backend:
    """Answers what the page asks; the policies are those to start from, the configuration holds for every try."""

    def __init__(self, policies: Iterable[Policy], configuration: Configuration) -> None:
        """Remember both."""
        self._policies, self._configuration = {one.name: one for one in policies}, configuration

    def page(self) -> str:
        """Give the page, with the releases of the catalogue to choose from."""
        from webhook.report.html.playground import page

        return page([str(release) for release in catalog.releases()])

    def starts(self) -> Any:
        """List the policies."""
        from webhook.report.trial import policies_document

        return policies_document(self._policies.values())

    def start(self, name: str) -> Any:
        """Give a policy's text and its cases. Raises ValueError."""
        from webhook.report.trial import start_document

        if (policy := self._policies.get(name)) is None:
            raise ValueError(f"no policy is called `{name}`{did_you_mean(name, self._policies)}")
        try:
            return start_document(starts.text(policy), starts.cases(policy))
        except OSError as error:
            raise ValueError(str(unreadable(policy.location.file, error))) from None

    def attempt(self, given: Any) -> Any:
        """Compile and decide. Raises ValueError for what is no map of texts."""
        from webhook.report.trial import trial_document
        from webhook.server.deadline import Deadline

        began = time.perf_counter()
        tried = trial.attempt(_read(given), self._configuration, Deadline(_SECONDS, time.monotonic()))
        return trial_document(tried) | {"milliseconds": round(1000 * (time.perf_counter() - began))}


def _read(given: Any) -> Try:
    """Read what the page sends. Raises ValueError."""
    names = [field.name for field in fields(Try)]
    if not isinstance(given, dict) or not all(isinstance(given.get(name, ""), str) for name in names):
        raise ValueError(f"want a map of texts: {', '.join(names)}")
    return Try(**{name: given.get(name, "") for name in names})
