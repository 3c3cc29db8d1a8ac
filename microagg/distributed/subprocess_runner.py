"""A release in parts by a process of its own: workers load the program that starts them, which a server must not be."""

from __future__ import annotations

import base64
import json
import os
import pickle
import selectors
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from microagg import errors
from microagg.distributed import api
from microagg.distributed.api import LargeRelease
from microagg.errors import DataError, MicroaggError
from microagg.progress import checkpoint, watched
from microagg.release import Report

# Seconds between two checks whether the work was cancelled, and seconds that the process then has to end.
_POLL, _GRACE = 0.5, 20

# The smallest change of the share done that is reported at the same message.
_STEP = 0.002


def release_apart(frame: str | os.PathLike[str], **choices: Any) -> LargeRelease:
    """Run ``microaggregate(frame, engine="dask", **choices)`` in another process and return its release.

    :func:`microagg.progress.checkpoint` shows the progress; if that cancels the work, the process ends. Raises
    MicroaggError as :func:`microagg.microaggregate` does, or if the process is killed.
    """
    with _process({"frame": os.fspath(frame), **choices}) as process:
        for answer in _answers(process):
            if "made" in answer:
                return _release(answer["made"])
            if "error" in answer:
                kind = getattr(errors, answer["error"], MicroaggError)
                raise (kind if issubclass(kind, MicroaggError) else MicroaggError)(answer["text"])
            checkpoint(answer["message"], answer["share"])
    raise MicroaggError("the process that releases the file ended, perhaps for want of memory: begin again.")


@contextmanager
def _process(arguments: Mapping[str, Any]) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "microagg.distributed.subprocess_runner"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdin is not None
            # It stays open: its end says that nobody waits any more.
            process.stdin.write(base64.b64encode(pickle.dumps(dict(arguments))) + b"\n")
            process.stdin.flush()
            yield process
        finally:
            if process.stdin is not None:
                process.stdin.close()
            try:
                process.wait(_GRACE)
            except subprocess.TimeoutExpired:
                process.kill()


def _answers(process: subprocess.Popen[bytes]) -> Iterator[dict[str, Any]]:
    """Yield the answers of the process, and its last progress again while there is no other."""
    assert process.stdout is not None
    last: dict[str, Any] = {"message": "starting", "share": 0.0}
    begun = b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while True:
            if not selector.select(_POLL):
                yield last
                continue
            data = os.read(process.stdout.fileno(), 1 << 16)
            if not data:
                return
            *whole, begun = (begun + data).split(b"\n")
            for line in whole:
                answer = json.loads(line)
                last = answer if "message" in answer else last
                yield answer


def _release(answer: Any) -> LargeRelease:
    """Return the release from the answer of the process, which is plain JSON and runs nothing."""
    try:
        report = Report.from_dict(answer["report"])
        return LargeRelease(Path(answer["path"]), report, dict(answer["recipe"]), dict(answer["seconds"]))
    except (DataError, KeyError, TypeError, ValueError):
        raise MicroaggError("the process that releases the file answered otherwise than it should.") from None


# --- in the process ---------------------------------------------------------------------------------------------------


def _end_with_others(done: threading.Event) -> None:
    """End this process when its parent is gone, unless the work is done."""
    while os.read(0, 1024):
        pass
    if not done.is_set():
        # Workers that are ended while they start complain at length.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        os.kill(os.getpid(), signal.SIGINT)


def _main() -> None:
    # Of a server that was begun in the background it would inherit that it does not hear this.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # What others print must not be taken for what is said here.
    says = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)
    arguments = pickle.loads(base64.b64decode(sys.stdin.buffer.readline()))
    done = threading.Event()
    threading.Thread(target=_end_with_others, args=(done,), daemon=True).start()
    reported: list[Any] = ["", -1.0]
    answer: dict[str, Any]

    def tell(message: str, share: float | None) -> bool:
        if message != reported[0] or (share or 0.0) >= reported[1] + _STEP:
            reported[:] = message, share or 0.0
            says.write(json.dumps({"message": message, "share": share}) + "\n")
        return True

    try:
        with watched(tell):
            of_engine = {name: arguments.pop(name) for name in ("out", "block_size") if name in arguments}
            release: Any = api.release(arguments.pop("frame"), arguments, **of_engine)
        answer = {"made": release.to_dict() | {"path": str(release.path), "seconds": release.seconds}}
    except MicroaggError as error:
        answer = {"error": type(error).__name__, "text": str(error)}
    except KeyboardInterrupt:
        return
    except Exception as error:
        # It is reported as it is: only a process that says nothing has been ended from without.
        traceback.print_exc()
        answer = {"error": "MicroaggError", "text": f"releasing the file failed ({type(error).__name__}): {error}"}
    done.set()
    says.write(json.dumps(answer) + "\n")
    says.flush()


if __name__ == "__main__":
    _main()
