"""The report of `-o html` in a real browser: what is seen, chosen and printed, by mouse and by keyboard."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.browser.chromium import Page
from tests.browser.findings import findings
from webhook.model.result import Checked, Result, Setup
from webhook.report.html import HtmlReport
from webhook.report.summary import Summary

Report = Callable[..., str]

SEEN = "[...document.querySelectorAll('#list .finding')].map(one => one.querySelector('.name').textContent)"
SHOWN = "document.getElementById('shown').textContent"
MEAN = "</script></noscript><img src=x onerror=fetch('//e.org')>\u202e\"'&lt;\x00"


@pytest.fixture
def report(tmp_path: Path) -> Report:
    """Write a report; gives its address."""

    def write(results: list[Result]) -> str:
        out, summary = io.StringIO(), Summary()
        made = HtmlReport(out)
        made.begin(Setup("1.6", 52))
        for result in results:
            checked = Checked(result.resource, (result,))
            summary.add(checked)
            made.add(checked)
        made.end(summary, 0.21)
        file = tmp_path / "report.html"
        file.write_text(out.getvalue(), encoding="ascii")
        return file.as_uri()

    return write


async def choose(page: Page, name: str, value: str) -> None:
    """Choose from a list, as a user does."""
    field = f"document.forms.chosen.elements.{name}"
    await page.run(f"{field}.value = '{value}', {field}.dispatchEvent(new Event('input', {{bubbles: true}}))")


async def test_what_is_typed_and_chosen_narrows_the_list_down(page: Page, report: Report) -> None:
    await page.open(report(findings(200)))
    assert await page.run(SHOWN) == "200 of 200 findings"
    assert len(await page.run(SEEN)) >= 50

    await page.run("document.forms.chosen.elements.text.focus()")
    await page.write("OBJECT-17 VARIANT")
    await page.until(f"{SHOWN} === '11 of 200 findings'")
    assert all("object-17" in name for name in await page.run(SEEN))
    await choose(page, "outcome", "denied")
    await page.until(f"{SHOWN} === '3 of 200 findings'")
    assert "outcome=denied" in await page.run("location.hash")

    await page.reload()
    assert await page.run(SHOWN) == "3 of 200 findings"
    await page.run("document.forms.chosen.reset()")
    await page.until(f"{SHOWN} === '200 of 200 findings'")


async def test_a_cell_of_the_map_leads_to_its_findings(page: Page, report: Report) -> None:
    await page.open(report(findings(200)))
    number, policy, namespace = await page.run(
        "(one => (one.click(), [one.textContent, one.dataset.policy, one.dataset.namespace]))"
        "(document.querySelector('.heat button'))"
    )
    assert await page.run(SHOWN) == f"{number} of 200 findings"
    chosen = "[document.forms.chosen.elements.policy.value, document.forms.chosen.elements.namespace.value]"
    assert await page.run(chosen) == [policy, namespace]


async def test_findings_are_sorted_by_what_is_chosen(page: Page, report: Report) -> None:
    await page.open(report(findings(200)))
    await choose(page, "sort", "name")
    await page.until(f"({SEEN})[1].endsWith('object-1')")
    names = [name.rpartition("/")[2] for name in await page.run(SEEN)]
    assert names == sorted(names)


async def test_a_finding_unfolds_by_keyboard(page: Page, report: Report) -> None:
    await page.open(report(findings(3)))
    assert await page.run("document.querySelector('#list dl').checkVisibility()") is False
    await page.run("document.getElementById('clear').focus()")
    await page.press("Tab", "Enter")
    assert await page.run("document.activeElement.matches('#list summary')")
    await page.until("document.querySelector('#list dl').checkVisibility()")
    assert await page.run("document.querySelector('#list mark').textContent") == "  variant: contaner"
    assert "+   variant: container" in await page.run("document.querySelector('#list .finding').innerText")


async def test_without_scripts_everything_can_be_read(page: Page, report: Report) -> None:
    await page.send("Emulation.setScriptExecutionDisabled", value=True)
    await page.open(report(findings(60)))
    assert await page.run("document.querySelectorAll('.finding').length") == 60
    assert await page.run("document.forms.chosen.checkVisibility()") is False
    assert await page.run("document.querySelector('.finding summary').checkVisibility()")


async def test_names_and_values_do_nothing_in_the_page(page: Page, report: Report) -> None:
    await page.open(report(findings(3, name=MEAN, message=MEAN)))
    assert await page.run("document.images.length") == 0
    shown = MEAN.replace("\u202e", "\\u202e").replace("\x00", "\\x00")
    assert await page.run("document.querySelector('#list strong').textContent") == shown
    await choose(page, "text", "&lt;")
    await page.until(f"{SHOWN} === '3 of 3 findings'")


async def test_all_that_is_chosen_is_printed_unfolded(page: Page, report: Report) -> None:
    await page.open(report(findings(200)))
    await page.run("dispatchEvent(new Event('beforeprint'))")
    await page.send("Emulation.setEmulatedMedia", media="print")
    assert len(await page.run(SEEN)) == 200
    assert await page.run("document.querySelector('#list pre').getBoundingClientRect().height") > 0
    assert await page.run("document.forms.chosen.checkVisibility()") is False


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
async def test_the_page_can_be_read_by_everybody(page: Page, report: Report, width: int, scheme: str) -> None:
    await page.look(width, scheme)
    await page.open(report(findings(12)))
    await page.run("document.querySelectorAll('.finding').forEach(one => one.open = true)")
    assert await page.run("document.documentElement.scrollWidth") <= width
    assert await page.complaints() == []


async def test_ten_thousand_findings_are_opened_and_searched(page: Page, report: Report) -> None:
    """How fast that is, `python -m benchmarks.html` tells."""
    await page.open(report(findings(10_000)))
    assert len(await page.run(SEEN)) < 200
    await choose(page, "text", "object-1234")
    await page.until(f"{SHOWN} === '1 of 10,000 findings'")
