from __future__ import annotations

import io
import pickle
from pathlib import Path

import pytest

from webhook.errors import DocumentError
from webhook.sources.manifests import Manifest, manifests, read, sources
from webhook.sources.yaml import Source

PACKAGE = "apiVersion: cozystack.io/v1alpha1\nkind: Package\nmetadata: {name: a}\n"
LIST = """\
apiVersion: v1
kind: List
items:
  - apiVersion: cozystack.io/v1alpha1
    kind: Package
    metadata: {name: first}
    spec: {variant: default}
  - apiVersion: cozystack.io/v1alpha1
    kind: Package
    metadata: {name: second}
    spec: {variant: nonsense}
"""


def objects(text: str) -> list[Manifest]:
    return [each for each in read(["-"], io.BytesIO(text.encode())) if isinstance(each, Manifest)]


def faults(text: str) -> list[str]:
    return [str(each) for each in read(["-"], io.BytesIO(text.encode())) if isinstance(each, DocumentError)]


def test_standard_input_holds_manifests_too() -> None:
    (manifest,) = objects(PACKAGE)
    assert (manifest.file, manifest.document, manifest.prefix) == ("<stdin>", 0, ())
    assert manifest.object["metadata"] == {"name": "a"}


def test_the_objects_of_a_list_are_checked_one_by_one_each_with_its_place() -> None:
    first, second = objects(LIST)
    assert (first.prefix, second.prefix) == (("items", 0), ("items", 1))
    at = second.locate(("spec", "variant"))
    assert (at.line, second.line(at.line)) == (11, "    spec: {variant: nonsense}")


def test_a_typed_list_is_unfolded_too() -> None:
    text = "apiVersion: cozystack.io/v1alpha1\nkind: PackageList\nitems:\n- metadata: {name: a}\n"
    (manifest,) = objects(text)
    assert manifest.object["kind"] == "Package"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("a: 1\n", "<stdin>:1:1: got no `apiVersion` and no `kind`, want a Kubernetes object"),
        ("kind: Pod\n", "<stdin>:1:1: got no `apiVersion`, want a Kubernetes object"),
        ("apiVersion: 1\nkind: Pod\n", "<stdin>:1:1: got a number for `apiVersion`, want text"),
        ("apiVersion: v1\nkind: Pod\nmetadata: []\n", "<stdin>:1:1: got a list for `metadata`, want a map"),
        ("- a\n", "<stdin>:1:1: got a list, want a Kubernetes object"),
        ("just words\n", "<stdin>:1:1: got text, want a Kubernetes object"),
        (
            "apiVersion: v1\nkind: List\nitems:\n- null\n",
            "<stdin>:4:3: items[0]: got null, want a Kubernetes object",
        ),
    ],
)
def test_what_is_no_kubernetes_object_is_said_to_be_none(text: str, fault: str) -> None:
    assert faults(text) == [fault]


def test_one_bad_document_hides_none_of_the_others() -> None:
    text = f"{PACKAGE}---\na: [\n---\n{PACKAGE}"
    assert [each.document for each in objects(text)] == [0, 2]
    assert len(faults(text)) == 1


def test_an_object_with_a_doubled_key_is_read_as_kubectl_does_and_reported() -> None:
    text = PACKAGE + "spec: {variant: a}\nspec: {variant: b}\n"
    (manifest,) = objects(text)
    assert manifest.object["spec"] == {"variant": "b"}
    assert faults(text) == ["<stdin>:5:1: got the key `spec` twice, want it once (first on line 4)"]


def test_files_that_are_missing_or_cannot_be_opened_are_errors_among_the_rest(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(PACKAGE)
    (tmp_path / "loop.yaml").symlink_to("loop.yaml")
    found = list(read([str(tmp_path / "none.yaml"), str(tmp_path)]))
    assert [type(each) for each in found] == [DocumentError, Manifest, DocumentError]
    assert str(found[0]) == f"{tmp_path / 'none.yaml'}: cannot be read: no such file or directory"


def test_documents_can_be_read_by_another_process() -> None:
    (source,) = sources(["-"], io.BytesIO(PACKAGE.encode()))
    assert isinstance(source, Source)
    (manifest,) = manifests(pickle.loads(pickle.dumps(source)))  # noqa: S301 - made on the line itself
    assert isinstance(manifest, Manifest)
