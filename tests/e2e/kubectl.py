"""kubectl as a person uses it: what it prints, and what is stored afterwards."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

Object = dict[str, Any]

PATIENCE = 30.0
"""Seconds: far more than anything here takes, even on a busy machine."""

SETUP = "e2e:setup"
"""The group whose requests the webhooks are not asked about: it makes what a test begins with."""


def until(condition: Callable[[], Any], patience: float = PATIENCE) -> Any:
    """Ask until a condition gives something true, and return it."""
    end = time.monotonic() + patience
    while not (met := condition()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)
    return met


@dataclass(frozen=True)
class Shown:
    """What a terminal shows of a command, and its exit code."""

    text: str
    code: int

    @property
    def warnings(self) -> list[str]:
        return [line.removeprefix("Warning: ") for line in self.text.splitlines() if line.startswith("Warning: ")]

    @property
    def denial(self) -> str:
        """What is shown besides warnings, if the command failed."""
        lines = self.text.splitlines(keepends=True)
        return "".join(line for line in lines if not line.startswith("Warning: ")) if self.code else ""


@dataclass(frozen=True)
class Kubectl:
    """kubectl with an administrator's kubeconfig, in a folder of its own."""

    program: Path
    kubeconfig: Path
    folder: Path
    user: tuple[str, ...] = field(default=())

    def __call__(self, *arguments: str, stdin: Object | None = None) -> Shown:
        command = [str(self.program), *arguments, *self.user]
        given = None if stdin is None else json.dumps(stdin)
        done = subprocess.run(
            command, **self._how(), input=given, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
        )
        return Shown(done.stdout, done.returncode)

    def shell(self, line: str) -> Shown:
        """Run a line as pasted into a shell."""
        done = subprocess.run(
            ["sh", "-c", line], **self._how(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
        )
        return Shown(done.stdout, done.returncode)

    def apply(self, obj: Object, *flags: str) -> Shown:
        """Apply an object from a file that is called like its kind."""
        name = f"{obj['kind'].lower()}.yaml"
        (self.folder / name).write_text(json.dumps(obj))
        return self("apply", "--filename", name, *flags)

    def stored(self, obj: Object) -> Object | None:
        """Read an object as the API server has it, or nothing if it has none."""
        command = [str(self.program), "get", *target(obj), "--output=json", "--ignore-not-found"]
        done = subprocess.run(command, **self._how(), capture_output=True, check=True)
        return json.loads(done.stdout) if done.stdout else None

    def unseen(self) -> Kubectl:
        """Act so that no webhook is asked."""
        return self.acting("admin", "system:masters", SETUP)

    def acting(self, user: str, *groups: str) -> Kubectl:
        """Act as somebody else."""
        return replace(self, user=(f"--as={user}", *(f"--as-group={group}" for group in groups)))

    def make(self, obj: Object) -> None:
        """Bring an object into being without asking a webhook."""
        shown = self.unseen()("create", "--filename=-", stdin=obj)
        assert shown.code == 0, shown.text

    def forget(self, obj: Object) -> None:
        """Delete an object without asking a webhook, whatever its finalizers; it need not be there."""
        if found := self.stored(obj):
            if found["metadata"].get("finalizers"):
                self.unseen()("patch", *target(obj), "--type=merge", '--patch={"metadata":{"finalizers":null}}')
            shown = self.unseen()("delete", *target(obj), "--ignore-not-found")
            assert shown.code == 0, shown.text

    def _how(self) -> dict[str, Any]:
        path = f"{self.program.parent}{os.pathsep}{os.environ['PATH']}"
        own = {"KUBECONFIG": str(self.kubeconfig), "KUBECACHEDIR": str(self.kubeconfig.parent / "cache"), "PATH": path}
        return {"cwd": self.folder, "env": os.environ | own, "text": True}


def target(obj: Object) -> tuple[str, ...]:
    """Name an object to kubectl."""
    group, _, version = obj["apiVersion"].rpartition("/")
    resource = f"{obj['kind']}.{version}.{group}" if group else str(obj["kind"])
    namespace = obj["metadata"].get("namespace")
    return (resource, obj["metadata"]["name"], *([f"--namespace={namespace}"] if namespace else ()))
