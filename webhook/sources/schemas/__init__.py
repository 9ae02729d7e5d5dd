"""Structural schemas: where they come from, and whether an object is as they say."""

from webhook.sources.schemas.conform import Fault, conform
from webhook.sources.schemas.decode import decodes
from webhook.sources.schemas.documents import Given, read
from webhook.sources.schemas.scalars import QUOTES
from webhook.sources.schemas.store import Schemas

__all__ = ["QUOTES", "Fault", "Given", "Schemas", "conform", "decodes", "read"]
