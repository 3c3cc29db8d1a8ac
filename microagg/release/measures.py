"""What numeric quasi-identifiers lose by being replaced, and what of their moments is kept."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from microagg import optimum
from microagg.columns.scaling import centered
from microagg.metrics import loss
from microagg.metrics.utility.correlations import correlation_changes, means_and_deviations
from microagg.partition import Partition
from microagg.release.source import Numbers
from microagg.release.strata import Part
from microagg.validation import FloatArray


@dataclass(frozen=True)
class Loss:
    """What the release lost, measured on the scaled numeric quasi-identifiers with the values actually released.

    SSE = Σ ‖x − x′‖² over the records, x′ being what replaces x; SST = Σ ‖x − x̄‖²; IL = 100 · SSE / SST, in percent,
    and 0 where the SST is 0. Group means have the least SSE of all values for the groups of a partition; group medians
    and rounded means lose a little more (and in extreme data more than 100 %).

    Where the records have weights w, SSE = Σ w ‖x − x′‖² and SST = Σ w ‖x − x̄‖², x̄ being the weighted mean Σ w x / Σ w.
    The scale is set without the weights.

    Attributes
    ----------
    sse, sst : float
        Squared units of the scaled data.
    information_loss : float
        IL in percent.
    lower_bound : float or None
        No partition into groups of at least k (within the strata) has a lower IL, in percent, however it was found;
        the nearest-neighbor bound, see :func:`microagg.optimum.bounds.nearest_neighbor`, or of a benchmark the stored
        one where that is higher, see :func:`microagg.studies.landscape.between`. It holds for records that count once:
        None where they have weights.
    attributes : dict
        IL in percent of each numeric quasi-identifier by itself.
    """

    sse: float
    sst: float
    information_loss: float
    lower_bound: float | None
    attributes: dict[Hashable, float]

    @property
    def gap(self) -> float | None:
        """How far above the optimum the loss is at most, as a share of ``lower_bound``; infinity where that is 0.

        None where there is no bound.
        """
        return None if self.lower_bound is None else optimum.gap(self.information_loss, self.lower_bound)

    @classmethod
    def of(
        cls,
        numbers: Numbers,
        replaced: FloatArray,
        partition: Partition,
        statistic: str,
        strata: Sequence[Part],
        rounding: str = "none",
    ) -> Self:
        """Return the loss of replacing ``numbers.X`` by ``replaced``, shape (n, d), by groups within ``strata``."""
        Z, weights = numbers.Z, numbers.weights
        lost = _summed(np.square(Z - numbers.scaling.transform(replaced)), weights)
        spread = _summed(np.square(centered(Z, weights)[2]), weights)
        sse, sst, least = float(lost.sum()), float(spread.sum()), None
        if weights is None:
            from microagg.studies import landscape  # with all algorithms, which whoever reads a recipe does not need

            sst = loss.sst(Z)
            parts = [rows for rows, _ in strata]
            least = optimum.bounds.nearest_neighbor(Z, partition.k, strata=parts).information_loss
            if known := landscape.recognize(numbers.X, numbers.scaling.method):
                least = max(least, landscape.between(*known, [partition.k])[partition.k][1])
        # With means the IL is at most 100 %, which rounding errors must not exceed; with other values, means of dates
        # rounded to whole days or years among them, it can be more.
        exact = statistic == "mean" and rounding == "none" and not any(numbers.units)
        percent = loss.percent if exact else _percent
        return cls(
            sse=sse,
            sst=sst,
            information_loss=percent(sse, sst),
            lower_bound=least,
            attributes={name: percent(float(lost[j]), float(spread[j])) for j, name in enumerate(numbers.names)},
        )


@dataclass(frozen=True)
class AttributeUtility:
    """What became of one numeric quasi-identifier, in its own units; of dates in days since 1970-01-01.

    Attributes
    ----------
    name : hashable
    mean_before, mean_after : float
    sd_before, sd_after : float
        Standard deviation of the population (divided by n, or by the sum of the weights).
    correlation_change : float or None
        The largest absolute change of its correlation with another one; None where there is no other, or no
        correlation is defined both before and after.
    """

    name: Hashable
    mean_before: float
    mean_after: float
    sd_before: float
    sd_after: float
    correlation_change: float | None


@dataclass(frozen=True)
class Utility:
    """What analyses of the numeric quasi-identifiers will find changed; weighted where the records have weights.

    Attributes
    ----------
    attributes : tuple of AttributeUtility
        In the order of the numeric quasi-identifiers.
    correlation_change : float or None
        The largest absolute change of a correlation of two quasi-identifiers.
    correlation_pair : tuple or None
        The two that it concerns.
    """

    attributes: tuple[AttributeUtility, ...]
    correlation_change: float | None
    correlation_pair: tuple[Hashable, Hashable] | None

    @classmethod
    def of(cls, numbers: Numbers, replaced: FloatArray) -> Self:
        """Return what replacing ``numbers.X`` by ``replaced``, shape (n, d), changes."""
        names = numbers.names
        weights = numbers.weights
        mean, sd, _ = means_and_deviations(numbers.X, weights)
        mean_after, sd_after, _ = means_and_deviations(replaced, weights)
        changes = correlation_changes(numbers.X, replaced, weights)
        return cls(
            attributes=tuple(
                AttributeUtility(
                    name=name,
                    mean_before=float(mean[j]),
                    mean_after=float(mean_after[j]),
                    sd_before=float(sd[j]),
                    sd_after=float(sd_after[j]),
                    correlation_change=None if np.isnan(changes.attributes[j]) else float(changes.attributes[j]),
                )
                for j, name in enumerate(names)
            ),
            correlation_change=changes.largest,
            correlation_pair=None if changes.pair is None else (names[changes.pair[0]], names[changes.pair[1]]),
        )


def _percent(part: float, whole: float) -> float:
    return 100.0 * part / whole if whole > 0.0 else 0.0


def _summed(squares: FloatArray, weights: FloatArray | None) -> FloatArray:
    """Return the sum of each column."""
    return squares.sum(axis=0) if weights is None else (squares * weights[:, np.newaxis]).sum(axis=0)
