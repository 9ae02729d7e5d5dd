"""`make bench`: every table of docs/benchmarks.md. `python -m benchmarks functions`, or `mutations`, prints one table.

Prints, asserts nothing.
"""

from __future__ import annotations

import sys

from benchmarks import check, engine, functions, html, mutations, server, startup

if sys.argv[1:] == ["functions"]:
    functions.main()
elif sys.argv[1:] == ["mutations"]:
    mutations.main()
else:
    engine.main()
    server.main([])
    print()
    startup.main()
    check.main()
    print()
    html.main()
