"""How many policies of other engines' public libraries load here, and how many of their own tests pass.

    python -m benchmarks.policy_libraries CHECKOUT…

Give checkouts of github.com/kyverno/policies and of github.com/open-policy-agent/gatekeeper-library (the folder
`library` in it). Counted are the policies whose rules are CEL: ValidatingPolicy, MutatingPolicy, Kubernetes' own kinds,
and templates with the engine K8sNativeValidation.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from webhook.errors import DocumentError
from webhook.model.suite import CaseResult, SuiteResult
from webhook.runs.suite import run
from webhook.sources import compiled, suites

_CEL: Final = re.compile(
    r"^kind: (?:Namespaced)?(?:Validating|Mutating)(?:Admission)?Policy$|engine: K8sNativeValidation", re.MULTILINE
)
_NAMES: Final = re.compile(r"`[^`]*`(?! asks| sends| differs| is a)")
"""What differs between messages that mean the same; functions are told by their names."""


def main() -> None:
    """Count each library and print what came out."""
    for folder in map(Path, sys.argv[1:]):
        print(f"{folder}:")
        for line in _library(folder):
            print(f"  {line}")


def _library(folder: Path) -> Iterator[str]:
    policies = list(_policies(folder))
    faults = [compiled.load([file]).errors for file in policies]
    yield f"{faults.count(())} of {len(policies)} policies load"
    yield from _grouped("not", (_reason(errors[0]) for errors in faults if errors))
    yield from _tests(folder, policies)


def _policies(folder: Path) -> Iterator[Path]:
    """Give the files of policies: what lies in hidden folders, or beside samples, is of tests."""
    for file in sorted(folder.rglob("*.yaml")):
        inside = file.relative_to(folder).parts[:-1]
        if not any(part.startswith((".", "samples")) for part in inside) and _CEL.search(file.read_text("utf-8")):
            yield file


def _tests(folder: Path, policies: list[Path]) -> Iterator[str]:
    """Run the suites that are about one of the policies."""
    files, loaded = {file.resolve() for file in policies}, suites.load([folder])
    results = [run(suite) for suite in loaded.suites if files & {Path(path).resolve() for path in suite.policies}]
    cases = [(result, one) for result in results for one in result.results]
    yield f"{sum(not one.differences for _, one in cases)} of {len(cases)} cases of {len(results)} suites pass"
    yield from _grouped("not", (_why(result, one) for result, one in cases if one.differences))
    homes = {file.parent for file in files}
    own = [error for error in loaded.errors if homes & set(Path(error.file).resolve().parents)]
    yield f"{len(own)} rows, or files of theirs, cannot be used"
    yield from _grouped("because", map(_reason, own))


def _grouped(word: str, reasons: Iterator[str]) -> Iterator[str]:
    yield from (f"  {count} {word}: {reason}" for reason, count in Counter(reasons).most_common())


def _why(result: SuiteResult, one: CaseResult) -> str:
    if result.errors:
        return f"the policy does not load: {_reason(result.errors[0])}"
    first, at = one.differences[0], one.case.location
    return f"{at.file}:{at.line}: {one.case.name}: {first.what}: want {first.want}, got {first.got}"


def _reason(error: DocumentError) -> str:
    return _NAMES.sub("`…`", error.message)


if __name__ == "__main__":
    main()
