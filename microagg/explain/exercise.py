"""An exercise: records that somebody puts into groups by hand, scored against the algorithms and the optimum."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from microagg.algorithms.registry import algorithm, make
from microagg.errors import DataError
from microagg.explain.optimum import optimum, same_loss
from microagg.explain.run import Run, make_run
from microagg.metrics import loss
from microagg.optimum.formatting import percent
from microagg.partition import Partition
from microagg.validation import FloatArray, IntArray, check_labels, counted, listing

#: What the groups made by hand are called in a table.
YOURS = "You"

#: What the best partition is called.
OPTIMUM = "Optimum"

_RIVALS = ("mdav", "mdav-star")


@dataclass(frozen=True)
class Score:
    """How good groups are that were made by hand.

    Attributes
    ----------
    left : int
        How many records are in no group yet.
    small : tuple of tuple of int
        The groups that have fewer than k records.
    sse : float
        The sum of squared distances of the records in groups to their centroids, in squared units of the records.
    information_loss : float
        The same in percent of the sum of squared distances of all records to the centroid of all.
    beside : DataFrame
        A row for these groups, for MDAV, for MDAV* and, where it is known, for the optimum; columns ``title``,
        ``groups`` (their number), ``sse`` and ``information_loss``.
    text : str
        What there is left to do; once nothing is, how the groups stand against the others.
    """

    left: int
    small: tuple[tuple[int, ...], ...]
    sse: float
    information_loss: float
    beside: pd.DataFrame
    text: str


def rivals(X: ArrayLike, k: int) -> dict[str, Partition]:
    """Return the partitions that groups made by hand are measured against, by their titles.

    They are those of MDAV and MDAV* and, where it is known, the optimum. For what is taken and raised see
    :func:`microagg.explain.optimum.optimum`, which also says how long this takes.
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
    """Return how good groups are that were made by hand.

    Parameters
    ----------
    X : array-like, shape (n, d)
        A few hundred records at most, as they are to be compared.
    k : int
        The minimum group size.
    labels : array-like of int, shape (n,)
        The group of each record, in any numbering; -1 where it is in none yet.
    names : sequence of str, length n, optional
        What the text calls the records; by default as :func:`microagg.explain.steps` does.
    against : mapping of str to Partition, optional
        What :func:`rivals` gives, where it is known already.

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
    'You lose 0.118 %: less than MDAV (1.44 %), as much as MDAV*, and as little as is possible.'
    """
    run = make_run(X, k, names)
    groups_of = check_labels(labels)
    if len(groups_of) != len(run.X) or groups_of.min() < -1:
        raise DataError(f"labels must be {len(run.X)} whole numbers, a group for each record, -1 where it is in none.")
    groups = [np.flatnonzero(groups_of == group).tolist() for group in np.unique(groups_of[groups_of >= 0])]
    small = tuple(tuple(members) for members in groups if len(members) < k)
    left = int((groups_of < 0).sum())
    sse = _sse(run.X, groups_of)
    others = rivals(run.X, k) if against is None else against
    beside = _beside(run.X, len(groups), sse, others)
    losses = dict(zip(beside["title"], beside["information_loss"], strict=True))
    text = _to_do(run, left, small) if left or small else _standing(losses)
    return Score(left, small, sse, losses[YOURS], beside, text)


def _sse(X: FloatArray, labels: IntArray) -> float:
    """Return the SSE of the records that are in a group."""
    taken = labels >= 0
    return loss.sse(X[taken], labels[taken]) if taken.any() else 0.0


def _beside(X: FloatArray, n_groups: int, own: float, others: Mapping[str, Partition]) -> pd.DataFrame:
    rows = [
        (YOURS, n_groups, own),
        *((title, each.n_groups, loss.sse(X, each.labels)) for title, each in others.items()),
    ]
    table = pd.DataFrame(rows, columns=["title", "groups", "sse"])
    whole = loss.sst(X)
    return table.assign(information_loss=[loss.percent(sse, whole) for sse in table["sse"]])


def _to_do(run: Run, left: int, small: Sequence[Sequence[int]]) -> str:
    missing = listing([f"{run.braced(members)} needs {run.k - len(members)} more" for members in small])
    if left == 0:
        return f"{missing}: every group must have at least {counted(run.k, 'record')}."
    return f"{counted(left, 'record')} {'is' if left == 1 else 'are'} in no group yet{f'; {missing}' if small else ''}."


def _standing(losses: Mapping[str, float]) -> str:
    """Return how the loss of finished groups, in percent, stands against the others'."""
    own = losses[YOURS]
    if own == 0:
        return "You lose nothing: each group has equal records only."
    says = ", ".join(_compared(own, {title: each for title, each in losses.items() if title not in (YOURS, OPTIMUM)}))
    if OPTIMUM not in losses:
        return f"You lose {percent(own)}: {says}. What is the least possible is not known."
    if same_loss(own, losses[OPTIMUM]):
        return f"You lose {percent(own)}: {says}, and as little as is possible."
    return f"You lose {percent(own)}: {says}. {percent(losses[OPTIMUM])} is the least possible."


def _compared(own: float, others: Mapping[str, float]) -> Iterator[str]:
    """Yield which of the others lose more than ``own``, which as much, and which less."""
    more = [f"{title} ({percent(each)})" for title, each in others.items() if each > own and not same_loss(each, own)]
    equal = [title for title, each in others.items() if same_loss(each, own)]
    less = [f"{title} ({percent(each)})" for title, each in others.items() if each < own and not same_loss(each, own)]
    for relation, titles in (("less than", more), ("as much as", equal), ("more than", less)):
        if titles:
            yield f"{relation} {listing(titles)}"
