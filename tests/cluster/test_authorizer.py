"""`authorizer` in the cluster: the API server is asked between two evaluations of a review."""

from __future__ import annotations

import time
from functools import partial

import pytest

from tests.controlplane.plane import ControlPlane
from webhook.admission.plurals import Plurals
from webhook.admission.synthesize import Circumstances, synthesize
from webhook.cluster.authorizer import Authorizer
from webhook.cluster.client import Client
from webhook.cluster.resources import SUBJECT_ACCESS_REVIEWS
from webhook.engine.compile import compile_policy
from webhook.engine.context import DEFAULT_CONFIGURATION
from webhook.engine.policyset import PolicySet
from webhook.model.decision import Decision, Outcome
from webhook.model.request import UserInfo
from webhook.server.deadline import Deadline
from webhook.server.handler import Endpoint, _decided
from webhook.server.world import World
from webhook.sources import catalog
from webhook.sources.objects import ObjectStore
from webhook.sources.policies import read
from webhook.sources.policy_files import PolicyFile

POLICY = b"""
apiVersion: cozyguard.io/v1alpha1
kind: AdmissionPolicy
metadata: {name: who-may}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], resources: [configmaps], operations: [CREATE]}
  validations:
  - name: delete
    expression: >-
      authorizer.requestResource.check('get').allowed() && authorizer.requestResource.check('delete').allowed()
    message: only for those who may delete it
"""


async def decided(client: Client | None, namespace: str, user: str) -> Decision:
    policies = PolicySet.link(map(compile_policy, read([PolicyFile("p", POLICY, strict=True, root="p")]).policies))
    authorizer = Authorizer(partial(client.create, SUBJECT_ACCESS_REVIEWS.path())) if client else None
    world = World(policies, catalog.newest(), DEFAULT_CONFIGURATION, ObjectStore(), authorizer=authorizer)
    obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": namespace}}
    request = synthesize(obj, Plurals(()), Circumstances("CREATE", user=UserInfo(user)))
    return await _decided(Endpoint.VALIDATE, request, world, Deadline(10, time.monotonic()))


@pytest.fixture
def editor(control_plane: ControlPlane, namespace: str) -> str:
    """A user who may get and delete ConfigMaps of the namespace."""
    control_plane.kubectl("-n", namespace, "create", "role", "editor", "--verb=get,delete", "--resource=configmaps")
    control_plane.kubectl("-n", namespace, "create", "rolebinding", "editor", "--role=editor", "--user=authorizer-ada")
    return "authorizer-ada"


async def test_who_may_is_let_through_and_who_may_not_is_refused(client: Client, namespace: str, editor: str) -> None:
    assert (await decided(client, namespace, editor)).allowed
    refused = await decided(client, namespace, "authorizer-eve")
    assert [(finding.outcome, finding.message) for finding in refused.findings] == [
        (Outcome.DENY, "only for those who may delete it")
    ]


async def test_without_an_api_server_to_ask_the_failure_policy_decides(namespace: str) -> None:
    (finding,) = (await decided(None, namespace, "authorizer-ada")).findings
    assert finding.outcome is Outcome.ERROR
    assert "whether authorizer-ada may get configmaps c" in finding.message
