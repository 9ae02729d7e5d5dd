from __future__ import annotations

from collections.abc import Callable

import pytest

SpecErrors = Callable[[str], dict[str, str]]


def constraints(**changes: str) -> str:
    """Write matchConstraints of one rule, with some of its lists changed."""
    rule = {"apiGroups": '[""]', "apiVersions": "[v1]", "resources": "[pods]", "operations": "[CREATE]"} | changes
    return f"matchConstraints: {{resourceRules: [{{{', '.join(f'{key}: {value}' for key, value in rule.items())}}}]}}"


@pytest.mark.parametrize(
    "changes",
    [
        {"resources": '["*"]'},
        {"resources": '["*", pods/status]'},
        {"resources": "[pods, pods/status]"},
        {"resources": '["pods/*", services]'},
        {"resources": '["*/scale"]'},
        {"resources": '["*/*"]'},
        {"apiGroups": '["*"]', "operations": '["*"]', "scope": "Cluster"},
        {"resourceNames": "[a, b.c]"},
    ],
)
def test_what_the_api_server_takes_is_taken(changes: dict[str, str], spec_errors: SpecErrors) -> None:
    assert not spec_errors(constraints(**changes))


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("apiGroups", '["*", a]', "`*` stands for everything, want it alone"),
        ("apiVersions", '[""]', "has an empty entry, want versions such as `v1`"),
        ("apiVersions", "[]", "empty, want at least one entry"),
        ("resources", '["*", pods]', "`*` covers `pods` already, want only one of them"),
        ("resources", '["pods/*", pods/status]', "`pods/*` covers `pods/status` already, want only one of them"),
        ("resources", '["*/*", pods]', "`*/*` stands for everything, want it alone"),
        ("resources", "[pods/]", "has an empty part, want resources such as `packages` or `packages/status`"),
        ("operations", '["*", CREATE]', "`*` stands for everything, want it alone"),
        ("scope", "Namespace", "got `Namespace`, want `*`, `Cluster` or `Namespaced`; did you mean `Namespaced`?"),
        ("resourceNames", "[a/b]", "got `a/b`, want an object's name"),
        ("resourceNames", "[a, a]", "`a` stands there twice"),
    ],
)
def test_what_the_api_server_refuses_is_refused(field: str, value: str, message: str, spec_errors: SpecErrors) -> None:
    path = f"matchConstraints.resourceRules[0].{field}"
    assert spec_errors(constraints(**{field: value})) == {path: message}


def test_an_operation_in_small_letters_is_told_the_large_ones(spec_errors: SpecErrors) -> None:
    errors = spec_errors(constraints(operations="[create]"))
    assert errors["matchConstraints.resourceRules[0].operations[0]"].endswith("did you mean `CREATE`?")


def test_constraints_without_a_rule_are_refused(spec_errors: SpecErrors) -> None:
    errors = spec_errors("matchConstraints: {resourceRules: []}")
    assert errors == {"matchConstraints.resourceRules": "empty, want at least one entry"}


@pytest.mark.parametrize(
    ("expression", "path", "message"),
    [
        ("{key: a, operator: In}", "values", "empty, want at least one value for `In`"),
        ("{key: a, operator: NotIn, values: []}", "values", "empty, want at least one value for `NotIn`"),
        ("{key: a, operator: Exists, values: [b]}", "values", "`Exists` takes no values"),
        ("{key: a/b/c, operator: Exists}", "key", "got `a/b`, want a DNS name"),
        ("{key: a, operator: In, values: [a b]}", "values[0]", "got `a b`, want at most 63 letters"),
        ("{key: a, operator: Equals}", "operator", "got `Equals`, want `In`, `NotIn`, `Exists` or `DoesNotExist`"),
    ],
)
def test_a_selector_that_kubernetes_refuses_is_refused(
    expression: str, path: str, message: str, spec_errors: SpecErrors
) -> None:
    selector = f"objectSelector: {{matchExpressions: [{expression}]}}"
    errors = spec_errors(constraints().replace("]}]}", f"]}}], {selector}}}"))
    (found,) = errors
    assert found == f"matchConstraints.objectSelector.matchExpressions[0].{path}"
    assert errors[found].startswith(message)
