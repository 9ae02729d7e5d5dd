"""Objects from files → the pipeline → results: the run behind `check`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from typing import Final, TypeVar

from webhook.admission.synthesize import Circumstances, synthesize
from webhook.engine.context import Context
from webhook.engine.pipeline import review
from webhook.engine.policyset import PolicySet
from webhook.errors import DocumentError
from webhook.model.release import Minor
from webhook.model.request import CREATE, UPDATE, GroupVersionKind, Object
from webhook.model.result import Checked, Setup
from webhook.runs import loading
from webhook.runs.broken import Conformity
from webhook.runs.inputs import Inputs, Piece
from webhook.runs.locate import checked
from webhook.runs.selection import Selection
from webhook.runs.spread import spread
from webhook.runs.world import objects_of, survey
from webhook.sources import schemas
from webhook.sources.files import Skipped
from webhook.sources.manifests import Manifest, manifests
from webhook.sources.objects import ObjectStore
from webhook.sources.rbac import RbacAuthorizer
from webhook.sources.yaml import Source

_LONG: Final = 16
"""Batches from which on other processes pay off."""

Found = Checked | Skipped | DocumentError
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class ScanRequest:
    """All that a scan is told. Paths of files are as the user wrote them.

    `circumstances` are those of every object, except that one which `old` holds is updated. `contents` are read in
    place of the files of these names. `replacements` asks for the text of each fix, `pictures` for the object
    around each finding, `schemas` that manifests are held to the schemas of their kinds, and to those of these files.
    """

    paths: tuple[str, ...]
    selection: Selection
    circumstances: Circumstances
    release: Minor | None = None
    configuration: str | None = None
    cluster_state: str | None = None
    closed_world: bool = False
    old: str | None = None
    passes: bool = False
    jobs: int | None = None
    contents: Mapping[str, bytes] = field(default_factory=dict)
    replacements: bool = False
    pictures: bool = False
    schemas: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Prepared:
    """A scan that is ready to run. `notices` are worth saying, and no fault."""

    request: ScanRequest
    setup: Setup
    notices: tuple[DocumentError, ...]
    inputs: Inputs
    policies: PolicySet
    context: Context
    store: ObjectStore
    old: ObjectStore | None
    conformity: Conformity


def prepare(request: ScanRequest) -> Prepared:
    """Read policies, configuration, release and what the documents tell of the cluster.

    Raises UsageError and DocumentErrors for what makes every answer wrong; a policy that does not
    compile is an error in `setup`, and the others still run.
    """
    configuration = loading.configured(request.configuration)
    found = loading.load(request.selection, configuration)
    if not found.errors:  # a policy that does not compile has no name here
        request.selection.check([one.policy.name for one in found.policies])
    policies = PolicySet.link(one for one in found.policies if request.selection.takes(one.policy))
    inputs = Inputs(request.paths, request.contents)
    world = survey(
        inputs.pieces(),
        (one.lookup.kind for one in policies.lookups.values()),
        request.release or configuration.release,
        state=request.cluster_state,
        closed_world=request.closed_world,
        namespace=request.circumstances.namespace,
    )
    return Prepared(
        request,
        Setup(str(world.release.version), len(policies), found.errors),
        (*found.notices, *world.remarks),
        inputs,
        policies,
        Context(
            world.release,
            world.store,
            configuration,
            datetime.now(UTC),
            authorizer=RbacAuthorizer(world.store),
        ),
        world.store,
        _old_objects(request),
        Conformity(
            str(world.release.version),
            world.store,
            None if request.schemas is None else schemas.read(request.schemas),
            (one.policy for one in policies.policies),
        ),
    )


def scan(prepared: Prepared) -> Iterator[Found]:
    """Judge every object, in the order of the input."""
    return over(prepared, partial(judge, prepared, conformity=prepared.conformity))


def over(prepared: Prepared, work: Callable[[Piece], Iterable[Answer]]) -> Iterator[Answer]:
    """Yield the answers for every piece of the input, in its order, however many processes share the work."""
    batches = prepared.inputs.batches
    long = len(list(islice(batches(), _LONG + 1))) > _LONG
    jobs = prepared.request.jobs or _processors()

    def each(batch: list[Piece]) -> Iterator[Answer]:
        for piece in batch:
            yield from work(piece)

    return spread(batches, each, jobs if long else 1)


def _processors() -> int:
    """Count what we may use; one where work cannot be spread."""
    if not hasattr(os, "fork"):
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def judge(prepared: Prepared, piece: Piece, conformity: Conformity | None = None) -> Iterator[Found]:
    """Judge the objects of one document; what is none is passed on, and what schemas refuse is told besides."""
    if not isinstance(piece, Source):
        yield piece
        return
    for manifest in manifests(piece):
        if not isinstance(manifest, Manifest):
            yield manifest
            continue
        found = decide(prepared, manifest)
        if conformity:
            yield from conformity.faults(manifest, found.results if isinstance(found, Checked) else ())
        yield found


def decide(prepared: Prepared, manifest: Manifest) -> Checked | DocumentError:
    """Judge one object; an error says why it cannot be."""
    circumstances, old = prepared.request.circumstances, _old(prepared, manifest.object)
    if old is not None:
        circumstances = replace(circumstances, operation=UPDATE)
    elif circumstances.operation == UPDATE:
        at = manifest.locate(("metadata", "name"))
        message = f"cannot be an UPDATE: `{prepared.request.old}` has no such object"
        return DocumentError(manifest.file, at.line, at.column, "metadata.name", message)
    request = synthesize(manifest.object, prepared.store, circumstances, old)
    decision = review(prepared.policies, request, prepared.context, passes=prepared.request.passes)
    found = checked(manifest, request, decision)
    if prepared.request.pictures:
        return _with_pictures(prepared, manifest.object, found)
    return _with_replacements(manifest, found) if prepared.request.replacements else found


def _with_replacements(manifest: Manifest, found: Checked) -> Checked:
    from webhook.runs.mending import replacement  # here: one format asks for it

    results = (replace(each, replacement=replacement(manifest, each)) for each in found.results)
    return replace(found, results=tuple(results))


def _with_pictures(prepared: Prepared, obj: Object, found: Checked) -> Checked:
    from webhook.runs.picture import pictured  # here: one format asks for it

    return pictured(obj, found, (one.policy for one in prepared.policies.policies))


def _old(prepared: Prepared, obj: Object) -> Object | None:
    """Find the object as it is now."""
    if prepared.old is None:
        return None
    kind, store = GroupVersionKind.of(obj), prepared.store
    request = synthesize(obj, store, replace(prepared.request.circumstances, operation=CREATE))
    return prepared.old.get(kind.api_version, kind.kind, request.namespace, request.name)


def _old_objects(request: ScanRequest) -> ObjectStore | None:
    if request.old is None:
        return None
    namespace = request.circumstances.namespace
    return ObjectStore(objects_of(request.old), closed_world=True, namespace=namespace)
