"""What flags name, read from files: the configuration, and the policies with it."""

from __future__ import annotations

from webhook.engine.context import DEFAULT_CONFIGURATION
from webhook.model.configuration import Configuration
from webhook.runs.selection import Selection
from webhook.sources import compiled, policies
from webhook.sources.bundled import bundled
from webhook.sources.compiled import Compiled


def configured(file: str | None) -> Configuration:
    """Read a configuration, if there is one. Raises UsageError and DocumentErrors."""
    if file is None:
        return DEFAULT_CONFIGURATION
    from webhook.sources import configuration  # here: most runs have none

    return configuration.load(file)


def load(selection: Selection, given: Configuration) -> Compiled:
    """Compile the policies of a selection's paths, else the configuration's, else ours: whether they count or not."""
    own = selection.policies or given.policies or (bundled(),)
    return compiled.load([*own, *selection.added])


def load_all(selection: Selection) -> Compiled:
    """Compile the policies of a selection's paths, else ours, and native ones that no binding names, too."""
    found = load(selection, DEFAULT_CONFIGURATION)
    if not found.notices:
        return found
    unbound = policies.load([*(selection.policies or (bundled(),)), *selection.added]).unbound
    made = compiled.compile_policies(unbound)
    return Compiled(found.policies + made.policies, (*found.errors, *made.errors), found.notices)
