"""No object, however torn, makes a bundled policy err: each field missing, null, or of another kind.

The objects are those of the policies' own tests, so that every rule is reached, and what they look up is torn as they
are. A field may always be missing or null; of another kind it is only where the API server takes that: it has types of
its own for Kubernetes' kinds, and a schema for the others.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import pytest
import yaml

from webhook.admission.synthesize import Circumstances, synthesize
from webhook.engine.compile import compile_policy
from webhook.engine.context import Context
from webhook.engine.pipeline import review
from webhook.engine.policyset import PolicySet
from webhook.model.decision import Decision, Outcome
from webhook.model.path import render
from webhook.model.request import UPDATE, Object
from webhook.model.suite import Case
from webhook.sources import catalog, policies, suites
from webhook.sources.objects import ObjectStore

POLICIES = Path(__file__).parents[2] / "policies"
CRDS = Path(__file__).parents[1] / "controlplane" / "crds"
SUITES = sorted(file.relative_to(POLICIES).parent for file in POLICIES.glob("*/*/tests.yaml"))

Steps: TypeAlias = tuple[str | int, ...]

NEEDED = (("apiVersion",), ("kind",), ("metadata",), ("metadata", "name"), ("metadata", "namespace"))
"""Without these it is no object, no request is made of it, and nobody finds it."""

MISSING = object()
OTHERS: tuple[Any, ...] = (MISSING, None, {}, ["x"], "x", 7, True)
"""What stands in place of a field: nothing, null, and each kind of value that JSON has."""


@pytest.mark.parametrize("folder", SUITES, ids=str)
def test_no_torn_object_makes_a_rule_err(folder: Path) -> None:
    erred = [
        f"{torn.name}: {what}: {finding.rule}: {finding.message}"
        for what, torn in _distinct(folder)
        for finding in _decide(folder, torn).findings
        if finding.outcome is Outcome.ERROR or "could not be evaluated" in finding.message
    ]
    assert erred == []


@pytest.mark.parametrize("folder", SUITES, ids=str)
def test_a_mutation_finds_nothing_to_do_when_it_is_invoked_again(folder: Path) -> None:
    if not any(linked.mutations for linked in _policies(folder).policies):
        return
    changed = [(what, case, decision) for what, case in _distinct(folder) if (decision := _decide(folder, case)).patch]
    assert changed
    for what, case, decision in changed:
        assert _decide(folder, replace(case, object=decision.object)).patch == (), f"{case.name}: {what}"


@pytest.mark.parametrize("folder", SUITES, ids=str)
def test_every_policy_says_what_people_need(folder: Path) -> None:
    for linked in _policies(folder).policies:
        policy = linked.policy
        assert policy.name == folder.name
        assert policy.title
        assert policy.category
        assert policy.why
        assert policy.docs == f"https://github.com/cozyguard/cozyguard/blob/main/docs/policies/{policy.name}.md"
        for rule in policy.validations:
            assert rule.message
            assert rule.fix.text
            assert rule.field
        for mutation in policy.mutations:
            assert mutation.message


@cache
def _policies(folder: Path) -> PolicySet:
    loaded = policies.load([POLICIES / folder])
    assert not loaded.errors, loaded.errors
    return PolicySet.link(map(compile_policy, loaded.policies))


def _cases(folder: Path) -> tuple[Case, ...]:
    loaded = suites.load([POLICIES / folder / "tests.yaml"])
    assert not loaded.errors, loaded.errors
    return loaded.suites[0].cases


def _distinct(folder: Path) -> Iterator[tuple[str, Case]]:
    """Tear the objects of all cases; many are alike, and are torn once."""
    seen = set()
    for case in _cases(folder):
        for what, torn in _torn(case):
            told = (torn.object, torn.old_object, torn.operation, torn.lookups, str(torn.release), str(torn.user))
            if (key := json.dumps(told, sort_keys=True)) not in seen:
                seen.add(key)
                yield what, torn


def _torn(case: Case) -> Iterator[tuple[str, Case]]:
    """Tear the object of a case, then the one it replaces, then each that is looked up."""
    for path, torn in _variants(case.object, _may_stand):
        yield f"object {path}", replace(case, object=torn)
    for path, torn in _variants(case.old_object, _may_stand):
        yield f"oldObject {path}", replace(case, old_object=torn)
    for index, looked_up in enumerate(case.lookups):
        for path, torn in _variants(looked_up, _may_be_stored):
            lookups = (*case.lookups[:index], torn, *case.lookups[index + 1 :])
            yield f"lookups[{index}] {path}", replace(case, lookups=lookups)


def _variants(obj: Object | None, may: Callable[[Any, Steps, Object], bool]) -> Iterator[tuple[str, Object]]:
    for path in _paths(obj or {}):
        if path in NEEDED:
            continue
        for value in (other for other in OTHERS if may(other, path, obj or {})):
            told = "missing" if value is MISSING else json.dumps(value)
            yield f"{render(path)} = {told}", _with(obj, path, value)


def _with(value: Any, path: Steps, other: Any) -> Any:
    """Copy a value with another one at a path; what lies beside the path is shared."""
    if not path:
        return other
    copied = value.copy()
    copied[path[0]] = _with(value[path[0]], path[1:], other)
    if copied[path[0]] is MISSING:
        del copied[path[0]]
    return copied


def _may_stand(value: Any, path: Steps, obj: Object) -> bool:
    """Tell whether the API server lets a value through to those whom it asks."""
    return value is MISSING or value is None or ("." in obj["apiVersion"] and _fits(value, _schema(path, obj)))


def _may_be_stored(value: Any, path: Steps, obj: Object) -> bool:
    """Tell whether the API server stores a value there."""
    if value is MISSING:
        return path[-1] not in _schema(path[:-1], obj).get("required", ())
    schema = _schema(path, obj)
    return "." in obj["apiVersion"] and _fits(value, schema) and (value != {} or "required" not in schema)


def _schema(path: Steps, obj: Object) -> Any:
    """Find what a CRD says of a place: nothing where any value can be."""
    group, _, version = obj["apiVersion"].rpartition("/")
    schema: Any = _METADATA if path[:1] == ("metadata",) else _schemas().get((group, version, obj["kind"]), {})
    for step in path:
        schema = schema.get("items") or schema.get("properties", {}).get(step) or schema.get("additionalProperties", {})
    return schema


def _fits(value: Any, schema: Any) -> bool:
    items = value if isinstance(value, list) else ()
    return isinstance(value, _TYPES[schema.get("type")]) and all(_fits(one, schema.get("items", {})) for one in items)


_TYPES: dict[str | None, type] = {"object": dict, "array": list, "string": str, "boolean": bool, None: object}
_TEXTS = {"type": "object", "additionalProperties": {"type": "string"}}
_METADATA = {"properties": {"metadata": {"properties": {"labels": _TEXTS, "annotations": _TEXTS}}}}


@cache
def _schemas() -> dict[tuple[str, str, str], Any]:
    """Read the CRDs that the control plane of the tests has: group, version, kind → schema."""
    return {
        (crd["spec"]["group"], version["name"], crd["spec"]["names"]["kind"]): version["schema"]["openAPIV3Schema"]
        for file in CRDS.glob("*.yaml")
        for crd in yaml.safe_load_all(file.read_text())
        for version in crd["spec"]["versions"]
    }


def _paths(value: Any, path: Steps = ()) -> Iterator[Steps]:
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in entries:
        yield (*path, key)
        yield from _paths(item, (*path, key))


def _decide(folder: Path, case: Case) -> Decision:
    """Decide as for a file that holds the object, torn as it is."""
    obj = case.object or case.old_object or {}
    operation = case.operation or (UPDATE if case.object and case.old_object else "CREATE")
    circumstances = Circumstances(operation=operation, subresource=case.subresource, user=case.user)
    cluster = ObjectStore(case.lookups, closed_world=True)
    request = synthesize(obj, cluster, circumstances, case.old_object)
    release = catalog.load(case.release) if case.release else catalog.newest()
    return review(_policies(folder), request, Context(release, cluster))
