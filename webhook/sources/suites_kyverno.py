"""A `kyverno-test.yaml` → a suite: each row, for each of its resources, is a case."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from webhook.admission.plurals import Plurals
from webhook.errors import DocumentError, DocumentErrors, did_you_mean
from webhook.model.request import DELETE, UPDATE, GroupVersionKind, Object, UserInfo
from webhook.model.suite import SOME, Case, Expectation, Expected, Suite
from webhook.sources import suite_files
from webhook.sources.formats import kyverno_test as formats
from webhook.sources.formats.place import Place
from webhook.sources.written import Written

_OUTCOMES: Final = {"pass": Expected.ALLOW, "skip": Expected.NOT_MATCHED, "error": Expected.ERROR}
"""What a row expects; `fail` and `warn` are broken rules, whatever the policy asks for then."""

_DEFAULT: Final = "default"
_KNOWN: Final = Plurals()


@dataclass(frozen=True, slots=True)
class _World:
    """All that the rows of a test have in common."""

    test: formats.Test
    values: formats.Values
    resources: tuple[Object, ...]
    others: tuple[Object, ...]
    user: UserInfo | None


def suites(document: Written) -> tuple[list[Suite], list[DocumentError]]:
    """Read the suite, and say what is wrong with rows that cannot be used; the others can.

    Raises DocumentErrors with every fault of the test as such, and of the files that all rows depend on.
    """
    test, place = document.check(formats.Test), document.place
    world = _world(test, place)
    errors: list[DocumentError] = []
    cases: list[Case] = []
    for index, row in enumerate(test.results):
        try:
            written = Written(row, place / "results" / index)
            cases += _cases(world, written.check(formats.Result), written.place)
        except DocumentErrors as faults:
            errors += faults
    policies = tuple(suite_files.path(place, named) for named in (*test.policies, *test.exceptions))
    return [Suite(place.file, policies, tuple(cases))] if cases else [], errors


def _world(test: formats.Test, place: Place) -> _World:
    values = test.values or formats.Values()
    if test.variables:
        values = suite_files.checked(place / "variables", test.variables, formats.Values)
    context: tuple[Object, ...] = ()
    if test.context:
        context = tuple(suite_files.checked(place / "context", test.context, formats.Context).spec.resources)
    params = tuple(_files(place / "paramResources", test.param_resources))
    resources = tuple(_files(place / "resources", test.resources))
    others = (*context, *params, *_namespaces(values), *_cluster(test, place / "clusterResources"))
    return _World(test, values, resources, others, _user(test, place))


def _files(place: Place, named: list[str]) -> Iterator[Object]:
    for index, file in enumerate(named):
        yield from map(_placed, suite_files.objects(place / index, file))


def _cluster(test: formats.Test, place: Place) -> Iterator[Object]:
    """Read what there is in the cluster; the paths of definitions are relative to the test, too."""
    for index, file in enumerate(test.cluster_resources):
        spec = suite_files.checked(place / index, file, formats.ClusterResource).spec
        yield from map(_placed, spec.resources)
        for named in spec.crds:
            yield from suite_files.objects(place / index, named)


def _placed(resource: Object) -> Object:
    """Put what lives in a namespace and names none where Kyverno puts it."""
    metadata = resource.get("metadata")
    if not isinstance(metadata, dict) or metadata.get("namespace"):
        return resource
    if not _KNOWN.namespaced(GroupVersionKind.of(resource)):
        return resource
    return {**resource, "metadata": {**metadata, "namespace": _DEFAULT}}


def _user(test: formats.Test, place: Place) -> UserInfo | None:
    if not test.userinfo:
        return None
    return suite_files.checked(place / "userinfo", test.userinfo, formats.UserInfo).user_info.build()


def _namespaces(values: formats.Values) -> Iterator[Object]:
    for one in values.namespaces:
        yield {**one, "apiVersion": "v1", "kind": "Namespace"}
    for labelled in values.namespace_selector:
        metadata = {"name": labelled.name, "labels": labelled.labels}
        yield {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}


def _cases(world: _World, row: formats.Result, place: Place) -> Iterator[Case]:
    """Make the cases of a row. Raises DocumentErrors for a resource that is not there."""
    for resource in _chosen(world, row, place):
        operation = row.operation or _operation(world, row, resource)
        name = "/".join(filter(None, (_metadata(resource, "namespace"), _metadata(resource, "name"))))
        case = Case(
            name=f"{row.policy}: {row.result} for {resource.get('kind')} {name}",
            object=resource,
            expect=_expectation(row, resource, place),
            location=place.location(),
            operation=operation,
            user=world.user,
            lookups=world.others,
        )
        if operation == DELETE:
            case = replace(case, object=None, old_object=resource)
        elif operation == UPDATE:
            case = replace(case, old_object=resource)
        yield case


def _chosen(world: _World, row: formats.Result, place: Place) -> list[Object]:
    """Find the resources that a row names, of its kind if it tells; all where it names none."""
    known = [one for one in world.resources if row.kind in (None, "", one.get("kind"))]
    found: list[Object] = []
    if not (row.resources or row.resource_specs):
        return known
    for index, name in enumerate(row.resources):
        found += _some(known, partial(_is_called, name=name), name, place / "resources" / index)
    for index, spec in enumerate(row.resource_specs):
        at = place / "resourceSpecs" / index
        found += _some(known, partial(_is_specified, spec=spec), spec.name, at)
    return found


def _some(known: list[Object], is_meant: Callable[[Object], bool], name: str, place: Place) -> list[Object]:
    if found := list(filter(is_meant, known)):
        return found
    hint = did_you_mean(name, [_metadata(one, "name") for one in known])
    raise DocumentErrors([place.error(f"no resource of the test is called `{name}`{hint}")])


def _is_called(resource: Object, name: str) -> bool:
    namespace, _, own = name.rpartition("/")
    return own == _metadata(resource, "name") and namespace in ("", _metadata(resource, "namespace") or _DEFAULT)


def _is_specified(resource: Object, spec: formats.ResourceSpec) -> bool:
    group, _, version = str(resource.get("apiVersion")).rpartition("/")
    return (
        spec.name == _metadata(resource, "name")
        and spec.namespace == _metadata(resource, "namespace")
        and spec.group == group
        and spec.version == version
        and spec.kind in ("", resource.get("kind"))
    )


def _operation(world: _World, row: formats.Result, resource: Object) -> str:
    """Find what the values say of the operation: of the resource, then of all."""
    for policy in world.values.policies:
        for told in policy.resources if policy.name == row.policy else ():
            if told.name == _metadata(resource, "name") and (operation := told.values.get(formats.OPERATION)):
                return operation
    return world.values.global_values.get(formats.OPERATION) or ""


def _expectation(row: formats.Result, resource: Object, place: Place) -> Expectation:
    patched = None
    if row.patched_resources:
        patched = _patched(place / "patchedResources", row.patched_resources, resource)
    violations = SOME if row.result in ("fail", "warn") else None
    outcome = _OUTCOMES.get(row.result)
    return Expectation(outcome, policy=row.policy, violations=violations, patched=patched, empties=False)


def _patched(place: Place, named: str, resource: Object) -> Object:
    """Find the object that the resource is to become: the one of its kind, namespace and name."""
    found = map(_placed, suite_files.objects(place, named))
    wanted = _identity(resource)
    for one in found:
        if _identity(one) == wanted:
            return one
    raise DocumentErrors([place.error(f"`{named}` holds no {' '.join(filter(None, wanted))}")])


def _identity(resource: Object) -> tuple[str, str, str]:
    return str(resource.get("kind")), _metadata(resource, "namespace"), _metadata(resource, "name")


def _metadata(resource: Object, key: str) -> str:
    metadata = resource.get("metadata")
    value = metadata.get(key) if isinstance(metadata, dict) else None
    return value if isinstance(value, str) else ""
