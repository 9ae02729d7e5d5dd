"""What charts and templates of the tree say about GPUs. Each reader gives one fact, or raises NotReadable."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Final

from webhook.errors import DocumentErrors
from webhook.sources import yaml
from webhook.sources.catalog import GPU_OPERATOR
from webhook.sources.checkout import Checkout
from webhook.sources.upstream.facts import Facts, NotReadable
from webhook.sources.upstream.packages import SOURCES

_PLATFORM: Final = "packages/core/platform"
_BUNDLE: Final = f"{_PLATFORM}/templates/bundles/iaas.yaml"
_KUBEVIRT: Final = "packages/system/kubevirt/values.yaml"
_GPU_OPERATOR: Final = "packages/system/gpu-operator/values.yaml"
_APPS: Final = "packages/apps"
_TENANT: Final = f"{_APPS}/kubernetes/templates"
_TENANT_CLUSTER: Final = f"{_TENANT}/cluster.yaml"
_TENANT_GPU: Final = f"{_TENANT}/helmreleases/gpu-operator.yaml"
_HAMI: Final = f"{SOURCES}/hami.yaml"
_NODE_POOLS: Final = f"{_APPS}/kubernetes-nodes/Chart.yaml"

_COMMENT: Final = re.compile(r"\{\{-?\s*/\*.*?\*/\s*-?\}\}", re.DOTALL)
_KEY: Final = re.compile(r"\{\{-?\s*(\$\w+)\s*:=\s*\.Values\.bundles\.iaas\.gpuOperatorVariant\b")
_REFUSED: Final = re.compile(r"\{\{-?\s*if not (\(.*\))\s*-?\}\}\s*\{\{-?\s*fail\b")
_NO_SYSTEM: Final = re.compile(r"if [^}]*\bnot \.Values\.bundles\.system\.enabled\b[^}]*\}\}\s*\{\{-?\s*fail\b")
_FILE: Final = re.compile(r'\.Files\.Get "(files/[^"]+\.yaml)"')
_CREATED: Final = re.compile(r"^kernelModuleConfig:\s*\n\s+create:\s*true\b", re.MULTILINE)
_DISABLED: Final = "NVreg_NvLinkDisable=1"
_BOOTSTRAP: Final = re.compile(r"^\s*kind:\s*(Kubeadm|Talos)ConfigTemplate\b", re.MULTILINE)
_LABELLED: Final = re.compile(r'node-labels:\s*"[^"\n]*\bgpu=on\b|nodeLabels:\s*\n\s*gpu:\s*"on"')


def _operator_values(checkout: Checkout) -> list[str]:
    """Give the keys that the package's chart has at the top of its values."""
    return sorted(_values(checkout, _GPU_OPERATOR))


def _bundle_key(checkout: Checkout) -> bool:
    """Does the platform chart read `bundles.iaas.gpuOperatorVariant`."""
    return _KEY.search(_template(checkout, _BUNDLE)) is not None


def _bundle_variants(checkout: Checkout) -> list[str] | None:
    """Give what that key takes: the values that the condition before its `fail` names. None where nothing reads it."""
    text = _template(checkout, _BUNDLE)
    key = _KEY.search(text)
    if key is None:
        return None
    equal, among = rf'\(eq {re.escape(key[1])} "[^"]+"\)', rf"\(has {re.escape(key[1])} \(list[^)]*\)\)"
    tests = (test for refused in _REFUSED.findall(text) for test in re.findall(f"{equal}|{among}", refused))
    found = [value for test in tests for value in re.findall(r'"([^"]+)"', test)]
    if not found:
        raise NotReadable(f"{_BUNDLE}: reads the key, but not what it takes: no `fail` behind a list of values")
    return found


def _bundle_checks_system(checkout: Checkout) -> bool:
    """Does the bundle for VMs and tenant clusters refuse to render without the system bundle."""
    return _NO_SYSTEM.search(_template(checkout, _BUNDLE)) is not None


def _kubevirt_owns_keys(checkout: Checkout) -> bool:
    """Does the kubevirt chart take the object's GPU fields from its values."""
    return "permittedHostDevices" in _values(checkout, _KUBEVIRT)


def _default_selectors(checkout: Checkout) -> dict[str, str]:
    """Give PCI selector → resource name of what is permitted without anybody naming it."""
    return _permitted(checkout, "pciHostDevices", "pciVendorSelector")


def _default_mediated_devices(checkout: Checkout) -> dict[str, str]:
    """Give the same for vGPU profiles, by name."""
    return _permitted(checkout, "mediatedDevices", "mdevNameSelector")


def _nv_link_disabled(checkout: Checkout) -> bool:
    """Does the tenant's GPU operator load the driver with NVLink off: its chart has the setting, the tenant asks."""
    if not _CREATED.search(_template(checkout, _TENANT_GPU)):
        return False
    settings = _values(checkout, _GPU_OPERATOR).get("kernelModuleConfig")
    if not isinstance(settings, dict):
        raise NotReadable(f"{_GPU_OPERATOR}: no `kernelModuleConfig`, which the tenant's chart turns on")
    return any(_DISABLED in str(value) for value in settings.values())


def _hami_available(checkout: Checkout) -> bool:
    """Is there the package that shares GPUs among pods."""
    return _has(checkout, _HAMI, SOURCES)


def _tenant_nodes(checkout: Checkout) -> str:
    """Give what makes the workers of tenant clusters: `kubeadm` or `talos`."""
    kinds = set(_BOOTSTRAP.findall(_template(checkout, _TENANT_CLUSTER)))
    if len(kinds) != 1:
        got = " and ".join(sorted(f"{kind}ConfigTemplate" for kind in kinds)) or "none"
        raise NotReadable(f"{_TENANT_CLUSTER}: got {got}, want one kind of bootstrap template")
    return str(kinds.pop()).lower()


def _tenant_nodes_labelled(checkout: Checkout) -> bool:
    """Does one of the templates label nodes `gpu=on`."""
    paths = list(checkout.under(_TENANT, ".yaml"))
    if not paths:
        raise NotReadable(f"{_TENANT}: there are no templates")
    return any(_LABELLED.search(_template(checkout, path)) for path in paths)


def _tenant_node_pools(checkout: Checkout) -> bool:
    """Is there a chart of its own for node pools."""
    return _has(checkout, _NODE_POOLS, _APPS)


_READERS: Final[Mapping[str, Callable[[Checkout], Any]]] = {
    "operatorValues": _operator_values,
    "bundleKey": _bundle_key,
    "bundleVariants": _bundle_variants,
    "bundleChecksSystem": _bundle_checks_system,
    "kubevirtOwnsGpuKeys": _kubevirt_owns_keys,
    "nvLinkDisableDefault": _nv_link_disabled,
    "hamiAvailable": _hami_available,
    "tenantNodes": _tenant_nodes,
    "tenantNodesLabelled": _tenant_nodes_labelled,
    "tenantNodePools": _tenant_node_pools,
    "defaultSelectors": _default_selectors,
    "defaultMediatedDevices": _default_mediated_devices,
}
"""Each fact that stands in a place of its own, and who reads it."""


def gpu(checkout: Checkout, variants: Iterable[str] | None) -> Facts:
    """Read all that an entry says of GPUs; `variants` are those of the package that brings the GPU operator."""
    facts = Facts()
    facts.take("packageVariants", lambda: _listed(variants))
    for name, reader in _READERS.items():
        facts.take(name, partial(reader, checkout))
    return facts


def _has(checkout: Checkout, path: str, folder: str) -> bool:
    """Is there such a file, among the others of its folder."""
    if not any(checkout.under(folder)):
        raise NotReadable(f"{folder}: there is no such folder")
    return checkout.read(path) is not None


def _listed(variants: Iterable[str] | None) -> list[str]:
    if variants is None:
        raise NotReadable(f"there is no package {GPU_OPERATOR}")
    return list(variants)


def _permitted(checkout: Checkout, group: str, selector: str) -> dict[str, str]:
    """Read the devices of a group off all files that the bundle's template takes as defaults."""
    devices: list[Any] = []
    for file in _FILE.findall(_template(checkout, _BUNDLE)):
        values = _values(checkout, f"{_PLATFORM}/{file}")
        devices += values.get(group) or (values.get("permittedHostDevices") or {}).get(group) or []
    try:
        return {str(device[selector]): str(device["resourceName"]) for device in devices}
    except (KeyError, TypeError):
        raise NotReadable(f"{_PLATFORM}/files: an entry of {group} has no {selector}, or no resourceName") from None


def _template(checkout: Checkout, path: str) -> str:
    """Read a template without its comments, which speak of what others do, too."""
    return _COMMENT.sub("", _text(checkout, path))


def _values(checkout: Checkout, path: str) -> dict[str, Any]:
    try:
        documents = yaml.read(_text(checkout, path).encode(), path)
    except DocumentErrors as faults:
        raise NotReadable(str(faults.errors[0])) from None
    values: Any = documents[0].value if documents else {}  # Helm takes an empty file for no values
    if len(documents) > 1 or not isinstance(values, dict):
        raise NotReadable(f"{path}: want one document that is a map")
    return dict(values)


def _text(checkout: Checkout, path: str) -> str:
    text = checkout.read(path)
    if text is None:
        raise NotReadable(f"{path}: there is no such file")
    return text
