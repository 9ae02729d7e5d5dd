"""The functions that expressions can call: one file a library.

`LIBRARIES` is all there is, `FUNCTIONS` the same by name. To add a library, write its module, add it here,
and run `make generate`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from webhook.cel.functions import (
    authorizer,
    cidr,
    conversions,
    formats,
    ip,
    jsonpatch,
    lists,
    optionals,
    ordering,
    quantity,
    regex,
    semver,
    sets,
    standard,
    strings,
    time,
    url,
)
from webhook.cel.functions.library import Function, Library, Overload

LIBRARIES: Final[tuple[Library, ...]] = (
    *standard.LIBRARIES,
    *conversions.LIBRARIES,
    *time.LIBRARIES,
    *optionals.LIBRARIES,
    *strings.LIBRARIES,
    *lists.LIBRARIES,
    *sets.LIBRARIES,
    *regex.LIBRARIES,
    *url.LIBRARIES,
    *quantity.LIBRARIES,
    *ordering.LIBRARIES,
    *ip.LIBRARIES,
    *cidr.LIBRARIES,
    *formats.LIBRARIES,
    *semver.LIBRARIES,
    *jsonpatch.LIBRARIES,
    *authorizer.LIBRARIES,
)
"""Every library, in the order of the documentation."""

FUNCTIONS: Final[Mapping[str, Function]] = {
    function.name: function for library in LIBRARIES for function in library.functions
}
"""Every function by its name."""

__all__ = ["FUNCTIONS", "LIBRARIES", "Function", "Library", "Overload"]
