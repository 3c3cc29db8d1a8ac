"""Risk against loss of the runs of a sweep: which no other surpasses, which are acceptable, and both in words.

Rows are those of :mod:`microagg.studies.sweeps`, with a column for each risk (a share, 0 to 1, NaN where it is not
known) and each loss: ``information_loss`` (percent), ``discernibility`` (number) or ``classification`` (a share). In
both, lower is better. Limits of a risk are those of :data:`RULES`, which some who release data must follow, as values
of k.
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
    """Return the smallest k at which the risk of a record, 1 / k, is at most ``risk``.

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

    k: int  # the least number of records in a group that follows from it
    who: str  # whose rule it is, in a word or two
    says: str  # what it asks for, as the rest of a sentence
    source: str  # where that is written
    url: str


#: Published rules, ascending in k. All are about tables or reports; what they mean for a file of records is our
#: reading of them, which those who must follow one have to check.
RULES = (
    Rule(
        8,
        "NHS England",
        "counts of 1 to 7 below the national level are not shown",
        "Disclosure control methodology for Hospital Episode Statistics, 2018",
        "https://digital.nhs.uk/data-and-information/data-tools-and-services/data-services/hospital-episode-statistics/"
        "change-to-disclosure-control-methodology-for-hes-and-ecds-from-september-2018",
    ),
    Rule(
        10,
        "UK LLC",
        "no count below 10 leaves the research environment",
        "UK Longitudinal Linkage Collaboration, guidebook, Statistical Disclosure Control",
        "https://guidebook.ukllc.ac.uk/docs/user_guide/sdc",
    ),
    Rule(
        11,
        "CMS",
        "no cell of 1 to 10 is shown",
        "Centers for Medicare & Medicaid Services, Cell Size Suppression Policy, 2024",
        "https://resdac.org/node/1506",
    ),
    Rule(
        smallest_k(0.09),
        "EMA",
        "the risk of each person is at most 0.09 in published clinical reports",
        "European Medicines Agency, External guidance on the implementation of policy 0070, EMA/90915/2016",
        "https://www.ema.europa.eu/en/human-regulatory-overview/marketing-authorisation/clinical-data-publication",
    ),
)


# --- which runs no other surpasses ------------------------------------------------------------------------------------

# What one run may have more of than another.
_RISK: Mapping[str, str] = {
    "max_reidentification": "risk of the worst record",
    "record_linkage": "share of records found again",
    "homogeneous": "share of records in groups with one confidential value",
    "t_closeness": "t-closeness",
    "distinct_l": "share 1 / l of the group with the fewest confidential values",
}

#: The names of the risks.
RISKS = tuple(_RISK)

# A rank correlation at least this far from 0 is called one.
_CLEAR = 0.3

# Shares whose relative difference is at most this are the same, to within rounding.
_ROUNDING = 1e-9

# Risks of which one is the other times 1 and less than this more or less are as high.
_HARDLY = 0.005

# At fewer values of k, and of fewer methods at one of them, nothing is said of how risk and loss go together.
_FEWEST_KS, _FEWEST_METHODS = 3, 3


def front(risk: ArrayLike, loss: ArrayLike) -> NDArray[np.bool_]:
    """Return which points are on the Pareto front: no other is lower in one and as low in the other.

    Of points that are equal in both, all are on the front or none is. A point with NaN is not.

    Parameters
    ----------
    risk, loss : array of float, shape (n,)
        The lower the better.

    Raises
    ------
    DataError
        If they are no numbers, or there is not one loss for each risk.
    """
    x, y = _numbers(risk, "risks"), _numbers(loss, "losses")
    if x.ndim != 1 or x.shape != y.shape:
        raise DataError(f"there must be one loss for each risk, not shapes {x.shape} and {y.shape}.")
    numbers = np.flatnonzero(~(np.isnan(x) | np.isnan(y)))
    order = numbers[np.lexsort((y[numbers], x[numbers]))]
    on_front = np.zeros(len(x), dtype=bool)
    lowest, at = np.inf, np.nan
    for place in order:
        if y[place] < lowest:
            lowest, at = y[place], x[place]
        on_front[place] = y[place] == lowest and x[place] == at
    return on_front


def _numbers(values: ArrayLike, what: str) -> FloatArray:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(f"the {what} must be numbers: {str(error).rstrip('.')}.") from None


def above_in_words(risk: str, value: float, limit: float, *, by_groups: bool = True) -> str:
    """Return that a release has more of a risk than is acceptable, as a sentence; empty if it has not.

    ``risk`` is one of :data:`RISKS`, ``value`` that of the release, a share, and ``limit`` the largest acceptable one,
    in percent. ``by_groups`` says whether the size of groups alone decides the risk, so that larger ones are a cure.
    """
    if 100 * value <= limit * (1 + _ROUNDING):
        return ""
    says = f"The {_RISK[risk]} is {percent(100 * value)}, above the {limit:g} % that are acceptable"
    if not by_groups:
        return f"{says}."
    if risk == "max_reidentification" and limit > 0:
        return f"{says}: in groups of {smallest_k(limit / 100):,} records or more it is not."
    return f"{says}: a larger k may lower it."


@dataclass(frozen=True)
class Agreement:
    """How a risk and a loss go together among methods at the same k."""

    n_ks: int  # at how many values of k at least three methods were compared that differ in both
    # Spearman's rank correlation of loss and risk over the methods, -1 to 1, the mean over these k. Below 0, those that
    # lose less have the higher risk.
    correlation: float
    n_higher: int  # at how many of them the method that loses least has a higher risk than the others have on average
    ratio: float  # the risk of the one that loses least as a multiple of the others' mean, over all these k together


def agreement(rows: pd.DataFrame, risk: str, loss: str = "information_loss") -> Agreement | None:
    """Return how risk and loss go together among methods at the same k.

    Three methods that differ in both at each of three values of k are needed. Differences between values of k are left
    out, as a larger k lowers the risk and raises the loss whatever the method. None where there are too few runs.
    """
    correlations, of_least, of_others = [], [], []
    for _, here in rows.dropna(subset=[risk, loss]).groupby("k"):
        if len(here) < _FEWEST_METHODS or here[risk].nunique() < 2 or here[loss].nunique() < 2:
            continue
        correlations.append(float(np.corrcoef(here[risk].rank(), here[loss].rank())[0, 1]))
        least = int(here[loss].to_numpy().argmin())
        values = here[risk].to_numpy(dtype=np.float64)
        of_least.append(values[least])
        of_others.append(np.delete(values, least).mean())
    if len(correlations) < _FEWEST_KS:
        return None
    return Agreement(
        n_ks=len(correlations),
        correlation=float(np.mean(correlations)),
        n_higher=int(np.count_nonzero(np.array(of_least) > np.array(of_others))),
        ratio=float(np.sum(of_least) / np.sum(of_others)) if np.sum(of_others) > 0 else float("nan"),
    )


# --- in words ---------------------------------------------------------------------------------------------------------


def summary(rows: pd.DataFrame, risk: str, loss: str, limit: float) -> str:
    """Return which run loses least within ``limit``, the largest acceptable risk in percent, to begin a sentence."""
    comparable = rows.dropna(subset=[risk, loss])
    if comparable.empty:
        return f"No {_RISK[risk]} is known yet"
    within = comparable[_is_at_most(comparable[risk], limit)]
    if within.empty:
        least = _least(comparable, risk, loss)
        return f"No run has {_at_most(risk, limit)}: the least is {percent(100 * least[risk])}, {_run(least)}"
    best = _least(within, loss, risk)
    return f"With {_at_most(risk, limit)}, {_run(best)} {': '.join(_best(best, loss))}"


def within_in_words(
    rows: pd.DataFrame, risk: str, loss: str, limits: tuple[float, float], floors: Mapping[int, float]
) -> str:
    """Return how many runs are within both limits and which of them are best, as sentences.

    ``limits`` are the largest acceptable risk and loss, in percent; the latter counts for the information loss only.
    ``floors`` are what no partition into groups of at least k loses less than, in percent, by k; empty where nothing is
    proven. ``risk`` and ``loss`` are columns of ``rows``, the runs.
    """
    comparable = rows.dropna(subset=[risk, loss])
    if comparable.empty:
        return f"No {_RISK[risk]} is known yet."
    most_risk, most_loss = limits
    is_within = _is_at_most(comparable[risk], most_risk)
    limit = _at_most(risk, most_risk)
    if loss == "information_loss":
        is_within &= comparable[loss] <= most_loss
        limit += f" and a loss of at most {most_loss:g} %"
    within = comparable[is_within]
    of_all = f"of the {len(comparable):,} runs" if len(comparable) != 1 else "of the one run"
    if within.empty:
        proof = _impossible(risk, loss, limits, floors)
        return f"None {of_all} has {limit}.{f' {proof}' if proof else ''}"
    least, safest = _least(within, loss, risk), _least(within, risk, loss)
    risk_of_least = percent(100 * least[risk])
    if len(within) == 1:
        return f"1 {of_all} has {limit}: {_run(least)}, which {_loses_of(least, loss)} at a risk of {risk_of_least}."
    best = "{} ({})".format(*_best(least, loss))
    says = f"{len(within):,} {of_all} have {limit}. {_run(least)} {best}"
    if least.name == safest.name:
        return f"{says} and has the least risk, {risk_of_least}."
    then = f"{_run(safest)} has the least risk, {percent(100 * safest[risk])}, and {_loses_of(safest, loss)}"
    return f"{says}, at a risk of {risk_of_least}; {then}."


def agreement_in_words(agreement: Agreement | None, risk: str) -> str:
    """Return whether methods that lose less have more of ``risk`` at the same k, as sentences."""
    if agreement is None:
        return (
            "These runs cannot tell: it takes at least three methods that differ in both, at each of at least three "
            "values of k."
        )
    correlation = f"{agreement.correlation:+.2f}".replace("-", "−")
    measured = f"rank correlation of loss and risk {correlation}, the mean over {agreement.n_ks} values of k"
    name = _RISK[risk]
    if agreement.correlation <= -_CLEAR:
        says = f"Here it does: at the same k, methods that lose less tend to have a higher {name}"
    elif agreement.correlation >= _CLEAR:
        says = f"Here it does not: at the same k, methods that lose less tend to have a lower {name}, too"
    else:
        says = f"Not clearly here: at the same k, the {name} hardly depends on how much a method loses"
    return f"{says} ({measured}). {_of_the_least(agreement)}"


def _of_the_least(agreement: Agreement) -> str:
    higher = f"at {agreement.n_higher} of {agreement.n_ks} values of k"
    if np.isnan(agreement.ratio):
        return f"The method that loses least has the higher risk {higher}."
    size = "as high as" if abs(agreement.ratio - 1) < _HARDLY else f"{agreement.ratio:.3g} times"
    return f"The risk of the method that loses least is {size} the others' mean, and above it {higher}."


def _impossible(risk: str, loss: str, limits: tuple[float, float], floors: Mapping[int, float]) -> str:
    """Return, where it is proven, that no method can be within both limits."""
    if risk != "max_reidentification" or loss != "information_loss" or not 0 < limits[0] <= 100:
        return ""
    needed = smallest_k(limits[0] / 100)
    # What is proven for a smaller k holds for every larger one.
    proven = max((least for k, least in floors.items() if k <= needed), default=0.0)
    if proven <= limits[1]:
        return ""
    return (
        f"No method can: a risk of at most {limits[0]:g} % takes groups of {needed} or more, and then at least "
        f"{percent(proven)} is lost."
    )


def _at_most(risk: str, limit: float) -> str:
    """Return what a run has whose risk is at most ``limit``, in percent."""
    values = smallest_k(limit / 100) if limit > 0 else "infinitely many"
    return {
        "max_reidentification": f"a risk of at most {limit:g} % for every record",
        "record_linkage": f"at most {limit:g} % of the records found again",
        "homogeneous": f"at most {limit:g} % of the records in groups with one confidential value",
        "t_closeness": f"a t-closeness of at most {limit:g} %",
        "distinct_l": f"at least {values} confidential values in every group",
    }[risk]


def _is_at_most(shares: pd.Series, limit: float) -> pd.Series:
    return 100 * shares <= limit * (1 + _ROUNDING)


def _least(rows: pd.DataFrame, first: str, then: str) -> pd.Series:
    """Return the row that is lowest in ``first``, and among equals in ``then``."""
    return rows.sort_values([first, then], kind="stable").iloc[0]


def _run(row: pd.Series) -> str:
    return f"{row['title']} at k = {row['k']:,}"


def _best(row: pd.Series, loss: str) -> tuple[str, str]:
    """Return that a run is the best in a loss, and its value."""
    return {
        "information_loss": ("loses least", percent(row[loss])),
        "discernibility": ("has the lowest discernibility", number(row[loss])),
        "classification": ("mixes the classes least", percent(100 * row[loss])),
    }[loss]


def _loses_of(row: pd.Series, loss: str) -> str:
    return {
        "information_loss": f"loses {percent(row[loss])}",
        "discernibility": f"has a discernibility of {number(row[loss])}",
        "classification": f"leaves {percent(100 * row[loss])} of the records outside their group's majority class",
    }[loss]
