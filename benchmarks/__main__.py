"""`make bench`: every table of docs/benchmarks.md. Prints, asserts nothing."""

from __future__ import annotations

from benchmarks import check, engine, server

engine.main()
server.main([])
print()
check.main()
