"""A real browser, driven by its own protocol: https://chromedevtools.github.io/devtools-protocol/.

One Chromium serves all tests; each has a window of its own, with its own storage.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import shutil
import subprocess
import tempfile
import time
from base64 import b64decode
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Final

import aiohttp
import axe_core_python

AXE: Final = Path(axe_core_python.__file__).parent / "axe.min.js"
NAMES: Final = ("chromium", "chromium-browser", "google-chrome", "chrome")
_FLAGS: Final = (
    "--headless=new",
    "--no-sandbox",  # Chromium refuses root its sandbox, and CI is root
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
    "--hide-scrollbars",
    "--remote-debugging-port=0",
)
_KEYS: Final = {"Tab": (9, ""), "Enter": (13, "\r"), "ArrowRight": (39, "")}
"""Their numbers, and the text that they give."""
_START: Final = 30.0
_WAIT: Final = 15.0
"""Seconds for the browser to start, and for something to become true on a page."""


def find() -> str | None:
    """Find the program on the PATH."""
    return next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def running(program: str) -> Iterator[str]:
    """Run Chromium; gives the address that it takes commands at."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        command = [program, *_FLAGS, f"--user-data-dir={folder}", "about:blank"]
        environment = os.environ | {"TMPDIR": folder}  # it leaves folders behind
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
        try:
            yield _address(process, Path(folder, "DevToolsActivePort"))
        finally:
            process.terminate()
            process.wait(_START)


def _address(process: subprocess.Popen[bytes], file: Path) -> str:
    end = time.monotonic() + _START
    while time.monotonic() < end and process.poll() is None:
        if file.exists() and len(lines := file.read_text().split()) == 2:
            return f"ws://127.0.0.1:{lines[0]}{lines[1]}"
        time.sleep(0.02)
    raise RuntimeError(f"chromium has not started within {_START:g} s")


class Page:
    """A window of the browser."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        """Talk through this connection; `open_page` makes one."""
        self._socket = socket
        self._numbers = itertools.count(1)
        self.session = ""
        self._loaded = False
        self.said: list[str] = []
        """What went wrong in the page: exceptions, and what its policy has kept it from."""

    async def send(self, method: str, **parameters: Any) -> Any:
        """Give a command of the protocol, and wait for what it gives."""
        number = next(self._numbers)
        session = {"sessionId": self.session} if self.session else {}
        await self._socket.send_json({"id": number, "method": method, "params": parameters} | session)
        while (message := await self._hear()).get("id") != number:
            pass
        if "error" in message:
            raise RuntimeError(f"{method}: {message['error']}")
        return message["result"]

    async def _hear(self) -> dict[str, Any]:
        """Take the next message: the answer to a command, or an event."""
        message: dict[str, Any] = json.loads((await self._socket.receive(timeout=_WAIT)).data)
        match message:
            case {"method": "Page.loadEventFired"}:
                self._loaded = True
            case {"method": "Runtime.exceptionThrown", "params": {"exceptionDetails": details}}:
                self.said.append(details["exception"]["description"])
            case {"method": "Log.entryAdded", "params": {"entry": {"level": "warning" | "error", "text": text}}}:
                self.said.append(text)
        return message

    async def open(self, url: str) -> None:
        """Go to an address, and wait until the page is there with all its scripts run."""
        await self._load("Page.navigate", url=url)

    async def reload(self) -> None:
        """Load the page anew, and wait until it is there."""
        await self._load("Page.reload")

    async def _load(self, method: str, **parameters: Any) -> None:
        self._loaded = False
        await self.send(method, **parameters)
        while not self._loaded:
            await self._hear()

    async def run(self, script: str) -> Any:
        """Evaluate an expression, or a promise, in the page. What it gives must be JSON."""
        given = await self.send("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in given:
            raise RuntimeError(f"{script}: {given['exceptionDetails']['exception'].get('description')}")
        return given["result"].get("value")

    async def until(self, script: str) -> None:
        """Wait until an expression is true."""
        end = time.monotonic() + _WAIT
        while not await self.run(script):
            if time.monotonic() > end:
                raise TimeoutError(f"never true: {script}")
            await asyncio.sleep(0.01)

    async def press(self, *keys: str) -> None:
        """Press keys, such as `Tab` and `Enter`, one after the other."""
        for key in keys:
            number, text = _KEYS[key]
            pressed = {"key": key, "code": key, "windowsVirtualKeyCode": number}
            await self.send("Input.dispatchKeyEvent", type="keyDown", text=text, **pressed)
            await self.send("Input.dispatchKeyEvent", type="keyUp", **pressed)

    async def write(self, text: str) -> None:
        """Type text where the focus is."""
        await self.send("Input.insertText", text=text)

    async def look(self, width: int, scheme: str = "light", height: int = 900) -> None:
        """Set the size of the window, and whether its user likes it `light` or `dark`."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        await self.send("Emulation.setDeviceMetricsOverride", **size)
        feature = {"name": "prefers-color-scheme", "value": scheme}
        await self.send("Emulation.setEmulatedMedia", features=[feature])

    async def complaints(self) -> list[str]:
        """Ask axe, which knows the rules of accessibility (WCAG 2.1 AA), what it finds wrong with the page as it is."""
        await self.run(AXE.read_text(encoding="utf-8"))
        tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]
        options = json.dumps({"runOnly": tags, "resultTypes": ["violations"]})
        found = await self.run(f"axe.run({options}).then(result => result.violations)")
        return [
            f"{one['id']}: {node['html'][:200]}: {node['failureSummary']}" for one in found for node in one["nodes"]
        ]

    async def screenshot(self, file: Path) -> None:
        """Write what can be seen as a PNG."""
        taken = await self.send("Page.captureScreenshot", format="png")
        file.write_bytes(b64decode(taken["data"]))


@asynccontextmanager
async def open_page(address: str) -> AsyncIterator[Page]:
    """Open a window that shares nothing with others, and close it."""
    async with aiohttp.ClientSession() as client, client.ws_connect(address, max_msg_size=0) as socket:
        page = Page(socket)
        context = (await page.send("Target.createBrowserContext", disposeOnDetach=True))["browserContextId"]
        made = await page.send("Target.createTarget", url="about:blank", browserContextId=context)
        attached = await page.send("Target.attachToTarget", targetId=made["targetId"], flatten=True)
        page.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            await page.send(f"{domain}.enable")
        yield page
