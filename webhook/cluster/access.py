"""How the API server is reached: the pod's service account, or a kubeconfig, read by Kubernetes' own library.

That library costs about 20 MB once it is imported, so nothing imports it before a cluster is to be talked to.
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from webhook.errors import DocumentErrors, UsageError, did_you_mean
from webhook.model.request import Object

if TYPE_CHECKING:
    from kubernetes.aio.client import Configuration

SERVICE_ACCOUNT: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount")

Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Access:
    """Where the credentials are: a kubeconfig and the name of a context in it ("" for its current one).

    Without a kubeconfig it is the service account that the kubelet mounts into every pod.
    """

    kubeconfig: Path | None = None
    context: str = ""
    service_account: Path = SERVICE_ACCOUNT

    def namespace(self) -> str:
        """Give the namespace of the pod that this is, "" outside of a cluster."""
        if self.kubeconfig is not None:
            return ""
        try:
            return (self.service_account / "namespace").read_text(encoding="utf-8").strip()
        except OSError:
            return ""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An API server and the credentials for it, as they are now: `Access` is read anew when they no longer serve."""

    url: str
    tls: ssl.SSLContext
    server_name: str | None
    proxy: str | None
    impersonation: Headers
    _configuration: Configuration

    async def headers(self) -> Headers:
        """Give the headers that say who asks. Raises OSError when the token's file is gone."""
        # The library reads the token of a service account again once a minute: the kubelet exchanges it.
        token = await self._configuration.get_api_key_with_prefix("BearerToken")
        return (*self.impersonation, *((("Authorization", token.strip()),) if token else ()))


async def read(access: Access) -> Endpoint:
    """Read the credentials; a credential plugin runs now. Raises UsageError that says what to do."""
    from kubernetes.aio.client import Configuration
    from kubernetes.aio.client.rest import RESTClientObject

    configuration = Configuration()
    if access.kubeconfig is None:
        _load_service_account(configuration, access.service_account)
        user: Object = {}
    else:
        user = await _load_kubeconfig(configuration, access.kubeconfig, access.context)
    # From Python 3.13 on certificates are held to rules that Go, and so kubectl, does not know.
    configuration.disable_strict_ssl_verification = True
    try:
        tls = RESTClientObject(configuration).ssl_context
    except OSError as error:  # ssl.SSLError is one
        raise UsageError(f"the certificates of {_source(access)} cannot be used: {_words(error)}") from None
    return Endpoint(
        url=configuration.host.rstrip("/"),
        tls=tls,
        server_name=configuration.tls_server_name,
        proxy=configuration.proxy,
        impersonation=_impersonation(user),
        _configuration=configuration,
    )


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


def _source(access: Access) -> str:
    return f"kubeconfig `{access.kubeconfig}`" if access.kubeconfig else "the service account"


def _words(error: Exception) -> str:
    """Give the words of an error as part of a sentence."""
    words = (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
    return words[:1].lower() + words[1:].rstrip(".")
