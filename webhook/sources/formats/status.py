"""`status` of the kinds that a cluster stores: what cozyguard makes of an object, written by nobody else."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from webhook.sources.formats.base import Mapped
from webhook.sources.formats.fields import Moment

Generation = Annotated[int, Field(ge=0)]


class Condition(Mapped):
    """One aspect of the object's state (`metav1.Condition`)."""

    type: str
    status: Literal["True", "False", "Unknown"]
    observed_generation: Generation | None = None
    """The generation of `spec` that this is about."""
    last_transition_time: Moment
    """When `status` last became another one."""
    reason: Annotated[str, Field(pattern="^[A-Za-z]+$")]
    """One word for machines."""
    message: str
    """What people should know, with the place of every fault."""


class Status(Mapped):
    """What became of the object."""

    UNIQUE: ClassVar = {"conditions": "type"}

    conditions: list[Condition] = []
    observed_generation: Generation | None = None
    """The generation of `spec` that all of this is about."""


class LastGood(Mapped):
    """The last `spec` that was valid: what stays in force when every replica has started anew."""

    generation: Generation
    spec: dict[str, Any]


class PolicyStatus(Status):
    """What became of an AdmissionPolicy; condition `Ready`."""

    in_force: Generation | None = None
    """The generation whose rules decide: an older one while a newer is invalid; absent while there is none."""
    last_good: LastGood | None = None
    """What is in force while `spec` is invalid."""


class ExceptionStatus(Status):
    """What became of a PolicyException; condition `Active`."""

    policies: str | None = None
    """The names under `spec.policies`, for a column of `kubectl get`, which can show but the first entry of a list."""
