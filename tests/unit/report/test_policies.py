from __future__ import annotations

from webhook.model.policy import (
    Expression,
    Location,
    MatchResources,
    NamedExpression,
    Policy,
    ResourceRule,
    Severity,
    Text,
    Validation,
)
from webhook.report.policies import list_lines, policy_entry, policy_lines
from webhook.report.style import Style

RULE = ResourceRule(("cozystack.io",), ("*",), ("packages",), ("CREATE",), ("cozystack.hami",))
NOWHERE = Location("here.yaml")


def expression(text: str) -> Expression:
    return Expression(text, NOWHERE)


def policy(name: str = "a", *texts: str, severity: Severity = Severity.LOW, **more: object) -> Policy:
    rules = tuple(Validation(str(at), expression(text), Text("no")) for at, text in enumerate(texts))
    match = MatchResources((RULE,))
    return Policy(name, match, severity=severity, validations=rules, location=NOWHERE, **more)  # type: ignore[arg-type]  # any field of a policy


def told(one: Policy) -> list[str]:
    return list(policy_lines(one, Style()))


def test_the_most_severe_policy_is_listed_first_and_all_are_counted() -> None:
    lines = list(list_lines([policy("a"), policy("bb", severity=Severity.HIGH, title="B holds")], Style()))

    assert lines == [
        "high      bb  every release  packages.cozystack.io/cozystack.hami",
        "          B holds",
        "low       a   every release  packages.cozystack.io/cozystack.hami",
        "2 policies: 1 high, 1 low",
    ]


def test_no_policies_are_no_error() -> None:
    assert list(list_lines([], Style())) == ["0 policies"]


def test_a_policy_that_asks_for_no_conscious_choice_offers_none() -> None:
    assert not any("acknowledge" in line for line in told(policy("a", "true")))


def test_a_conscious_choice_is_offered_as_the_policy_asks_for_it() -> None:
    plain = policy("a", "'a' in acknowledged")
    valued = policy(
        "a", "variables.acknowledged", variables=(NamedExpression("acknowledged", expression("acknowledged[?'a']")),)
    )

    assert "  a conscious choice: annotate the object with `cozyguard.io/acknowledge: a`" in told(plain)
    assert "  a conscious choice: annotate the object with `cozyguard.io/acknowledge: a=VALUE`" in told(valued)
    assert [policy_entry(one)["acknowledge"] for one in (plain, valued, policy("a"))] == ["a", "a=VALUE", ""]


def test_words_that_an_expression_makes_are_said_to_be_so() -> None:
    rule = Validation("r", expression("true\n  && false"), Text("", expression("'x'")))
    lines = told(Policy("a", MatchResources((RULE,)), validations=(rule,), location=NOWHERE))

    assert "  r: (said case by case)" in lines
    assert "      holds if  true && false" in lines


def test_what_a_file_holds_cannot_move_the_cursor() -> None:
    assert told(policy("a", title="\x1b[2J"))[0] == r"a: \x1b[2J"
