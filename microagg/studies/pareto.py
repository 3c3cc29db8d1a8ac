"""Risk against loss of the runs of a sweep: the Pareto front, acceptable runs, and sentences on both.

Rows are those of :mod:`microagg.studies.sweeps`, with a column for each risk (a share, 0 to 1, NaN if it is unknown)
and each loss: ``information_loss`` (percent), ``discernibility`` (number) or ``classification`` (a share). In both,
lower is better. :data:`RULES` are published limits of the risk as values of k.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from microagg.errors import DataError, ParameterError
from microagg.optimum.formatting import number, percent
from microagg.validation import FloatArray


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


# --- Pareto front -----------------------------------------------------------------------------------------------------

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

# Shares with at most this relative difference are equal up to rounding.
_ROUNDING = 1e-9


def front(risk: ArrayLike, loss: ArrayLike) -> NDArray[np.bool_]:
    """Whether each point is on the Pareto front: no other is lower in one and at least as low in the other.

    ``risk`` and ``loss`` have the shape (n,); low is good. Of points that are equal in both, all are on the front or
    none is. A point with NaN is not. :class:`DataError` if they are not numbers, or of different lengths.
    """
    x, y = _numbers(risk, "risks"), _numbers(loss, "losses")
    if x.ndim != 1 or x.shape != y.shape:
        raise DataError(f"there must be one loss for each risk, not shapes {x.shape} and {y.shape}.")
    numbers = np.flatnonzero(~(np.isnan(x) | np.isnan(y)))
    order = numbers[np.lexsort((y[numbers], x[numbers]))]
    on_front = np.zeros(len(x), dtype=bool)
    lowest, risk_at_lowest = np.inf, np.nan
    for point in order:
        if y[point] < lowest:
            lowest, risk_at_lowest = y[point], x[point]
        on_front[point] = y[point] == lowest and x[point] == risk_at_lowest
    return on_front


def _numbers(values: ArrayLike, noun: str) -> FloatArray:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(f"the {noun} must be numbers: {str(error).rstrip('.')}.") from None


# --- sentences --------------------------------------------------------------------------------------------------------


def summary(rows: pd.DataFrame, risk: str, loss: str, limit: float) -> str:
    """Return which run has the lowest loss within ``limit``, the largest acceptable risk in percent, as a title."""
    comparable = rows.dropna(subset=[risk, loss])
    if comparable.empty:
        return f"No {_RISK[risk]} is known yet"
    within = comparable[_is_at_most(comparable[risk], limit)]
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


def _is_at_most(shares: pd.Series, limit: float) -> pd.Series:
    return 100 * shares <= limit * (1 + _ROUNDING)


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
