"""What every algorithm is: a clusterer and transformer of scikit-learn that declares :class:`Info` and :class:`Param`.

Its constructor and its docstring are made from what it declares, so that a parameter is written twice: in ``params``,
and as an argument of the hook :meth:`Microaggregator._partition`.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from microagg.algorithms import signatures
from microagg.algorithms.estimator import Estimator, derive_with_sklearn
from microagg.columns.records import Records, class_codes
from microagg.errors import DataError, MicroaggError, ParameterError
from microagg.partition import Partition
from microagg.progress import Cancelled
from microagg.tables.frames import as_pandas, is_table
from microagg.validation import (
    FloatArray,
    IntArray,
    check_dense,
    check_enough_records,
    check_finite,
    check_k,
    is_real,
    nearest_keys,
    numeric_matrix,
    quoted,
)

if TYPE_CHECKING:
    from microagg.kernels.local_search.guarded import Rules


@dataclass(frozen=True)
class Preset:
    """Parameters with which an algorithm is compared under a name of its own."""

    name: str  #: as in the dashboard's addresses
    title: str
    #: A parameter that needs classes starts at this value, and may be changed; the others are what makes the preset.
    params: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Info:
    """The description of an algorithm, which docstrings, the dashboard, tables and tests read."""

    key: str  #: the public name, as in ``microagg.make("mdav-star")``
    title: str  #: the name in the literature
    family: str  #: the heading it stands under in lists
    summary: str  #: one sentence for somebody who does not know it
    year: int  #: of the reference
    reference: str  #: where the algorithm is defined
    sizes: Literal["fixed", "variable"] = "variable"  #: whether all groups but the last few have exactly k records
    complexity: str  #: time, in the number of records n, the group size k and the number of attributes d
    deterministic: bool = True  #: whether two runs on the same data give the same partition without a seed
    note: str = ""  #: what the source leaves open, and what was chosen here
    #: Whether it partitions :class:`~microagg.columns.records.Records`, with ordinal and nominal attributes, which
    #: are compared as Byun, Kamra, Bertino & Li define it, each by a difference from 0 to 1: nothing has to be scaled.
    mixed: bool = False
    #: Whether an algorithm that is ``mixed`` takes an array of numbers as it is, and looks for the least SSE.
    numbers_by_sse: bool = False
    #: Whether groups can be formed by what each must keep of confidential attributes beyond k, see
    #: :meth:`Microaggregator.fit_keeping`; those of other methods can only be merged afterwards.
    keeps_rules: bool = False
    presets: tuple[Preset, ...] = ()  #: by default, one without parameters
    order_of_attributes_matters: bool = False  #: whether the same columns in another order may give other groups
    #: Whether its definition determines every label, so that tests hold it against a second program, its oracle; or
    #: leaves the result to a search, of which tests check properties.
    checked_by: Literal["oracle", "properties"] = "oracle"

    def reads_records(self, numeric: bool) -> bool:
        """Whether the algorithm takes data as Records; ``numeric`` says whether all attributes are numbers."""
        return self.mixed and not (numeric and self.numbers_by_sse)


@dataclass(frozen=True)
class Param:
    """A parameter of an algorithm besides k: the one place for its kind, bounds, default and meaning."""

    name: str  #: the keyword of the constructor
    kind: Literal["float", "int", "bool", "choice", "algorithm"]  #: "algorithm": a key of :func:`starts`
    bounds: tuple[Any, ...]  #: (low, high), inclusive, for numbers, None where open; the values of a choice; or ()
    default: Any
    help: str  #: one sentence for somebody who does not know it
    symbol: str = ""  #: how the literature writes it, such as γ
    grid: tuple[Any, ...] = ()  #: the values among which the literature picks the best one, where it does
    needs_classes: bool = False  #: whether any value but the default needs the class of each record
    #: Of a choice that may also be a number of seconds: the parameter that says the same without a clock.
    counted: str = ""

    @property
    def choices(self) -> tuple[Any, ...]:
        """The admitted values of a choice or an algorithm, () of anything else."""
        if self.kind == "algorithm":
            return tuple(starts())
        return self.bounds if self.kind == "choice" else ()

    def set_to(self, value: Any) -> str:
        """Return a setting as the literature writes it: ``γ = 0.3``."""
        return f"{self.symbol or self.name} = {f'{value:g}' if isinstance(value, float) else value}"

    def described_kind(self) -> str:
        """Return the kind with its bounds, as a docstring has it."""
        if self.kind == "algorithm":
            return "str, the key of another algorithm"
        if self.kind == "choice":
            return f"{{{', '.join(map(repr, self.bounds))}}}{' or float, seconds' if self.counted else ''}"
        low, high = self.bounds or (None, None)
        return self.kind if low is None and high is None else f"{self.kind}, {_interval(low, high)}"

    def check(self, value: Any) -> Any:
        """Check a value and convert it to the kind of the parameter.

        Parameters
        ----------
        value : Any
            Numbers of NumPy count as those of Python.

        Returns
        -------
        int, float, bool or str

        Raises
        ------
        ParameterError
            If it is of another kind or out of bounds; the message names the parameter and its bounds.
        """
        if self.kind == "algorithm":
            return self._check_algorithm(value)
        if self.kind == "choice":
            if value in self.bounds:
                return value
            if self.counted and is_real(value) and 0.0 < value < math.inf:
                return float(value)
            seconds = ", or a number of seconds above 0" if self.counted else ""
            raise ParameterError(
                f"{self.name} must be one of {', '.join(map(repr, self.bounds))}{seconds}, not {value!r}."
            )
        if self.kind == "bool":
            if not isinstance(value, (bool, np.bool_)):
                raise ParameterError(f"{self.name} must be True or False, not {value!r}.")
            return bool(value)
        whole = self.kind == "int"
        right = isinstance(value, (int, np.integer) if whole else (int, float, np.integer, np.floating))
        if not is_real(value) or not right or not math.isfinite(value):
            raise ParameterError(f"{self.name} must be a {'whole ' if whole else 'finite '}number, not {value!r}.")
        low, high = self.bounds or (None, None)
        if (low is not None and value < low) or (high is not None and value > high):
            raise ParameterError(f"{self.name} must be {_interval(low, high)}, not {value!r}.")
        return int(value) if whole else float(value)

    def read(self, text: str) -> Any:
        """Return the value that is written as text, such as in an address, a bool as 1 or 0; see :meth:`check`."""
        readers: dict[str, Callable[[str], Any]] = {"float": float, "int": int, "bool": lambda digit: bool(int(digit))}
        if self.counted and text not in self.bounds:
            readers["choice"] = float
        try:
            return self.check(readers.get(self.kind, str)(text))
        except ParameterError:
            raise
        except ValueError:
            return self.check(text)

    def _check_algorithm(self, value: Any) -> str:
        keys = starts()
        if isinstance(value, str) and value in keys:
            return value
        raise ParameterError(
            f"{self.name} must be the key of an algorithm that is not itself a local search, not {value!r}: "
            f"{nearest_keys(value, keys)}"
        )


def _interval(low: Any, high: Any) -> str:
    if low is None:
        return f"at most {high}"
    if high is None:
        return f"at least {low}"
    return f"between {low} and {high}"


class Microaggregator(Estimator):
    """Base of all algorithms: partitions records into groups of at least ``k`` similar ones.

    A subclass declares ``info`` and ``params`` and implements :meth:`_partition`; its constructor is made from
    ``params``, and its docstring is completed from both. Distances are squared Euclidean on X as given: scaling is the
    caller's business (see :func:`microagg.standardize` and :func:`microagg.microaggregate`). Ties go to the lowest
    record index.

    What :meth:`fit_transform` and :meth:`transform` return is an array, or as ``set_output`` of scikit-learn says a
    DataFrame of pandas or polars.

    Parameters
    ----------
    k : int, default 3
        The minimum number of records in a group.

    Attributes
    ----------
    labels_ : array of int, shape (n,)
        The group of each record, numbered in order of first appearance; read-only.
    partition_ : Partition
        The labels with the groups' sizes and centroids.
    centroids_ : array of float, shape (n_groups, d)
        The mean of each group; not there where records of mixed attributes were partitioned.
    n_features_in_ : int
        The number of attributes.
    """

    info: ClassVar[Info]
    params: ClassVar[tuple[Param, ...]] = ()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "info" not in vars(cls):
            return
        if "__init__" not in vars(cls):
            cls.__init__ = signatures.constructor(cls)  # type: ignore[method-assign]
        cls.__doc__ = signatures.documentation(cls, Microaggregator.__doc__ or "")

    def __init__(self, k: int = 3, **params: Any) -> None:  # with info, replaced by one that names each of the params
        self.k = k

    def fit(self, X: ArrayLike | Records, y: Any = None) -> Self:
        """Partition the records of ``X``.

        Parameters
        ----------
        X : array, DataFrame of pandas or polars, or pyarrow.Table, of numbers, shape (n, d), or Records
            Finite, n >= k. Only an algorithm whose ``info.mixed`` is True takes
            :class:`~microagg.columns.records.Records`.
        y : array, shape (n,), optional
            The class of each record, for parameters that need it; otherwise ignored.

        Raises
        ------
        ParameterError
            If k or another parameter is of the wrong kind or out of bounds, or needs classes and there are none.
        DataError
            If X is neither a 2-D table of finite numbers nor records that the algorithm takes, has fewer than k
            records, or y does not have one class for each.
        """
        return self.fit_keeping(X, None, y)

    def fit_keeping(self, X: ArrayLike | Records, rules: Rules | None, y: Any = None) -> Self:
        """Partition the records of ``X`` as :meth:`fit` does, into groups that keep ``rules`` as far as it is able to.

        They are made by :func:`microagg.kernels.local_search.guarded.make_rules`; only an algorithm whose
        ``info.keeps_rules`` is True takes any.
        """
        k = check_k(self.k)
        parameters = check_params(type(self), {param.name: getattr(self, param.name) for param in self.params})
        as_records = self.info.reads_records(numeric=not isinstance(X, Records))
        data = self._read_records(X) if as_records else self._read_numbers(X)
        check_enough_records(len(data), k, f"X (n_samples={len(data)})")
        if any(param.needs_classes for param in self.params):
            parameters["classes"] = self._read_classes(y, len(data), parameters)
        if rules is not None:
            parameters["rules"] = rules
        self.partition_ = Partition(self._labels_of(data, k, parameters), k)
        if not isinstance(X, Records):
            self.centroids_ = self.partition_.centroids(data.values if isinstance(data, Records) else data)
        else:
            self.__dict__.pop("centroids_", None)  # of an earlier fit
        return self

    @property
    def labels_(self) -> IntArray:  # not stored, as pickling would make it writeable
        """The group of each record, shape (n,), numbered in order of first appearance; read-only."""
        return self.partition_.labels

    @property
    def timed(self) -> list[Param]:
        """The parameters that are a number of seconds, so that the groups depend on the machine."""
        return [param for param in self.params if param.counted and not isinstance(getattr(self, param.name), str)]

    def fit_part(self, X: ArrayLike | Records, rules: Rules | None, y: Any, share: float) -> Partition:
        """Partition a ``share``, 0 to 1, of all records as :meth:`fit_keeping` does, part after part.

        Seconds are those for all parts. After the first part, the iterations that its share of them allowed replace
        them, so that another run gives the same groups.
        """
        timed = self.timed
        for param in timed:
            setattr(self, param.name, share * param.check(getattr(self, param.name)))
        partition = self.fit_keeping(X, rules, y).partition_
        for param in timed:
            setattr(self, param.name, param.default)
            setattr(self, param.counted, getattr(self, f"{param.counted}_"))
        return partition

    def fit_predict(self, X: ArrayLike | Records, y: Any = None) -> IntArray:
        """Partition the records of ``X``, see :meth:`fit`, and return ``labels_``, shape (n,)."""
        return self.fit(X, y).labels_

    def fit_transform(self, X: ArrayLike, y: Any = None) -> FloatArray:
        """Partition the records of ``X`` and return each replaced by the centroid of its group.

        Parameters
        ----------
        X : array, DataFrame of pandas or polars, or pyarrow.Table, of numbers, shape (n, d)
        y : array, shape (n,), optional
            As for :meth:`fit`.

        Returns
        -------
        array of float, shape (n, d)
            In the units of X; at least k records each are the same.

        Raises
        ------
        ParameterError, DataError
            As :meth:`fit`, and if X are Records, which have no centroids.
        """
        if self.info.mixed and isinstance(X, Records):
            raise DataError(_NO_CENTROIDS)
        self.fit(X, y)
        return self.centroids_[self.labels_]

    def transform(self, X: ArrayLike) -> FloatArray:
        """Return the records that were fitted as :meth:`fit_transform` does; others by the centroid nearest to each.

        Others, such as those of a test set, come out as centroids of at least k of the records that were fitted, but
        fewer than k of them may get the same: that is no release, and a warning says so.

        Parameters
        ----------
        X : array, DataFrame of pandas or polars, or pyarrow.Table, of numbers, shape (m, d)

        Returns
        -------
        array of float, shape (m, d)

        Raises
        ------
        DataError
            If X is no table of finite numbers with the columns that were fitted, or these were Records.
        """
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        if isinstance(X, Records) or not hasattr(self, "centroids_"):
            raise DataError(_NO_CENTROIDS)
        from scipy.spatial import KDTree  # which no fit needs

        data = self._read_numbers(X, reset=False)
        # These are the records that were fitted if their groups have the same centroids.
        if len(data) == len(self.labels_) and np.array_equal(self.partition_.centroids(data), self.centroids_):
            return self.centroids_[self.labels_]
        warnings.warn(_NO_RELEASE, stacklevel=3)  # scikit-learn wraps this method
        return self.centroids_[KDTree(self.centroids_).query(data)[1]]

    def _labels_of(self, data: Any, k: int, parameters: dict[str, Any]) -> IntArray:
        try:
            return self._partition(data, k, **parameters)
        except Exception as error:  # whatever somebody else's code raises is told, and takes nothing down
            if not is_own(type(self)) or isinstance(error, MicroaggError | MemoryError | Cancelled):
                raise
            message = f"{self.info.title}, an algorithm of your own, failed: {type(error).__name__}: {error}"
            raise DataError(message) from error

    def _partition(self, X: Any, k: int, *args: Any, **parameters: Any) -> IntArray:
        """Return a group number for each record of ``X``.

        A subclass takes ``X``, a C-ordered float array of finite numbers (:class:`~microagg.columns.records.Records`
        if ``info.mixed``), k, and each of its ``params`` by name. If any of them needs classes, ``classes`` comes too:
        codes 0, 1, … of shape (n,). If ``info.keeps_rules``, ``rules`` come if there are any.
        """
        raise NotImplementedError

    def _read_numbers(self, X: Any, *, reset: bool = True) -> FloatArray:
        if reset and type(X) is np.ndarray and X.ndim == 2 and X.size and X.dtype.kind in "biuf":
            # As scikit-learn validates it, which need not be imported for that.
            names, data = None, np.ascontiguousarray(X, dtype=np.float64)
            self.n_features_in_ = X.shape[1]
            self.__dict__.pop("feature_names_in_", None)
        else:
            names, data = self._validate(X, reset)
        check_finite(data, names)
        # To a kernel a read-only array is another type, for which it would be compiled once more.
        return data if data.flags.writeable else data.copy()

    def _validate(self, X: Any, reset: bool) -> tuple[list[Any] | None, FloatArray]:
        """Return the names of the columns of ``X``, if it has any, and its values."""
        from sklearn.utils.validation import validate_data

        frame = as_pandas(X) if is_table(X) else None
        names = None if frame is None else list(frame.columns)
        check_dense(X)
        if names == []:
            raise DataError("X has no columns: there must be one attribute at least.")
        if len({isinstance(name, str) for name in names or ()}) > 1:
            raise DataError(
                f"some names of columns are text, some not ({quoted(names or [])}): use X.columns.astype(str)."
            )
        table = X if frame is None else pd.DataFrame(numeric_matrix(frame, names), columns=frame.columns)
        try:
            return names, validate_data(self, table, reset=reset, dtype=np.float64, order="C", ensure_all_finite=False)
        except (ValueError, OverflowError) as error:
            # Some of scikit-learn's messages have the whole array.
            message, several, _ = str(error).partition(":\narray=")
            what = "X must be n records by d attributes. Reshape your data: X.reshape(-1, 1) is one attribute."
            raise DataError(f"{message}: {what}" if several else message) from None

    def _read_records(self, X: Any) -> Records:
        if not isinstance(X, Records):
            return Records.of_numbers(self._read_numbers(X))
        check_finite(X.values, [str(attribute.name) for attribute in X.attributes])
        self.n_features_in_ = X.d
        return X

    def _read_classes(self, y: Any, n: int, parameters: Mapping[str, Any]) -> IntArray:
        using = [param.name for param in self.params if param.needs_classes and parameters[param.name] != param.default]
        if not using:
            return np.zeros(n, dtype=np.int64)
        if y is None:
            raise ParameterError(
                f"{using[0]} of {self.info.title} needs the class of each record: pass y (or, to microaggregate, "
                f"classes='column'), or leave {using[0]} at its default."
            )
        return class_codes(y, n)


derive_with_sklearn()

_NO_RELEASE = (
    "these are not the records that were fitted: each gets the nearest centroid, which fewer than k of them may share. "
    "That is no release; to protect records use fit_transform."
)
_NO_CENTROIDS = "records of mixed attributes have no centroids: use microaggregate, or fit and labels_."


def check_params(cls: type[Microaggregator], params: Mapping[str, Any]) -> dict[str, Any]:
    """Check the values of ``params`` for ``cls`` and fill in the defaults.

    Raises
    ------
    ParameterError
        If a name is not a parameter of ``cls``, or a value is outside its bounds.
    """
    declared = {param.name: param for param in cls.params}
    for name in params:
        if name not in declared:
            takes = f"it takes {', '.join(declared)}" if declared else "it takes none besides k"
            raise ParameterError(f"{cls.info.title} has no parameter {name!r}: {takes}.")
    return {name: param.check(params.get(name, param.default)) for name, param in declared.items()}


#: The family of algorithms that improve the groups of others.
LOCAL_SEARCH = "Local search"

#: Every algorithm by its key, family by family; :mod:`microagg.algorithms` puts them here, whichever is imported first.
REGISTERED: dict[str, type[Microaggregator]] = {}


def is_own(cls: type[Microaggregator]) -> bool:
    """Return whether an algorithm is one's own, not one of the package."""
    return not cls.__module__.startswith("microagg.algorithms.")


def starts() -> Mapping[str, type[Microaggregator]]:
    """Return the algorithms whose groups another may improve, by their keys: all that do not themselves do so."""
    return {key: cls for key, cls in REGISTERED.items() if cls.info.family != LOCAL_SEARCH}


def start_labels(key: str, X: FloatArray | Records, k: int, rules: Rules | None = None) -> IntArray:
    """Return the labels that the algorithm ``key`` of :func:`starts` gives ``X``, at its default parameters."""
    return starts()[key](k).fit_keeping(X, rules).labels_
