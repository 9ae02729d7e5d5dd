"""The commands: flags and exit codes only."""

from __future__ import annotations


def main() -> int:
    """Run the command line; the exit code is the answer."""
    return 2
