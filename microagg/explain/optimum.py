"""The optimum on a few records, and comparisons with it: V-MDAV at several γ, and groups formed by hand.

The best γ is known only afterwards, so the losses are listed by γ. Groups formed by hand are scored against algorithms
and the optimum.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from microagg.algorithms.registry import algorithm, make
from microagg.errors import DataError
from microagg.explain.run import Run, distances_to, make_run
from microagg.metrics import loss
from microagg.optimum import bounds
from microagg.optimum.formatting import number, percent
from microagg.partition import Partition
from microagg.validation import FloatArray, check_labels, counted, listing

#: Seconds of a proof.
SECONDS = 1.0
#: With more records than this and several attributes, a proof hardly ever succeeds in that time.
MOST_TO_PROVE = 100
# Iterations of the search for each group: enough for a few hundred records, and a small part of SECONDS.
_EFFORT = 60
# A partition is optimal if the lower bound is below its SSE by at most this share, which is rounding.
_CLOSED = 1e-6


def needs(X: FloatArray, k: int) -> tuple[str, ...]:
    """Return the keys of the algorithms that :func:`optimum` runs on ``X``, shape (n, d), to be compiled ahead."""
    n, d = X.shape
    return () if d == 1 or n <= bounds.MOST_RECORDS or n < 2 * k or k == 1 else ("iterated-local-search",)


def optimum(X: ArrayLike, k: int, seconds: float = SECONDS) -> Partition | None:
    """Return a partition of minimum SSE into groups of at least k, or None without a fast proof.

    Dynamic programming finds the optima of one attribute and of up to 15 records, see
    :func:`microagg.optimum.bounds.exact`. For up to 100 other records, a partition from a search is the optimum if its
    SSE reaches the lower bound of linear programs within ``seconds``. With some dozens of records in the plane, that
    proves about every second optimum, and fewer on a slower computer.

    Parameters
    ----------
    X : array-like, shape (n, d)
        At most :data:`microagg.explain.MOST_RECORDS` records, scaled for comparison.
    k : int
        The minimum group size.
    seconds : float
        Maximum time of a proof.

    Raises
    ------
    DataError
        If X is not a finite matrix of numbers, has fewer than k records or too many.
    ParameterError
        If k is not a whole number of at least 1.

    Examples
    --------
    >>> best = optimum([[1], [2], [3], [5], [6], [19], [20], [21], [98], [99], [100]], k=3)
    >>> best.labels.tolist()
    [0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2]
    """
    return _optimum(tuple(map(tuple, make_run(X, k).X.tolist())), k, seconds)


# Cached: several parts of a page need it for the same records.
@lru_cache(maxsize=64)
def _optimum(rows: tuple[tuple[float, ...], ...], k: int, seconds: float) -> Partition | None:
    matrix = np.array(rows)
    if not needs(matrix, k):
        return Partition(bounds.exact(matrix, k)[1], k)
    if len(matrix) > MOST_TO_PROVE:
        return None
    searched = make("iterated-local-search", k, effort=_EFFORT).fit(matrix).partition_
    lowest = loss.sse(matrix, searched.labels)
    program = bounds.LinearProgram(matrix, k)
    program.improve(seconds, lambda bound: bounds.gap(lowest, bound.sse) > _CLOSED)
    return searched if bounds.gap(lowest, program.bound.sse) <= _CLOSED else None


def same_loss(a: float, b: float) -> bool:
    """Whether two losses, or SSEs, are equal to within rounding and the tolerance of a proof."""
    return math.isclose(a, b, rel_tol=_CLOSED)


# --- V-MDAV against its γ ---------------------------------------------------------------------------------------------

#: The default γ of V-MDAV.
DEFAULT_GAMMA = float(next(param.default for param in algorithm("v-mdav").params if param.name == "gamma"))


def losses(X: ArrayLike, k: int) -> pd.DataFrame:
    """Return the information loss of V-MDAV for every γ, and beside it those of MDAV* and of the optimum.

    V-MDAV only compares d_in with γ · d_out. So its groups stay the same until γ passes the smallest ratio d_in / d_out
    at which a record stayed out: a run just above that ratio shows where the next range ends, and so on.

    Parameters
    ----------
    X, k
        As for :func:`optimum`.

    Returns
    -------
    DataFrame
        A row for each range of γ with one loss, ascending: all γ greater than ``above`` and at most ``up_to``. In the
        first range, which begins with γ = 0, ``above`` is -inf; in the last one ``up_to`` is inf. Columns ``v-mdav``,
        ``mdav-star`` and ``optimum`` are losses in percent, of which the last two do not depend on γ. An unknown
        optimum is NaN, see :func:`microagg.explain.optimum.optimum`.

    Raises
    ------
    DataError
        If X is not a finite matrix of numbers, has fewer than k records or too many to be watched.
    ParameterError
        If k is not a whole number of at least 1.
    """
    run = make_run(X, k)
    matrix, best = run.X, optimum(X, k)

    def lost(key: str, **params: Any) -> float:
        return loss.information_loss(matrix, make(key, k, **params).fit_predict(matrix))

    ranges = [(-math.inf, 0.0, lost("v-mdav", gamma=0.0))]
    between = np.array([distances_to(matrix, row) for row in matrix.tolist()])
    order = np.argsort(-distances_to(matrix, run.middle(run.unassigned)), kind="stable").tolist()
    while (above := ranges[-1][1]) < math.inf:
        up_to = _end_of_range(between, order, k, above)
        inside = (above + up_to) / 2 if up_to < math.inf else 2 * above + 1
        lost_inside = lost("v-mdav", gamma=inside)
        if same_loss(lost_inside, ranges[-1][2]):
            ranges[-1] = (ranges[-1][0], up_to, ranges[-1][2])
        else:
            ranges.append((above, up_to, lost_inside))
    of_best = np.nan if best is None else loss.information_loss(matrix, best.labels)
    table = pd.DataFrame(ranges, columns=["above", "up_to", "v-mdav"])
    return table.assign(**{"mdav-star": lost("mdav-star"), "optimum": of_best})


def _end_of_range(between: FloatArray, order: Sequence[int], k: int, above: float) -> float:
    """Return up to which γ the groups of V-MDAV stay those of the γ just above ``above``; inf if for all.

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


def in_words(rows: pd.DataFrame) -> str:
    """Return the best γ by :func:`losses`, the loss at the default γ, and that of MDAV*, as two sentences.

    >>> X = [[1], [2], [3], [5], [6], [19], [20], [21], [98], [99], [100]]
    >>> in_words(losses(X, k=3)).split("; ")[0]
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


# --- groups formed by hand -------------------------------------------------------------------------------------------

#: Titles of the groups formed by hand and of the optimum in a table.
YOURS, OPTIMUM = "You", "Optimum"

_RIVALS = ("mdav", "mdav-star")


@dataclass(frozen=True)
class Score:
    """Score of groups formed by hand."""

    left: int  # number of records in no group yet
    small: tuple[tuple[int, ...], ...]  # the groups that have fewer than k records
    sse: float  # of the records in groups, in squared units of the records
    information_loss: float  # the same in percent of the SST of all records
    # A row for these groups, MDAV, MDAV* and the optimum, if proven; columns ``title``, ``groups`` (their number),
    # ``sse`` and ``information_loss``.
    beside: pd.DataFrame
    text: str  # missing work or, for finished groups, a comparison of losses


def rivals(X: ArrayLike, k: int) -> dict[str, Partition]:
    """Return the partitions for comparison with groups formed by hand, by title.

    They are those of MDAV and MDAV* and the optimum, if proven. For errors see :func:`optimum`.
    """
    matrix = make_run(X, k).X
    partitions = {algorithm(key).info.title: make(key, k).fit(matrix).partition_ for key in _RIVALS}
    best = optimum(matrix, k)
    return partitions if best is None else {**partitions, OPTIMUM: best}


def score(
    X: ArrayLike,
    k: int,
    labels: ArrayLike,
    *,
    names: Sequence[str] | None = None,
    against: Mapping[str, Partition] | None = None,
) -> Score:
    """Score groups formed by hand.

    Parameters
    ----------
    X, k
        As for :func:`optimum`.
    labels : array-like of int, shape (n,)
        The group of each record, in any numbering; -1 for records in no group yet.
    names : sequence of str, length n, optional
        Names of the records in the text; by default those of :func:`microagg.explain.steps`.
    against : mapping of str to Partition, optional
        The result of :func:`rivals`; by default computed here.

    Raises
    ------
    DataError
        If X is not a finite matrix of numbers, has fewer than k records or too many to be watched, or the labels are
        not a whole number of at least -1 for each record.
    ParameterError
        If k is not a whole number of at least 1, or the names are not one for each record.

    Examples
    --------
    >>> X = [[1], [2], [3], [5], [6], [19], [20], [21], [98], [99], [100]]
    >>> score(X, 3, [0, 0, 0, 0, 0, 1, 1, 1, 2, 2, -1]).text
    '1 record is in no group yet; {98, 99} needs 1 more.'
    >>> score(X, 3, [0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2]).text
    'Your loss is 0.118 %, the optimum: lower than MDAV (1.44 %), equal to MDAV*.'
    """
    run = make_run(X, k, names)
    group_labels = check_labels(labels)
    if len(group_labels) != len(run.X) or group_labels.min() < -1:
        raise DataError(f"labels must be {len(run.X)} whole numbers, a group for each record, -1 where it is in none.")
    is_grouped = group_labels >= 0
    groups = [np.flatnonzero(group_labels == group).tolist() for group in np.unique(group_labels[is_grouped])]
    small = tuple(tuple(members) for members in groups if len(members) < k)
    n_left = int((~is_grouped).sum())
    sse = loss.sse(run.X[is_grouped], group_labels[is_grouped]) if is_grouped.any() else 0.0
    partitions = rivals(run.X, k) if against is None else against
    rows = [(title, each.n_groups, loss.sse(run.X, each.labels)) for title, each in partitions.items()]
    comparison = pd.DataFrame([(YOURS, len(groups), sse), *rows], columns=["title", "groups", "sse"])
    total = loss.sst(run.X)
    comparison["information_loss"] = [loss.percent(each, total) for each in comparison["sse"]]
    losses = dict(zip(comparison["title"], comparison["information_loss"], strict=True))
    text = _missing_work(run, n_left, small) if n_left or small else _compare_losses(losses)
    return Score(n_left, small, sse, losses[YOURS], comparison, text)


def _missing_work(run: Run, left: int, small: Sequence[Sequence[int]]) -> str:
    missing = listing([f"{run.braced(members)} needs {run.k - len(members)} more" for members in small])
    if left == 0:
        return f"{missing}: every group must have at least {counted(run.k, 'record')}."
    return f"{counted(left, 'record')} {'is' if left == 1 else 'are'} in no group yet{f'; {missing}' if small else ''}."


def _compare_losses(losses: Mapping[str, float]) -> str:
    """Compare the loss of finished groups, in percent, with the other losses."""
    yours = losses[YOURS]
    if yours == 0:
        return "Your loss is 0: all records of each group are equal."
    others = {title: each for title, each in losses.items() if title not in (YOURS, OPTIMUM)}
    text = ", ".join(_relations(yours, others))
    if OPTIMUM not in losses:
        return f"Your loss is {percent(yours)}: {text}. The optimum is not known."
    if same_loss(yours, losses[OPTIMUM]):
        return f"Your loss is {percent(yours)}, the optimum: {text}."
    return f"Your loss is {percent(yours)}: {text}. The optimum is {percent(losses[OPTIMUM])}."


def _relations(yours: float, losses: Mapping[str, float]) -> Iterator[str]:
    """Yield the titles with losses higher than, equal to, and lower than ``yours``."""
    equal = [title for title, each in losses.items() if same_loss(each, yours)]
    more = [f"{title} ({percent(each)})" for title, each in losses.items() if title not in equal and each > yours]
    less = [f"{title} ({percent(each)})" for title, each in losses.items() if title not in equal and each < yours]
    for relation, titles in (("lower than", more), ("equal to", equal), ("higher than", less)):
        if titles:
            yield f"{relation} {listing(titles)}"
