"""How near to the optimum the page Choose k comes by itself, without stored results, and what the default loses.

    MICROAGG_DATA_DIR=… python benchmarks/choose_k.py --data census tarragona eia --seconds 90
    MICROAGG_DATA_DIR=… python benchmarks/choose_k.py --method

The first opens the page with k from 2 to 20, waits until its search for all values of k has ended, and prints by how
many percent the best partition known is above the optimum at most, for each k; ``--seconds`` is what the page may
search. The second runs ``least-loss`` beside MDAV* or greedy k-member on benchmarks and generated records, side by side
in one run, and prints losses, seconds, and how much less is lost.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

SEED = 0


def page(data: str, seconds: float) -> None:
    """Print the gaps of Choose k on a data set after ``seconds`` of search."""
    os.environ["MICROAGG_SEARCH_SECONDS"] = f"{seconds:g}"
    from microagg.studies import landscape
    from pages.choose_k import search
    from tests.pages.helpers import open_page

    landscape.recognize = lambda *_: None
    search.BUDGET = seconds
    gaps: dict[int, float] = {}
    of_page = search._gaps
    search._gaps = lambda workspace, ks: gaps.update(found := of_page(workspace, ks)) or found
    began = time.perf_counter()
    open_page("choose_k", data=data, ks="2-20")
    shown = "  ".join(f"{k}: {100 * gap:.1f}" for k, gap in sorted(gaps.items()))
    print(
        f"{data}, {time.perf_counter() - began:.0f} s: at most {100 * max(gaps.values()):.1f} % ({shown})", flush=True
    )


def instances() -> Iterator[tuple[str, Any, tuple[int, ...], str]]:
    """Yield names, records, values of k and what is run beside."""
    import microagg

    for name in ("census", "tarragona", "eia"):
        yield name, microagg.standardize(microagg.datasets.load(name).X), (3, 5, 10), "mdav-star"
    for n, d, beside in ((10_000, 6, "mdav-star"), (100_000, 6, "mdav-star"), (1_000_000, 10, "mdav-plus")):
        rng = np.random.default_rng(SEED)
        centers = rng.uniform(0.0, 10.0, size=(50, d))
        X = centers[rng.integers(0, len(centers), n)] + rng.normal(size=(n, d))
        yield f"clusters {n:,} x {d}", microagg.standardize(X), (5,), beside
    adult = microagg.datasets.load("adult")
    records = adult.schema.records(adult.frame.dropna(subset=list(adult.quasi_identifiers)))
    rows = np.sort(np.random.default_rng(SEED).permutation(records.n)[:5_000])
    yield "adult 5,000", records.take(rows), (5, 10), "k-member"


def method(names: list[str]) -> None:
    """Print what ``least-loss`` loses, and a method beside it, on records whose names begin with one of ``names``."""
    import microagg
    from microagg.columns.records import Records
    from microagg.metrics import generalization

    for name, records, ks, beside in instances():
        if not name.startswith(tuple(names or [""])):
            continue
        mixed = isinstance(records, Records)
        for key in ("least-loss", beside):  # compiled before it is timed
            few = records.take(np.arange(200)) if mixed else records[:200]
            microagg.make(key, k=3).fit(few)
        for k in ks:
            found = {}
            for key in (beside, "least-loss"):
                began = time.perf_counter()
                labels = microagg.make(key, k=k).fit(records).labels_
                seconds = time.perf_counter() - began
                loss = (
                    generalization.total_information_loss(records, labels)
                    if mixed
                    else microagg.metrics.information_loss(records, labels)
                )
                found[key] = loss, seconds
            (before, first), (after, second) = found[beside], found["least-loss"]
            print(
                f"{name}, k = {k}: {beside} {before:.6g} in {first:.2f} s, least-loss {after:.6g} in {second:.2f} s: "
                f"{100 * (1 - after / before):.1f} % less, {second / first:.1f} times the time",
                flush=True,
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="*", default=["census", "tarragona", "eia"])
    parser.add_argument("--seconds", type=float, default=90.0)
    parser.add_argument(
        "--method", nargs="*", help="the default method instead of the page, on all records or those named"
    )
    arguments = parser.parse_args()
    if arguments.method is not None:
        method(arguments.method)
    else:
        for name in arguments.data:
            page(name, arguments.seconds)
