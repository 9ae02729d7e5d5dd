"""Kyverno's own functions of CEL that cannot be had here, and why: a policy that calls one is refused.

The libraries are those of github.com/kyverno/sdk, `extensions/cel/libs`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from webhook.model.path import Path
from webhook.sources.formats.base import Fault
from webhook.sources.formats.kyverno_calls import masked

_CLUSTER: Final = "reads what Kyverno keeps of the cluster; want `resource.Get`, or an AdmissionPolicy with `lookups`"
_NETWORK: Final = "asks another server, which a decision here never does"
_REGISTRY: Final = "asks an image registry, which a decision here never does"
_OWN: Final = "is a function of Kyverno's own, which Kubernetes does not have"
_EXTENSION: Final = "is an extension of CEL that Kubernetes does not have"
_CHANGING: Final = "differs from one evaluation to the next"
_EXCEPTIONS: Final = "tells of Kyverno's exceptions, which are not read here"

_CONTEXTS: Final = {
    "globalContext": _CLUSTER,
    "http": _NETWORK,
    "image": _REGISTRY,
    "generator": "makes other objects, which a webhook does not",
}
"""What asks outside: `http.Get`, in later versions `http.get` too."""
_MEMBERS: Final = frozenset(("get", "post", "client", "getmetadata", "apply"))

_FUNCTIONS: Final = {
    **dict.fromkeys(("resource.Post", "resource.post"), "sends a request, which a decision here never does"),
    **dict.fromkeys(
        ("resource.ToGVR", "resource.toGVR"), "finds resources while it is evaluated; want them as literal text"
    ),
    **dict.fromkeys(("getImageData", "verifyImageSignatures", "verifyAttestationSignatures"), _REGISTRY),
    **dict.fromkeys(("random", "random.random", "time.now"), _CHANGING),
    **dict.fromkeys(("image", "isImage", "parseImageReference"), _OWN),
    **dict.fromkeys(("sha1", "sha256", "md5", "hash.sha1", "hash.sha256", "hash.md5"), _OWN),
    **dict.fromkeys(("json.marshal", "json.unmarshal", "yaml.parse", "gzip.compress", "gzip.decompress"), _OWN),
    **dict.fromkeys(("x509.decode", "toPem", "time.toCron", "time.truncate"), _OWN),
    **dict.fromkeys(("listObjToMap", "transform.listObjToMap", "math.round"), _OWN),
    **dict.fromkeys(("cel.bind", "base64.encode", "base64.decode"), _EXTENSION),
    **dict.fromkeys(("regex.extract", "regex.extractAll", "regex.replace"), _EXTENSION),
    **dict.fromkeys(("math.greatest", "math.least", "math.ceil", "math.floor", "math.abs", "math.sign"), _EXTENSION),
}

_CALL: Final = re.compile(r"(?<![\w.])([a-zA-Z]\w*(?:\.[a-zA-Z]\w*)?)\s*(?=\()|(?<![\w.])(exceptions)(?=\.)")
_EXPRESSIONS: Final = frozenset(("expression", "messageExpression", "valueExpression"))


def refused(given: Any, path: Path = ()) -> Iterator[Fault]:
    """Find the expressions anywhere below `given` that call what cannot be had."""
    items = given.items() if isinstance(given, dict) else enumerate(given) if isinstance(given, list) else ()
    for key, value in items:
        if key in _EXPRESSIONS and isinstance(value, str):
            if told := _told(value):
                yield (*path, key), told
        else:
            yield from refused(value, (*path, key))


def _told(expression: str) -> str:
    """Name the first function that cannot be had; "" where all can."""
    for call, read in _CALL.findall(masked(expression)):
        library, _, member = call.partition(".")
        reason = (
            _EXCEPTIONS if read else _FUNCTIONS.get(call) or (member.lower() in _MEMBERS and _CONTEXTS.get(library))
        )
        if reason:
            return f"`{call or read}` {reason}"
    return ""
