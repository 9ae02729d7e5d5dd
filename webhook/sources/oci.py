"""Artifacts of an OCI registry, as `flux push artifact` and `oras push` make them; each part is checked by its digest.

https://github.com/opencontainers/image-spec/blob/main/manifest.md
"""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Iterator
from functools import partial
from pathlib import PurePosixPath
from typing import Any, Final

from webhook.errors import UsageError

Files = list[tuple[str, bytes]]

_TITLE: Final = "org.opencontainers.image.title"
_ARCHIVES: Final = ("+gzip", "tar", "tar.gzip")
"""How the media type of a layer ends that is an archive of files."""
_MANIFEST: Final = "application/vnd.oci.image.manifest.v1+json, application/vnd.docker.distribution.manifest.v2+json"
_MOST: Final = 64 << 20
"""Bytes of one artifact, unpacked: policies are text."""
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

    container = Container(f"{name}@{digest}")
    registry = Registry(container.registry, insecure=container.registry.partition(":")[0] in _LOCAL)
    registry.session.request = partial(registry.session.request, timeout=_PATIENCE)
    ask = partial(Registry.do_request.__wrapped__, registry)  # without its retries: they take two minutes

    def get(url: str, digest: str, accept: str = "*/*") -> bytes:
        return _checked(ask(f"{registry.prefix}://{url}", headers={"Accept": accept}), digest)

    try:
        registry.auth.load_configs(container)
        manifest = json.loads(get(container.manifest_url(), digest, _MANIFEST))
        layers = [(layer, get(container.get_blob_url(layer["digest"]), layer["digest"])) for layer in _layers(manifest)]
        return [file for layer, content in layers for file in _files(layer, content)]
    except (requests.RequestException, tarfile.TarError, ValueError, KeyError, OSError) as error:
        raise UsageError(f"`oci://{name}@{digest}` cannot be fetched: {error}") from None


def _layers(manifest: Any) -> list[dict[str, Any]]:
    layers = manifest.get("layers") if isinstance(manifest, dict) else None
    if not isinstance(layers, list) or not layers:
        raise ValueError("it is no artifact with layers")
    return layers


def _checked(response: Any, digest: str) -> bytes:
    """Give a body, if it is what its digest says. Raises ValueError."""
    if response.status_code != 200:
        raise ValueError(f"the registry answers {response.status_code} {response.reason}")
    content: bytes = response.content
    if f"sha256:{hashlib.sha256(content).hexdigest()}" != digest:
        raise ValueError(f"what the registry sent is not `{digest}`")
    return content


def _files(layer: dict[str, Any], content: bytes) -> Iterator[tuple[str, bytes]]:
    """Unpack a layer: an archive, or one file with its name beside it."""
    if not str(layer.get("mediaType", "")).endswith(_ARCHIVES):
        yield (layer.get("annotations") or {}).get(_TITLE, "policy.yaml"), content
        return
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        room = _MOST
        for member in archive:
            room -= member.size
            if room < 0:
                raise ValueError(f"it is larger than {_MOST >> 20} MiB unpacked")
            if member.isfile() and (file := archive.extractfile(member)):
                yield str(PurePosixPath(member.name)), file.read()
