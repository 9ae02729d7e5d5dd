"""`load`: policies read from YAML text, as from a file called `p.yaml`."""

from __future__ import annotations

import textwrap
from collections.abc import Callable

import pytest

from webhook.sources.policies import Loaded, read
from webhook.sources.policy_files import PolicyFile

Load = Callable[..., Loaded]


@pytest.fixture
def load() -> Load:
    """Read one text, or several as files `p.yaml`, `q.yaml` …"""

    def read_texts(*texts: str) -> Loaded:
        names = ("p.yaml", "q.yaml", "r.yaml")
        return read(
            PolicyFile(name, textwrap.dedent(text).encode(), strict=True, root=name)
            for name, text in zip(names, texts, strict=False)
        )

    return read_texts


@pytest.fixture
def spec_errors(load: Load) -> Callable[[str], dict[str, str]]:
    """Read an AdmissionPolicy with these lines in its `spec`, and give its errors by path below `spec`."""

    def read_spec(lines: str) -> dict[str, str]:
        text = textwrap.dedent(lines)
        parts = [
            "apiVersion: cozyguard.io/v1alpha1\nkind: AdmissionPolicy\nmetadata: {name: p}\nspec:\n",
            "" if "matchConstraints" in text else f"  matchConstraints: {{resourceRules: [{RULE}]}}\n",
            "" if "validations" in text or "mutations" in text else "  validations: [{expression: 'true'}]\n",
            textwrap.indent(text, "  "),
        ]
        return {error.path.removeprefix("spec").lstrip("."): error.message for error in load("".join(parts)).errors}

    return read_spec


RULE = "{apiGroups: [cozystack.io], apiVersions: [v1alpha1], resources: [packages], operations: [CREATE, UPDATE]}"
