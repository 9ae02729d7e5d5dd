"""Questions about what somebody may do. The messages and costs are those of k8s.io/apiserver 1.37."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from webhook.cel.errors import CelError, NotKnown
from webhook.cel.program import Builder, SlotTable
from webhook.cel.values.authorizer import UNKNOWN_USER, Authorizer
from webhook.engine.compile import TYPES
from webhook.model.authorization import Attributes, Authorization
from webhook.model.request import UserInfo

ALICE = UserInfo("alice", ("devs",))
REQUESTED = Attributes(ALICE, group="apps", resource="deployments", namespace="team", name="web")

Evaluate = Callable[..., Any]


@pytest.fixture
def asked() -> list[Attributes]:
    """Every question that was asked."""
    return []


@pytest.fixture
def evaluate(asked: list[Attributes]) -> Evaluate:
    """Evaluate an expression; only alice's questions about pods are answered with yes."""

    def answer(attributes: Attributes) -> Authorization | None:
        asked.append(attributes)
        if attributes.resource == "secrets":
            return None
        if attributes.resource == "broken":
            return Authorization(False, error="no route")
        allowed = attributes.resource == "pods" and attributes.user == ALICE
        return Authorization(allowed, "RBAC: allowed" if allowed else "")

    def run(text: str, user: UserInfo = ALICE, spent: list[int] | None = None) -> Any:
        from webhook.cel.program import Activation

        builder = Builder(TYPES)
        builder.function("f", text, want="dyn")
        activation = Activation(size=0, authorizer=lambda: Authorizer(answer, user, REQUESTED))
        value = builder.build().link(SlotTable()).functions["f"](activation)
        if spent is not None:
            spent.append(activation.budget.used)
        return value

    return run


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("authorizer.group('').resource('pods').check('create').allowed()", True),
        ("authorizer.group('').resource('pods').check('create').reason()", "RBAC: allowed"),
        ("authorizer.group('').resource('nodes').check('create').allowed()", False),
        ("authorizer.group('').resource('broken').check('get').errored()", True),
        ("authorizer.group('').resource('broken').check('get').error()", "no route"),
        ("authorizer.group('').resource('pods').check('get').error()", ""),
        ("authorizer.serviceAccount('team', 'bot').group('').resource('pods').check('get').allowed()", False),
        ("authorizer.requestResource.check('update').allowed()", False),
        ("authorizer.group('').resource('secrets').check('get').allowed() || true", True),
    ],
)
def test_an_answer_is_read(evaluate: Evaluate, text: str, value: Any) -> None:
    assert evaluate(text) == value


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("authorizer.path('/healthz').check('get')", Attributes(ALICE, "get", path="/healthz")),
        (
            "authorizer.group('apps').resource('deployments').subresource('scale').namespace('n').name('x').check('get')",
            Attributes(ALICE, "get", "apps", "deployments", "scale", "n", "x"),
        ),
        (
            "authorizer.group('').resource('pods').fieldSelector('a=b').labelSelector('c=d').check('list')",
            Attributes(ALICE, "list", resource="pods", field_selector="a=b", label_selector="c=d"),
        ),
        (
            "authorizer.serviceAccount('team', 'bot').path('/').check('get')",
            Attributes(
                UserInfo("system:serviceaccount:team:bot", ("system:serviceaccounts", "system:serviceaccounts:team")),
                "get",
                path="/",
            ),
        ),
        (
            "authorizer.requestResource.check('delete')",
            Attributes(ALICE, "delete", "apps", "deployments", "", "team", "web"),
        ),
    ],
)
def test_the_whole_question_is_asked(
    evaluate: Evaluate, asked: list[Attributes], text: str, question: Attributes
) -> None:
    evaluate(f"{text}.allowed()")
    assert asked == [question]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("authorizer.path(' ')", "path must not be empty"),
        ("authorizer.group('').resource('')", "resource must not be empty"),
        ("authorizer.serviceAccount('team', 'A')", "Invalid service account name"),
        ("authorizer.serviceAccount('a.b', 'bot')", "Invalid service account namespace"),
        ("authorizer == authorizer", "no such overload"),
        ("authorizer.group('') == dyn(1)", "no such overload"),
    ],
)
def test_what_cannot_be_asked(evaluate: Evaluate, text: str, message: str) -> None:
    with pytest.raises(CelError, match=f"^{message}$"):
        evaluate(text)


def test_a_question_that_nobody_has_answered_is_named(evaluate: Evaluate) -> None:
    text = "authorizer.group('').resource('secrets').namespace('team').name('tls').check('get').allowed()"
    with pytest.raises(NotKnown) as caught:
        evaluate(text)
    assert caught.value.what == "whether alice may get secrets tls in namespace team"


def test_nothing_is_asked_about_a_user_whom_nobody_knows(evaluate: Evaluate, asked: list[Attributes]) -> None:
    with pytest.raises(NotKnown, match="the user"):
        evaluate("authorizer.group('').resource('pods').check('get').allowed()", UNKNOWN_USER)
    evaluate("authorizer.serviceAccount('team', 'bot').group('').resource('pods').check('get')", UNKNOWN_USER)
    assert [question.user.username for question in asked] == ["system:serviceaccount:team:bot"]


@pytest.mark.parametrize(
    ("text", "cost"),
    [
        ("authorizer.group('').resource('pods').check('get').allowed()", 350_004),
        ("authorizer.requestResource.fieldSelector('spec.nodeName=a')", 414),
    ],
)
def test_a_question_costs_a_third_of_the_limit(evaluate: Evaluate, text: str, cost: int) -> None:
    spent: list[int] = []
    evaluate(text, spent=spent)
    assert spent == [pytest.approx(cost, rel=0.1)]
