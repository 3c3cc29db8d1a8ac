"""Print a digest of the labels that every algorithm gives, so that two checkouts can be compared.

    MICROAGG_DATA_DIR=… python benchmarks/labels.py > new.txt                  # half an hour
    MICROAGG_DATA_DIR=… python benchmarks/labels.py --tree OLD > old.txt
    diff old.txt new.txt

A line for each setting of an algorithm on a data set: the SHA-256 digest of its labels at each k. What takes more than
``--bound`` seconds is left out there and at every larger k, and marked ``-``. It imports only what ``microagg`` itself
exports, so that it runs in older checkouts, too. Where nothing differs, results stored before a change of the code are
still those of the code, and ``--restamp`` of ``published.py``, ``landscape.py`` and ``adult.py`` says so.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

KS = (3, 5, 10)
NUMERIC = ("toy", "wine", "census", "tarragona", "eia", "simu", "simc")
ADULT = 3_000  # of its 30,162 complete records
SEED = 0


def settings(cls: Any) -> list[dict[str, Any]]:
    """Return the parameters to try: the defaults, each other value of a choice, the ends of a grid, and presets."""
    tried: list[dict[str, Any]] = [{}]
    for param in cls.params:
        offered = {"choice": param.bounds, "bool": (False, True)}.get(param.kind, ())
        if param.grid:
            offered = (param.grid[0], param.grid[-1])
        tried += [{param.name: value} for value in offered if value != param.default]
    defaults = {param.name: param.default for param in cls.params}
    presets = [dict(preset.params) for preset in cls.info.presets]
    return tried + [params for params in presets if params not in tried and not params.items() <= defaults.items()]


def load(name: str, microagg: Any) -> tuple[Any, Any]:
    """Return the records of a data set, z-scored or mixed, and the class of each, None if it has none."""
    data = microagg.datasets.load(name, download=False, seed=SEED if name.startswith("sim") else None)
    if name != "adult":
        return microagg.standardize(data.X), None
    complete = data.frame.dropna(subset=list(data.quasi_identifiers))
    complete = complete.iloc[np.sort(np.random.default_rng(SEED).permutation(len(complete))[:ADULT])]
    return data.schema.records(complete), complete["income"].to_numpy()


def digests(microagg: Any, key: str, params: dict[str, Any], records: Any, classes: Any, bound: float) -> Iterator[str]:
    """Yield the digest of the labels at each k, or a dash once a run has taken more than ``bound`` seconds."""
    from microagg.progress import Cancelled, watched

    for place, k in enumerate(KS):
        started = time.perf_counter()
        try:
            with watched(lambda *_, since=started: time.perf_counter() - since < bound):
                labels = microagg.make(key, k=k, **params).fit(records, classes).labels_
        except Cancelled:
            yield from "-" * (len(KS) - place)
            return
        yield hashlib.sha256(np.ascontiguousarray(labels, dtype="<i8").tobytes()).hexdigest()[:16]
        if time.perf_counter() - started > bound:
            yield from "-" * (len(KS) - place - 1)
            return


def main() -> None:
    """Read the command line, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tree", type=Path, default=Path(__file__).parents[1], help="the checkout to run")
    parser.add_argument("--data", nargs="*", default=[*NUMERIC, "adult"], choices=[*NUMERIC, "adult"])
    parser.add_argument("--only", nargs="*", default=[], metavar="KEY", help="only these algorithms")
    parser.add_argument("--bound", type=float, default=20.0, help="seconds for one run")
    arguments = parser.parse_args()
    sys.path.insert(0, str(arguments.tree))
    import microagg

    for name in arguments.data:
        records, classes = load(name, microagg)
        for key, cls in microagg.ALGORITHMS.items():
            if (arguments.only and key not in arguments.only) or (name == "adult" and not cls.info.mixed):
                continue
            needing_classes = {param.name for param in cls.params if param.needs_classes}
            for params in settings(cls):
                if classes is None and needing_classes & set(params):
                    continue
                found = digests(microagg, key, params, records, classes, arguments.bound)
                shown = ", ".join(f"{param}={value}" for param, value in params.items())
                print(name, key, f"({shown})", *found, flush=True)


if __name__ == "__main__":
    main()
