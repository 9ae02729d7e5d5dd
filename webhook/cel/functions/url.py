"""URLs: `url('https://example.com:80/').getHostname()`, `isURL(s)`.

Source: `pkg/cel/library/urls.go` of the API server.
"""

from __future__ import annotations

from typing import Final

from webhook.cel.errors import CelError
from webhook.cel.functions.library import Library, call, method, text_length, typed
from webhook.cel.values.url import URL

_URL: Final = "kubernetes.URL"


def _is_url(text: str) -> bool:
    try:
        URL.check(text)
    except CelError:
        return False
    return True


LIBRARIES: Final = (
    Library(
        "url",
        "1.0",
        (
            typed("url", (call("string", result=_URL), URL.parse), cost=text_length),
            typed("isURL", (call("string", result="bool"), _is_url)),
            typed("getScheme", (method(_URL, result="string"), lambda url: url.scheme)),
            typed("getHost", (method(_URL, result="string"), lambda url: url.host)),
            typed("getHostname", (method(_URL, result="string"), lambda url: url.hostname)),
            typed("getPort", (method(_URL, result="string"), lambda url: url.port)),
            typed("getEscapedPath", (method(_URL, result="string"), lambda url: url.escaped_path)),
            typed("getQuery", (method(_URL, result="map<string, list<string>>"), lambda url: url.parameters)),
        ),
    ),
)
