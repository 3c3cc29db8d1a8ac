"""The figures of a report: losses, risks, changes of moments and correlations, and histograms before and after."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_bool_dtype, is_datetime64_any_dtype, is_integer_dtype, is_numeric_dtype

from microagg import optimum
from microagg.columns import bin_edges, dates
from microagg.columns.scaling import centered
from microagg.metrics import generalization, loss
from microagg.metrics.generalization import Summary
from microagg.metrics.risk.equivalence_classes import max_reidentification
from microagg.metrics.utility.columns import CorrelationChanges, correlation_changes, means_and_deviations
from microagg.partition import Partition
from microagg.release.choices import Choices
from microagg.release.predicted_linkage import Predicted
from microagg.release.source import Numbers, Part, Source
from microagg.validation import FloatArray, IntArray

# The most records for which a lower bound of Total-IL is computed with each release: it takes less than 0.1 s.
_MOST_PROVEN = 2000


class _Bounded:
    """A loss and its lower bound, if there is one. Both in percent."""

    information_loss: float
    lower_bound: float | None

    @property
    def gap(self) -> float | None:
        """The loss / ``lower_bound`` − 1. Infinity if that is 0, None without a bound."""
        return None if self.lower_bound is None else optimum.gap(self.information_loss, self.lower_bound)


@dataclass(frozen=True)
class Loss(_Bounded):
    """Information loss of the numeric quasi-identifiers, scaled, for the values actually released.

    SSE = Σ ‖x − x′‖² over the records, x′ being the replacement of x; SST = Σ ‖x − x̄‖²; IL = 100 · SSE / SST, in
    percent, and 0 if SST is 0. Group means have the lowest SSE of all values for the groups of a partition; with group
    medians and rounded means the loss is a little higher (in extreme data above 100 %).

    If the records have weights w, SSE = Σ w ‖x − x′‖² and SST = Σ w ‖x − x̄‖², x̄ being the weighted mean Σ w x / Σ w.
    The scale is set without the weights.
    """

    sse: float  # in squared units of the scaled data, like ``sst``
    sst: float
    information_loss: float  # IL in percent
    # No partition into groups of at least k (within the strata) has a lower IL, in percent: the nearest-neighbor bound,
    # the optimum if it is quickly computed, or the stored bound of a benchmark. None with weights, as the bound counts
    # each record once.
    lower_bound: float | None
    attributes: dict[Hashable, float]  # the IL of each numeric quasi-identifier alone

    @classmethod
    def of(
        cls, numbers: Numbers, replaced: FloatArray, partition: Partition, strata: Sequence[Part], choices: Choices
    ) -> Self:
        """Loss of replacing ``numbers.X`` by ``replaced``, shape (n, d), with groups within ``strata``."""
        Z, weights = numbers.Z, numbers.weights
        errors = _summed(np.square(Z - numbers.scaling.transform(replaced)), weights)
        spread = _summed(np.square(centered(Z, weights)[2]), weights)
        sse, sst, bound = float(errors.sum()), float(spread.sum()), None
        if weights is None:
            from microagg.studies import landscape  # which loads all algorithms

            sst = loss.sst(Z)
            parts = [rows for rows, _ in strata]
            bound = optimum.bounds.nearest_neighbor(Z, partition.k, strata=parts).information_loss
            optima = [optimum.bounds.known_optimum(Z[rows], partition.k) for rows in parts]
            known_optima = [optimum_sse for optimum_sse in optima if optimum_sse is not None]
            if len(known_optima) == len(parts):
                bound = max(bound, loss.percent(sum(known_optima), sst))
            if benchmark := landscape.recognize(numbers.X, numbers.scaling.method):
                bound = max(bound, landscape.between(*benchmark, [partition.k])[partition.k][1])
        # With means the IL is at most 100 %, which rounding errors must not exceed; with other values, means of dates
        # rounded to whole days or years among them, it can be more.
        exact = choices.statistic == "mean" and choices.rounding == "none" and not any(numbers.units)
        percent = loss.percent if exact else _percent
        return cls(
            sse=sse,
            sst=sst,
            information_loss=percent(sse, sst),
            lower_bound=bound,
            attributes={name: percent(float(errors[j]), float(spread[j])) for j, name in enumerate(numbers.names)},
        )


@dataclass(frozen=True)
class AttributeUtility:
    """Changes of one numeric quasi-identifier, in its own units, for dates in days since 1970-01-01.

    Standard deviations (``sd``) are those of the population, divided by n or by the sum of the weights.
    ``correlation_change`` is the largest absolute change of its correlation with another one; None where there is no
    other, or no correlation is defined both before and after.
    """

    name: Hashable
    mean_before: float
    mean_after: float
    sd_before: float
    sd_after: float
    correlation_change: float | None


@dataclass(frozen=True)
class Utility:
    """Changes of the numeric quasi-identifiers, with weights if the records have weights.

    ``correlation_change`` is the largest absolute change of a correlation, and ``correlation_pair`` its two attributes;
    both are None if no correlation is defined.
    """

    attributes: tuple[AttributeUtility, ...]
    correlation_change: float | None
    correlation_pair: tuple[Hashable, Hashable] | None

    @classmethod
    def of(cls, numbers: Numbers, replaced: FloatArray) -> Self:
        """Changes by replacing ``numbers.X`` with ``replaced``, shape (n, d)."""
        before, after = (means_and_deviations(X, numbers.weights) for X in (numbers.X, replaced))
        changes = correlation_changes(numbers.X, replaced, numbers.weights)
        return cls.between(numbers.names, (before[0], after[0]), (before[1], after[1]), changes)

    @classmethod
    def between(
        cls,
        names: Sequence[Hashable],
        means: tuple[FloatArray, FloatArray],
        deviations: tuple[FloatArray, FloatArray],
        changes: CorrelationChanges,
    ) -> Self:
        """Changes from the means and standard deviations before and after, each of shape (d,)."""
        (mean, mean_after), (sd, sd_after) = means, deviations
        changed = [None if np.isnan(change) else float(change) for change in changes.attributes]
        moments = (map(float, moment) for moment in (mean, mean_after, sd, sd_after))
        rows = tuple(AttributeUtility(*row) for row in zip(names, *moments, changed, strict=True))
        pair = None if changes.pair is None else (names[changes.pair[0]], names[changes.pair[1]])
        return cls(rows, changes.largest, pair)


@dataclass(frozen=True)
class Stratum:
    """One stratum of a release: its value of each strata column, and the size of its smallest class."""

    values: tuple[Any, ...]
    n_records: int
    n_groups: int
    realized_k: int


@dataclass(frozen=True)
class Risk:
    """What the release guarantees. A class has all records with the same released quasi-identifiers (and strata)."""

    realized_k: int  # the size of the smallest class, counted on the released frame
    # The largest probability, 0 to 1, that an intruder who knows a person's true quasi-identifiers picks the right
    # record: 1 / realized_k, or what predictions of other released columns allow, if that is more.
    max_reidentification_probability: float
    n_groups: int  # of the partition
    n_classes: int  # fewer than groups where two groups have the same centroid
    largest_group: int
    n_shared: int  # the records whose released quasi-identifiers at least one other record shares
    strata: tuple[Stratum, ...]  # in order of first appearance; empty without strata
    # The released columns that follow from the quasi-identifiers, the worst first; not counted for a release in parts.
    predicted: tuple[Predicted, ...] = ()

    @classmethod
    def of(
        cls, classes: IntArray, partition: Partition, parts: Sequence[Part], predicted: tuple[Predicted, ...] = ()
    ) -> Self:
        """Risk of a release whose records are in ``classes``, shape (n,), numbered from 0.

        ``partition`` has its groups, ``parts`` its strata; without strata, one part of all records without values.
        """
        sizes = np.bincount(classes)
        realized = int(sizes.min())
        class_sizes = sizes[classes]
        return cls(
            realized_k=realized,
            max_reidentification_probability=max_reidentification(realized, (gain.highest for gain in predicted)),
            n_groups=partition.n_groups,
            n_classes=len(sizes),
            largest_group=int(partition.sizes.max()),
            n_shared=int(np.count_nonzero(class_sizes > 1)),
            strata=tuple(
                Stratum(values, len(rows), len(np.unique(partition.labels[rows])), int(class_sizes[rows].min()))
                for rows, values in parts
                if values
            ),
            predicted=predicted,
        )

    @property
    def of_classes(self) -> float:
        """The largest probability, 0 to 1, without predictions: 1 / ``realized_k``."""
        return max_reidentification(self.realized_k)

    @property
    def sentence(self) -> str:
        """The probability that an intruder who knows the true quasi-identifiers picks the right record, as text."""
        columns = "quasi-identifiers and strata" if self.strata else "quasi-identifiers"
        text = (
            f"An intruder who knows a person's true {columns} and compares them with the released ones picks the right "
            f"record with probability at most {100.0 * self.of_classes:.3g} % (1 in {self.realized_k:,})."
        )
        return " ".join([text, *(str(gain) for gain in self.predicted[:1])])


@dataclass(frozen=True)
class Joint:
    """The joint classes of a release and an earlier one: the records that share their class in both.

    ``narrowed`` records are in joint classes of fewer than k and fewer than in the earlier release, ``alone`` by
    themselves.
    """

    n_records: int
    smallest: int
    narrowed: int
    alone: int

    @property
    def of_classes(self) -> float:
        """The largest probability, 0 to 1, for an intruder who holds both releases: 1 / ``smallest``."""
        return max_reidentification(self.smallest)


@dataclass(frozen=True)
class Generalization(Summary, _Bounded):
    """Loss of groups by their extent, by the measures of Byun, Kamra, Bertino & Li (Sections 3 and 5).

    They describe the groups, so they do not depend on how values are replaced: generalized or by one value, categories
    by their lowest common ancestor or by a set. See :class:`microagg.metrics.generalization.Summary` for further ones.
    """

    attributes: dict[Hashable, float]  # the loss of each quasi-identifier, in percent of the largest possible one
    # The share of the records, in percent, whose category has changed, for each ordinal and nominal quasi-identifier;
    # empty if values are generalized.
    changed: dict[Hashable, float]
    # No partition into groups of at least k (within the strata) has a lower Total-IL, in percent. None for more than
    # 2,000 records, as its time grows with the square of their number.
    lower_bound: float | None = None

    @classmethod
    def of(cls, source: Source, partition: Partition, replaced: FloatArray | None) -> Self:
        """Loss of the groups of the records. ``replaced``, shape (n, d), are their released values."""
        records = source.records
        shares, bound = generalization.attribute_information_loss(records, partition.labels), None
        if records.n <= _MOST_PROVEN:
            parts = [rows for rows, _ in source.strata]
            [floor] = optimum.bounds.nearest_mixed_neighbor_curve(records, [partition.k], strata=parts)
            bound = floor.information_loss
        changed = {
            attribute.name: 100.0 * float(np.mean(records.values[:, j] != replaced[:, j]))
            for j, attribute in enumerate(records.attributes)
            if replaced is not None and attribute.kind != "numeric"
        }
        return cls(
            **vars(generalization.summary(records, partition.labels, partition.k, source.classes)),
            attributes={a.name: 100.0 * float(share) for a, share in zip(records.attributes, shares, strict=True)},
            changed=changed,
            lower_bound=bound,
        )


def _percent(part: float, whole: float) -> float:
    return 100.0 * part / whole if whole > 0.0 else 0.0


def _summed(squares: FloatArray, weights: FloatArray | None) -> FloatArray:
    return squares.sum(axis=0) if weights is None else (squares * weights[:, np.newaxis]).sum(axis=0)


def distribution(before: pd.Series[Any], after: pd.Series[Any], labels: IntArray, *, bins: int = 30) -> pd.DataFrame:
    """Histogram of a column before and after the release.

    Parameters
    ----------
    before, after : Series, shape (n,)
        The column as it was and as it is released, in the same order.
    labels : array of shape (n,)
        The groups of the records.
    bins : int
        About the maximum number of bins for numbers.

    Returns
    -------
    DataFrame
        Counts in the columns ``before`` and ``released``. The index has the middles of bins of numbers (of whole
        numbers bins are whole) and of dates released as ranges, the first days of months (of years if dates span more
        than three years), or all values as text, most frequent before first. A released range counts in equal parts
        in all bins that it covers.
    """
    if is_datetime64_any_dtype(before) and is_integer_dtype(after):
        before = before.dt.year
    are_dates = is_datetime64_any_dtype(before)
    if are_ranges := are_dates and not is_datetime64_any_dtype(after):
        before = pd.Series(dates.to_days(before), before.index)
    if is_numeric_dtype(before):
        low, high = after, after
        if not is_numeric_dtype(after):
            groups = before.astype(float).groupby(labels)
            low, high = groups.transform("min"), groups.transform("max")
        old, lower, upper = (column.to_numpy(dtype=np.float64) for column in (before, low, high))
        counts = _binned(old, lower, upper, bins)
        return counts.set_index(pd.DatetimeIndex(dates.to_dates(counts.index.to_numpy()))) if are_ranges else counts
    if are_dates:
        unit = "Y" if (before.max() - before.min()).days > 3 * 365 else "M"
        both = [column.dt.to_period(unit).dt.to_timestamp().value_counts() for column in (before, after)]
    else:
        both = [pd.Series(_texts(column)).value_counts() for column in (before, after)]
    return pd.concat(both, axis=1, keys=["before", "released"], sort=are_dates).fillna(0)


def _binned(before: FloatArray, low: FloatArray, high: FloatArray, bins: int) -> pd.DataFrame:
    whole = bool((before == np.round(before)).all())
    ends = np.array([low.min(), high.max()])
    edges = bin_edges(np.append(before, [np.floor(ends[0]), np.ceil(ends[1])] if whole else ends), bins)
    ranges = low < high
    # A range of whole numbers covers the bins of both its ends.
    low, high = low - 0.5 * (ranges & whole), high + 0.5 * (ranges & whole)
    widths = np.where(ranges, high - low, 1.0)
    below = [float(np.where(ranges, ((edge - low) / widths).clip(0, 1), low < edge).sum()) for edge in edges[1:-1]]
    below = [0.0, *below, float(len(low))]
    counts = {"before": np.histogram(before, bins=edges)[0], "released": np.diff(below)}
    return pd.DataFrame(counts, index=edges[:-1] / 2 + edges[1:] / 2)


def _texts(series: pd.Series[Any]) -> NDArray[np.object_]:
    """Texts of values as in a generalized release: integers without a decimal point, dates without a time."""
    codes, distinct = pd.factorize(series.astype(int) if is_bool_dtype(series) else series, use_na_sentinel=False)
    # By numpy: for 0.1 in 32 bits, Python has digits that are not in the file.
    values = distinct if is_datetime64_any_dtype(series) else np.asarray(distinct)
    written = [str(value).removesuffix(" 00:00:00").removesuffix(".0") for value in values]
    return np.array(written, dtype=object)[codes]
