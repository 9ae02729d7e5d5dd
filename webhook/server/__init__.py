"""The HTTPS webhook: aiohttp, TLS, probes and metrics. `app.run` serves; `settings.read` says what."""
