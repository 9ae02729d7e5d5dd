"""`cozyguard playground` in a real browser: what is typed is decided, told and marked."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.chromium import Page

POLICY = """\
apiVersion: cozyguard.io/v1alpha1
kind: AdmissionPolicy
metadata: {name: sizes}
spec:
  title: A ConfigMap is <b>small</b>
  category: toys
  why: large ones are slow
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: ["*"], resources: [configmaps], operations: [CREATE, UPDATE]}
  validations:
  - {name: size, expression: "size(object.data) < 3", message: too big, field: data.a, allowedExpression: "['one']"}
  mutations:
  - patchType: JSONPatch
    message: it is labelled
    jsonPatch: {expression: "[JSONPatch{op: 'add', path: '/metadata/labels', value: {'a': 'b'}}]"}
"""
TESTS = """\
apiVersion: cozyguard.io/v1alpha1
kind: PolicyTest
policies: [.]
cases:
- name: one is fine
  object: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: x}}
  expect: {outcome: allow}
- name: three are too many
  object: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: "<img src=x>", b: x, c: x}}
  lookups: [{apiVersion: v1, kind: ConfigMap, metadata: {name: other}}]
  release: "1.5"
  user: dev-1
  expect: {outcome: deny}
"""
ANSWER = "document.querySelector('#answer strong')?.textContent"
OUTCOME = "document.getElementById('outcome').innerText"
REFUSED = "refused by 1 rule: sizes (size)"


@pytest.fixture(scope="module")
def playground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start a playground with one policy; gives its address."""
    folder = tmp_path_factory.mktemp("policies")
    (folder / "policy.yaml").write_text(POLICY)
    (folder / "tests.yaml").write_text(TESTS)
    command = [sys.executable, "-m", "webhook", "playground", "--policies", str(folder)]
    environment = os.environ | {"XDG_CACHE_HOME": str(folder / "cache")}
    root = Path(__file__).parents[2]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, cwd=root) as process:
        try:
            assert process.stdout
            yield process.stdout.readline().split()[-1]
        finally:
            process.send_signal(signal.SIGINT)
        assert process.wait(15) == 0


async def replace(page: Page, name: str, before: str, after: str) -> None:
    """Change a text of an editor, as somebody who types does."""
    at = f"fields.{name}.value.indexOf({before!r})"
    await page.run(f"fields.{name}.focus(), fields.{name}.setSelectionRange({at}, {at} + {len(before)})")
    await page.write(after)


async def test_a_case_of_a_policy_is_a_start(page: Page, playground: str) -> None:
    await page.open(playground)
    await page.until(f"{ANSWER} === {REFUSED!r}")
    shown = await page.run(OUTCOME)
    for words in ("too big", "data.a", "one", "it is labelled", "+     a: b", "size(object.data)", "3"):
        assert words in shown
    assert await page.run("fields.user.value") == "dev-1"
    assert await page.run("fields.release.value") == "1.5"
    assert "name: other" in await page.run("fields.cluster.value")
    assert await page.run("document.querySelector('#editor-object mark').textContent") == '"<img src=x>"'
    assert await page.run("document.images.length") == 0

    await page.run("cases.value = 0, cases.dispatchEvent(new Event('change'))")
    await page.until(f"{ANSWER} === 'allowed, with 1 change'")


async def test_what_is_typed_is_decided_at_once_and_faults_are_marked(page: Page, playground: str) -> None:
    await page.open(playground)
    await page.until(f"{ANSWER} === {REFUSED!r}")
    await replace(page, "policy", "< 3", "< 4")
    await page.until(f"{ANSWER} === 'allowed, with 1 change'")
    await replace(page, "policy", "size(object.data)", "siz(object.data)")
    await page.until("document.querySelector('#editor-policy mark')?.textContent.startsWith('(object.data) < 4')")
    assert await page.run(ANSWER) == "no policy that loads is about it"

    await page.run("document.querySelector('button.place').click()")
    assert await page.run("document.activeElement === fields.policy")
    assert await page.run("fields.policy.value.slice(fields.policy.selectionStart).startsWith('(object.data)')")

    await page.reload()
    await page.until("document.querySelector('#editor-policy mark')?.textContent.startsWith('(object.data) < 4')")


async def test_tabs_are_changed_by_keyboard(page: Page, playground: str) -> None:
    await page.open(playground)
    await page.until(f"{ANSWER} === {REFUSED!r}")
    await page.run("document.getElementById('tab-object').focus()")
    await page.press("ArrowRight", "ArrowRight")
    assert await page.run("document.activeElement.id") == "tab-cluster"
    assert await page.run("fields.cluster.checkVisibility() && !fields.object.checkVisibility()")
    await page.press("ArrowRight", "ArrowRight")
    assert await page.run("fields.object.checkVisibility()")


@pytest.mark.parametrize(("width", "scheme"), [(1280, "dark"), (390, "light")])
async def test_the_playground_can_be_used_by_everybody(page: Page, playground: str, width: int, scheme: str) -> None:
    await page.look(width, scheme)
    await page.open(playground)
    await page.until(f"{ANSWER} === {REFUSED!r}")
    assert await page.run("document.documentElement.scrollWidth") <= width
    assert await page.complaints() == []


async def test_without_the_token_nothing_is_told(page: Page, playground: str) -> None:
    await page.open(playground.partition("#")[0])
    await page.until(f"{ANSWER}?.startsWith('the token is missing')")
    assert page.said == ["Failed to load resource: the server responded with a status of 403 (Forbidden)"]
    page.said.clear()
