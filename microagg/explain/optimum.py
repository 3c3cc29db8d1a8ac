"""What nobody can do better on a few records: the best partition, and the best γ of V-MDAV.

Which γ is best is known only afterwards, so its losses are shown against γ.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from microagg.algorithms.base import Param
from microagg.algorithms.registry import algorithm, make
from microagg.errors import ParameterError
from microagg.explain.run import make_run
from microagg.metrics.loss import information_loss, sse
from microagg.optimum import bounds
from microagg.optimum.formatting import percent
from microagg.partition import Partition
from microagg.validation import FloatArray, listing

#: How long a proof may take.
SECONDS = 1.0

#: Of more records than this, with several attributes, a proof hardly ever comes so soon.
MOST_TO_PROVE = 100

# Iterations of the search for each group: enough for a few hundred records, and a small part of SECONDS.
_EFFORT = 60

# A partition is the best if none can have an SSE lower than its own by more than this share, which is rounding.
_CLOSED = 1e-6


def needs(X: FloatArray, k: int) -> tuple[str, ...]:
    """Return the keys of the algorithms that :func:`optimum` runs on ``X``, shape (n, d), to be compiled ahead."""
    n, d = X.shape
    return () if d == 1 or n <= bounds.MOST_RECORDS or n < 2 * k or k == 1 else ("iterated-local-search",)


def optimum(X: ArrayLike, k: int, seconds: float = SECONDS) -> Partition | None:
    """Return a partition of least SSE into groups of at least k; None where it cannot be proven soon.

    Always known are the optima of one attribute, by dynamic programming along the line, and of up to 15 records, by
    dynamic programming over all subsets (see :func:`microagg.optimum.bounds.exact`). Of up to 100 other records a good
    partition is searched, and is the optimum if its SSE meets a bound that linear programs prove within ``seconds``. Of
    some dozens of records in the plane about every second optimum is proven so; a slower computer may prove fewer.

    Parameters
    ----------
    X : array-like, shape (n, d)
        At most :data:`microagg.explain.MOST_RECORDS` records, as they are to be compared.
    k : int
        The minimum group size.
    seconds : float
        How long the proof may take, where it is needed.

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


# Remembered, as several parts of a page need it for the same records.
@lru_cache(maxsize=64)
def _optimum(rows: tuple[tuple[float, ...], ...], k: int, seconds: float) -> Partition | None:
    matrix = np.array(rows)
    if not needs(matrix, k):
        return Partition(bounds.exact(matrix, k)[1], k)
    if len(matrix) > MOST_TO_PROVE:
        return None
    searched = make("iterated-local-search", k, effort=_EFFORT).fit(matrix).partition_
    lowest = sse(matrix, searched.labels)
    program = bounds.LinearProgram(matrix, k)
    program.improve(seconds, lambda bound: bounds.gap(lowest, bound.sse) > _CLOSED)
    return searched if bounds.gap(lowest, program.bound.sse) <= _CLOSED else None


def same_loss(one: float, other: float) -> bool:
    """Return whether two losses, or SSEs, are the same to within rounding and what proves an optimum."""
    return math.isclose(one, other, rel_tol=_CLOSED)


# --- V-MDAV against its γ ---------------------------------------------------------------------------------------------

#: The values of γ that are tried: beyond those of the literature, which end at 2, as the toy example needs more than 4.
GAMMAS = tuple(step / 10 for step in range(61))


def _gamma() -> Param:
    return next(param for param in algorithm("v-mdav").params if param.name == "gamma")


def losses(X: ArrayLike, k: int, gammas: Iterable[float] | None = None) -> pd.DataFrame:
    """Return the information loss of V-MDAV at several γ, and beside it those of MDAV* and of the optimum.

    Parameters
    ----------
    X : array-like, shape (n, d)
        A few hundred records at most, as they are to be compared.
    k : int
        The minimum group size.
    gammas : iterable of float, optional
        The values of γ, at least 0; by default :data:`GAMMAS`. The default of V-MDAV is always added.

    Returns
    -------
    DataFrame
        A row for each γ, ascending; columns ``gamma`` and, in percent, ``v-mdav``, ``mdav-star`` and ``optimum``, of
        which the last two do not depend on γ. Where the optimum is not known it is NaN, see
        :func:`microagg.explain.optimum.optimum`.

    Raises
    ------
    DataError
        If X is not a finite matrix of numbers, has fewer than k records or too many to be watched.
    ParameterError
        If k or a γ is out of its bounds, or ``gammas`` is a single number.
    """
    matrix = make_run(X, k).X
    param = _gamma()
    if gammas is not None and not isinstance(gammas, Iterable):
        raise ParameterError(f"gammas must be several numbers, such as (0.2, 1.1), not {gammas!r}.")
    tried = sorted({param.default, *(param.check(gamma) for gamma in (GAMMAS if gammas is None else gammas))})
    best = optimum(matrix, k)
    return pd.DataFrame(
        {
            "gamma": tried,
            "v-mdav": [information_loss(matrix, make("v-mdav", k, gamma=gamma).fit_predict(matrix)) for gamma in tried],
            "mdav-star": information_loss(matrix, make("mdav-star", k).fit_predict(matrix)),
            "optimum": np.nan if best is None else information_loss(matrix, best.labels),
        }
    )


def best_ranges(rows: pd.DataFrame) -> list[tuple[float, float]]:
    """Return the stretches of γ, each from its first to its last, in which V-MDAV loses least of all γ that were tried.

    ``rows`` are those of :func:`losses`.
    """
    least = rows["v-mdav"].min()
    is_best = [same_loss(loss, least) for loss in rows["v-mdav"]]
    gammas = rows["gamma"].to_numpy()
    edges = np.flatnonzero(np.diff(np.concatenate(([False], is_best, [False])).astype(int)))
    return [
        (float(gammas[first]), float(gammas[stop - 1])) for first, stop in zip(edges[::2], edges[1::2], strict=True)
    ]


def in_words(rows: pd.DataFrame) -> str:
    """Return what the losses say: which γ is best here, whether the default is, and how MDAV* does without any.

    Parameters
    ----------
    rows : DataFrame
        Those of :func:`losses`.

    Examples
    --------
    >>> X = [[1], [2], [3], [5], [6], [19], [20], [21], [98], [99], [100]]
    >>> in_words(losses(X, k=3, gammas=[0, 5]))
    'V-MDAV loses least, 0.118 %, at γ = 5; its default γ = 0.2 loses 1.44 %. MDAV*, which has no γ, loses 0.118 %.'
    """
    default = _gamma().default
    least, most = float(rows["v-mdav"].min()), float(rows["v-mdav"].max())
    star = float(rows["mdav-star"].iloc[0])
    if same_loss(least, most):
        says = f"V-MDAV loses {percent(least)} at every γ from {rows['gamma'].min():g} to {rows['gamma'].max():g}"
    else:
        own = float(rows.loc[rows["gamma"] == default, "v-mdav"].iloc[0])
        too = "does so, too" if same_loss(own, least) else f"loses {percent(own)}"
        where = _listed(best_ranges(rows))
        says = f"V-MDAV loses least, {percent(least)}, at γ {where}; its default γ = {default:g} {too}"
    return f"{says}. MDAV*, which has no γ, loses {percent(star)}."


def _listed(ranges: Sequence[tuple[float, float]]) -> str:
    return listing([f"= {first:g}" if first == last else f"from {first:g} to {last:g}" for first, last in ranges])
