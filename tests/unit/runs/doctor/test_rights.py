import re
from pathlib import Path

import yaml

from webhook.cluster.discovery import Resources
from webhook.cluster.resources import NAMESPACES, PACKAGES, Resource
from webhook.runs.doctor.inventory import Held
from webhook.runs.doctor.rights import reviews

PAGE = Path(__file__).parents[4] / "docs" / "registration.md"
SERVED = Resources([NAMESPACES, PACKAGES, Resource("example.org", "v1", "things", "Thing", namespaced=True)])

Right = tuple[str, str, str]


def asked(*policies: dict[str, object]) -> set[Right]:
    made = reviews(("cozyguard", "cozyguard"), "cozyguard", ["cozyguard-tls"], map(Held, policies), SERVED)
    attributes = [each["spec"]["resourceAttributes"] for each in made]
    return {(one.get("group", ""), one["resource"], one["verb"]) for one in attributes}


def test_every_right_of_the_page_is_asked_for() -> None:
    block = re.search(r"^```yaml\n(# rights\.yaml\n.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert block
    rules = [rule for role in yaml.safe_load_all(block[1]) for rule in role["rules"]]
    page = {
        (group, resource, verb)
        for rule in rules
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }
    assert page <= asked()


def test_what_policies_look_up_is_asked_for_if_it_is_served() -> None:
    assert ("cozystack.io", "packages", "watch") in asked()
    assert ("kubevirt.io", "kubevirts", "watch") not in asked()


def test_lookups_of_installed_policies_count_even_if_these_are_broken() -> None:
    lookups = [{"apiVersion": "example.org/v1", "kind": "Thing", "objectName": 7}, {"kind": "Thing"}, 7]
    assert ("example.org", "things", "list") in asked({"spec": {"lookups": lookups}})
