"""Compute every printed figure of the four papers, and the curves behind their figures, and store them.

    MICROAGG_DATA_DIR=… python benchmarks/published.py            # what is missing or whose code has changed
    MICROAGG_DATA_DIR=… python benchmarks/published.py --all      # everything
    MICROAGG_DATA_DIR=… python benchmarks/published.py --only imhm rimhm
    MICROAGG_DATA_DIR=… python benchmarks/published.py --curves   # the curves, gains and readings too, some ten minutes
    python benchmarks/published.py --restamp                      # new digests, after benchmarks/labels.py

Results go to benchmarks/results/, which the page "Evidence" shows and a test holds against the code.
"""

from __future__ import annotations

import argparse
import datetime
import sys
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

import microagg
from benchmarks import tables
from benchmarks.digests import code_digest
from benchmarks.tables import RESULTS
from microagg.algorithms import p_s
from microagg.algorithms.registry import ALGORITHMS
from microagg.kernels import bases
from microagg.kernels.grouping import groups as grouping
from microagg.kernels.neighbors import brute_force
from microagg.kernels.paths import by_value, split_path, sums
from microagg.studies import experiment, literature
from microagg.studies.experiment import Method

GAMMAS = [step / 10 for step in range(21)]


def write(stored: literature.Stored, folder: Path) -> None:
    """Store results in ``folder``, in an order that makes differences readable."""
    about = {"date": stored.date, "version": stored.version, "digests": dict(sorted(stored.digests.items()))}
    tables.write_json(folder / "published.json", about)
    rows = [
        [name, f"{each.value:.12g}", "" if each.sd is None else each.sd, each.sets, f"{each.seconds:.3g}"]
        for name, each in sorted(stored.results.items())
    ]
    table("published.csv", ["figure", "ours", "sd", "sets", "seconds"], rows, folder)


def outdated(stored: literature.Stored) -> list[str]:
    """Return the algorithms whose code has changed since their results were stored."""
    return [key for key, digest in stored.digests.items() if key in ALGORITHMS and digest != code_digest([key])]


def restamp() -> None:
    """Store the digests of the code as it is beside the results as they are, once labels are shown to be the same."""
    stored = literature.Stored.read(RESULTS)
    stored.digests = {key: code_digest([key]) for key in stored.digests if key in ALGORITHMS}
    write(stored, RESULTS)


def compute_figures(everything: bool, only: list[str]) -> None:
    """Compute the figures that are missing or outdated, and store all."""
    stored = literature.Stored.read(RESULTS)
    changed = set(outdated(stored))
    figures = [figure for figure in literature.figures() if figure.recipe]
    stored.results = {
        figure.identity: stored.results[figure.identity] for figure in figures if figure.identity in stored.results
    }
    todo = [
        figure
        for figure in figures
        if everything or figure.identity not in stored.results or figure.recipe.method.key in changed
    ]
    if only:
        todo = [figure for figure in todo if figure.recipe.method.key in only]
    experiment.prepare(figure.recipe.method.key for figure in todo)
    for place, figure in enumerate(todo):
        started = time.perf_counter()
        ours = literature.compute(figure.recipe)
        stored.results[figure.identity] = ours
        stored.digests[figure.recipe.method.key] = code_digest([figure.recipe.method.key])
        judged = literature.verdict(figure, ours)
        print(
            f"{place + 1}/{len(todo)} {figure.identity}: printed {figure.printed}, ours {ours.value:.8g}, {judged.name}"
            f" ({time.perf_counter() - started:.1f} s)",
            flush=True,
        )
        if place % 20 == 0 or place == len(todo) - 1:
            stored.date = datetime.date.today().isoformat()
            stored.version = microagg.__version__
            write(stored, RESULTS)


def table(name: str, header: list[str], rows: list[list], folder: Path = RESULTS) -> None:
    """Store a table, numbers with six digits."""
    cells = [[f"{cell:.6g}" if isinstance(cell, float) else cell for cell in row] for row in rows]
    tables.store(folder / name, header, [dict(zip(header, row, strict=True)) for row in cells])


def over_sets(name: str, methods: list[Method], ks: list[int]) -> dict[tuple[Method, int], np.ndarray]:
    """Return the losses of methods × ks on each of the generated sets, shape (sets,)."""
    losses: dict[tuple[Method, int], list[float]] = {(method, k): [] for method in methods for k in ks}
    for seed in range(literature.SETS):
        X = literature.data_for(literature.Recipe(name, methods[0], ks[0]), seed)
        for result in experiment.run(X, list(losses)):
            losses[result.method, result.k].append(result.information_loss)
    return {cell: np.array(values) for cell, values in losses.items()}


def compute_curves() -> None:
    """Store the curves: loss against γ on SimU and SimC, and loss against k on SimC."""
    rows = []
    ks = [3, 4, 5, 7, 10]
    for name in ("simu", "simc"):
        losses = over_sets(name, [Method("v-mdav", {"gamma": gamma}) for gamma in GAMMAS], ks)
        for (method, k), values in losses.items():
            rows.append([name, k, method.params["gamma"], float(values.mean()), float(values.std(ddof=1))])
        print("γ", name, flush=True)
    table("gamma.csv", ["data", "k", "gamma", "information_loss", "sd"], rows)

    methods = [Method(key) for key in ("mdav", "mdav-plus", "mdav-star")] + [Method("v-mdav", {"gamma": GAMMAS})]
    losses = over_sets("simc", methods, list(range(2, 101)))
    table(
        "simc.csv",
        ["method", "k", "information_loss", "sd"],
        [[m.key, k, float(values.mean()), float(values.std(ddof=1))] for (m, k), values in losses.items()],
    )
    print("SimC, k = 2..100", flush=True)
    compute_convergence()
    compute_readings()
    compute_mdav_mhm()
    compute_gains()


def compute_convergence() -> None:
    """Store how IMHM's loss falls round by round."""
    rows = []
    for name in ("tarragona", "census"):
        for k in (3, 5, 10):
            recipe = literature.Recipe(name, Method("imhm"), k)
            X = literature.data_for(recipe)
            estimator = microagg.make("imhm", k=k).fit(X)
            whole = microagg.metrics.loss.sst(X)
            for number, kind, sse in estimator.history_:
                rows.append([name, k, number, kind, 100 * sse / whole])
    table("convergence.csv", ["data", "k", "round", "step", "information_loss"], rows)
    print("convergence of IMHM", flush=True)


def pairwise_systematic(X: np.ndarray, k: int) -> np.ndarray:
    """Return the labels of P-S if the second seed is chosen once the first group is complete."""
    n, d = X.shape
    pool, groups, order = brute_force.make_pool(X), grouping.make_groups(n, d, k), by_value(sums(X))
    while (left := pool.counts[brute_force.ALIVE]) >= 2 * k:
        brute_force.tidy(pool)
        for step in (1, -1) if left >= 3 * k else (1,):
            grouping.grow(groups, pool, p_s._begin_group(groups, pool, order, step), k)
    grouping.form_from_rest(groups, pool)
    return groups.labels


def compute_readings() -> None:
    """Store the losses of P-S in both readings, on raw and on scaled data."""
    rows = []
    for figure in (figure for figure in literature.figures() if figure.method == "P-S"):
        row = [figure.dataset.lower(), figure.k, figure.printed]
        for scaled in (False, True):
            X = literature.data_for(literature.Recipe(row[0], Method("p-s"), figure.k, scaled=scaled))
            labels = microagg.make("p-s", k=figure.k).fit_predict(X), pairwise_systematic(X, figure.k)
            row += [microagg.metrics.information_loss(X, each) for each in labels]
        rows.append(row)
    kinds = [f"{data}_{seed}" for data in ("raw", "scaled") for seed in ("reserved", "free")]
    table("p_s.csv", ["data", "k", "printed", *kinds], rows)


def paths_of_groups(X: np.ndarray, labels: np.ndarray) -> Iterator[tuple[str, str, np.ndarray]]:
    """Yield the order of the groups, that of the records in them, and the path, for six paths through a partition."""
    members = [np.flatnonzero(labels == group) for group in range(labels.max() + 1)]
    centers = np.array([X[each].mean(axis=0) for each in members])
    pairs = 2 * (len(members) // 2)
    left = np.ones(len(members), dtype=bool)
    near = [0]
    for _ in members[1:]:
        left[near[-1]] = False
        near.append(int(np.where(left, ((centers - centers[near[-1]]) ** 2).sum(axis=1), np.inf).argmin()))
    orders = {
        "as formed": list(range(len(members))),
        "first of each pair before second": [*range(0, pairs, 2), *range(1, pairs, 2), *range(pairs, len(members))],
        "nearest centroid": near,
    }
    for name, order in orders.items():
        yield name, "of the file", np.concatenate([members[group] for group in order])
        path = []
        for group, following in pairwise([*order, order[-1]]):
            distances = ((X[members[group]] - centers[following]) ** 2).sum(axis=1)
            path.append(members[group][by_value(-distances)])
        yield name, "farthest from the next centroid first", np.concatenate(path)


def compute_mdav_mhm() -> None:
    """Store the losses of MDAV-MHM with two forms of MDAV and six paths through its groups."""
    rows = []
    for figure in (figure for figure in literature.figures() if figure.method == "MDAV-MHM" and figure.recipe):
        X = literature.data_for(figure.recipe)
        for form, partition in {"µ-ARGUS": bases.mdav_argus, "MDAV-1": bases.mdav_1}.items():
            for groups, records, path in paths_of_groups(X, partition(X, figure.k)):
                loss = microagg.metrics.information_loss(X, split_path(X, path, figure.k))
                rows.append([form, groups, records, figure.dataset.lower(), figure.k, figure.printed, loss])
    table("mdav_mhm.csv", ["form", "groups", "records", "data", "k", "printed", "information_loss"], rows)


def compute_gains() -> None:
    """Store by how much the loss of IMHM is below MDAV's: of the means, and the mean over the sets."""
    rows: list[list] = []
    for name in ("sim1", "sim2", "sim3"):
        losses = over_sets(name, [Method("mdav"), Method("imhm")], [3, 5, 10])
        for k in (3, 5, 10):
            mdav, imhm = losses[Method("mdav"), k], losses[Method("imhm"), k]
            of_sets = 100 * (1 - imhm / mdav)
            of_means = float(100 * (1 - imhm.mean() / mdav.mean()))
            rows.append([name, k, of_means, float(of_sets.mean()), float(of_sets.std(ddof=1))])
    table("gains.csv", ["data", "k", "of_means", "of_sets", "sd"], rows)


def main() -> None:
    """Read the command line and compute."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true", help="compute every figure anew")
    parser.add_argument("--only", nargs="*", default=[], metavar="KEY", help="only these algorithms")
    parser.add_argument("--curves", action="store_true", help="compute the curves too")
    parser.add_argument("--restamp", action="store_true", help="new digests only, after benchmarks/labels.py")
    arguments = parser.parse_args()
    if arguments.restamp:
        restamp()
        return
    compute_figures(arguments.all, arguments.only)
    if arguments.curves:
        compute_curves()
    tables.write()


if __name__ == "__main__":
    main()
