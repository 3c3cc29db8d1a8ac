"""Releases generated at random, in five formats, read back by other programs and held against a naive intruder.

    python benchmarks/releases.py [--number 2000] [--first 0] [--processes 2]

It prints how many were made with which option, and each in which a class is below k or does not hold what is
guaranteed beyond it, or a risk of linkage is below what the intruder of ``tests/naive_mixed.py`` finds. As many tables
of at most 8 records are released or refused, and held against all partitions. It exits with 1 if anything is wrong.
"""

from __future__ import annotations

import argparse
import sys
import traceback
import warnings
from collections import Counter
from multiprocessing import Pool
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.release.generated import refusal, trial


def _tried(seed: int) -> tuple[int, list[str], list[str]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            (words, wrong), (small, further) = trial(seed), refusal(seed)
            return seed, [*words, *small], [*wrong, *further]
        except Exception:
            return seed, [], [traceback.format_exc(limit=-3)]


def main() -> None:
    """Make the releases, and print what was counted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--number", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    asked = parser.parse_args()
    counts: Counter[str] = Counter()
    failed = 0
    with Pool(asked.processes) as pool:
        for seed, words, wrong in pool.imap_unordered(_tried, range(asked.first, asked.first + asked.number), 10):
            counts.update(["refused"] if words and words[0].startswith("refused") else ["made", *words])
            if words and words[0].startswith("refused"):
                counts.update(words)
            if wrong:
                failed += 1
                print(f"seed {seed}: {'; '.join(wrong)}", flush=True)
    for word, number in sorted(counts.items()):
        print(f"{number:6,}  {word}")
    print(f"{failed:6,}  with a class below k or a guarantee, a risk below the intruder's, or another failure")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
