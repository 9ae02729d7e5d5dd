"""A bare aiohttp server that sends each body back: what TLS, HTTP and Python cost before any review."""

from __future__ import annotations

import gc
import ssl
import sys

import uvloop
from aiohttp import web


async def echo(request: web.Request) -> web.Response:
    """Answer with what came."""
    return web.Response(body=await request.read(), content_type="application/json")


def main() -> None:
    """Serve on the port given until killed, with the certificate and key given."""
    port, cert, key = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(cert, key)
    application = web.Application(client_max_size=8 * 1024 * 1024)
    application.router.add_post("/validate", echo)
    gc.collect()
    gc.freeze()
    web.run_app(
        application,
        host="127.0.0.1",
        port=port,
        ssl_context=context,
        access_log=None,
        print=None,
        loop=uvloop.new_event_loop(),
    )


if __name__ == "__main__":
    main()
