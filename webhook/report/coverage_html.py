"""Coverage as one page that needs nothing else: a table of policies, and the text of each with what was not reached."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from html import escape
from typing import Final

from webhook.model.coverage import Coverage, PolicyCoverage, Spot
from webhook.report.plain import visible

_STYLE: Final = """
:root{color-scheme:light dark;--text:#1b1f24;--dim:#667;--back:#fff;--line:#d8dde3;
--good:#e3f5e7;--part:#fff4cf;--bad:#fde2e0}
@media(prefers-color-scheme:dark){:root{--text:#dde3ea;--dim:#99a;--back:#15181c;
--line:#333a42;--good:#14351f;--part:#403510;--bad:#4a1d1b}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--text);background:var(--back);
max-width:75rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;padding:.25rem .75rem;border-bottom:1px solid var(--line)}
.n{text-align:right;font-variant-numeric:tabular-nums}meter{width:8rem}summary{cursor:pointer;padding:.4rem 0}
pre{overflow-x:auto;border:1px solid var(--line);font:13px/1.5 ui-monospace,monospace;margin:0 0 1rem}
pre span{display:block;padding:0 .5rem;white-space:pre;min-width:max-content}
pre b{color:var(--dim);font-weight:400;user-select:none}
.good{background:var(--good)}.part{background:var(--part)}.bad{background:var(--bad)}
pre .why{font:12px/1.6 system-ui,sans-serif;padding-left:4rem}
"""


def page(coverage: Coverage, texts: Mapping[str, str]) -> str:
    """Write the page; `texts` are the policies' files by name."""
    return "".join(_page(coverage, texts))


def _page(coverage: Coverage, texts: Mapping[str, str]) -> Iterator[str]:
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    yield f"<title>Coverage of policies</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
    yield f"<h1>{coverage.percent:g} % covered</h1>\n"
    yield f"<p>{coverage.reached} of {coverage.total} outcomes of {len(coverage.policies)} policies</p>\n"
    yield "<table>\n<thead><tr><th>policy</th><th>file</th>"
    yield '<th class="n">outcomes</th><th class="n">covered</th><th></th></tr>'
    yield "</thead>\n<tbody>\n"
    for number, policy in enumerate(coverage.policies):
        yield _row(number, policy)
    yield "</tbody>\n</table>\n"
    for number, policy in enumerate(coverage.policies):
        yield from _policy(number, policy, texts.get(policy.policy.location.file, ""))
    yield "</body>\n</html>\n"


def _row(number: int, policy: PolicyCoverage) -> str:
    name, file = _text(policy.policy.name), _text(policy.policy.location.file)
    share = policy.percent
    return (
        f'<tr><td><a href="#p{number}">{name}</a></td><td>{file}</td>'
        f'<td class="n">{policy.reached} of {policy.total}</td><td class="n">{share:g} %</td>'
        f'<td><meter min="0" max="100" value="{share:g}">{share:g} %</meter></td></tr>\n'
    )


def _policy(number: int, policy: PolicyCoverage, text: str) -> Iterator[str]:
    spots: dict[int, list[Spot]] = defaultdict(list)
    for spot in policy.spots:
        spots[spot.location.line].append(spot)
    unfolded = "" if policy.reached == policy.total else " open"
    yield f'<details id="p{number}"{unfolded}><summary><strong>{_text(policy.policy.name)}</strong> '
    yield f"{policy.percent:g} %</summary>\n<pre>"
    for line, content in enumerate(text.splitlines(), 1):
        yield f'<span class="{_look(spots[line])}"><b>{line:>4}  </b>{_text(content)}</span>'
        for spot in spots[line]:
            if spot.missing and spot.listed:
                yield f'<span class="why">{_text(spot.words)}: <code>{_text(spot.line)}</code></span>'
    yield "</pre></details>\n"


def _look(spots: list[Spot]) -> str:
    if not spots:
        return ""
    outcomes, missing = (sum(map(len, parts)) for parts in zip(*((s.outcomes, s.missing) for s in spots), strict=True))
    return "good" if not missing else "bad" if missing == outcomes else "part"


def _text(text: str) -> str:
    return escape(visible(text))
