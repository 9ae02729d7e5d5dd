"""How to keep a webhook from being asked about a namespace."""

from __future__ import annotations

from collections.abc import Sequence

from webhook.model import path as paths
from webhook.model.diagnosis import Remedy
from webhook.model.path import Path
from webhook.runs.doctor.inventory import Registered
from webhook.sources.objects import NAME_LABEL

SELECTOR = "namespaceSelector"


def exclude(registered: Registered, namespaces: Sequence[str], blocked: Sequence[str]) -> Remedy:
    """Exclude these namespaces.

    Where there is no expression yet that one could be added to, all that are `blocked`: patches of several findings
    would otherwise write over each other.
    """
    at = (*registered.path, SELECTOR)
    entries = registered.held.list(*at, "matchExpressions")
    for index, entry in enumerate(entries):
        if entry.get("key") == NAME_LABEL and entry.get("operator") == "NotIn":
            values: Path = (*at, "matchExpressions", index, "values")
            patch = tuple({"op": "add", "path": paths.pointer((*values, "-")), "value": name} for name in namespaces)
            return Remedy(f"add {_listed(namespaces)} to {paths.render(values)}", patch)
    named = namespaces if entries else blocked
    expression = {"key": NAME_LABEL, "operator": "NotIn", "values": list(named)}
    text = f"{{key: {NAME_LABEL}, operator: NotIn, values: [{', '.join(named)}]}}"
    words = f"add `{text}` to {paths.render((*at, 'matchExpressions'))}"
    if entries:
        return Remedy(
            words, ({"op": "add", "path": paths.pointer((*at, "matchExpressions", "-")), "value": expression},)
        )
    if registered.held.get(*at):
        return Remedy(words, ({"op": "add", "path": paths.pointer((*at, "matchExpressions")), "value": [expression]},))
    return Remedy(words, ({"op": "add", "path": paths.pointer(at), "value": {"matchExpressions": [expression]}},))


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
