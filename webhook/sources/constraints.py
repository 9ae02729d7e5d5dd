"""Templates and constraints of Gatekeeper → policies: a constraint finds its template in any file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from webhook.errors import DocumentError, DocumentErrors, did_you_mean
from webhook.model.policy import Policy
from webhook.sources.written import Written

if TYPE_CHECKING:
    from webhook.sources.formats.gatekeeper import ConstraintTemplate
    from webhook.sources.formats.gatekeeper_constraint import Constraint

GROUPS: Final = ("templates.gatekeeper.sh/", "constraints.gatekeeper.sh/")
TEMPLATE: Final = "ConstraintTemplate"


def is_read(entry: Written) -> bool:
    """Is this a template or a constraint."""
    templates, constraints = GROUPS
    api_version = entry.text("apiVersion")
    return api_version.startswith(constraints) or (api_version.startswith(templates) and entry.kind == TEMPLATE)


class Constraints:
    """What was read so far."""

    def __init__(self) -> None:
        """Start with nothing."""
        self._templates: dict[str, tuple[Written, ConstraintTemplate]] = {}
        self._constraints: list[tuple[Written, Constraint]] = []
        self._known: set[str] = set()

    def add(self, entry: Written) -> None:
        """Take a template or a constraint. Raises DocumentErrors with its faults."""
        from webhook.sources.formats import gatekeeper, gatekeeper_constraint  # here: a warm start needs no pydantic

        if entry.kind != TEMPLATE:
            self._constraints.append((entry, entry.check(gatekeeper_constraint.Constraint)))
            return
        self._known.add(entry.text("spec", "crd", "spec", "names", "kind"))
        template = entry.check(gatekeeper.ConstraintTemplate)
        if entry.text("metadata", "name") != template.defines.lower():
            place = entry.place / "metadata" / "name"
            wanted = template.defines.lower()
            raise DocumentErrors(
                [place.error(f"got `{template.metadata.name}`, want `{wanted}`, as its constraints are")]
            )
        self._templates[template.defines] = (entry, template)

    def policies(self) -> Iterator[Policy]:
        """Make the policies of the constraints that have a template and do something here."""
        for entry, constraint in self._constraints:
            if constraint.kind in self._templates and constraint.actions:
                root, template = self._templates[constraint.kind]
                yield template.build(root.place, constraint, entry.place)

    def errors(self) -> Iterator[DocumentError]:
        """Name the constraints that have no template; one whose template is broken is told by that."""
        for entry, constraint in self._constraints:
            if constraint.kind not in self._known:
                hint = did_you_mean(constraint.kind, self._known)
                yield (entry.place / "kind").error(f"no ConstraintTemplate defines `{constraint.kind}`{hint}")

    def notices(self) -> Iterator[DocumentError]:
        """Say what does nothing: templates without constraints, and constraints for other enforcement points."""
        used = {constraint.kind for _, constraint in self._constraints}
        for kind, (entry, _) in self._templates.items():
            if kind not in used:
                place = entry.place / "metadata" / "name"
                yield place.error(f"template `{kind}` does nothing: there is no constraint of this kind")
        for entry, constraint in self._constraints:
            if not constraint.actions:
                place = entry.place / "spec" / "scopedEnforcementActions"
                yield place.error(f"`{constraint.called}` does nothing here: no action is for validation.gatekeeper.sh")
