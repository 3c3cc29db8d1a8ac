"""Data to partition, numbers or records of mixed attributes, and measures of their partitions.

Groups stay within strata. Measures are those of all records together.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from microagg.algorithms.base import Info, Microaggregator
from microagg.algorithms.method import Method
from microagg.algorithms.registry import ALGORITHMS, algorithm
from microagg.columns.records import Records, class_codes
from microagg.errors import DataError, ParameterError
from microagg.kernels.local_search import iterated, mixed_search
from microagg.metrics import generalization, loss
from microagg.optimum.nearest_neighbors import Bound, nearest_mixed_neighbor_curve, nearest_neighbor_curve
from microagg.partition import Partition, join_strata
from microagg.validation import (
    MOST_NAMED,
    FloatArray,
    IntArray,
    check_enough_records,
    check_finite,
    check_k,
    check_matrix,
    listing,
)


@dataclass(frozen=True, eq=False)
class Problem(ABC):
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

    _nearest_neighbors: ClassVar[Callable[..., list[Bound]]]

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
            return _MixedProblem(data, codes, _parts(strata, len(data)))
        if classes is not None:
            raise ParameterError("classes are for records of mixed attributes: leave them out, or pass Records.")
        X = check_matrix(data)
        check_finite(X)
        return _NumericProblem(X, None, _parts(strata, len(X)))

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

    @abstractmethod
    def part(self, rows: IntArray, info: Info) -> Any:
        """Records at the positions ``rows``, as the algorithm that ``info`` describes takes them.

        Mixed records are compared by the domains of all records, whatever their stratum.
        """

    def polish(self, partition: Partition) -> Partition:
        """Return ``partition`` improved by local search, within each stratum if there are any."""
        k, labels = partition.k, partition.labels
        parts = (np.arange(len(labels)),) if self.parts is None else self.parts
        return join_strata([(rows, Partition(self.improved(rows, labels[rows], k), k)) for rows in parts], k)

    @abstractmethod
    def improved(self, rows: IntArray, labels: IntArray, k: int) -> IntArray:
        """Return the labels of the records at the positions ``rows``, of whole groups, after local search."""

    @abstractmethod
    def why_not(self, method: Method) -> str:
        """Describe in one sentence why ``method`` does not work on these data, or return an empty text."""

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
        return self._nearest_neighbors(self.data, checked_ks, strata=self.parts)

    @abstractmethod
    def value(self, partition: Partition) -> float:
        """Return the loss of ``partition``, by which the best of several settings is chosen."""

    @abstractmethod
    def row(self, partition: Partition, unpolished: Partition) -> dict[str, Any]:
        """Return all measures of ``partition``, which may be the polished form of ``unpolished``."""


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


def _missing_classes(method: Method, instead: str) -> str:
    """Describe why ``method`` needs classes, and the alternative ``instead``, or return an empty text."""
    cls = algorithm(method.key)
    for param in cls.params:
        if param.needs_classes and any(setting[param.name] != param.default for setting in method.settings()):
            return (
                f"{param.name} of {cls.info.title} needs the class of each record: {instead}, or leave {param.name} at "
                "its default."
            )
    return ""


class _NumericProblem(Problem):
    """Numbers, whose loss is the SSE, in squared units of the data."""

    data: FloatArray
    _nearest_neighbors = staticmethod(nearest_neighbor_curve)

    @cached_property
    def _sst(self) -> float:
        return loss.sst(self.data)

    @cached_property
    def _records(self) -> Records:
        return Records.of_numbers(self.data)

    def part(self, rows: IntArray, info: Info) -> FloatArray | Records:
        return self._records.take(rows) if info.reads_records(numeric=True) else self.data[rows]

    def improved(self, rows: IntArray, labels: IntArray, k: int) -> IntArray:
        return iterated.improve(self.data[rows], labels, k)

    def why_not(self, method: Method) -> str:
        return _missing_classes(method, "pass Records and classes")

    def value(self, partition: Partition) -> float:
        return loss.sse(self.data, partition.labels)

    def row(self, partition: Partition, unpolished: Partition) -> dict[str, Any]:
        sse = self.value(partition)
        before = sse if unpolished is partition else self.value(unpolished)
        return {
            "information_loss": loss.percent(sse, self._sst),
            "unpolished": loss.percent(before, self._sst),
            "sse": sse,
        }


class _MixedProblem(Problem):
    """Records of mixed attributes, whose loss is Total-IL."""

    data: Records
    _nearest_neighbors = staticmethod(nearest_mixed_neighbor_curve)

    def part(self, rows: IntArray, info: Info) -> Records:
        return self.data.take(rows)

    def improved(self, rows: IntArray, labels: IntArray, k: int) -> IntArray:
        return mixed_search.improve(self.data.take(rows), labels, k)

    def why_not(self, method: Method) -> str:
        info = algorithm(method.key).info
        if not info.mixed:
            titles = [other.info.title for other in ALGORITHMS.values() if other.info.mixed]
            return (
                f"{info.title} works on arrays of numbers, not on records of mixed attributes: "
                f"choose one of {listing(titles, MOST_NAMED)}."
            )
        return _missing_classes(method, "pass classes") if self.classes is None else ""

    def value(self, partition: Partition) -> float:
        return generalization.total_information_loss(self.data, partition.labels)

    def row(self, partition: Partition, unpolished: Partition) -> dict[str, Any]:
        summary = generalization.summary(self.data, partition.labels, partition.k, self.classes)
        return {"n_records": len(partition), **vars(summary)}
