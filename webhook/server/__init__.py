"""The HTTPS webhook: aiohttp, TLS, probes and metrics."""
