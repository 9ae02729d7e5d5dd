"""Coverage as a page: a table of policies, and the text of each with what was not reached."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from webhook.model.coverage import Coverage, PolicyCoverage, Spot
from webhook.report.html.page import page as html_page
from webhook.report.html.page import text


def page(coverage: Coverage, texts: Mapping[str, str]) -> str:
    """Write the page; `texts` are the policies' files by name."""
    return "".join(html_page("Coverage of policies", _body(coverage, texts)))


def _body(coverage: Coverage, texts: Mapping[str, str]) -> Iterator[str]:
    yield f'<header><p class="brand">cozyguard</p><h1>{coverage.percent:g} % covered</h1>\n'
    yield f"<p>{coverage.reached} of {coverage.total} outcomes of {len(coverage.policies)} policies</p></header>\n"
    yield '<main><h2 id="policies">Policies</h2>\n<div class="wide" tabindex="0" role="region" '
    yield 'aria-labelledby="policies"><table>\n<thead><tr><th scope="col">policy</th>'
    yield '<th scope="col" class="number">covered</th><td></td>'
    yield '<th scope="col" class="number">outcomes</th><th scope="col">file</th></tr>'
    yield "</thead>\n<tbody>\n"
    for number, policy in enumerate(coverage.policies):
        yield _row(number, policy)
    yield "</tbody>\n</table></div>\n"
    for number, policy in enumerate(coverage.policies):
        yield from _policy(number, policy, texts.get(policy.policy.location.file, ""))
    yield "</main>\n"


def _row(number: int, policy: PolicyCoverage) -> str:
    name, file = text(policy.policy.name), text(policy.policy.location.file)
    share = policy.percent
    return (
        f'<tr><td><a href="#p{number}">{name}</a></td><td class="number">{share:g} %</td>'
        f'<td><meter min="0" max="100" value="{share:g}" aria-label="covered of {name}">{share:g} %</meter></td>'
        f'<td class="number">{policy.reached} of {policy.total}</td><td>{file}</td></tr>\n'
    )


def _policy(number: int, policy: PolicyCoverage, content: str) -> Iterator[str]:
    spots: dict[int, list[Spot]] = defaultdict(list)
    for spot in policy.spots:
        spots[spot.location.line].append(spot)
    unfolded = "" if policy.reached == policy.total else " open"
    yield f'<details class="policy" id="p{number}"{unfolded}><summary><strong>{text(policy.policy.name)}</strong> '
    yield f'{policy.percent:g} %</summary>\n<pre tabindex="0">'
    for line, written in enumerate(content.splitlines(), 1):
        yield f'<span class="{_look(spots[line])}"><b>{line:>4}  </b>{text(written)}</span>'
        for spot in spots[line]:
            if spot.missing and spot.listed:
                yield f'<span class="why">{text(spot.words)}: <code>{text(spot.line)}</code></span>'
    yield "</pre></details>\n"


def _look(spots: list[Spot]) -> str:
    if not spots:
        return ""
    outcomes, missing = (sum(map(len, parts)) for parts in zip(*((s.outcomes, s.missing) for s in spots), strict=True))
    return "reached" if not missing else "missed" if missing == outcomes else "partly"
