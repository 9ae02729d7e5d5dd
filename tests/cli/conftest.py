import io
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from webhook.cli import main

PACKAGE = """\
apiVersion: cozystack.io/v1alpha1
kind: Package
metadata:
  name: cozystack.gpu-operator
spec:
  variant: {variant}
"""


@dataclass(frozen=True)
class Answer:
    """What a command answered."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """Standard output as JSON."""
        return json.loads(self.out)

    @property
    def findings(self) -> list[tuple[str, str, str]]:
        """Outcome, policy and field of each result of a JSON document."""
        return [(entry["outcome"], entry["policy"], entry["field"]) for entry in self.document["results"]]


Run = Callable[..., Answer]
Write = Callable[[str, Any], str]


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One cache of compiled policies for all tests, apart from the user's own."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def cozyguard(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, cache: Path) -> Run:
    """Run a command line in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))

    def run(*argv: str, stdin: str = "") -> Answer:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        code = main(argv)
        out, err = capsys.readouterr()
        return Answer(code, out, err)

    return run


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a file, text as it is and anything else as JSON; gives its name."""

    def to_file(name: str, content: Any) -> str:
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str) else json.dumps(content, indent=2)
        file.write_bytes(text.encode())
        return name

    return to_file


@pytest.fixture
def package(write: Write) -> Callable[[str], str]:
    """Write a Package of this variant; gives the file's name."""
    return lambda variant: write("gpu.yaml", PACKAGE.format(variant=variant))


@pytest.fixture
def native(write: Write) -> Callable[..., str]:
    """Write a ValidatingAdmissionPolicy with its binding; gives the file's name."""

    def make(*expressions: str | dict[str, Any], resources: str, group: str = "", **spec: Any) -> str:
        operations = spec.pop("operations", ["CREATE", "UPDATE"])
        actions = spec.pop("actions", ["Deny"])
        rule = {"apiGroups": [group], "apiVersions": ["*"], "resources": [resources], "operations": operations}
        validations = [one if isinstance(one, dict) else {"expression": one, "message": "no"} for one in expressions]
        policy = {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingAdmissionPolicy",
            "metadata": {"name": "native"},
            "spec": {"matchConstraints": {"resourceRules": [rule]}, "validations": validations, **spec},
        }
        binding = {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": {"name": "native"},
            "spec": {"policyName": "native", "validationActions": actions},
        }
        return write("native.yaml", f"{json.dumps(policy, indent=1)}\n---\n{json.dumps(binding, indent=1)}\n")

    return make
