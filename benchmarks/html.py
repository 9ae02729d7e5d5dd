"""The page of 10,000 findings: to write it, and to open and search it in a browser. `python -m benchmarks.html`."""

from __future__ import annotations

import asyncio
import io
import tempfile
import time
from pathlib import Path
from typing import Final

from benchmarks.machine import machine
from tests.browser import chromium
from tests.browser.findings import findings
from webhook.model.result import Checked, Setup
from webhook.report.html import HtmlReport
from webhook.report.summary import Summary

_FINDINGS: Final = 10_000
_RUNS: Final = 5
_OPENED: Final = "performance.getEntriesByType('navigation')[0].loadEventEnd"
_SEARCHED: Final = """new Promise(done => {
  const began = performance.now();
  document.forms.chosen.elements.text.value = WORDS;
  choose();
  requestAnimationFrame(() => setTimeout(() => done(performance.now() - began)));
})"""
"""Ends when the frame that shows what was found has been painted."""


def main() -> None:
    """Measure and print a table; of several runs the median."""
    seconds, text = _written()
    print(f"## a page of {_FINDINGS:,} findings\n\n{machine()}\n")
    print("| what | takes |\n| --- | ---: |")
    print(f"| written | {seconds:.2f} s |\n| size | {len(text) / 2**20:.1f} MiB |")
    if (program := chromium.find()) is None:
        print(f"\nnot opened: none of {', '.join(chromium.NAMES)} is on the PATH")
        return
    with tempfile.TemporaryDirectory() as folder, chromium.running(program) as address:
        file = Path(folder, "report.html")
        file.write_text(text, encoding="ascii")
        for what, times in asyncio.run(_looked_at(address, file.as_uri())).items():
            print(f"| {what} | {sorted(times)[len(times) // 2]:.0f} ms |")


def _written() -> tuple[float, str]:
    """Write the page, the findings being there."""
    found, out, summary = findings(_FINDINGS), io.StringIO(), Summary()
    began = time.perf_counter()
    report = HtmlReport(out)
    report.begin(Setup("1.6", 52))
    for result in found:
        checked = Checked(result.resource, (result,))
        summary.add(checked)
        report.add(checked)
    report.end(summary, 1.0)
    return time.perf_counter() - began, out.getvalue()


async def _looked_at(address: str, url: str) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {"opened": [], "searched at once": [], "searched again": []}
    for _ in range(_RUNS):
        async with chromium.open_page(address) as page:
            await page.open(url)
            times["opened"].append(await page.run(_OPENED))
            times["searched at once"].append(await page.run(_SEARCHED.replace("WORDS", "'object-1234'")))
            times["searched again"].append(await page.run(_SEARCHED.replace("WORDS", "'tenant-3 quota'")))
    return times


if __name__ == "__main__":
    main()
