import pytest

from webhook.model.decision import Finding, Outcome
from webhook.model.policy import MatchResources, Policy
from webhook.model.result import Silenced
from webhook.runs.silence import Ignore, annotated, commented, silenced, unreasoned
from webhook.sources.yaml import Document, read


def finding(policy: str = "a", rule: str = "r", outcome: Outcome = Outcome.DENY) -> Finding:
    return Finding(outcome, Policy(policy, MatchResources()), rule)


def document(text: str) -> Document:
    (read_document,) = read(text, "x.yaml")
    return read_document


def with_annotation(text: object) -> dict[str, object]:
    return {"metadata": {"annotations": {"cozyguard.io/ignore": text}}}


def test_an_annotation_names_policies_or_rules_with_reasons() -> None:
    wishes = list(annotated(with_annotation("a=lab cluster; b/gate = agreed with ops;")))

    assert wishes == [
        Ignore("annotation", "a", "", "lab cluster"),
        Ignore("annotation", "b", "gate", "agreed with ops"),
    ]


@pytest.mark.parametrize(
    "obj", [{}, {"metadata": None}, {"metadata": {"annotations": []}}, with_annotation(1), with_annotation("")]
)
def test_an_object_without_such_an_annotation_wishes_nothing(obj: dict[str, object]) -> None:
    assert list(annotated(obj)) == []


def test_a_comment_is_about_its_own_line_or_the_next_that_says_something() -> None:
    text = """\
spec:
  variant: odd # cozyguard:ignore a: as agreed
  # cozyguard:ignore b/r: until march

  # another comment
  replicas: 3
"""

    assert list(commented(document(text))) == [
        Ignore("comment", "a", "", "as agreed", 2),
        Ignore("comment", "b", "r", "until march", 6),
    ]


@pytest.mark.parametrize("text", ["url: x#cozyguard:ignore", "url: '# cozyguard:ignore a: b'"])
def test_text_that_only_looks_like_a_comment_is_none(text: str) -> None:
    assert list(commented(document(text))) == []


def test_only_the_named_policy_and_rule_on_that_line_is_silenced() -> None:
    wish = [Ignore("comment", "a", "r", "as agreed", 7)]

    assert silenced(finding("a", "r"), 7, wish) == Silenced("comment", "as agreed")
    assert silenced(finding("a", "r"), 8, wish) is None
    assert silenced(finding("a", "other"), 7, wish) is None
    assert silenced(finding("b", "r"), 7, wish) is None


def test_what_was_not_checked_cannot_be_silenced() -> None:
    assert silenced(finding(outcome=Outcome.SKIP), 1, [Ignore("annotation", "a", "", "why")]) is None


@pytest.mark.parametrize("text", ["a", "a=", "a= ; "])
def test_without_a_reason_nothing_is_silenced_and_that_is_said(text: str) -> None:
    wishes = list(annotated(with_annotation(text)))

    assert silenced(finding(), 1, wishes) is None
    assert unreasoned(wishes[0]) == "the ignore of `a` has no reason and is not honoured: write `a=reason`"


def test_a_comment_that_names_no_policy_is_not_honoured() -> None:
    (wish,) = commented(document("# cozyguard:ignore\nx: 1\n"))

    assert silenced(finding(), 2, [wish]) is None
    assert "names no policy" in unreasoned(wish)
