"""Seconds and information loss of every algorithm on the benchmarks, kernels compiled, the least of a few runs.

    MICROAGG_DATA_DIR=… python benchmarks/timings.py [--ks 3 10] [--data census eia] [--only mdav v-mdav]
    MICROAGG_DATA_DIR=… python benchmarks/timings.py --against ../another-checkout

``--against`` measures the algorithms of another checkout too, both in turns in the same run, so that what else the
machine does strikes both alike. It prints the ratio of the least seconds of both, and whether the labels are the same.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]

#: A run shorter than this is repeated within one measurement, so that the clock can tell it from others.
SHORTEST = 0.02


class Checkout:
    """A process that runs the algorithms of a checkout, one at a time, whenever it is asked to."""

    def __init__(self, root: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--serve", str(root.resolve())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, key: str, data: str, k: int) -> dict:
        """Return the seconds of one run, a digest of its labels, and the information loss."""
        print(json.dumps([key, data, k]), file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())


def serve(root: str) -> None:
    """Answer what :meth:`Checkout.run` asks, until the input ends."""
    sys.path.insert(0, root)
    from microagg import datasets, make, metrics, standardize

    sets = {}
    for line in sys.stdin:
        key, data, k = json.loads(line)
        if data not in sets:
            sets[data] = standardize(datasets.load(data).X)
        seconds, runs = 0.0, 0
        while seconds < SHORTEST:
            started = time.perf_counter()
            labels = make(key, k=k).fit_predict(sets[data])
            seconds, runs = seconds + time.perf_counter() - started, runs + 1
        answer = {
            "seconds": seconds / runs,
            "labels": hashlib.sha256(labels.tobytes()).hexdigest(),
            "loss": metrics.information_loss(sets[data], labels),
        }
        print(json.dumps(answer), flush=True)


def least(checkouts: list[Checkout], key: str, data: str, k: int, rounds: int) -> list[dict]:
    """Return what each checkout gives, with the least seconds of some rounds in turns, fewer where a run is long."""
    best = [checkout.run(key, data, k) for checkout in checkouts]  # loads or compiles what is needed
    spent = 0.0
    for done in range(rounds):
        answers = [checkout.run(key, data, k) for checkout in checkouts]
        for place, answer in enumerate(answers):
            if done == 0 or answer["seconds"] < best[place]["seconds"]:
                best[place] = answer
        spent += sum(answer["seconds"] for answer in answers)
        if spent > 20.0 and done >= 2:
            break
    return best


def main() -> None:
    """Measure, and print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ks", type=int, nargs="*", default=[3, 10])
    parser.add_argument("--data", nargs="*", default=["census", "tarragona", "eia"])
    parser.add_argument("--only", nargs="*", metavar="KEY", help="only these algorithms")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each, the fastest of which counts (default 5)")
    parser.add_argument("--against", type=Path, metavar="CHECKOUT", help="measure these algorithms in turns with ours")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        serve(arguments.serve)
        return
    sys.path.insert(0, str(ROOT))
    from microagg import ALGORITHMS

    checkouts = [Checkout(root) for root in (ROOT, arguments.against) if root]
    cells = [(name, k) for name in arguments.data for k in arguments.ks]
    says = "s, ratio to the other" if arguments.against else "s, IL %"
    print("| algorithm | " + " | ".join(f"{name} k={k}: {says}" for name, k in cells) + " |")
    print("|---" * (1 + len(cells)) + "|")
    ratios = []
    for key in arguments.only or ALGORITHMS:
        row = []
        for name, k in cells:
            ours, *other = least(checkouts, key, name, k, arguments.rounds)
            second = f"{ours['loss']:.4f}"
            if other:
                ratios.append(ours["seconds"] / other[0]["seconds"])
                same = "" if ours["labels"] == other[0]["labels"] else " OTHER LABELS"
                second = f"{ratios[-1]:.3f}{same}"
            row.append(f"{ours['seconds']:.4f}, {second}")
        print(f"| {key} | " + " | ".join(row) + " |", flush=True)
    if ratios:
        ratios.sort()
        print(f"\nratios: least {ratios[0]:.3f}, median {ratios[len(ratios) // 2]:.3f}, greatest {ratios[-1]:.3f}")


if __name__ == "__main__":
    main()
