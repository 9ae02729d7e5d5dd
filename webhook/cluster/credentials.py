"""Credentials, read by Kubernetes' own library: kubeconfigs with their plugins, and service accounts.

Importing that library costs 20 MiB for good, so nothing does before a cluster is to be talked to, and a server has
`answer` called in a process that ends with it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from webhook.cluster.access import Access, Credentials, Headers
from webhook.errors import DocumentErrors, UsageError, did_you_mean
from webhook.model.request import Object

if TYPE_CHECKING:
    from kubernetes.aio.client import Configuration


async def load(access: Access) -> Credentials:
    """Read the credentials; a credential plugin runs now. Raises UsageError that says what to do."""
    from kubernetes.aio.client import Configuration

    configuration = Configuration()
    if access.kubeconfig is None:
        _load_service_account(configuration, access.service_account)
        user: Object = {}
    else:
        user = await _load_kubeconfig(configuration, access.kubeconfig, access.context)
    try:
        credentials = Credentials(
            url=configuration.host.rstrip("/"),
            verify=configuration.verify_ssl,
            authorities=_read(configuration.ssl_ca_cert),
            certificate=_pair(configuration.cert_file, configuration.key_file),
            authorization=configuration.api_key.get("BearerToken"),
            token_file=None if access.kubeconfig else access.service_account / "token",
            impersonation=_impersonation(user),
            server_name=configuration.tls_server_name,
            proxy=configuration.proxy,
        )
        credentials.tls()
    except (OSError, ValueError) as error:
        raise UsageError(f"the certificates of {access} cannot be used: {_words(error)}") from None
    return credentials


def load_here(access: Access) -> Credentials:
    """Do what `load` does, in a process without an event loop. Raises UsageError."""
    return asyncio.run(load(access))


def _load_service_account(configuration: Configuration, folder: Path) -> None:
    from kubernetes.aio.config import ConfigException
    from kubernetes.aio.config.incluster_config import InClusterConfigLoader

    loader: Any = InClusterConfigLoader  # it has no types
    try:
        loader(token_filename=str(folder / "token"), cert_filename=str(folder / "ca.crt")).load_and_set(configuration)
    except (ConfigException, OSError) as error:
        raise UsageError(
            f"there is no service account of a pod here: {_words(error)}; outside a cluster name a kubeconfig"
        ) from None


async def _load_kubeconfig(configuration: Configuration, file: Path, context: str) -> Object:
    """Load it, and give its `user`, as it says whom to act for, which the library leaves out."""
    from kubernetes.aio.config import ConfigException
    from kubernetes.aio.config.kube_config import KubeConfigLoader

    config = _parse(file)
    named = _named(config, "contexts")
    current = context or config.get("current-context") or ""
    if current not in named:
        raise UsageError(
            f"kubeconfig `{file}` has no context `{current}`{did_you_mean(str(current), named)}"
            if current
            else f"kubeconfig `{file}` has no current-context: name one of its contexts: {', '.join(named) or 'none'}"
        )
    user_name = str(_mapping(named[current].get("context")).get("user"))
    user = _mapping(_named(config, "users").get(user_name, {}).get("user"))
    loader: Any = KubeConfigLoader  # it has no types
    try:
        loaded = loader(config, active_context=current, config_base_path=str(file.absolute().parent))
        await loaded.load_and_set(configuration)
    except (ConfigException, OSError, ValueError, TypeError, KeyError) as error:
        raise UsageError(f"kubeconfig `{file}` cannot be used, context `{current}`: {_words(error)}") from None
    if "exec" in user and not (configuration.api_key or configuration.cert_file):
        command = _mapping(user["exec"]).get("command")
        raise UsageError(f"kubeconfig `{file}`: `{command}` gave no credentials; run it by hand to see why")
    return user


def _parse(file: Path) -> Object:
    from webhook.sources import yaml

    try:
        documents = yaml.read(file.read_bytes(), str(file))
    except OSError as error:
        raise UsageError(f"kubeconfig `{file}` cannot be read: {_words(error)}") from None
    except DocumentErrors as errors:  # its words may quote the text, and so a token
        raise UsageError(f"kubeconfig `{file}` is no YAML: see line {next(iter(errors)).line}") from None
    if len(documents) != 1 or not isinstance(documents[0].value, dict):
        raise UsageError(f"kubeconfig `{file}` holds no kubeconfig")
    return documents[0].value


def _named(config: Object, section: str) -> Mapping[str, Object]:
    entries = config.get(section)
    return {
        str(entry.get("name")): entry
        for entry in (entries if isinstance(entries, list) else [])
        if isinstance(entry, dict)
    }


def _impersonation(user: Object) -> Headers:
    """Give the headers for `as`, `as-uid`, `as-groups` and `as-user-extra`, which mean that we act for somebody."""
    one = [("Impersonate-User", user.get("as")), ("Impersonate-Uid", user.get("as-uid"))]
    groups = [("Impersonate-Group", group) for group in user.get("as-groups") or []]
    extra = [
        (f"Impersonate-Extra-{key}", value)
        for key, values in _mapping(user.get("as-user-extra")).items()
        for value in values
    ]
    return tuple((name, str(value)) for name, value in (*one, *groups, *extra) if value)


def _mapping(value: Any) -> Object:
    return value if isinstance(value, dict) else {}


def _words(error: Exception) -> str:
    """Give the words of an error as part of a sentence."""
    words = (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
    return words[:1].lower() + words[1:].rstrip(".")


def _read(file: str | None) -> str | None:
    return Path(file).read_text(encoding="ascii") if file else None


def _pair(certificate: str | None, key: str | None) -> str | None:
    return "\n".join(filter(None, (_read(certificate), _read(key)))) or None
