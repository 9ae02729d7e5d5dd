"""Values: all are explained, a wrong one is refused in words, and what they say of enforcement is what policies get."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from tests.chart.helm import CHART, Helm, HelmError, Object, Rendered
from webhook.model.configuration import Configuration, ModeName
from webhook.sources import configuration

VALUES = (CHART / "values.yaml").read_text()
SCHEMA = json.loads((CHART / "values.schema.json").read_text())
PAGE = Path(__file__).parents[2] / "docs" / "install.md"
SCHEMAS = Path(__file__).parents[2] / "schemas"


def _paths(schema: Object, at: str = "") -> list[str]:
    """Name every value that the schema has a word for, `image.tag`."""
    found = []
    for name, part in schema.get("properties", {}).items():
        path = f"{at}.{name}".lstrip(".")
        found += _paths(part, path) if part.get("properties") else [path]
    return found


def _defaults(values: Object, at: str = "") -> dict[str, object]:
    found: dict[str, object] = {}
    for name, value in values.items():
        path = f"{at}.{name}".lstrip(".")
        found |= (
            _defaults(value, path)
            if value and isinstance(value, dict) and not path.endswith(("resources", "labels"))
            else {path: value}
        )
    return found


def test_every_value_has_a_default_and_a_type() -> None:
    typed = {path.removesuffix(".group").removesuffix(".kind").removesuffix(".name") for path in _paths(SCHEMA)}
    assert typed - {"global"} == _defaults(yaml.safe_load(VALUES)).keys()


def test_every_value_is_explained_where_it_stands() -> None:
    lines = VALUES.splitlines()
    bare = []
    for before, line in zip(["", *lines], lines, strict=False):
        is_leaf = re.match(r" *\w+: *\S", line)
        explained = before.lstrip().startswith("#") or re.match(r" *(repository|pullPolicy|requests|limits):", line)
        if is_leaf and not explained and not re.match(r"(pod\w+|nodeSelector|tolerations|  labels):?", line):
            bare.append(line)
    assert bare == []


def test_the_parts_of_a_configuration_are_those_of_the_server(request: pytest.FixtureRequest) -> None:
    """Helm refuses what the server would refuse; `--update-golden` takes the server's over."""
    servers = json.loads((SCHEMAS / "Configuration.json").read_text())["$defs"]
    if request.config.getoption("--update-golden"):
        text = json.dumps(SCHEMA | {"$defs": servers}, indent=2) + "\n"
        (CHART / "values.schema.json").write_text(text, encoding="utf-8")
    assert json.loads((CHART / "values.schema.json").read_text())["$defs"] == servers


REFUSED: list[tuple[Object, str]] = [
    ({"replica": 3}, "additional properties 'replica' not allowed"),
    ({"replicas": 0}, "at '/replicas': minimum: got 0, want 1"),
    ({"replicas": "two"}, "at '/replicas': got string, want integer"),
    ({"enforcement": {"mode": "dny"}}, "at '/enforcement/mode': value must be one of 'deny', 'warn', 'audit', 'off'"),
    ({"enforcement": {"modes": [{"policies": ["a"]}]}}, "at '/enforcement/modes/0': missing property 'mode'"),
    ({"enforcement": {"modes": [{"mode": "warn", "policies": ["a"], "namespace": "b"}]}}, "'namespace' not allowed"),
    ({"enforcement": {"exceptions": [{"policies": [{"name": "a"}], "match": {}}]}}, "'owner', 'reason', 'expiresAt'"),
    ({"certificates": {"mode": "certmanager"}}, "value must be one of 'self', 'cert-manager', 'files'"),
    ({"certificates": {"mode": "files"}}, "certificates.files.secretName: want the Secret with tls.crt and tls.key"),
    ({"image": {"digest": "latest"}}, "at '/image/digest': 'latest' does not match pattern"),
    ({"extraPolicies": {"notes.txt": "a"}}, "at '/extraPolicies': additional properties 'notes.txt' not allowed"),
    ({"webhook": {"timeoutSeconds": 31}}, "at '/webhook/timeoutSeconds': maximum: got 31, want 30"),
    ({"logLevel": "trace"}, "at '/logLevel': value must be one of 'debug', 'info', 'warning', 'error'"),
    ({"resources": []}, "at '/resources': got array, want object"),
]


@pytest.mark.parametrize(("values", "words"), REFUSED, ids=lambda part: part if isinstance(part, str) else "")
def test_a_wrong_value_is_refused_in_words(helm: Helm, values: Object, words: str) -> None:
    with pytest.raises(HelmError) as refused:
        helm.template(values)
    assert words in str(refused.value)


def _configured(helm: Helm, tmp_path: Path, enforcement: Object) -> Configuration:
    file = tmp_path / "cozyguard.yaml"
    file.write_text(helm.template({"enforcement": enforcement}).configuration)
    return configuration.load(file)


def test_by_default_policies_decide_for_themselves(helm: Helm, tmp_path: Path) -> None:
    assert _configured(helm, tmp_path, {}) == Configuration()


@pytest.mark.parametrize("mode", ["warn", "audit", "off"])
def test_a_mode_for_all_is_the_last_one_asked(helm: Helm, tmp_path: Path, mode: str) -> None:
    own = {"policies": ["tenant-*"], "mode": "deny", "namespaceSelector": {"matchLabels": {"stage": "test"}}}
    first, last = _configured(helm, tmp_path, {"mode": mode, "modes": [own]}).modes
    assert (first.policies, first.mode) == (("tenant-*",), ModeName("deny"))
    assert first.namespace_selector is not None
    assert (last.policies, last.mode, last.namespace_selector) == (("*",), ModeName(mode), None)


def test_exemptions_and_exceptions_arrive_as_written(helm: Helm, tmp_path: Path) -> None:
    exception = {
        "name": "gpu-lab",
        "policies": [{"name": "package-variant-known"}],
        "match": {"names": ["cozystack.gpu-operator"]},
        "owner": "gpu team",
        "reason": "the lab runs a build of its own",
        "expiresAt": "2099-12-31T00:00:00Z",
    }
    made = _configured(helm, tmp_path, {"exempt": {"groups": ["repair"]}, "exceptions": [exception]})
    assert made.exempt.groups == {"repair"}
    assert [(one.name, one.owner, one.expires_at.year) for one in made.exceptions] == [("gpu-lab", "gpu team", 2099)]


def test_extra_policies_are_files_of_the_folder_that_is_added(helm: Helm) -> None:
    text = "apiVersion: cozyguard.io/v1alpha1\nkind: AdmissionPolicy\nspec: {title: 'a \"quoted\" {{ thing }}'}\n"
    rendered = helm.template({"extraPolicies": {"no-latest.yaml": text}})
    assert rendered.one("ConfigMap", "cozyguard-policies")["data"] == {"no-latest.yaml": text}
    assert "--add-policies=/etc/cozyguard/policies" in rendered.container["args"]
    assert "--add-policies" not in str(helm.template().container["args"])


def test_the_page_lists_every_value_with_its_default() -> None:
    rows = re.findall(r"^\| `([\w.]+)` \| (?:`(.*?)`)? \| .+ \|$", PAGE.read_text(), re.MULTILINE)
    defaults = _defaults(yaml.safe_load(VALUES))
    assert [name for name, _ in rows] == list(defaults)
    for name, shown in rows:
        assert shown == (defaults[name] if isinstance(defaults[name], str) else json.dumps(defaults[name])), name


def test_the_values_of_the_page_are_taken(helm: Helm, tmp_path: Path) -> None:
    blocks = re.findall(
        r"^```yaml\n((?:# values\.yaml\n)?(?:enforcement|rbac):.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL
    )
    assert len(blocks) == 2
    for block in blocks:
        assert helm.template(yaml.safe_load(block))


def test_the_page_lists_every_alert(everything: Rendered) -> None:
    (group,) = everything.one("PrometheusRule")["spec"]["groups"]
    listed = re.findall(r"^\| `(Cozyguard\w+)` \|", PAGE.read_text(), re.MULTILINE)
    assert sorted(listed) == sorted(rule["alert"] for rule in group["rules"])
