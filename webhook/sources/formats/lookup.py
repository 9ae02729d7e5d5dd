"""`lookups`: the other objects that a policy reads."""

from __future__ import annotations

from typing import ClassVar

from webhook.model import policy as model
from webhook.sources.formats.base import Mapped
from webhook.sources.formats.fields import Cel, Identifier, Kind, ObjectApiVersion, Words
from webhook.sources.formats.match import LabelSelector
from webhook.sources.formats.place import Place


class Lookup(Mapped):
    """Another object, or a list of them, that expressions read as `lookups.<name>`."""

    AT_MOST_ONE: ClassVar = (
        ("objectName", "objectNameExpression", "labelSelector"),
        ("namespace", "namespaceExpression"),
    )

    name: Identifier
    api_version: ObjectApiVersion
    kind: Kind
    object_name: Words | None = None
    """One object: `lookups.<name>` is the object, or null when it is known to be absent."""
    object_name_expression: Cel | None = None
    label_selector: LabelSelector | None = None
    """Without a name, `lookups.<name>` is a list: all objects of the kind, or those that this picks."""
    namespace: Words | None = None
    namespace_expression: Cel | None = None

    def build(self, place: Place) -> model.Lookup:
        """Make the model's word of it."""
        return model.Lookup(
            name=self.name,
            api_version=self.api_version,
            kind=self.kind,
            object_name=place.text("objectName", self.object_name, self.object_name_expression),
            namespace=place.text("namespace", self.namespace, self.namespace_expression),
            label_selector=self.label_selector.build() if self.label_selector else None,
            location=place.location(),
        )
