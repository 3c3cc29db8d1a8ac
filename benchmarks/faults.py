"""What is left when ``microagg run`` is killed, stopped, run twice at once, or has no room: counts of what happened.

    python benchmarks/faults.py [--times 30] [--engine memory] [--engine dask] [--records 50000] [--seed 0]

A generated file is released again and again in a folder of its own, and each time something goes wrong:

- killed: SIGKILL at a random moment; the same command again must give the bytes of an undisturbed run, and leave
  nothing else. What the first has written whole is overwritten by ``--force``, or refused where it is a folder.
- SIGINT (as Ctrl-C: to the workers, too), SIGTERM: at a random moment; it ends with 130, 143 or 0, with one sentence or
  all written. ``-2`` is Python itself, ended before the command listens, which shells call 130 as well.
- full disk, read-only: the output is in a small file system of memory (root only; skipped for others).
- twice: the same command at the same time.

It prints how often each was seen, what was wrong being marked, and exits with 1 if anything was.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
import psutil

ROOT = Path(__file__).resolve().parents[1]
# Of undisturbed runs; what does not end then hangs.
PATIENCE = 300
ENDED = {signal.SIGINT: (130, -2), signal.SIGTERM: (143, -15)}


@dataclass
class Faults:
    """The trials of one engine, and how often each outcome was seen."""

    engine: str
    folder: Path
    chance: random.Random
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    expected: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def out(self) -> str:
        """What the release is called."""
        return "out" if self.engine == "dask" else "out.csv"

    def begin(self, at: Path, *more: str) -> subprocess.Popen[str]:
        """Start the command with its output in a folder ``at``."""
        (self.folder / "tmp").mkdir(exist_ok=True)
        words = ["run", str(self.folder / "people.parquet"), "--k", "5", "--qi", "a,b,c", "--confidential", "d"]
        words += ["--method", "mondrian"]
        words += ["--engine", self.engine, "--out", self.out, "--recipe", "recipe.json", *more]
        if self.engine == "dask":
            words += ["--workers", "1", "--block-size", "5000"]
        # What is begun in the background does not hear Ctrl-C.
        hear = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
        return subprocess.Popen(
            [sys.executable, "-c", f"{hear}; from microagg.cli import main; main()", *words],
            cwd=at,
            env=os.environ | {"PYTHONPATH": str(ROOT), "TMPDIR": str(self.folder / "tmp")},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    @contextmanager
    def trial(self) -> Iterator[Path]:
        """Yield an empty folder."""
        with tempfile.TemporaryDirectory(dir=self.folder) as at:
            yield Path(at)

    def measure(self) -> None:
        """Run undisturbed, twice: the first may compile."""
        for _ in range(2):
            with self.trial() as at:
                start = time.monotonic()
                code, said = ended(self.begin(at))
                self.seconds = time.monotonic() - start
                assert code == 0, said
                self.expected = bytes_in(at)

    def try_all(self, times: int) -> None:
        """Try what goes wrong at random moments so many times, and the rest a few times."""
        for size in (4_096, 65_536, 262_144, 1_048_576, 4_194_304):
            self.without_room(size)
        self.read_only()
        for _ in range(5):
            self.twice()
        for number in range(times):
            self.killed()
            self.stopped((signal.SIGINT, signal.SIGTERM)[number % 2])

    def moment(self) -> float:
        """Return a random moment of a run, in seconds from its beginning."""
        return self.chance.uniform(0.0, 1.05 * self.seconds)

    def saw(self, case: str, what: str, wrong: str = "") -> None:
        """Count an outcome, and tell at once what was ``wrong`` with it."""
        self.counts[case, f"{what}{' WRONG' if wrong else ''}"] += 1
        if wrong:
            self.wrong.append(f"{self.engine}, {case}, {what}: {wrong}")
            print(self.wrong[-1], flush=True)

    def killed(self) -> None:
        """Kill a run, and run the same command again."""
        with self.trial() as at:
            process, moment = self.begin(at), self.moment()
            time.sleep(moment)
            process.kill()
            ended(process)
            left = sorted(bytes_in(at))
            whole = [name for name in self.expected if name in left]
            kind = "all written" if len(whole) == len(self.expected) else "part written" if whole else "nothing written"
            hidden = any(name.startswith(".") for name in left)
            what = f"{kind}{', temporary files left' if hidden else ''}"
            refused = self.engine == "dask" and (at / self.out).exists()
            code, said = ended(self.begin(at, *(["--force"] if whole else [])))
            found = bytes_in(at)
            ok = found == self.expected and code == (2 if refused else 0) and clean(said)
            self.saw("killed", what, "" if ok else f"{moment:.2f} s, {left}, again {code} {said!r}, {sorted(found)}")

    def stopped(self, number: signal.Signals) -> None:
        """End a run by a signal that it hears."""
        with self.trial() as at:
            process, moment = self.begin(at), self.moment()
            time.sleep(moment)
            if process.poll() is None:
                (os.killpg if number == signal.SIGINT else os.kill)(process.pid, number)
            code, said = ended(process)
            found = bytes_in(at)
            # Dask has files there for all that it starts.
            temporary = [name for name in bytes_in(self.folder / "tmp") if not name.startswith("dask-scratch-space/")]
            if code == 0:
                ok = found == self.expected
            else:
                goes_on = "The same command goes on" in said and self.engine == "dask"
                left = {name.split("/")[0] for name in found}
                ok = code in ENDED[number] and left <= ({"out.working"} if goes_on else set())
                ok = ok and (code < 0 or (clean(said) and "Stopped." in said))
            ok = ok and not temporary
            self.saw(number.name, str(code), "" if ok else f"{moment:.2f} s, {said!r}, {sorted(found)}, {temporary}")

    def without_room(self, size: int) -> None:
        """Run with so many bytes of room for the output."""
        with self.trial() as at, small_disk(at, f"size={size}") as mounted:
            if not mounted:
                self.saw("full disk", "skipped")
                return
            code, said = ended(self.begin(at))
            left = {name.split("/")[0] for name in bytes_in(at)} - {"out.working"}
            ok = (code == 2 and error(said) and not left) or (code == 0 and bytes_in(at) == self.expected)
            self.saw("full disk", str(code), "" if ok else f"{size} bytes, {said!r}, {left}")

    def read_only(self) -> None:
        """Run with an output that cannot be written."""
        with self.trial() as at, small_disk(at, "ro") as mounted:
            if not mounted:
                self.saw("read-only", "skipped")
                return
            code, said = ended(self.begin(at))
            self.saw("read-only", str(code), "" if code == 2 and error(said) else repr(said))

    def twice(self) -> None:
        """Run the same command twice at the same time: one wins, the other says so."""
        with self.trial() as at:
            both = [ended(process) for process in [self.begin(at), self.begin(at)]]
            codes = sorted(code for code, _ in both)
            ok = codes == [0, 2] and all(error(said) for code, said in both if code) and bytes_in(at) == self.expected
            self.saw("twice", str(codes), "" if ok else f"{both!r}, {sorted(bytes_in(at))}")


@contextmanager
def small_disk(at: Path, options: str) -> Iterator[bool]:
    """Mount a file system of memory on a folder, and yield whether that could be done."""
    mount = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(at)]
    try:
        done = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    except OSError:
        done = False
    try:
        yield done
    finally:
        if done:
            subprocess.run(["umount", str(at)], check=True)


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    """Return how a command ended, and what it said on stderr, when all that it started has ended, too."""
    _, said = process.communicate(timeout=PATIENCE)
    others = [each for each in psutil.process_iter() if _session(each.pid) == process.pid]
    _, alive = psutil.wait_procs(others, timeout=30)
    assert not alive, f"{alive} go on"
    return process.returncode, said


def _session(pid: int) -> int:
    try:
        return os.getsid(pid)
    except OSError:
        return 0


def bytes_in(folder: Path) -> dict[str, str]:
    """Return a digest of each file below a folder, by its name."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def clean(said: str) -> bool:
    """Whether no program's stack was shown."""
    return "Traceback" not in said


def error(said: str) -> bool:
    """Whether it ends with what is wrong in a sentence."""
    return clean(said) and " ".join(said.splitlines()[-1:]).startswith("Error: ")


def main() -> None:
    """Try, and print what was counted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=30)
    parser.add_argument("--engine", choices=("memory", "dask"), action="append")
    parser.add_argument("--records", type=int, default=50_000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    for number in ENDED:
        # The table is printed and disks are unmounted then, too.
        signal.signal(number, signal.default_int_handler)
    rng = np.random.default_rng(asked.seed)
    wrong = 0
    for engine in asked.engine or ("memory", "dask"):
        with tempfile.TemporaryDirectory() as folder:
            frame = pd.DataFrame(rng.normal(size=(asked.records, 4)), columns=list("abcd"))
            frame.to_parquet(Path(folder, "people.parquet"), row_group_size=10_000)
            faults = Faults(engine, Path(folder), random.Random(asked.seed))
            faults.measure()
            print(f"{engine}: {faults.seconds:.1f} s undisturbed", flush=True)
            try:
                faults.try_all(asked.times)
            finally:
                for (case, what), count in sorted(faults.counts.items()):
                    print(f"{engine:8}{case:12}{count:4}  {what}", flush=True)
            wrong += len(faults.wrong)
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
