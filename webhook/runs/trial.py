"""One try at the playground: texts as people type them → a decision and its story, by the way of a policy test."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from webhook.engine.policyset import PolicySet
from webhook.errors import DocumentError, UsageError, did_you_mean
from webhook.model.configuration import Configuration
from webhook.model.policy import NOWHERE
from webhook.model.release import Minor
from webhook.model.request import OPERATIONS, UserInfo
from webhook.model.suite import Case, Expectation
from webhook.model.trial import Tried, Try
from webhook.runs.locate import checked
from webhook.runs.story import story
from webhook.runs.suite import context_of, request_of
from webhook.sources import catalog, yaml
from webhook.sources.compiled import Compiled, compile_files
from webhook.sources.manifests import Manifest, manifests
from webhook.sources.policy_files import PolicyFile

POLICY: Final = "policy"
OBJECT: Final = "object"
OLD: Final = "old"
CLUSTER: Final = "cluster"


def attempt(given: Try, configuration: Configuration, expired: Callable[[], bool]) -> Tried:
    """Compile and decide. Nothing is raised for what people typed; `expired` says when a rule has to give up."""
    errors: list[DocumentError] = []
    found = _compiled(given.policy)
    objects = {name: list(_manifests(name, getattr(given, name), errors)) for name in (OBJECT, OLD, CLUSTER)}
    release, user = _release(given.release, errors), _user(given, errors)
    if given.operation and given.operation not in OPERATIONS:
        hint = did_you_mean(given.operation, OPERATIONS)
        errors.append(
            DocumentError("operation", message=f"got `{given.operation}`, want CREATE, UPDATE or DELETE{hint}")
        )
    new, old = (_only(objects[name], errors) for name in (OBJECT, OLD))
    manifest = new or old
    if manifest is None and not errors:
        errors.append(DocumentError(OBJECT, message="want an object to decide about"))
    if manifest is None or errors:
        return Tried((*found.errors, *errors), found.notices)
    case = Case(
        "playground",
        new.object if new else None,
        Expectation(),
        NOWHERE,
        old_object=old.object if old else None,
        operation=given.operation,
        subresource=given.subresource,
        user=user,
        lookups=tuple(each.object for each in objects[CLUSTER]),
        release=release or configuration.release,
    )
    request = request_of(case)
    context = replace(context_of(case, request), configuration=configuration, expired=expired)
    told = story(PolicySet.link(found.policies), context, request)
    return Tried(found.errors, found.notices, told, checked(manifest, told.request, told.decision))


def _compiled(text: str) -> Compiled:
    """Compile what is typed; nothing yet is no policy, and no fault."""
    if not text.strip():
        return Compiled(())
    return compile_files([PolicyFile(POLICY, text.encode(errors="surrogatepass"), strict=True, root=POLICY)])


def _manifests(name: str, text: str, errors: list[DocumentError]) -> Iterator[Manifest]:
    for source in yaml.split(io.BytesIO(text.encode(errors="surrogatepass")), name):
        for each in [source] if isinstance(source, DocumentError) else manifests(source):
            if isinstance(each, DocumentError):
                errors.append(each)
            else:
                yield each


def _only(found: Sequence[Manifest], errors: list[DocumentError]) -> Manifest | None:
    """Take the one object of an editor, if there is one."""
    if len(found) > 1:
        at = found[1].locate(())
        errors.append(DocumentError(found[1].file, at.line, at.column, message=f"got {len(found)} objects, want one"))
    return found[0] if found else None


def _release(text: str, errors: list[DocumentError]) -> Minor | None:
    try:
        return catalog.nearest(Minor.parse(text))[0].version if text else None
    except (ValueError, UsageError) as error:
        errors.append(DocumentError("release", message=str(error)))
        return None


def _user(given: Try, errors: list[DocumentError]) -> UserInfo | None:
    groups = tuple(group for part in given.groups.split(",") if (group := part.strip()))
    if groups and not given.user:
        errors.append(DocumentError("user", message="want the user who is in these groups"))
    return UserInfo(given.user, groups) if given.user else None
