"""Mutations of a Pod of 20 KB: µs from the decoded request to the decision with its patch.

`python -m benchmarks mutations`. One policy with so many mutations, each of which changes one field that no other
changes. A figure is the best of several rounds.
"""

from __future__ import annotations

import os
from random import Random
from typing import Final

from benchmarks import objects
from benchmarks.engine import best
from benchmarks.machine import machine
from webhook.admission import codec
from webhook.engine.compile import compile_policy
from webhook.engine.context import Context
from webhook.engine.pipeline import review
from webhook.engine.policyset import PolicySet
from webhook.sources import catalog
from webhook.sources.objects import ObjectStore
from webhook.sources.policies import read
from webhook.sources.policy_files import PolicyFile

SIZE: Final = 20_000
COUNTS: Final = (1, 20)

MUTATIONS: Final = {
    "JSONPatch, a label": "patchType: JSONPatch, jsonPatch: {expression: "
    "\"[JSONPatch{op: 'add', path: '/metadata/labels/l%d', value: 'x'}]\"}",
    "ApplyConfiguration, a label": "patchType: ApplyConfiguration, applyConfiguration: {expression: "
    "\"Object{metadata: Object.metadata{labels: Object.metadata.labels{l%d: 'x'}}}\"}",
    "ApplyConfiguration, a container": "patchType: ApplyConfiguration, applyConfiguration: {expression: "
    "\"Object{spec: Object.spec{containers: [Object.spec.containers{name: 'c%d', image: 'x'}]}}\"}",
}

_POLICY: Final = """\
apiVersion: cozyguard.io/v1alpha1
kind: AdmissionPolicy
metadata: {name: measured}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], resources: [pods], operations: [CREATE]}
  mutations:
"""


def main() -> None:
    """Print the table."""
    os.sched_setaffinity(0, {0})
    print(f"## mutations of a Pod of {SIZE // 1000} KB: µs\n\n{machine()}\n")
    print("| each mutation | 1 mutation | 20 mutations |\n| --- | ---: | ---: |")
    for name, mutation in MUTATIONS.items():
        figures = [f"{_measured(mutation, count):,.0f}" for count in COUNTS]
        print(f"| {name} | {' | '.join(figures)} |")


def _measured(mutation: str, count: int) -> float:
    text = _POLICY + "".join(f"  - {{{mutation % number}}}\n" for number in range(count))
    (policy,) = read([PolicyFile("measured.yaml", text.encode(), strict=True, root="measured.yaml")]).policies
    policies = PolicySet.link([compile_policy(policy)])
    request = codec.read(objects.review(objects.pod(Random(1), SIZE)))
    context = Context(release=catalog.newest(), cluster=ObjectStore([], closed_world=True))
    decision = review(policies, request, context, validate=False)
    assert len(decision.changes) == count, decision.findings
    return best(lambda: review(policies, request, context, validate=False))


if __name__ == "__main__":
    main()
