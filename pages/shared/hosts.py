"""Which requests are answered: those to this machine, or to a name that whoever starts the server lists.

The owner of another site can have its name lead to 127.0.0.1 once its page is loaded (DNS rebinding). The browser takes
the dashboard for that site then and lets the page read it: only the header Host shows the site's name.
"""

from __future__ import annotations

from urllib.parse import urlsplit

import streamlit as st
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocketClose

_REFUSAL = (
    "Refused: the dashboard does not answer to this address. Open it at localhost or 127.0.0.1, or start it with the "
    "environment variable STREAMLIT_BROWSER_SERVER_ADDRESS naming the address that browsers use.\n"
)


class HostCheck:
    """Refuse requests to hosts that are not listed, and requests of pages that are not from a listed host."""

    def __init__(self, app: ASGIApp) -> None:
        listed = [st.get_option("server.address"), st.get_option("browser.serverAddress")]
        listed += st.get_option("server.corsAllowedOrigins")
        self._app, self._hosts = app, {"localhost", "127.0.0.1", "::1", *map(_host, listed)} - {""}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer: ASGIApp = self._app
        if scope["type"] in ("http", "websocket"):
            headers = Headers(scope=scope)
            # Streamlit would ask a server in the Internet whether a foreign origin is this machine.
            if not {_host(headers.get("host")), *map(_host, headers.getlist("origin"))} <= self._hosts:
                refused = PlainTextResponse(_REFUSAL, status_code=403)
                answer = WebSocketClose(code=1008) if scope["type"] == "websocket" else refused
        await answer(scope, receive, send)


def _host(address: str | None) -> str:
    """Return the host of an origin, or of a host with or without a port, in lower case; empty if there is none."""
    address = address or ""
    try:
        return urlsplit(address if "//" in address else f"//{address}").hostname or ""
    except ValueError:
        return ""
