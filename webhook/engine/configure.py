"""How the configuration bends what policies say: exemptions, modes and exceptions."""

from __future__ import annotations

from fnmatch import fnmatchcase

from webhook.engine.context import DEFAULT_CONFIGURATION, Context
from webhook.engine.match import matches, namespace_selected
from webhook.model.configuration import Exempt, ModeName, PolicyException
from webhook.model.policy import Action, Policy
from webhook.model.request import AdmissionRequest


def exempt(exempt: Exempt, request: AdmissionRequest) -> bool:
    """Is the request one that no policy looks at."""
    user = request.user
    return request.namespace in exempt.namespaces or (
        user is not None and (user.username in exempt.users or not exempt.groups.isdisjoint(user.groups))
    )


def actions(policy: Policy, request: AdmissionRequest, context: Context) -> frozenset[Action]:
    """Return what a broken rule asks for here; nothing at all means that the policy is off.

    Raises NotKnown when a mode depends on namespace labels that are not known.
    """
    if context.configuration is DEFAULT_CONFIGURATION:
        return policy.actions
    for mode in context.configuration.modes:
        if (
            (mode.until is None or context.now < mode.until)
            and any(fnmatchcase(policy.name, glob) for glob in mode.policies)
            and namespace_selected(mode.namespace_selector, request, context.cluster)
        ):
            return softened(policy.actions, mode.mode)
    return policy.actions


def softened(actions: frozenset[Action], mode: ModeName) -> frozenset[Action]:
    """Return what is left of a policy's actions in this mode."""
    match mode:
        case ModeName.OFF:
            return frozenset()
        case ModeName.WARN:
            return frozenset(Action.WARN if action is Action.DENY else action for action in actions)
        case ModeName.AUDIT:
            return frozenset({Action.AUDIT})
        case _:
            return actions


def exceptions(policy: Policy, request: AdmissionRequest, context: Context) -> tuple[PolicyException, ...]:
    """List the exceptions in force that name this policy and fit this request."""
    return tuple(
        exception
        for exception in context.configuration.exceptions
        if context.now < exception.expires_at
        and any(fnmatchcase(policy.name, excepted.name) for excepted in exception.policies)
        and (not exception.names or any(fnmatchcase(request.name, name) for name in exception.names))
        and matches(exception.match, request, context.cluster)
    )


def excusing(policy: Policy, rule: str, exceptions: tuple[PolicyException, ...]) -> PolicyException | None:
    """Give the exception that lets this rule pass, if one does; "" asks for the policy as a whole."""
    for exception in exceptions:
        for one in exception.policies:
            if fnmatchcase(policy.name, one.name) and (not one.rules or rule in one.rules):
                return exception
    return None
