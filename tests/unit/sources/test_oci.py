"""What a registry sends: it is not to be trusted further than its digest."""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
import zlib
from collections.abc import Iterator
from typing import Any

import pytest

from webhook.sources import oci

TAR = {"mediaType": "application/vnd.oci.image.layer.v1.tar+gzip", "digest": "sha256:0"}


class Response:
    """As much of an answer as is looked at."""

    status_code = 200
    reason = "OK"

    def __init__(self, *pieces: bytes) -> None:
        self.pieces = pieces
        self.sent = 0

    def iter_content(self, _: int) -> Iterator[bytes]:
        for piece in self.pieces:
            self.sent += 1
            yield piece


def archive(*members: tarfile.TarInfo, content: bytes = b"kind: A") -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as tar:
        for member in members:
            if member.isfile():
                member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return made.getvalue()


def member(name: str, kind: bytes = tarfile.REGTYPE, to: str = "") -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.type, made.linkname = kind, to
    return made


def test_no_link_and_no_device_of_an_archive_is_read() -> None:
    packed = archive(
        member("a/policy.yaml"),
        member("b/policy.yaml", tarfile.SYMTYPE, "/etc/passwd"),
        member("c/policy.yaml", tarfile.LNKTYPE, "a/policy.yaml"),
        member("d", tarfile.FIFOTYPE),
        member("../e/policy.yaml"),
    )
    found = dict(oci._files(TAR, gzip.compress(packed)))
    assert found == {"a/policy.yaml": b"kind: A", "../e/policy.yaml": b"kind: A"}
    assert dict(oci._files(TAR, packed)) == found, "some do not compress"


@pytest.mark.parametrize("kind", [tarfile.REGTYPE, tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME])
def test_what_unpacks_to_more_than_policies_ever_have_is_refused(kind: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oci, "_MOST", 1 << 20)
    head = member("a", kind)
    head.size = 2 << 20
    bomb = gzip.compress(head.tobuf() + bytes(2 << 20))
    with pytest.raises(ValueError, match="larger than 1 MiB"):
        list(oci._files(TAR, bomb))


@pytest.mark.parametrize("damage", [slice(None, 40), slice(None, -4)])
def test_an_archive_that_is_cut_off_is_no_traceback(damage: slice) -> None:
    with pytest.raises((EOFError, ValueError, tarfile.TarError, zlib.error)):
        list(oci._files(TAR, gzip.compress(archive(member("a")))[damage]))


def test_no_more_is_taken_from_a_registry_than_an_artifact_may_have(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oci, "_MOST", 10)
    endless = Response(*[b"xxxx"] * 1000)
    with pytest.raises(ValueError, match="larger"):
        oci._checked(endless, "sha256:0")
    assert endless.sent == 3


def test_what_is_sent_is_what_the_digest_says() -> None:
    digest = f"sha256:{hashlib.sha256(b'ab').hexdigest()}"
    assert oci._checked(Response(b"a", b"b"), digest) == b"ab"
    with pytest.raises(ValueError, match="what the registry sent is not"):
        oci._checked(Response(b"a", b"c"), digest)


@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        ({"manifests": [{"digest": "sha256:0"}]}, "it is a list of manifests, want the digest of one of them"),
        ({}, "it is no artifact with layers"),
        ([], "it is no artifact with layers"),
        (None, "it is no artifact with layers"),
        ({"layers": []}, "it is no artifact with layers"),
        ({"layers": [1]}, "it has a layer without a digest"),
        ({"layers": [{"digest": 1}]}, "it has a layer without a digest"),
    ],
)
def test_a_manifest_of_something_else_says_so(manifest: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        oci._layers(manifest)


@pytest.mark.parametrize("annotations", [None, [], "x", {}, {"org.opencontainers.image.title": 1}])
def test_a_layer_without_a_title_is_a_policy(annotations: Any) -> None:
    layer = {"mediaType": "application/yaml", "annotations": annotations}
    assert list(oci._files(layer, b"kind: A")) == [("policy.yaml", b"kind: A")]


@pytest.mark.parametrize(
    ("registry", "local"),
    [
        ("localhost:5000", True),
        ("127.0.0.1", True),
        ("127.0.0.1:5000", True),
        ("[::1]:5000", True),
        ("[::1]", True),
        ("localhost.example.org:5000", False),
        ("registry.example.org", False),
        ("127.0.0.1.example.org", False),
    ],
)
def test_only_this_machine_is_asked_without_tls(registry: str, local: bool) -> None:
    assert oci._is_local(registry) is local
