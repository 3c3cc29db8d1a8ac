"""What a sweep shows: the largest k within a limit of loss, where the curve bends, titles of its curves, and the risks.

Rows are those of :func:`microagg.studies.experiment.sweep` on one number of records, with two columns besides: the
name of the method's variant, see :mod:`microagg.algorithms.method`, and its title.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from microagg.columns.meanings import meant
from microagg.errors import ParameterError, names_arguments
from microagg.metrics import generalization, risk
from microagg.optimum.formatting import number, percent
from microagg.partition import Partition
from microagg.tables import digest_array, digest_bytes
from microagg.validation import FloatArray, check_matrix, listing


@names_arguments
def largest_k_within(ks: ArrayLike, losses: ArrayLike, limit: float) -> int | None:
    """Return the largest k whose loss is within a limit.

    A larger k may lose less than a smaller one, as heuristics are not monotone; its partition serves both. ``ks`` and
    ``losses`` are of shape (m,), the limit is in the unit of the losses; None if no loss is within it.
    """
    within = _numbers("ks", ks)[_numbers("losses", losses, np.size(ks)) <= limit]
    return int(within.max()) if len(within) else None


def _numbers(name: str, values: ArrayLike, n: int | None = None) -> FloatArray:
    """Return the numbers of a curve as an array, shape (n,)."""
    array = check_matrix(values)
    if array.shape != (len(array) if n is None else n, 1):
        raise ParameterError(f"{name} must be one number for each k, not of shape {np.shape(values)}.")
    return array[:, 0]


@dataclass(frozen=True)
class Knee:
    """The bend of a loss curve.

    ``k`` is where the curve is farthest from the straight line between its ends, and ``distance`` the vertical distance
    to that line, as a share of the curve's rise. If the curve ``flattens``, it lies above the line there: the loss
    rises faster than average before the knee and more slowly after; else more slowly before and faster after.
    """

    k: int
    flattens: bool
    distance: float


@names_arguments
def knee(ks: ArrayLike, losses: ArrayLike) -> Knee | None:
    """Return where a loss curve bends most.

    The point of greatest distance from the chord, after Satopää, Albrecht, Irwin & Raghavan 2011 ("Kneedle"), without
    smoothing. A curve that departs from the chord by less than 2 % of its rise counts as straight. None if it is, or
    has fewer than three points, or does not rise; ``ks`` and ``losses`` are of shape (m,).
    """
    x, y = _numbers("ks", ks), _numbers("losses", losses, np.size(ks))
    order = np.argsort(x)
    x, y = x[order], y[order]
    if len(x) < 3 or y[-1] <= y[0]:
        return None
    above = (y - y[0]) / (y[-1] - y[0]) - (x - x[0]) / (x[-1] - x[0])
    at = int(np.abs(above).argmax())
    distance = float(above[at])
    return Knee(int(x[at]), distance > 0, abs(distance)) if abs(distance) >= 0.02 else None


# --- in words ---------------------------------------------------------------------------------------------------------

# Measures whose relative difference is at most this are the same, to within rounding.
_ROUNDING = 1e-9


def summary(rows: pd.DataFrame, measure: str, k: int, where: str = "") -> str:
    """Describe in a title what a measure shows at ``k``, or at the nearest k that there is.

    Of the loss of numbers, which has a curve of many k, it says which method has the lowest loss most often. ``where``
    is added to the k, such as the number of records.
    """
    if "sse" in rows and measure == "information_loss":
        return _of_loss(rows)
    nearest = min(rows["k"].unique(), key=lambda other: (abs(other - k), other))
    here = rows[rows["k"] == nearest].sort_values(measure, kind="stable")
    at = f"{nearest}{where}"
    best, last = here.iloc[0], here.iloc[-1]
    # The best is compared with the best of another algorithm, or with the worst of all where there is no other.
    others = here[here["method"] != best["method"]]
    other = others.iloc[0] if len(others) else last
    low, high = float(best[measure]), float(other[measure])
    noun, value = {
        "information_loss": ("loss", percent(low)),
        "gap": ("gap", percent(low)),
        "discernibility": ("DM", number(low)),
        "classification": ("CM", percent(100 * low)),
        "seconds": ("time", f"{low:.3g} s"),
    }[measure]
    if best["variant"] == other["variant"]:
        return f"{best['title']}: {noun} {value} at k = {at}"
    if measure == "gap":
        return f"At k = {at}, {best['title']} has the smallest gap of {here['title'].nunique()} methods: {value}"
    if measure == "discernibility":
        return _of_discernibility(here, at)
    if low == high:
        return f"{best['title']} and {other['title']} have the same {noun} at k = {at}: {value}"
    if measure == "seconds":
        return f"{best['title']} is {_times(high, low)} as fast as {other['title']} at k = {at}"
    rivals = others.groupby("method", sort=False).first() if len(others) else here.iloc[-1:]
    lower = [f"{_lower(low, float(rival[measure]))} {noun} than {rival['title']}" for _, rival in rivals.iterrows()]
    return f"At k = {at}, {best['title']} has {listing(lower)}"


def _of_loss(rows: pd.DataFrame) -> str:
    best = rows.loc[rows.groupby("k")["information_loss"].idxmin()]
    wins = best["title"].value_counts()
    first = wins.index[0]
    n_methods = rows["title"].nunique()
    if n_methods == 1:
        loss = dict(zip(rows["k"], rows["information_loss"], strict=True))
        ends = [f"{percent(loss[k])} at k = {k}" for k in sorted({min(loss), max(loss)})]
        return f"{first}: loss {', '.join(ends)}"
    return f"{first} has the lowest loss of {n_methods} methods at {wins.iloc[0]} of {len(best)} values of k"


def winners(rows: pd.DataFrame, measure: str, across: str = "k") -> dict[int, list[str]]:
    """Return for each k the variants whose measure is lowest there: several if they agree to within rounding.

    Ascending in k, or in the column ``across`` that stands in for it; variants are in the order of ``rows``.
    """
    lowest_at: dict[int, list[str]] = {int(place): [] for place in sorted(rows[across].unique())}
    # For all places at once: a table of its own for each takes long where there are hundreds.
    lowest = rows.groupby(across)[measure].transform("min")
    won = rows[rows[measure] <= lowest + _ROUNDING * lowest.abs()]
    for place, variant in zip(won[across], won["variant"], strict=True):
        if variant not in lowest_at[int(place)]:
            lowest_at[int(place)].append(variant)
    return lowest_at


def _of_discernibility(here: pd.DataFrame, at: str) -> str:
    low, high = here["discernibility"].min(), here["discernibility"].max()
    titles = list(here.loc[here["discernibility"] == low, "title"])
    exact = low == generalization.least_discernibility(int(here["n_records"].iloc[0]), int(here["k"].iloc[0]))
    what = "the lowest DM that there can be" if exact else f"the lowest DM, {number(low)}"
    verb = "has" if len(titles) == 1 else "have"
    more = f"; {here['title'].iloc[-1]} has {100 * (high / low - 1):.0f} % more" if high > low else ""
    return f"At k = {at}, {listing(titles)} {verb} {what}{more}"


def _lower(low: float, high: float) -> str:
    return f"{100 * (1 - low / high):.0f} % lower" if low < 0.995 * high else "slightly lower"


def _times(high: float, low: float) -> str:
    return "far more than a thousand times" if low <= 0 or high / low > 1000 else f"{high / low:.2g} times"


def describe_tradeoff(rows: pd.DataFrame, penalty: float) -> str:
    """Return, in one sentence, what the penalty ``penalty`` for mixed classes costs and gains.

    There is a row for each penalty, with the columns penalty, k, information_loss and classification.
    """
    without = rows[rows["penalty"] == 0]
    chosen = rows[rows["penalty"] == penalty]
    if without.empty or chosen.empty:
        return "What greedy k-member gains and loses by a class penalty"
    before, after = without.iloc[0], chosen.iloc[0]
    more = 100 * (after["information_loss"] / before["information_loss"] - 1)
    mixed = [percent(100 * row["classification"]) for row in (before, after)]
    return (
        f"At k = {int(after['k'])}, a class penalty of {penalty:g} takes CM from {mixed[0]} to {mixed[1]} "
        f"at {more:.0f} % more Total-IL"
    )


# --- what the partitions of a sweep risk ------------------------------------------------------------------------------

#: Of more than MOST_LOOKED_UP records, LOOKED_UP are looked up in a release, the same ones in each.
MOST_LOOKED_UP, LOOKED_UP = 10_000, 5_000

#: So many confidential attributes count at most, the first ones of the file.
MOST_CONFIDENTIAL = 30


@dataclass(frozen=True, eq=False)
class Exposed:
    """What an intruder may know of records, and what may be learned of them."""

    X: FloatArray | None  # the quasi-identifiers, scaled, shape (n, d); None where some are categories: no centroids
    frame: pd.DataFrame  # the confidential attributes of the same records, n rows; there may be none
    # What a run loses, in percent, with what is asked for beyond k, if something is; and what that is.
    guaranteed: Callable[[Any], float] | None = None
    requested: str = ""

    @cached_property
    def counted(self) -> tuple[Hashable, ...]:
        """The confidential attributes that count.

        They have no gaps and two values or more, as one that all records have is known to everybody. They are the first
        :data:`MOST_CONFIDENTIAL` of such.
        """
        values = {name: meant(self.frame[name]) for name in self.frame.columns}
        fit = [name for name, column in values.items() if not column.isna().any() and _varies(column)]
        return tuple(fit[:MOST_CONFIDENTIAL])

    @cached_property
    def digest(self) -> str:
        """The digest of all that counts: with the same one, the same partition has the same risks."""
        parts = ["" if self.X is None else digest_array(self.X), self.requested]
        parts += [f"{name!r}/{digest_array(_hashed(self.frame[name]))}" for name in self.counted]
        return digest_bytes("/".join(parts).encode("utf-8", "replace"))

    @property
    def n_looked_up(self) -> int:
        """How many records are looked up by :meth:`risks`; 0 where there are categories."""
        n = 0 if self.X is None else len(self.X)
        return LOOKED_UP if n > MOST_LOOKED_UP else n

    def risks(self, partition: Partition, run: Any = None) -> dict[str, float]:
        """Return the risks of releasing ``partition``, shares, 0 to 1, the lower the better, and what guarantees cost.

        - ``record_linkage``, of numbers only: the share of records whose nearest released record is their own, if each
          is released as the centroid of its group, see :func:`microagg.metrics.risk.record_linkage`. It is that of
          :attr:`n_looked_up` records, drawn at random.
        - ``homogeneous``, ``t_closeness``, ``distinct_l``, if any confidential attribute counts: the share of records
          in groups with one value only, t of t-closeness, and 1 / l of distinct l-diversity, see
          :func:`microagg.metrics.risk.homogeneity`. Of several attributes each is that of the worst.
        - ``guaranteed``, if something is asked for beyond k: what the ``run``, a
          :class:`microagg.studies.experiment.Result`, loses with that, in percent.

        Raises
        ------
        DataError
            If X holds anything but finite numbers, or the partition is not one of as many records.
        """
        shares = {}
        if self.X is not None:
            released = partition.centroids(self.X)[partition.labels]
            shares["record_linkage"] = risk.record_linkage(self.X, released, sample=self.n_looked_up).share
        if self.counted:
            learned = [risk.homogeneity(self.frame[name], partition.labels) for name in self.counted]
            shares["homogeneous"] = max(each.homogeneous for each in learned)
            shares["t_closeness"] = max(each.t_closeness for each in learned)
            shares["distinct_l"] = max(1.0 / each.distinct_l for each in learned)
        if self.guaranteed is not None:
            shares["guaranteed"] = self.guaranteed(run)
        return shares


def with_worst(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows of a sweep with ``max_reidentification``, 1 / the size of the smallest group, a share."""
    return rows.assign(max_reidentification=1.0 / rows["smallest_group"])


def _varies(values: pd.Series) -> bool:
    return bool((_hashed(values) != _hashed(values.iloc[:1])).any())


def _hashed(values: pd.Series) -> np.ndarray:
    """Return a number for each value, equal for equal ones, whatever they are."""
    return pd.util.hash_array(values.to_numpy())
