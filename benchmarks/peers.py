"""Other tools beside ours on the same data in one run: seconds, memory and information loss.

    MICROAGG_DATA_DIR=… python benchmarks/peers.py [--python ../peers/bin/python] [--k 5]

anonypyx and microagg1d are installed where ``--python`` leads, by default here; of a tool that does not run the table
has the error. Data are z-scores; anonypyx's MDAV-generic stands beside our MDAV, and microagg1d's optimum of one
attribute beside our optimum.

Each tool runs in a process of its own: first on a few records, to load and compile what it needs, then on all, which
counts. Memory is the peak less what the process had before. The loss is computed here, from the groups.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.scaling import make_data
from benchmarks.tables import table
from microagg import datasets, standardize
from microagg.metrics import information_loss

#: The data, each a name, records and attributes; those of benchmarks have their own size.
DATA = (("census", 0, 0), ("eia", 0, 0), ("uniform", 5_000, 5), ("uniform", 5_000, 1))

#: Our methods beside the others, by title.
OURS = {"MDAV": "mdav", "MDAV*": "mdav-star", "Least loss": "least-loss"}

_AROUND = """
import sys, time
import numpy as np
def memory():
    status = dict(line.split(":", 1) for line in open("/proc/self/status").read().splitlines())
    return [int(status[name].split()[0]) / 1024 for name in ("VmRSS", "VmHWM")]
path, k, result = sys.argv[1], int(sys.argv[2]), sys.argv[3]
X = np.load(path)
{code}
run(X[:200])
open("/proc/self/clear_refs", "w").write("5")
before = memory()[0]
started = time.perf_counter()
labels = run(X)
seconds = time.perf_counter() - started
np.savez(result, labels=labels, figures=[seconds, max(memory()[1] - before, 0.0)])
"""

_OURS = "from microagg import make\ndef run(X): return make({key!r}, k=k).fit_predict(X)"

_ANONYPYX = """
import pandas as pd
from anonypyx.microaggregation import MDAVGeneric
def run(X):
    frame, labels = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]), np.empty(len(X), dtype=int)
    for number, rows in enumerate(MDAVGeneric(frame, list(frame)).partition(k)):
        labels[np.asarray(rows)] = number
    return labels
"""

# Its default for a small k, "simple", loses 1.8 % more on these data than "wilber", which reaches the optimum.
_MICROAGG1D = """
from microagg1d import univariate_microaggregation
def run(X): return univariate_microaggregation(X[:, 0], k, "wilber")
"""

_OPTIMUM = "from microagg.optimum.bounds import exact\ndef run(X): return exact(X, k)[1]"


def tools(d: int) -> dict[str, str]:
    """Return the code of each tool for ``d`` attributes."""
    ours = {f"microagg, {title}": _OURS.format(key=key) for title, key in OURS.items()}
    if d == 1:
        return {"microagg1d, optimum": _MICROAGG1D, "microagg, optimum": _OPTIMUM} | ours
    return {"anonypyx, MDAV-generic": _ANONYPYX} | ours


def measure(code: str, X: np.ndarray, k: int, python: str) -> list[str]:
    """Return seconds, memory and loss of a tool on ``X``, or the last line of its error."""
    with tempfile.TemporaryDirectory() as folder:
        path, result = Path(folder, "X.npy"), Path(folder, "result.npz")
        np.save(path, X)
        command = [python, "-c", _AROUND.replace("{code}", code), str(path), str(k), str(result)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            return ["", "", done.stderr.strip().splitlines()[-1]]
        with np.load(result) as file:
            seconds, mebibytes = file["figures"]
            labels = np.unique(file["labels"], return_inverse=True)[1]
    return [f"{seconds:.3f}", f"{mebibytes:.0f}", f"{information_loss(X, labels):.4g}"]


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=sys.executable, help="has anonypyx and microagg1d")
    parser.add_argument("--k", type=int, default=5)
    arguments = parser.parse_args()
    rows = []
    for data, n, d in DATA:
        X = standardize(make_data(data, n, d) if n else datasets.load(data).X)
        for tool, code in tools(X.shape[1]).items():
            python = sys.executable if tool.startswith("microagg,") else arguments.python
            figures = measure(code, X, arguments.k, python)
            rows.append([data, f"{len(X):,}", str(X.shape[1]), tool, *figures])
            print(" | ".join(rows[-1]), flush=True)
    print(table(["Data", "Records", "Attributes", "Tool", "Seconds", "Memory (MiB)", "IL (%)"], rows))


if __name__ == "__main__":
    main()
