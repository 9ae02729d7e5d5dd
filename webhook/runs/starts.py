"""What a try at the playground can start from: policies, each with the cases of its own tests, as texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from webhook.model.fragment import block
from webhook.model.policy import Policy
from webhook.model.request import Object
from webhook.model.suite import Case
from webhook.model.trial import Start, Try
from webhook.runs.suite import namespace_of, request_of
from webhook.sources import suites


def cases(policy: Policy) -> Iterator[Start]:
    """Write the cases of the tests beside a policy; there may be none."""
    suite = suites.beside(policy)
    for case in suite.cases if suite else ():
        yield Start(case.name, case.expect.outcome.value if case.expect.outcome else "", _given(case))


def text(policy: Policy) -> str:
    """Read the file that a policy stands in. Raises OSError."""
    return Path(policy.location.file).read_text(encoding="utf-8", errors="replace")


def _given(case: Case) -> Try:
    user = case.user
    return Try(
        object=_yaml([case.object] if case.object is not None else []),
        old=_yaml([case.old_object] if case.old_object is not None else []),
        cluster=_yaml([*case.lookups, *namespace_of(case, request_of(case).namespace)]),
        operation=case.operation,
        subresource=case.subresource,
        release=str(case.release or ""),
        user=user.username if user else "",
        groups=", ".join(user.groups) if user else "",
    )


def _yaml(objects: Iterable[Object]) -> str:
    return "---\n".join("".join(f"{line}\n" for line in block(each)) for each in objects)
