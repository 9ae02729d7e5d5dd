from collections.abc import Callable

import pytest

from webhook.errors import DocumentError
from webhook.model.decision import Outcome
from webhook.model.result import Checked, Result, Silenced
from webhook.report.summary import ExitCode, Summary

Make = Callable[..., Result]


@pytest.mark.parametrize(
    ("outcome", "fail_on", "code"),
    [
        (Outcome.DENY, [], ExitCode.DENIED),
        (Outcome.ERROR, [], ExitCode.DENIED),
        (Outcome.WARN, [], ExitCode.OK),
        (Outcome.WARN, [Outcome.SKIP], ExitCode.OK),
        (Outcome.WARN, [Outcome.WARN], ExitCode.DENIED),
        (Outcome.SKIP, [Outcome.SKIP], ExitCode.DENIED),
        (Outcome.AUDIT, [Outcome.WARN, Outcome.SKIP], ExitCode.OK),
    ],
)
def test_the_exit_code_follows_from_what_was_found(
    result: Make, outcome: Outcome, fail_on: list[Outcome], code: ExitCode
) -> None:
    summary = Summary()
    summary.add(Checked(result().resource, (result(outcome=outcome),)))

    assert summary.exit_code(fail_on) is code


def test_what_cannot_be_used_wins_over_a_denial(result: Make) -> None:
    summary = Summary()
    summary.add(Checked(result().resource, (result(),)))
    summary.add_faults([DocumentError("x.yaml")])

    assert summary.exit_code() is ExitCode.FAULTY


def test_what_is_silenced_or_ignored_refuses_nothing(result: Make) -> None:
    summary = Summary()
    silenced = result(silenced=Silenced("comment", "as agreed"))
    ignored = result(outcome=Outcome.ERROR, ignored=True)
    summary.add(Checked(silenced.resource, (silenced, ignored)))

    assert summary.exit_code([Outcome.WARN]) is ExitCode.OK
    assert (summary.resources, summary.resources_denied, summary.silenced) == (1, 0, 1)
