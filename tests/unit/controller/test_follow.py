from __future__ import annotations

import asyncio

import pytest

from webhook.controller.follow import wait


async def test_who_waits_can_be_cancelled_in_the_very_moment_that_the_event_comes() -> None:
    event = asyncio.Event()
    waiting = asyncio.create_task(wait(event, 60))
    await asyncio.sleep(0)
    event.set()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_an_event_is_waited_for_once_and_not_for_ever() -> None:
    event = asyncio.Event()
    event.set()
    await wait(event, 60)
    assert not event.is_set()
    await wait(event, 0.01)
