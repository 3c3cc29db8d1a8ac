"""What every algorithm is: a scikit-learn clusterer that declares its :class:`Info` and its :class:`Param` s."""

from __future__ import annotations

import difflib
import importlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import validate_data

from microagg.errors import DataError, ParameterError
from microagg.partition import Partition
from microagg.records import Records, class_codes
from microagg.validation import (
    FloatArray,
    IntArray,
    check_enough_records,
    check_finite,
    check_k,
    numeric_matrix,
)


@dataclass(frozen=True, kw_only=True)
class Info:
    """What is to be said about an algorithm; validation, the dashboard and the README's table read it.

    Attributes
    ----------
    key : str
        The public name, as in ``microagg.make("mdav-star")``.
    title : str
        The name in the literature.
    family : str
        The heading it stands under in lists.
    summary : str
        One sentence for somebody who does not know it.
    year : int
        The year of the reference.
    reference : str
        Where the algorithm is defined.
    sizes : {"fixed", "variable"}
        Whether all groups but the last few have exactly k records.
    complexity : str
        Time, in the number of records n, the group size k and the number of attributes d.
    deterministic : bool
        Whether two runs on the same data give the same partition without a seed.
    note : str
        What the source leaves open, and what was chosen here.
    mixed : bool
        Whether it works on ordinal and nominal attributes too, see :class:`MixedMicroaggregator`.
    """

    key: str
    title: str
    family: str
    summary: str
    year: int
    reference: str
    sizes: Literal["fixed", "variable"]
    complexity: str
    deterministic: bool = True
    note: str = ""
    mixed: bool = False


@dataclass(frozen=True)
class Param:
    """A parameter of an algorithm besides k: the one place for its kind, bounds, default and meaning.

    Attributes
    ----------
    name : str
        The keyword of the constructor.
    kind : {"float", "int", "bool", "choice", "algorithm"}
        The value of the kind "algorithm" is the key of another algorithm, see :func:`starts`.
    bounds : tuple
        (low, high), inclusive, for numbers, None where open; the admitted values for a choice; () otherwise.
    default : object
    help : str
        One sentence for somebody who does not know it.
    symbol : str
        How the literature writes it, such as γ.
    grid : tuple
        The values among which the literature picks the best one, where it does.
    needs_classes : bool
        Whether any value but the default takes the class of each record to be known.
    """

    name: str
    kind: Literal["float", "int", "bool", "choice", "algorithm"]
    bounds: tuple[Any, ...]
    default: Any
    help: str
    symbol: str = ""
    grid: tuple[Any, ...] = ()
    needs_classes: bool = False

    @property
    def choices(self) -> tuple[Any, ...]:
        """The admitted values of a choice or an algorithm, () of anything else."""
        if self.kind == "algorithm":
            return tuple(starts())
        return self.bounds if self.kind == "choice" else ()

    def check(self, value: Any) -> Any:
        """Return ``value`` in its own kind, or raise :class:`ParameterError` naming the parameter and its bounds."""
        if self.kind == "algorithm":
            return self._check_algorithm(value)
        if self.kind == "choice":
            if value not in self.bounds:
                raise ParameterError(f"{self.name} must be one of {', '.join(map(repr, self.bounds))}, not {value!r}.")
            return value
        if self.kind == "bool":
            if not isinstance(value, (bool, np.bool_)):
                raise ParameterError(f"{self.name} must be True or False, not {value!r}.")
            return bool(value)
        whole = self.kind == "int"
        right = isinstance(value, (int, np.integer) if whole else (int, float, np.integer, np.floating))
        if isinstance(value, (bool, np.bool_)) or not right or not math.isfinite(value):
            raise ParameterError(f"{self.name} must be a {'whole ' if whole else 'finite '}number, not {value!r}.")
        low, high = self.bounds
        if (low is not None and value < low) or (high is not None and value > high):
            raise ParameterError(f"{self.name} must be {_interval(low, high)}, not {value!r}.")
        return int(value) if whole else float(value)

    def _check_algorithm(self, value: Any) -> str:
        known = starts()
        if isinstance(value, str) and value in known:
            return value
        near = difflib.get_close_matches(str(value), known, n=3, cutoff=0.4)
        hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(known)}."
        raise ParameterError(
            f"{self.name} must be the key of an algorithm that is not itself a local search, not {value!r}: {hint}"
        )


def _interval(low: Any, high: Any) -> str:
    if low is None:
        return f"at most {high}"
    if high is None:
        return f"at least {low}"
    return f"between {low} and {high}"


class Microaggregator(ClusterMixin, BaseEstimator):
    """Base of all algorithms: partitions records into groups of at least ``k`` similar ones.

    A subclass declares ``info`` and ``params``, assigns its parameters in ``__init__`` and implements
    :meth:`_partition`. Distances are squared Euclidean on X as given: scaling is the caller's business
    (see :func:`microagg.standardize` and :func:`microagg.microaggregate`). Ties go to the lowest record index.

    Parameters
    ----------
    k : int, default 3
        The minimum number of records in a group.

    Attributes
    ----------
    labels_ : array of int, shape (n,)
        The group of each record, numbered in order of first appearance; read-only.
    partition_ : Partition
    n_features_in_ : int
    """

    info: ClassVar[Info]
    params: ClassVar[tuple[Param, ...]] = ()

    def __init__(self, k: int = 3) -> None:
        self.k = k

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Partition the records of ``X`` (shape (n, d), finite numbers, n >= k); ``y`` is ignored.

        Raises
        ------
        ParameterError
            If k or another parameter is of the wrong kind or out of bounds.
        DataError
            If X is not a 2-D table of finite numbers, or has fewer than k records.
        """
        k = check_k(self.k)
        parameters = check_params(type(self), {param.name: getattr(self, param.name) for param in self.params})
        data = self._validated(X)
        check_enough_records(len(data), k, "X")
        self.partition_ = Partition(self._partition(data, k, **parameters), k)
        self.labels_ = self.partition_.labels
        return self

    def fit_transform(self, X: ArrayLike, y: object = None) -> FloatArray:
        """Partition the records of ``X`` and return each replaced by its group's centroid, shape (n, d)."""
        partition = self.fit(X).partition_
        return partition.centroids(X)[partition.labels]

    def _partition(self, X: FloatArray, k: int, **parameters: Any) -> IntArray:
        """Return a group number for each record of ``X``, a C-ordered float array of finite numbers."""
        raise NotImplementedError

    def _validated(self, X: Any) -> FloatArray:
        names = list(X.columns) if hasattr(X, "columns") and hasattr(X, "dtypes") else None
        if names is not None:
            numeric_matrix(X, names)  # names the column that is not numeric, which the check below would not
        try:
            data = validate_data(self, X, dtype=np.float64, order="C", ensure_all_finite=False)
        except ValueError as error:
            raise DataError(str(error)) from None
        check_finite(data, names)
        # To a kernel a read-only array is another type, for which it would be compiled once more.
        return data if data.flags.writeable else data.copy()


class MixedMicroaggregator(Microaggregator):
    """Base of the algorithms that work on numeric, ordinal and nominal attributes together.

    Attributes are compared as Byun, Kamra, Bertino & Li define it, each by a difference between 0 and 1, so nothing
    has to be scaled. A subclass implements :meth:`_partition_records`.
    """

    def fit(self, X: ArrayLike | Records, y: Any = None) -> Self:
        """Partition the records of ``X``: :class:`~microagg.records.Records`, or numbers of shape (n, d).

        ``y``, shape (n,), is the class of each record, for parameters that heed it; otherwise it is ignored.

        Raises
        ------
        ParameterError
            If k or another parameter is of the wrong kind or out of bounds, or heeds classes and there are none.
        DataError
            If X is neither records nor a 2-D table of finite numbers, has fewer than k records, or y does not have one
            class for each.
        """
        k = check_k(self.k)
        parameters = check_params(type(self), {param.name: getattr(self, param.name) for param in self.params})
        if isinstance(X, Records):
            check_finite(X.values, [str(attribute.name) for attribute in X.attributes])
            records = X
            self.n_features_in_ = X.d
        else:
            records = Records.of_numbers(self._validated(X))
        check_enough_records(len(records), k, "X")
        classes = np.zeros(len(records), dtype=np.int64)
        heeded = [
            param.name for param in self.params if param.needs_classes and parameters[param.name] != param.default
        ]
        if heeded:
            if y is None:
                raise ParameterError(
                    f"{heeded[0]} of {self.info.title} needs the class of each record: pass y (or, to microaggregate, "
                    f"classes='column'), or leave {heeded[0]} at its default."
                )
            classes = class_codes(y, len(records))
        self.partition_ = Partition(self._partition_records(records, k, classes, **parameters), k)
        self.labels_ = self.partition_.labels
        return self

    def fit_predict(self, X: ArrayLike | Records, y: Any = None, **_: Any) -> IntArray:
        """Partition the records of ``X`` and return the group of each; see :meth:`fit`."""
        return self.fit(X, y).labels_

    def fit_transform(self, X: ArrayLike, y: Any = None) -> FloatArray:
        """Partition the records of ``X``, numbers of shape (n, d), and return each replaced by its group's centroid."""
        if isinstance(X, Records):
            raise DataError("records of mixed attributes have no centroids: use microaggregate, or fit and labels_.")
        partition = self.fit(X, y).partition_
        return partition.centroids(X)[partition.labels]

    def _partition_records(self, records: Records, k: int, classes: IntArray, **parameters: Any) -> IntArray:
        """Return a group number for each of ``records``; ``classes`` are codes 0, 1, … of shape (n,)."""
        raise NotImplementedError


def check_params(cls: type[Microaggregator], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of ``cls`` with ``given`` values checked and defaults filled in.

    Raises
    ------
    ParameterError
        If a name is not a parameter of ``cls``, or a value is out of its bounds.
    """
    known = {param.name: param for param in cls.params}
    for name in given:
        if name not in known:
            takes = f"it takes {', '.join(known)}" if known else "it takes none besides k"
            raise ParameterError(f"{cls.info.title} has no parameter {name!r}: {takes}.")
    return {name: param.check(given.get(name, param.default)) for name, param in known.items()}


# What :func:`starts` returns; :mod:`microagg.registry` fills it once it has found all algorithms.
_STARTS: dict[str, type[Microaggregator]] = {}


def register_starts(algorithms: Mapping[str, type[Microaggregator]]) -> None:
    """Let the partitions of those of ``algorithms`` be improved that do not themselves improve another's partition."""
    _STARTS.clear()
    _STARTS.update(
        (key, cls) for key, cls in algorithms.items() if all(param.kind != "algorithm" for param in cls.params)
    )


def starts() -> Mapping[str, type[Microaggregator]]:
    """Return the algorithms whose partitions another algorithm may improve, by their keys."""
    if not _STARTS:
        # Algorithms do not know the registry. But one that was unpickled, or imported by itself, comes without it.
        importlib.import_module("microagg.registry")
    return _STARTS


def start_labels(key: str, X: FloatArray, k: int) -> IntArray:
    """Return the labels that the algorithm ``key`` of :func:`starts` gives ``X``, at its default parameters."""
    return starts()[key](k).fit(X).labels_
