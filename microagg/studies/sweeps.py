"""Conclusions from a sweep: titles of curves, risks, and the Pareto front of risk and loss.

Rows are those of :func:`microagg.studies.experiment.sweep` on one number of records, with two columns besides: the
name of the method's variant, see :mod:`microagg.algorithms.method`, and its title. :data:`RULES` are published limits
of the risk as values of k.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from microagg.columns.recodes import meant
from microagg.errors import DataError, ParameterError
from microagg.metrics import risk
from microagg.metrics.risk.equivalence_classes import max_reidentification
from microagg.optimum.formatting import number, percent
from microagg.partition import Partition
from microagg.tables import digest_array, digest_bytes
from microagg.validation import FloatArray, listing

# --- sentences --------------------------------------------------------------------------------------------------------

# Measures and shares with at most this relative difference are equal up to rounding.
_ROUNDING = 1e-9


# The lowest value of each measure in words, and the text of a value.
_LOWEST: Mapping[str, tuple[str, Callable[[float], str]]] = {
    "information_loss": ("the lowest loss", percent),
    "gap": ("the smallest gap", percent),
    "discernibility": ("the lowest DM", number),
    "classification": ("the lowest CM", lambda share: percent(100 * share)),
    "seconds": ("the shortest time", lambda seconds: f"{seconds:.3g} s"),
}


def summary(rows: pd.DataFrame, measure: str, k: int, scope: str = "") -> str:
    """Title on a measure at ``k``, or at the nearest k in ``rows``: the methods with its lowest value.

    For the loss of numbers, which has a curve of many k, it names the method with the most wins. ``scope`` is added to
    the k, such as the number of records.
    """
    if "sse" in rows and measure == "information_loss":
        return _describe_losses(rows)
    nearest = min(rows["k"].unique(), key=lambda rival: (abs(rival - k), rival))
    runs = rows[rows["k"] == nearest]
    (superlative, in_words), low = _LOWEST[measure], float(runs[measure].min())
    best = list(runs.loc[runs[measure] <= low * (1 + _ROUNDING), "title"])
    n_methods, noun = runs["title"].nunique(), superlative.split()[-1]
    if n_methods == 1:
        return f"{best[0]}: {noun} {in_words(low)} at k = {nearest}{scope}"
    if len(best) == n_methods:
        methods = "both" if n_methods == 2 else f"all {n_methods}"
        return f"At k = {nearest}{scope}, {methods} methods have the same {noun}: {in_words(low)}"
    verb = "has" if len(best) == 1 else "have"
    return f"At k = {nearest}{scope}, {listing(best)} {verb} {superlative} of {n_methods} methods: {in_words(low)}"


def _describe_losses(rows: pd.DataFrame) -> str:
    titles = rows["title"].unique()
    if len(titles) == 1:
        loss = dict(zip(rows["k"], rows["information_loss"], strict=True))
        ends = [f"{percent(loss[k])} at k = {k}" for k in sorted({min(loss), max(loss)})]
        return f"{titles[0]}: loss {', '.join(ends)}"
    lowest = rows.groupby("k")["information_loss"].transform("min")
    wins = rows.loc[rows["information_loss"] <= lowest * (1 + _ROUNDING), "title"].value_counts()
    best = [title for title in titles if wins.get(title) == wins.max()]
    names = f"{listing(best)} {'has' if len(best) == 1 else 'each have'}"
    n_ks = rows["k"].nunique()
    return f"{names} the lowest loss of {len(titles)} methods at {wins.max()} of {n_ks} values of k"


# --- risks of the partitions of a sweep -------------------------------------------------------------------------------

#: If there are more than MOST_LOOKED_UP records, LOOKED_UP are looked up in a release, the same ones in each.
MOST_LOOKED_UP, LOOKED_UP = 10_000, 5_000

#: The maximum number of confidential attributes that count, the first ones of the file.
MOST_CONFIDENTIAL = 30


@dataclass(frozen=True, eq=False)
class Exposed:
    """Knowledge of an intruder about records, and their confidential attributes."""

    X: FloatArray | None  # the quasi-identifiers, scaled, shape (n, d); None if some are categories: no centroids
    frame: pd.DataFrame  # the confidential attributes of the same records, n rows; there may be none
    # The loss of a run, in percent, with the requested guarantees beyond k, if any; and these requests.
    guaranteed: Callable[[Any], float] | None = None
    requested: str = ""

    @cached_property
    def counted(self) -> tuple[Hashable, ...]:
        """The first :data:`MOST_CONFIDENTIAL` confidential attributes without missing values that vary."""
        values = {name: meant(self.frame[name]) for name in self.frame.columns}
        fit = [name for name, column in values.items() if not column.isna().any() and _varies(column)]
        return tuple(fit[:MOST_CONFIDENTIAL])

    @cached_property
    def digest(self) -> str:
        """The digest of all relevant data: if it is equal, the same partition has the same risks."""
        parts = ["" if self.X is None else digest_array(self.X), self.requested]
        parts += [f"{name!r}/{digest_array(_hashed(self.frame[name]))}" for name in self.counted]
        return digest_bytes("/".join(parts).encode("utf-8", "replace"))

    @property
    def n_looked_up(self) -> int:
        """The number of records looked up by :meth:`risks`. 0 with categories."""
        n = 0 if self.X is None else len(self.X)
        return LOOKED_UP if n > MOST_LOOKED_UP else n

    def risks(self, partition: Partition, run: Any = None) -> dict[str, float]:
        """Risks of releasing ``partition``, shares, 0 to 1, low is good, and the cost of guarantees.

        - ``record_linkage``, for numbers only: the share of records whose nearest released record is their match if
          each is released as the centroid of its group, see :func:`microagg.metrics.risk.record_linkage`, for
          :attr:`n_looked_up` records, drawn at random.
        - ``homogeneous``, ``t_closeness``, ``distinct_l``, if any confidential attribute counts: the share of records
          in groups with only one value, t of t-closeness, and 1 / l of distinct l-diversity, see
          :func:`microagg.metrics.risk.homogeneity`; of several attributes the worst counts.
        - ``guaranteed``, if guarantees beyond k are requested: the loss of the ``run``, a
          :class:`microagg.studies.experiment.Result`, with them, in percent.
        """
        shares = {}
        if self.X is not None:
            released = partition.centroids(self.X)[partition.labels]
            shares["record_linkage"] = risk.record_linkage(self.X, released, sample=self.n_looked_up).share
        if self.counted:
            homogeneities = [risk.homogeneity(self.frame[name], partition.labels) for name in self.counted]
            shares["homogeneous"] = max(homogeneity.homogeneous for homogeneity in homogeneities)
            shares["t_closeness"] = max(homogeneity.t_closeness for homogeneity in homogeneities)
            shares["distinct_l"] = max(1.0 / homogeneity.distinct_l for homogeneity in homogeneities)
        if self.guaranteed is not None:
            shares["guaranteed"] = self.guaranteed(run)
        return shares


def with_worst(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of a sweep with ``max_reidentification``, 1 / the size of the smallest group, a share."""
    return rows.assign(max_reidentification=rows["smallest_group"].map(max_reidentification))


def _varies(values: pd.Series) -> bool:
    return bool((_hashed(values) != _hashed(values.iloc[:1])).any())


def _hashed(values: pd.Series) -> np.ndarray:
    """A number for each value of any type, equal for equal values."""
    return pd.util.hash_array(values.to_numpy())


# --- risk against loss ------------------------------------------------------------------------------------------------

# In both, lower is better. A risk is a share, 0 to 1, NaN if it is unknown; a loss is ``information_loss`` (percent),
# ``discernibility`` (number) or ``classification`` (a share).


def smallest_k(risk: Any) -> int:
    """The smallest k at which the risk of a record, 1 / k, is at most ``risk``.

    >>> smallest_k(0.09)
    12

    Raises
    ------
    ParameterError
        If ``risk`` is not above 0 and at most 1.
    """
    if not isinstance(risk, (int, float)) or not 0 < risk <= 1:
        raise ParameterError(f"a risk of {risk} is none that a group can have: give a number above 0 and at most 1.")
    k = max(math.floor(1 / risk), 1)
    return k if 1 / k <= risk else k + 1


@dataclass(frozen=True)
class Rule:
    """A rule about the smallest group."""

    k: int  # the resulting minimum group size
    authority: str  # its short name
    text: str  # the rule as the end of a sentence
    source: str  # the document
    url: str


#: Published rules, ascending in k. All concern tables or reports; their application to a file of records is our
#: interpretation, which users have to check.
RULES = (
    Rule(
        k=8,
        authority="NHS England",
        text="counts of 1 to 7 below the national level are not shown",
        source="Disclosure control methodology for Hospital Episode Statistics, 2018",
        url="https://digital.nhs.uk/data-and-information/data-tools-and-services/data-services/hospital-episode-statistics/"
        "change-to-disclosure-control-methodology-for-hes-and-ecds-from-september-2018",
    ),
    Rule(
        k=10,
        authority="UK LLC",
        text="no count below 10 leaves the research environment",
        source="UK Longitudinal Linkage Collaboration, guidebook, Statistical Disclosure Control",
        url="https://guidebook.ukllc.ac.uk/docs/user_guide/sdc",
    ),
    Rule(
        k=11,
        authority="CMS",
        text="no cell of 1 to 10 is shown",
        source="Centers for Medicare & Medicaid Services, Cell Size Suppression Policy, 2024",
        url="https://resdac.org/node/1506",
    ),
    Rule(
        k=smallest_k(0.09),
        authority="EMA",
        text="the risk of each person is at most 0.09 in published clinical reports",
        source="European Medicines Agency, External guidance on the implementation of policy 0070, EMA/90915/2016",
        url="https://www.ema.europa.eu/en/human-regulatory-overview/marketing-authorisation/clinical-data-publication",
    ),
)


# Descriptions of the risks.
_RISK: Mapping[str, str] = {
    "max_reidentification": "risk of the worst record",
    "record_linkage": "share of records linked to their originals",
    "homogeneous": "share of records in groups with one confidential value",
    "t_closeness": "t-closeness",
    "distinct_l": "share 1 / l of the group with the fewest confidential values",
}

#: The names of the risks.
RISKS = tuple(_RISK)


def front(risk: ArrayLike, loss: ArrayLike) -> NDArray[np.bool_]:
    """Whether each point is on the Pareto front: no other is lower in one and at least as low in the other.

    Parameters
    ----------
    risk, loss : array of numbers, shape (n,)
        Low is good.

    Returns
    -------
    array of bool, shape (n,)
        Of points that are equal in both, all are on the front or none is. A point with NaN is not.

    Raises
    ------
    DataError
        If they are not numbers, or of different lengths.
    """
    x, y = _numbers(risk, "risks"), _numbers(loss, "losses")
    if x.ndim != 1 or x.shape != y.shape:
        raise DataError(f"there must be one loss for each risk, not shapes {x.shape} and {y.shape}.")
    numbers = np.flatnonzero(~(np.isnan(x) | np.isnan(y)))
    order = numbers[np.lexsort((y[numbers], x[numbers]))]
    on_front = np.zeros(len(x), dtype=bool)
    lowest, risk_at_lowest = np.nan, np.nan
    for point in order:
        if not y[point] >= lowest:  # the first one, too
            lowest, risk_at_lowest = y[point], x[point]
        on_front[point] = y[point] == lowest and x[point] == risk_at_lowest
    return on_front


def _numbers(values: ArrayLike, noun: str) -> FloatArray:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(f"the {noun} must be numbers: {str(error).rstrip('.')}.") from None


def risk_summary(rows: pd.DataFrame, risk: str, loss: str, limit: float) -> str:
    """Return which run has the lowest loss within ``limit``, the largest acceptable risk in percent, as a title."""
    comparable = rows.dropna(subset=[risk, loss])
    if comparable.empty:
        return f"No {_RISK[risk]} is known yet"
    within = comparable[100 * comparable[risk] <= limit * (1 + _ROUNDING)]
    if within.empty:
        low = _lowest_row(comparable, risk, loss)
        return f"No run has {_limit_text(risk, limit)}: the least is {percent(100 * low[risk])}, {_name_run(low)}"
    best = _lowest_row(within, loss, risk)
    return f"With {_limit_text(risk, limit)}, {_name_run(best)} {': '.join(_describe_best(best, loss))}"


def _limit_text(risk: str, limit: float) -> str:
    """Description of a risk of at most ``limit``, in percent."""
    values = smallest_k(limit / 100) if limit > 0 else "infinitely many"
    return {
        "max_reidentification": f"a risk of at most {limit:g} % for every record",
        "record_linkage": f"at most {limit:g} % of the records linked to their originals",
        "homogeneous": f"at most {limit:g} % of the records in groups with one confidential value",
        "t_closeness": f"a t-closeness of at most {limit:g} %",
        "distinct_l": f"at least {values} confidential values in every group",
    }[risk]


def _lowest_row(rows: pd.DataFrame, first: str, then: str) -> pd.Series:
    """Row with the lowest ``first``, and among ties the lowest ``then``."""
    return rows.sort_values([first, then], kind="stable").iloc[0]


def _name_run(row: pd.Series) -> str:
    return f"{row['title']} at k = {row['k']:,}"


def _describe_best(row: pd.Series, loss: str) -> tuple[str, str]:
    """Description of the best run in a loss, and its value."""
    return {
        "information_loss": ("has the lowest loss", percent(row[loss])),
        "discernibility": ("has the lowest discernibility", number(row[loss])),
        "classification": ("has the lowest CM", percent(100 * row[loss])),
    }[loss]
