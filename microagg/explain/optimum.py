"""The optimum on a few records, and the losses of V-MDAV by its γ, the best of which is known only afterwards."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from microagg.algorithms.registry import algorithm, make
from microagg.explain.run import distances_to, make_run
from microagg.metrics import loss
from microagg.optimum import bounds
from microagg.optimum.formatting import number, percent
from microagg.partition import Partition
from microagg.validation import FloatArray, listing

# Losses that differ by at most this share are equal, which is rounding.
_EQUAL = 1e-6


def optimum(X: ArrayLike, k: int) -> Partition | None:
    """Return a partition of minimum SSE, found by dynamic programming, for one attribute or up to 15 records; or None.

    Examples
    --------
    >>> best = optimum([[1], [2], [3], [5], [6], [19], [20], [21], [98], [99], [100]], k=3)
    >>> best.labels.tolist()
    [0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2]
    """
    matrix = make_run(X, k).X
    n, d = matrix.shape
    is_exact = d == 1 or n <= bounds.MOST_RECORDS or n < 2 * k or k == 1
    return Partition(bounds.exact(matrix, k)[1], k) if is_exact else None


def same_loss(a: float, b: float) -> bool:
    """Whether two losses are equal to within rounding."""
    return math.isclose(a, b, rel_tol=_EQUAL)


#: The default γ of V-MDAV.
DEFAULT_GAMMA = float(next(param.default for param in algorithm("v-mdav").params if param.name == "gamma"))


def losses(X: ArrayLike, k: int, leftovers: str = "centroid") -> pd.DataFrame:
    """Information loss of V-MDAV for every γ, and of MDAV* and the optimum.

    V-MDAV only compares d_in with γ · d_out. So its groups stay the same until γ passes the smallest ratio d_in / d_out
    at which a record stayed out: a run just above that ratio shows where the next range ends, and so on.

    Parameters
    ----------
    X : array of finite numbers, shape (n, d)
    k : int
        Minimum number of records in a group.
    leftovers : {"centroid", "record"}
        As of V-MDAV.

    Returns
    -------
    DataFrame
        A row for each range of γ with one loss, ascending: all γ greater than ``above``, which is first -inf, and at
        most ``up_to``, which is last inf. The columns ``v-mdav``, ``mdav-star`` and ``optimum`` are losses in percent;
        an unknown optimum is NaN.
    """
    run = make_run(X, k)
    matrix, best = run.X, optimum(X, k)

    def loss_of(method: str, **params: Any) -> float:
        return loss.information_loss(matrix, make(method, k, **params).fit_predict(matrix))

    between = np.array([distances_to(matrix, row) for row in matrix.tolist()])
    order = np.argsort(-distances_to(matrix, run.middle(run.unassigned)), kind="stable").tolist()
    rows = []
    above, up_to, loss_of_range = -math.inf, 0.0, loss_of("v-mdav", gamma=0.0, leftovers=leftovers)
    while up_to < math.inf:
        next_end = _end_of_range(between, order, k, up_to)
        gamma_inside = (up_to + next_end) / 2 if next_end < math.inf else 2 * up_to + 1
        next_loss = loss_of("v-mdav", gamma=gamma_inside, leftovers=leftovers)
        if not same_loss(next_loss, loss_of_range):
            rows.append((above, up_to, loss_of_range))
            above, loss_of_range = up_to, next_loss
        up_to = next_end
    rows.append((above, up_to, loss_of_range))
    loss_of_optimum = np.nan if best is None else loss.information_loss(matrix, best.labels)
    table = pd.DataFrame(rows, columns=["above", "up_to", "v-mdav"])
    return table.assign(**{"mdav-star": loss_of("mdav-star"), "optimum": loss_of_optimum})


def _end_of_range(between: FloatArray, order: Sequence[int], k: int, above: float) -> float:
    """Return the γ up to which the groups of V-MDAV stay those of a γ just above ``above``.

    ``between`` are the squared distances of all records, ``order`` has the records farthest from the centroid first.
    """
    end, free = math.inf, np.ones(len(order), dtype=bool)
    for seed in order:
        if free.sum() < k:
            break
        if not free[seed]:
            continue
        near = np.where(free, between[seed], np.inf)
        near[seed] = -1.0
        members = np.argsort(near, kind="stable")[:k]
        free[members] = False
        to_group, size = between[members].min(axis=0), k
        while size < 2 * k - 1 and free.any():
            e = int(np.where(free, to_group, np.inf).argmin())
            free[e] = False
            d_out = float(np.where(free, between[e], np.inf).min())
            ratio = float(to_group[e]) / d_out if d_out > 0 else math.inf
            if ratio > above:
                free[e], end = True, min(end, ratio)
                break
            to_group, size = np.minimum(to_group, between[e]), size + 1
    return end


def best_ranges(rows: pd.DataFrame) -> list[tuple[float, float]]:
    """Return the ranges of γ, each as ``above`` and ``up_to``, with the lowest loss of V-MDAV by :func:`losses`."""
    lowest = rows["v-mdav"].min()
    best = rows[[same_loss(each, lowest) for each in rows["v-mdav"]]]
    return list(zip(best["above"], best["up_to"], strict=True))


def loss_at(rows: pd.DataFrame, gamma: float) -> float:
    """Return the loss of V-MDAV at one γ, by :func:`losses`."""
    return float(rows.loc[rows["up_to"] >= gamma, "v-mdav"].iloc[0])


def describe_range(above: float, up_to: float) -> str:
    """Return a range of γ in words.

    >>> describe_range(4.0, 5929.0), describe_range(5929.0, math.inf)
    ('any γ above 4 up to 5,929', 'any γ above 5,929')
    """
    if up_to == 0:
        return "γ = 0"
    ends = [f"above {number(above)}"] if above >= 0 else []
    ends += [f"up to {number(up_to)}"] if up_to < math.inf else []
    return " ".join(["any γ", *ends])


def describe_losses(rows: pd.DataFrame) -> str:
    """Describe the best γ, the loss at the default γ and that of MDAV* in two sentences.

    Parameters
    ----------
    rows : DataFrame
        From :func:`losses`.

    Examples
    --------
    >>> X = [[1], [2], [3], [5], [6], [19], [20], [21], [98], [99], [100]]
    >>> describe_losses(losses(X, k=3)).split("; ")[0]
    'V-MDAV has its lowest loss, 0.118 %, at any γ above 4 up to 5,929'
    """
    lowest = float(rows["v-mdav"].min())
    if len(rows) == 1:
        text = f"V-MDAV has a loss of {percent(lowest)} at any γ"
    else:
        where = listing([describe_range(*each) for each in best_ranges(rows)], 3)
        at_default = loss_at(rows, DEFAULT_GAMMA)
        also = "the same" if same_loss(at_default, lowest) else percent(at_default)
        text = f"V-MDAV has its lowest loss, {percent(lowest)}, at {where}"
        text += f"; at its default γ = {DEFAULT_GAMMA:g} it is {also}"
    return f"{text}. MDAV*, which has no γ, has a loss of {percent(float(rows['mdav-star'].iloc[0]))}."
