"""Rules that ask what the user may do: decided where the answer is at hand, skipped by name where it is not."""

from __future__ import annotations

from typing import Any

MAY_DELETE = """
validations:
- expression: authorizer.requestResource.check('delete').allowed()
  message: who cannot delete it should not make it
"""
GADGET = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "team"}}


def test_a_question_that_nobody_has_answered_is_what_the_skipped_rule_needs(judge: Any) -> None:
    (finding,) = judge(MAY_DELETE, GADGET).findings
    assert finding.outcome.value == "skip"
    assert "whether ada may delete configmaps a in namespace team" in finding.message


def test_a_user_whom_nobody_knows_is_asked_for_first(judge: Any) -> None:
    (finding,) = judge(MAY_DELETE, GADGET, user=None).findings
    assert finding.outcome.value == "skip"
    assert "the user" in finding.message
