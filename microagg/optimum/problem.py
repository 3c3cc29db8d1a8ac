"""Data to partition, numbers or records of mixed attributes, and measures of their partitions.

Groups stay within strata. Measures are those of all records together.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from microagg.algorithms.base import Info, Microaggregator
from microagg.algorithms.method import Method
from microagg.algorithms.registry import ALGORITHMS, algorithm
from microagg.columns.records import Records, class_codes
from microagg.errors import DataError, ParameterError
from microagg.kernels.local_search import iterated, mixed_search
from microagg.metrics import generalization, loss
from microagg.optimum.nearest_neighbors import Bound, nearest_mixed_neighbor_curve, nearest_neighbor_curve
from microagg.partition import Partition, join_strata
from microagg.validation import MOST_NAMED, IntArray, check_enough_records, check_finite, check_k, check_matrix, listing


@dataclass(frozen=True, eq=False)
class Problem:
    """Data to partition, and measures of their partitions, created by :meth:`of`.

    Attributes
    ----------
    data : array of float, shape (n, d), or Records
    classes : array of int, shape (n,), or None
        The class of each record, numbered from 0.
    parts : tuple of array of int, or None
        The positions of each stratum's records, ascending, strata in order of first appearance; no group reaches
        across strata. None where all records may form groups.
    """

    data: Any
    classes: IntArray | None
    parts: tuple[IntArray, ...] | None

    @property
    def mixed(self) -> bool:
        """Whether the data are records of mixed attributes, whose loss is Total-IL, and not numbers."""
        return isinstance(self.data, Records)

    @staticmethod
    def of(data: ArrayLike | Records, classes: ArrayLike | None = None, *, strata: ArrayLike | None = None) -> Problem:
        """Return the problem of partitioning ``data``: numbers, shape (n, d), or records of mixed attributes.

        ``classes``, shape (n,), are those of mixed records; ``strata``, shape (n,), are the number of each record's
        stratum, at least 0.

        Raises
        ------
        DataError
            If the data hold anything but finite numbers, or there is not one class or stratum for each record.
        ParameterError
            If classes are given with an array.
        """
        if isinstance(data, Records):
            check_finite(data.values, [str(attribute.name) for attribute in data.attributes])
            codes = None if classes is None else class_codes(classes, len(data))
            return Problem(data, codes, _parts(strata, len(data)))
        if classes is not None:
            raise ParameterError("classes are for records of mixed attributes: leave them out, or pass Records.")
        X = check_matrix(data)
        check_finite(X)
        return Problem(X, None, _parts(strata, len(X)))

    def check_sizes(self, k: int) -> None:
        """Raise :class:`DataError` if there are fewer than ``k`` records, in all or in a stratum."""
        check_enough_records(len(self.data), k, "X")
        sizes = [len(rows) for rows in self.parts or ()]
        small = [size for size in sizes if size < k]
        if small:
            have = "has" if len(small) == 1 else "have"
            raise DataError(
                f"{len(small):,} of {len(sizes):,} strata {have} fewer than k={k} records "
                f"(the smallest has {min(small)}): choose k of at most {min(small)}, or combine strata."
            )

    def partition(self, estimator: Microaggregator) -> Partition:
        """Return the groups that ``estimator`` forms, within each stratum if there are any."""
        if self.parts is None:
            return estimator.fit(self.data, self.classes).partition_
        from sklearn.base import clone

        k, unfitted, partitions = check_k(estimator.k), clone(estimator), []
        for rows in sorted(self.parts, key=len, reverse=True):
            classes = None if self.classes is None else self.classes[rows]
            part, share = self.part(rows, estimator.info), len(rows) / len(self.data)
            partitions.append((rows, unfitted.fit_part(part, None, classes, share)))
        return join_strata(partitions, k)

    def fits(self, method: Method) -> None:
        """Raise :class:`ParameterError`, with :meth:`why_not`, if a method does not work on these data."""
        if reason := self.why_not(method):
            raise ParameterError(reason)

    def part(self, rows: IntArray, info: Info) -> Any:
        """Records at the positions ``rows``, as the algorithm that ``info`` describes takes them.

        Mixed records are compared by the domains of all records, whatever their stratum.
        """
        if self.mixed:
            return self.data.take(rows)
        return self._records.take(rows) if info.reads_records(numeric=True) else self.data[rows]

    @cached_property
    def _records(self) -> Records:
        """Numbers as records."""
        return Records.of_numbers(self.data)

    def polish(self, partition: Partition) -> Partition:
        """Return ``partition`` improved by local search, within each stratum if there are any."""
        k, labels = partition.k, partition.labels
        improved = []
        for rows in self.parts or (np.arange(len(labels)),):
            if self.mixed:
                part_labels = mixed_search.improve(self.data.take(rows), labels[rows], k)
            else:
                part_labels = iterated.improve(self.data[rows], labels[rows], k)
            improved.append((rows, Partition(part_labels, k)))
        return join_strata(improved, k)

    def why_not(self, method: Method) -> str:
        """Describe in one sentence why ``method`` does not work on these data, or return an empty text."""
        cls = algorithm(method.key)
        if self.mixed and not cls.info.mixed:
            titles = [other.info.title for other in ALGORITHMS.values() if other.info.mixed]
            return (
                f"{cls.info.title} works on arrays of numbers, not on records of mixed attributes: "
                f"choose one of {listing(titles, MOST_NAMED)}."
            )
        for param in cls.params if self.classes is None else ():
            if param.needs_classes and any(setting[param.name] != param.default for setting in method.settings()):
                instead = "pass classes" if self.mixed else "pass Records and classes"
                return (
                    f"{param.name} of {cls.info.title} needs the class of each record: {instead}, or leave "
                    f"{param.name} at its default."
                )
        return ""

    def floor(self, ks: Iterable[int]) -> list[Bound]:
        """Return a lower bound on the SSE, or on Total-IL of mixed records, for each k, within the strata.

        It is the nearest-neighbor bound, see :mod:`microagg.optimum.nearest_neighbors`.

        Raises
        ------
        DataError
            If there are fewer than k records, in all or in a stratum.
        ParameterError
            If a k is not a whole number of at least 1.
        Cancelled
            If the run is watched, see :mod:`microagg.progress`, and cancelled.
        """
        checked_ks = [check_k(k) for k in ks]
        self.check_sizes(max(checked_ks, default=1))
        curve = nearest_mixed_neighbor_curve if self.mixed else nearest_neighbor_curve
        return curve(self.data, checked_ks, strata=self.parts)

    def value(self, partition: Partition) -> float:
        """Return the SSE of ``partition`` in squared units of the data, or Total-IL of mixed records."""
        measure = generalization.total_information_loss if self.mixed else loss.sse
        return measure(self.data, partition.labels)

    def row(self, partition: Partition, unpolished: Partition) -> dict[str, Any]:
        """Return all measures of ``partition``, which may be the polished form of ``unpolished``."""
        if self.mixed:
            summary = generalization.summary(self.data, partition.labels, partition.k, self.classes)
            return {"n_records": len(partition), **vars(summary)}
        sse = self.value(partition)
        before = sse if unpolished is partition else self.value(unpolished)
        return {
            "information_loss": loss.percent(sse, self._sst),
            "unpolished": loss.percent(before, self._sst),
            "sse": sse,
        }

    @cached_property
    def _sst(self) -> float:
        return loss.sst(self.data)


def _parts(strata: ArrayLike | None, n: int) -> tuple[IntArray, ...] | None:
    """Return the positions of the records of each stratum, in order of first appearance."""
    if strata is None:
        return None
    codes = np.asarray(strata)
    if codes.shape != (n,):
        raise DataError(f"there must be one stratum for each of {n} records, not strata of shape {codes.shape}.")
    if not np.issubdtype(codes.dtype, np.integer):
        raise DataError(f"strata must be whole numbers, not {codes.dtype}: pandas.factorize makes them of anything.")
    if codes.min(initial=0) < 0:
        raise DataError(f"record {int(np.argmax(codes < 0))} (counting from 0) belongs to no stratum: fill it in.")
    return tuple(Partition(codes, 1).groups()) if n else ()
