"""YAML and JSON, read as kubectl reads them.

A file is cut into documents (`separators`); a text on which all readers agree (`agreement`) goes to the fast reader,
any other becomes a tree of nodes (`tree`), of which `construct` makes the value by the rules of `scalars`. The tree
also answers where a field is written (`positions`); it is made when somebody asks.
"""

from webhook.sources.yaml.document import Document
from webhook.sources.yaml.positions import Position
from webhook.sources.yaml.reading import parse, read
from webhook.sources.yaml.separators import Source, split

__all__ = ["Document", "Position", "Source", "parse", "read", "split"]
