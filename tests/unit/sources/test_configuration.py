from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from webhook.errors import DocumentErrors
from webhook.model.configuration import Configuration, ExceptedPolicy, ModeName
from webhook.model.release import Minor
from webhook.sources import configuration

WHOLE = """\
apiVersion: cozyguard.io/v1alpha1
kind: Configuration
release: v1.6.2
modes:
- policies: ["kubevirt-*"]
  mode: warn
  namespaceSelector: {matchLabels: {team: gpu}}
  until: "2027-01-31T00:00:00Z"
exempt: {users: [admin], groups: ["system:masters"], namespaces: [kube-system]}
policies: [more]
exceptions:
- policies: [{name: package-variant-known, rules: [variant]}]
  match:
    resourceRules:
    - {apiGroups: [cozystack.io], apiVersions: ["*"], resources: [packages], operations: ["*"]}
    names: ["cozystack.*"]
  owner: team-gpu
  reason: a trial of the next release
  expiresAt: "2027-01-31T12:00:00+02:00"
"""

EXCEPTION = """\
apiVersion: cozyguard.io/v1alpha1
kind: PolicyException
metadata: {name: trial}
spec:
  policies: [{name: "*"}]
  match: {names: [a]}
  owner: me
  reason: because
  expiresAt: "2027-01-31T00:00:00Z"
"""

Load = Callable[[str], Configuration]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Load a configuration from its text."""

    def load_text(text: str) -> Configuration:
        (tmp_path / "config.yaml").write_text(text)
        return configuration.load(tmp_path / "config.yaml")

    return load_text


def errors(load: Load, text: str) -> dict[str, str]:
    with pytest.raises(DocumentErrors) as caught:
        load(text)
    assert all(error.line and error.column for error in caught.value)
    return {error.path: error.message for error in caught.value}


def test_every_field_arrives(load: Load, tmp_path: Path) -> None:
    loaded = load(WHOLE)
    assert loaded.release == Minor(1, 6)
    (mode,) = loaded.modes
    assert (mode.policies, mode.mode) == (("kubevirt-*",), ModeName.WARN)
    assert mode.until == datetime(2027, 1, 31, tzinfo=UTC)
    assert mode.namespace_selector is not None
    assert mode.namespace_selector.matches({"team": "gpu"})
    assert loaded.exempt.users == {"admin"}
    assert loaded.exempt.groups == {"system:masters"}
    assert loaded.exempt.namespaces == {"kube-system"}
    assert loaded.policies == (str(tmp_path / "more"),)
    (exception,) = loaded.exceptions
    assert exception.name == "exceptions[0]"
    assert exception.policies == (ExceptedPolicy("package-variant-known", ("variant",)),)
    assert exception.names == ("cozystack.*",)
    assert exception.match.resource_rules[0].resources == ("packages",)
    assert (exception.owner, exception.reason) == ("team-gpu", "a trial of the next release")
    assert exception.expires_at == datetime(2027, 1, 31, 10, tzinfo=UTC)
    assert exception.location.line == 12


def test_a_spec_may_hold_it_all_as_in_objects_of_a_cluster(load: Load) -> None:
    loaded = load("apiVersion: cozyguard.io/v1alpha1\nkind: Configuration\nspec: {release: '1.5'}\n")
    assert loaded.release == Minor(1, 5)


def test_exceptions_may_stand_beside_it_or_alone(load: Load) -> None:
    assert [each.name for each in load(f"{WHOLE}---\n{EXCEPTION}").exceptions] == ["exceptions[0]", "trial"]
    assert [each.name for each in load(EXCEPTION).exceptions] == ["trial"]


@pytest.mark.parametrize(
    ("wrong", "right", "path", "message"),
    [
        ("release: v1.6.2", "release: 1.6", "release", "got `1.6`, want text; put it in quotes"),
        ("release: v1.6.2", "release: next", "release", "got `next`, want a release such as `1.6` or `v1.6.2`"),
        ("release:", "relase:", "relase", "unknown field; did you mean `release`?"),
        ("mode: warn", "mode: warning", "modes[0].mode", "got `warning`, want `deny`, `warn`, `audit` or `off`; "),
        ('["kubevirt-*"]', "[]", "modes[0].policies", "empty, want at least one entry"),
        ('["kubevirt-*"]', '["kubevirt-["]', "modes[0].policies[0]", "got `kubevirt-[`, want a name or a pattern"),
        ('"2027-01-31T00:00:00Z"', "2027-01-31", "modes[0].until", "got `2027-01-31`, want a moment such as"),
        ("01-31T12", "02-31T12", "exceptions[0].expiresAt", "got `2027-02-31T12:00:00+02:00`, a day or time that"),
        ("  owner: team-gpu\n", "", "exceptions[0].owner", "missing, and required"),
        ("  reason: a trial of the next release\n", "", "exceptions[0].reason", "missing, and required"),
        ('  expiresAt: "2027-01-31T12:00:00+02:00"\n', "", "exceptions[0].expiresAt", "missing, and required"),
        ("kind: Configuration", "kind: Config", "kind", "got `Config`, want `Configuration` or `PolicyException`"),
    ],
)
def test_a_wrong_value_is_told_with_what_was_expected(
    wrong: str, right: str, path: str, message: str, load: Load
) -> None:
    assert wrong in WHOLE
    found = errors(load, WHOLE.replace(wrong, right))
    assert list(found) == [path]
    assert found[path].startswith(message)


def test_two_configurations_are_one_too_many(load: Load) -> None:
    assert errors(load, f"{WHOLE}---\n{WHOLE}") == {"kind": "a second `Configuration`, want one"}


def test_two_exceptions_of_a_name_are_one_too_many(load: Load) -> None:
    assert errors(load, f"{EXCEPTION}---\n{EXCEPTION}") == {
        "kind": "a second `PolicyException` called `trial`, want one"
    }


@pytest.mark.parametrize("text", ["", "# nothing\n---\n"])
def test_an_empty_file_is_no_configuration(text: str, load: Load) -> None:
    with pytest.raises(DocumentErrors, match="empty, want a `Configuration`"):
        load(text)


def test_a_file_that_is_not_there_is_an_error_without_a_place(tmp_path: Path) -> None:
    with pytest.raises(DocumentErrors, match="cannot be read: no such file or directory"):
        configuration.load(tmp_path / "gone.yaml")
