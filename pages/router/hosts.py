"""The hosts that the dashboard answers to: this machine, and the names that Streamlit's settings list.

The owner of a site can make its name lead to 127.0.0.1 after its page has loaded (DNS rebinding). The browser then takes
the dashboard for that site and lets the page read it; only the header Host shows the site's name.
"""

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
    """Middleware that refuses requests to other hosts, and from pages of other hosts."""

    def __init__(self, app: ASGIApp) -> None:
        listed = [st.get_option("server.address") or "", st.get_option("browser.serverAddress")]
        listed += ["localhost", "127.0.0.1", "[::1]", *st.get_option("server.corsAllowedOrigins")]
        self._app, self._hosts = app, {*map(_host, listed)} - {None}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer: ASGIApp = self._app
        if scope["type"] != "lifespan":
            headers = Headers(scope=scope)
            # Streamlit refuses foreign origins itself, but asks a server in the Internet for this machine's address first.
            if not {_host(headers.get("host", "")), *map(_host, headers.getlist("origin"))} <= self._hosts:
                refused = PlainTextResponse(_REFUSAL, status_code=403)
                answer = WebSocketClose(code=1008) if scope["type"] == "websocket" else refused
        await answer(scope, receive, send)


def _host(address: str) -> str | None:
    """Return the host of an origin or of a Host header in lower case, None if there is none."""
    try:
        return urlsplit(address if "//" in address else f"//{address}").hostname
    except ValueError:
        return None
