"""The schemas that a cluster itself has: of its CustomResourceDefinitions, and of APIs that others serve for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any, Final

from webhook.admission.openapi import describe
from webhook.admission.structures import is_builtin_group
from webhook.cluster.access import Access
from webhook.cluster.client import Client
from webhook.model.request import Object
from webhook.sources.schemas import Given

_DEFINITIONS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_DOCUMENTS: Final = "/openapi/v3"


def read(access: Access) -> Given:
    """Read them. Raises UsageError, Unreachable, and ApiError where definitions may not be read."""
    return asyncio.run(_read(access))


async def _read(access: Access) -> Given:
    async with await Client.connect(access) as client:
        definitions = [one async for page in client.pages(_DEFINITIONS) for one in page.items]
        defined = {one["spec"]["group"] for one in definitions}
        found = describe([document async for document in _documents(client, defined)])
    named = {(one["spec"]["group"], one["spec"]["names"]["kind"]): one for one in definitions}
    return Given(named, found.kinds, found.types)


async def _documents(client: Client, defined: set[str]) -> AsyncIterator[Mapping[str, Any]]:
    """Give the schemas of groups that neither Kubernetes nor a definition has: those of aggregated API servers."""
    index: Object = await client.get(_DOCUMENTS)
    for path in sorted(index["paths"]):
        match path.split("/"):
            case ["apis", group, _] if not is_builtin_group(group) and group not in defined:
                document = await client.get(f"{_DOCUMENTS}/{path}")
                yield document.get("components", {}).get("schemas", {})
