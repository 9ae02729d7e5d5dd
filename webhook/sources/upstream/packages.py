"""PackageSources of the tree: the packages of a release, with their variants and components."""

from __future__ import annotations

import re
from functools import partial
from typing import Any, Final

from webhook.errors import DocumentErrors
from webhook.sources import catalog, yaml
from webhook.sources.checkout import Checkout
from webhook.sources.releases import is_package_source
from webhook.sources.upstream.facts import Facts, NotReadable

SOURCES: Final = "packages/core/platform/sources"
OPERATOR: Final = "cmd/cozystack-operator/main.go"
"""Where the operator makes the platform's own PackageSource: nothing in the tree has it as YAML."""

PLATFORM: Final = "cozystack.cozystack-platform"

Variants = dict[str, list[str]]
"""Variant → its components, both in the order of the tree."""

_NAME: Final = re.compile(r'"platform-source-name",\s*"cozystack-platform"')
_TABLE: Final = re.compile(r"variantData\s*:=\s*\[\]struct\s*\{[^}]*\}\s*\{(.*?)\n\t\}", re.DOTALL)
_ROW: Final = re.compile(r'\{\s*"([^"]+)"\s*,\s*\[\]string\{')
_COMPONENTS: Final = re.compile(r"\[\]cozyv1alpha1\.Component\{(.*?)\n\t{3}\}", re.DOTALL)
_COMPONENT: Final = re.compile(r'^\t{5}Name:\s*"([^"]+)"', re.MULTILINE)


def packages(checkout: Checkout) -> Facts:
    """Give the variants of each package, by name; a file that cannot be read stands for the package in it."""
    found = Facts()
    for path in checkout.under(SOURCES, ".yaml"):
        try:
            documents = yaml.read((checkout.read(path) or "").encode(), path)
        except DocumentErrors as faults:
            found.not_read[path] = str(faults.errors[0])
            continue
        for source in (each.value for each in documents if is_package_source(each.value)):
            name, variants = catalog.variants_of(source)
            found.take(name or path, partial(_given, path, variants))
    found.take(PLATFORM, partial(_platform, checkout))
    return found


def _given(path: str, variants: Variants | None) -> Variants:
    if not variants:
        raise NotReadable(f"{path}: the PackageSource has no variants")
    return variants


def _platform(checkout: Checkout) -> Variants:
    """Read the platform's own package off the Go literals that the operator makes it from."""
    text = checkout.read(OPERATOR) or ""
    table, body = _TABLE.search(text), _COMPONENTS.search(text)
    names: list[Any] = _ROW.findall(table[1]) if table else []
    components = _COMPONENT.findall(body[1]) if body else []
    if not (_NAME.search(text) and names and components):
        raise NotReadable(f"{OPERATOR}: the platform's PackageSource is not made there in the way that is known here")
    return {name: list(components) for name in names}
