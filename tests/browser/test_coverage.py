"""The page of `test --coverage-html` in a real browser."""

from pathlib import Path

import pytest

from tests.browser.chromium import Page
from webhook.cli import main

POLICY = """\
apiVersion: cozyguard.io/v1alpha1
kind: AdmissionPolicy
metadata: {name: sizes}
spec:
  title: A ConfigMap is small
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: ["*"], resources: [configmaps], operations: [CREATE]}
  validations:
  - {name: size, expression: "size(object.data) < 3 || object.metadata.name == 'large'", message: too big}
"""
TESTS = """\
apiVersion: cozyguard.io/v1alpha1
kind: PolicyTest
policies: [.]
cases:
- name: one is fine
  object: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: x}}
  expect: {outcome: allow}
"""


@pytest.mark.parametrize(("width", "scheme"), [(1280, "dark"), (390, "light")])
async def test_the_page_can_be_read_by_everybody(page: Page, tmp_path: Path, width: int, scheme: str) -> None:
    (tmp_path / "policy.yaml").write_text(POLICY)
    (tmp_path / "tests.yaml").write_text(TESTS)
    file = tmp_path / "coverage.html"
    main(["test", str(tmp_path), "--coverage-html", str(file)])
    await page.look(width, scheme)
    await page.open(file.as_uri())
    assert "never false" in await page.run("document.querySelector('.policy .why').textContent")
    assert await page.run("document.documentElement.scrollWidth") <= width
    assert await page.complaints() == []
