"""Functions of Kubernetes that are not here yet, so that an expression with one is refused by name."""

from __future__ import annotations

from typing import Final, NamedTuple


class Later(NamedTuple):
    """Which library a function belongs to, and the minor release of Kubernetes that brought it."""

    library: str
    since: str


_LIBRARIES: Final = {
    Later("url", "1.0"): "url isURL getScheme getHost getHostname getPort getEscapedPath getQuery",
    Later("authorizer", "1.27"): """
        path group serviceAccount resource subresource namespace name check allowed reason errored error
    """,
    Later("authorizer", "1.31"): "fieldSelector labelSelector",
    Later("quantity", "1.28"): """
        quantity isQuantity isInteger asInteger asApproximateFloat sign add sub isLessThan isGreaterThan compareTo
    """,
    Later("ip", "1.30"): """
        ip isIP ip.isCanonical family isUnspecified isLoopback isLinkLocalMulticast isLinkLocalUnicast
        isGlobalUnicast
    """,
    Later("cidr", "1.30"): "cidr isCIDR containsIP containsCIDR masked prefixLength",
    Later("format", "1.31"): """
        validate format.named format.dns1123Label format.dns1123Subdomain format.dns1035Label
        format.qualifiedName format.dns1123LabelPrefix format.dns1123SubdomainPrefix format.dns1035LabelPrefix
        format.labelValue format.uri format.uuid format.byte format.date format.datetime
    """,
    Later("semver", "1.33"): "semver isSemver major minor patch",
}

LATER: Final[dict[str, Later]] = {name: library for library, names in _LIBRARIES.items() for name in names.split()}
"""Every such function by its name."""
