"""Dashboard servers of their own, which write down what they listen on and whom they speak to."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

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

_LISTENING = "0A"


class Server:
    """The README's ``streamlit run app.py`` on a free port, without a browser of its own.

    Parameters
    ----------
    folder : Path
        For its log and what it writes down.
    cwd : Path, optional
        The folder in which the command is given, by default that of the repository.
    port : int, optional
        That of a server that has ended, by default a free one.
    **variables
        Of its environment.
    """

    def __init__(self, folder: Path, cwd: Path = ROOT, port: int = 0, **variables: str):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", port))
            self.port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.log, self._notes = folder / "log.txt", folder / "spoken_to.txt"
        (folder / "sitecustomize.py").write_text(_LISTENER, encoding="utf-8")
        command = [sys.executable, "-m", "streamlit", "run", os.path.relpath(ROOT / "app.py", cwd)]
        command += ["--server.port", str(self.port), "--server.headless", "true"]
        # Files that change meanwhile must not make it load modules anew.
        command += ["--server.fileWatcherType", "none"]
        environment = os.environ | {"PYTHONPATH": str(folder), "SPOKEN_TO": str(self._notes)} | variables
        with self.log.open("wb") as out:
            self.process = subprocess.Popen(command, cwd=cwd, env=environment, stdout=out, stderr=subprocess.STDOUT)

    def wait(self) -> Server:
        """Wait until it answers."""
        for _ in range(300):
            assert self.process.poll() is None, self.log.read_text()
            try:
                with urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=1):
                    return self
            except OSError:
                time.sleep(0.1)
        raise AssertionError("the server did not start")

    def stop(self) -> None:
        """End it."""
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
        """Return the addresses that it listens on, each as ``address:port``; skips where the system does not tell."""
        own = Path(f"/proc/{self.process.pid}")
        if not own.exists():
            pytest.skip("this system does not tell by /proc what a process listens on")
        inodes = {str(entry.readlink()).removeprefix("socket:[").removesuffix("]") for entry in (own / "fd").iterdir()}
        found = set()
        for table, family in (("tcp", socket.AF_INET), ("tcp6", socket.AF_INET6)):
            for line in (own / "net" / table).read_text().splitlines()[1:]:
                fields = line.split()
                if fields[3] == _LISTENING and fields[9] in inodes:
                    address, port = fields[1].split(":")
                    found.add(f"{_address(address, family)}:{int(port, 16)}")
        return found


def _address(digits: str, family: socket.AddressFamily) -> str:
    """Return an address of /proc, which has the bytes of each four in the machine's own order."""
    words = [int(digits[i : i + 8], 16).to_bytes(4, sys.byteorder) for i in range(0, len(digits), 8)]
    return socket.inet_ntop(family, b"".join(words))
