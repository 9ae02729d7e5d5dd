"""What is tried at the playground, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass

from webhook.errors import DocumentError
from webhook.model.result import Checked
from webhook.model.story import Story


@dataclass(frozen=True, slots=True)
class Try:
    """Texts as people type them, "" where nothing is said.

    `policy`, `object`, `old` and `cluster` are YAML: policies, the object as it is applied and as it was, and the other
    objects of the cluster; what is not among them is absent. `groups` are separated by commas.
    """

    policy: str = ""
    object: str = ""
    old: str = ""
    cluster: str = ""
    operation: str = ""
    subresource: str = ""
    release: str = ""
    user: str = ""
    groups: str = ""


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of it. Faults name the field of the Try that they are in as their file.

    There is no story where the request cannot be told; policies with faults are left out of it.
    """

    errors: tuple[DocumentError, ...]
    notices: tuple[DocumentError, ...] = ()
    story: Story | None = None
    checked: Checked | None = None


@dataclass(frozen=True, slots=True)
class Start:
    """One case to start from: its name, what it expects, and all that is tried in it but the policy."""

    name: str
    expects: str
    given: Try
