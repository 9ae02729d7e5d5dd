"""Artifacts of an OCI registry, as `flux push artifact` and `oras push` make them; each part is checked by its digest.

https://github.com/opencontainers/image-spec/blob/main/manifest.md
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
import zlib
from collections.abc import Iterator
from functools import partial
from pathlib import PurePosixPath
from typing import Any, Final

from webhook.errors import UsageError

Files = list[tuple[str, bytes]]

_TITLE: Final = "org.opencontainers.image.title"
_GZIP: Final = b"\x1f\x8b"
_ARCHIVES: Final = ("+gzip", "tar", "tar.gzip")
"""How the media type of a layer ends that is an archive of files."""
_MANIFEST: Final = "application/vnd.oci.image.manifest.v1+json, application/vnd.docker.distribution.manifest.v2+json"
_MOST: Final = 64 << 20
"""Bytes of one artifact, as it is sent and unpacked: policies are text."""
_PATIENCE: Final = 30.0
"""Seconds that a registry has to answer."""
_LOCAL: Final = ("localhost", "127.0.0.1", "[::1]")
"""Where a registry is asked without TLS, as docker and crane do."""


def pull(name: str, digest: str) -> Files:
    """Give the files of an artifact, `registry/name` and its manifest's digest. Raises UsageError."""
    try:
        from oras.container import Container
        from oras.provider import Registry
    except ImportError:
        raise UsageError("`oci://…` needs a library that is not here: `pip install 'cozyguard[oci]'`") from None
    import requests  # oras' own way out

    try:
        container = Container(f"{name}@{digest}")
        registry = Registry(container.registry, insecure=_is_local(container.registry))
        registry.session.request = partial(registry.session.request, timeout=_PATIENCE)
        ask = partial(Registry.do_request.__wrapped__, registry, stream=True)  # without retries: they take two minutes

        def get(url: str, digest: str, accept: str = "*/*") -> bytes:
            with ask(f"{registry.prefix}://{url}", headers={"Accept": accept}) as response:
                return _checked(response, digest)

        registry.auth.load_configs(container)
        manifest = json.loads(get(container.manifest_url(), digest, _MANIFEST))
        found, room = list[tuple[str, bytes]](), _MOST
        for layer in _layers(manifest):
            files = list(_files(layer, get(container.get_blob_url(layer["digest"]), layer["digest"])))
            room -= sum(len(content) for _, content in files)
            _limit(room >= 0)
            found += files
    except (requests.RequestException, tarfile.TarError, zlib.error, EOFError, ValueError, OSError) as error:
        raise UsageError(f"`oci://{name}@{digest}` cannot be fetched: {error}") from None
    return found


def _is_local(registry: str) -> bool:
    return registry in _LOCAL or registry.rpartition(":")[0] in _LOCAL


def _layers(manifest: Any) -> list[dict[str, Any]]:
    """Give the parts of an artifact. Raises ValueError."""
    if isinstance(manifest, dict) and "manifests" in manifest:
        raise ValueError("it is a list of manifests, want the digest of one of them")
    layers = manifest.get("layers") if isinstance(manifest, dict) else None
    if not isinstance(layers, list) or not layers:
        raise ValueError("it is no artifact with layers")
    if not all(isinstance(one, dict) and isinstance(one.get("digest"), str) for one in layers):
        raise ValueError("it has a layer without a digest")
    return layers


def _checked(response: Any, digest: str) -> bytes:
    """Give a body, if it is what its digest says. Raises ValueError."""
    if response.status_code != 200:
        raise ValueError(f"the registry answers {response.status_code} {response.reason}")
    content = bytearray()
    for piece in response.iter_content(1 << 20):
        content += piece
        _limit(len(content) <= _MOST)
    if f"sha256:{hashlib.sha256(content).hexdigest()}" != digest:
        raise ValueError(f"what the registry sent is not `{digest}`")
    return bytes(content)


def _files(layer: dict[str, Any], content: bytes) -> Iterator[tuple[str, bytes]]:
    """Unpack a layer: an archive, or one file with its name beside it. Raises ValueError, and what unpacking raises."""
    if not str(layer.get("mediaType", "")).endswith(_ARCHIVES):
        annotations = layer.get("annotations")
        title = annotations.get(_TITLE) if isinstance(annotations, dict) else None
        yield title if isinstance(title, str) else "policy.yaml", content
        return
    with tarfile.open(fileobj=io.BytesIO(_unpacked(content)), mode="r:") as archive:
        for member in archive:
            if member.isfile() and (file := archive.extractfile(member)):  # no link: it could lead anywhere
                yield str(PurePosixPath(member.name)), file.read()


def _unpacked(content: bytes) -> bytes:
    """Undo gzip before anything looks into it: the headers of an archive can be as large as its files."""
    if not content.startswith(_GZIP):
        return content
    with gzip.open(io.BytesIO(content)) as stream:
        unpacked = stream.read(_MOST + 1)
    _limit(len(unpacked) <= _MOST)
    return unpacked


def _limit(within: bool) -> None:
    if not within:
        raise ValueError(f"it is larger than {_MOST >> 20} MiB")
