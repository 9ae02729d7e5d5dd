"""The page of the playground: editors on one side, what comes of them on the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from webhook.report.html.page import asset, text
from webhook.report.html.page import page as html_page

_TABS: Final = {
    "object": ("Object", "the object, as it is applied"),
    "old": ("Old object", "the object, as it was before an UPDATE or DELETE"),
    "cluster": ("Cluster", "other objects of the cluster; what is not among them is absent"),
    "request": ("Request", ""),
}
_PLAIN: Final = 'spellcheck="false" autocapitalize="off" autocomplete="off"'
"""Keeps a browser from changing what is typed."""


def page(releases: Iterable[str]) -> str:
    """Write the page; the releases are those that a policy can be tried on, the newest first."""
    return "".join(html_page("cozyguard playground", _body(releases), asset("playground.js"), talks=True))


def _body(releases: Iterable[str]) -> Iterator[str]:
    yield '<header class="bar"><h1><span class="brand">cozyguard</span> playground</h1>\n'
    yield '<label>Policy <select id="policies"><option value="">your own</option></select></label>\n'
    yield '<label>Case of its tests <select id="cases" disabled><option value="">none</option></select></label>'
    yield "</header>\n"
    yield '<main class="bench">\n<section class="desk" aria-label="what is tried">\n'
    yield _editor("policy", "Policy", "policies: an AdmissionPolicy, or Kubernetes' own kinds")
    yield '<div class="tabs" role="tablist" aria-label="the request">'
    for number, (name, (head, _)) in enumerate(_TABS.items()):
        chosen = f'aria-selected="{"false" if number else "true"}" tabindex="{-1 if number else 0}"'
        yield f'<button type="button" role="tab" id="tab-{name}" aria-controls="panel-{name}" {chosen}>{head}</button>'
    yield "</div>\n"
    for number, (name, (head, hint)) in enumerate(_TABS.items()):
        hidden = " hidden" if number else ""
        yield f'<div role="tabpanel" id="panel-{name}" aria-labelledby="tab-{name}"{hidden}>'
        yield _editor(name, head, hint) if hint else "".join(_request(releases))
        yield "</div>\n"
    yield '</section>\n<section class="outcome" aria-label="what comes of it"><div id="answer" role="status"></div>\n'
    yield '<div id="outcome"></div></section>\n</main>\n'
    yield "<noscript><p>The playground needs scripts.</p></noscript>\n"


def _editor(name: str, head: str, hint: str) -> str:
    return (
        f'<div class="editor" id="editor-{name}"><pre class="numbers" aria-hidden="true"></pre>'
        f'<div class="page"><pre class="marks" aria-hidden="true"></pre><textarea name="{name}" {_PLAIN} wrap="off" '
        f'aria-label="{head}: {hint}" placeholder="{hint}"></textarea></div></div>\n'
    )


def _request(releases: Iterable[str]) -> Iterator[str]:
    yield '<div class="fields"><label>Operation <select name="operation"><option value="">by the objects given</option>'
    yield from (f"<option>{name}</option>" for name in ("CREATE", "UPDATE", "DELETE"))
    yield '</select></label>\n<label>Cozystack <select name="release"><option value="">newest</option>'
    yield from (f"<option>{text(release)}</option>" for release in releases)
    yield "</select></label>\n"
    for name, label in {"user": "User", "groups": "Groups, with commas", "subresource": "Subresource"}.items():
        yield f'<label>{label} <input name="{name}" {_PLAIN}></label>\n'
    yield "</div>"
