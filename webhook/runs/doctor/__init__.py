"""The doctor: can admission webhooks, ours or another tool's, lock a cluster out. One module a kind of fault."""
