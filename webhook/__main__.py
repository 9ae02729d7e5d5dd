"""`python -m webhook` is `cozyguard`."""

from webhook.cli import main

raise SystemExit(main())
