"""One browser for all tests. Where there is none they are skipped, but not in CI, which has to have one."""

import os
from collections.abc import AsyncIterator, Iterator

import pytest

from tests.browser import chromium
from tests.browser.chromium import Page


@pytest.fixture(scope="session")
def browser() -> Iterator[str]:
    """Start the browser with the first test that needs it."""
    program = chromium.find()
    if program is None:
        missing = f"no browser: none of {', '.join(chromium.NAMES)} is on the PATH"
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)
    with chromium.running(program) as address:
        yield address


@pytest.fixture
async def page(browser: str) -> AsyncIterator[Page]:
    """Open a window, and hold the page to what its policy allows."""
    async with chromium.open_page(browser) as opened:
        await opened.look(1280)
        yield opened
        assert opened.said == []
