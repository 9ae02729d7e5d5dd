"""Work over many objects or cases, used by the commands."""
