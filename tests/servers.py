"""Dashboard servers of their own, which write down what they listen on and whom they speak to."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from tests.conftest import ROOT

# Python runs it before anything else. What is asked of a name server counts as well as what is connected to.
_LISTENER = """
import os, sys
notes = os.open(os.environ["SPOKEN_TO"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)

def note(event, arguments):
    if event in {"socket.connect", "socket.sendto", "socket.sendmsg"}:
        os.write(notes, f"{event} {arguments[1]!r}\\n".encode())
    elif event in {"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr", "socket.getnameinfo"}:
        os.write(notes, f"{event} {arguments!r}\\n".encode())

sys.addaudithook(note)
"""


@contextmanager
def silent_server(folder: Path, **how: Any) -> Iterator[Server]:
    """Yield a server, and see to it that it has spoken to nobody and has had no error when it ends."""
    running = Server(folder, **how)
    try:
        yield running.wait()
    finally:
        running.stop()
    assert running.spoken_to() == []
    log = running.log.read_text()
    assert "Traceback" not in log, log


class Server:
    """The README's ``streamlit run app.py`` on a free port, without a browser of its own; ``folder`` is for its log.

    ``words`` are another command, after ``python -P -m``, with ``{port}`` for the port; ``variables`` are those of its
    environment.
    """

    def __init__(
        self, folder: Path, cwd: Path = ROOT, port: int = 0, words: Sequence[str] = (), **variables: str
    ) -> None:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", port))
            self.port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.log, self._notes = folder / "log.txt", folder / "spoken_to.txt"
        (folder / "sitecustomize.py").write_text(_LISTENER, encoding="utf-8")
        command = [sys.executable, "-m", "streamlit", "run", os.path.relpath(ROOT / "app.py", cwd)]
        command += ["--server.port", str(self.port), "--server.headless", "true"]
        if words:
            command = [sys.executable, "-P", "-m", *(word.format(port=self.port) for word in words)]
        path = os.pathsep.join([str(folder), *filter(None, [variables.pop("PYTHONPATH", "")])])
        environment = os.environ | {"PYTHONPATH": path, "SPOKEN_TO": str(self._notes)} | variables
        # Files that change meanwhile must not make it load modules anew.
        environment["STREAMLIT_SERVER_FILE_WATCHER_TYPE"] = "none"
        with self.log.open("wb") as out:
            self.process = subprocess.Popen(command, cwd=cwd, env=environment, stdout=out, stderr=subprocess.STDOUT)

    def wait(self) -> Server:
        for _ in range(900):
            assert self.process.poll() is None, self.log.read_text()
            try:
                with urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=1):
                    return self
            except OSError:
                time.sleep(0.1)
        raise AssertionError("the server did not start")

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            # Before it ends, Streamlit waits without limit for what a page that is still open has begun to load.
            self.process.kill()
            self.process.wait()

    def spoken_to(self) -> list[str]:
        """Return whom it has connected to, or asked a name server for."""
        return self._notes.read_text(encoding="utf-8").splitlines()

    def listens_on(self) -> set[str]:
        """Return the addresses that it listens on, and processes that it has begun, each as ``address:port``."""
        own = psutil.Process(self.process.pid)
        sockets = [each for one in (own, *own.children(recursive=True)) for each in one.net_connections()]
        return {f"{each.laddr.ip}:{each.laddr.port}" for each in sockets if each.status == psutil.CONN_LISTEN}
