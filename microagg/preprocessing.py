"""What comes before a partition: the roles of a file's columns, and the scales of its attributes.

Distances, and with them information loss, depend on how the attributes are scaled against each other. The scales here
are linear, attribute by attribute, so the mean (or median) of a group is the same whether taken before or after; a
release is therefore computed on the raw values, and nothing has to be scaled back.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from pandas.api.types import is_bool_dtype, is_complex_dtype, is_numeric_dtype

from microagg.errors import ConstantColumnWarning, DataError, ParameterError
from microagg.records import Attribute, Records
from microagg.taxonomy import Taxonomy, category
from microagg.validation import (
    FloatArray,
    check_columns,
    check_finite,
    check_matrix,
    check_unique_columns,
    listing,
    numeric_matrix,
)

#: How attributes can be scaled: mean 0 and variance 1, to the interval from 0 to 1, or not at all.
SCALES = ("zscore", "minmax", "none")

#: What can be done about records with a missing quasi-identifier.
MISSING = ("error", "drop")

_EFFECTS = {
    "zscore": (
        "Every attribute gets mean 0 and variance 1, so all weigh the same in distances and in IL, as in the published "
        "benchmarks; an attribute with a few extreme values has its other values drawn close together."
    ),
    "minmax": (
        "Every attribute is stretched to the interval from 0 to 1, so IL counts most the attributes that spread evenly "
        "over their range, and hardly those whose range is set by a few extreme values."
    ),
    "none": (
        "Attributes keep their units: the one with the largest spread dominates distances and IL, so IL is often far "
        "lower than on scaled data and cannot be compared with it."
    ),
}

# The square of a smaller range underflows, and distances would silently be 0.
_SMALLEST_RANGE = 1e-140


def check_choice(name: str, value: Any, choices: Sequence[str]) -> str:
    """Return ``value``, or raise :class:`ParameterError` naming the parameter and its ``choices``."""
    if not isinstance(value, str) or value not in choices:
        raise ParameterError(f"{name} must be one of {', '.join(map(repr, choices))}, not {value!r}.")
    return value


def scale_effect(method: str) -> str:
    """Return one plain sentence on what a scale (one of :data:`SCALES`) does to distances and information loss.

    Raises
    ------
    ParameterError
        If there is no such scale.
    """
    return _EFFECTS[check_choice("scale", method, SCALES)]


def centered(X: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return each column's minimum, its mean above that minimum, and the deviations from the mean.

    Parameters
    ----------
    X : array, shape (n, d), finite, n >= 1

    Returns
    -------
    low : array, shape (d,)
    center : array, shape (d,)
        The mean is ``low + center``; kept apart they are exact where their sum is not (a large common offset).
    deviations : array, shape (n, d)
    """
    low = X.min(axis=0)
    deviations = X - low
    # Column by column numpy adds pairwise, which over a row-major table it does not.
    center = np.array([np.ascontiguousarray(column).mean() for column in deviations.T])
    deviations -= center
    return low, center, deviations


@dataclass(frozen=True, eq=False)
class Scaling:
    """A linear scale fitted to a table; applied to other values in the same units by :meth:`transform`.

    Attributes
    ----------
    method : str
        One of :data:`SCALES`.
    low, center, spread : array, shape (d,)
        A value x becomes ((x − low) − center) / spread; the subtractions stay apart because their sum would be
        rounded to the precision of a large common offset. With the method "none" nothing is done.
    constant : tuple of int
        The columns that hold one value only (their maximum is their minimum, exactly): these become 0, except with
        "none".
    """

    method: str
    low: FloatArray
    center: FloatArray
    spread: FloatArray
    constant: tuple[int, ...]

    @classmethod
    def fit(cls, X: FloatArray, method: str, names: Sequence[Any] | None = None) -> Self:
        """Fit the scale ``method`` to ``X``, shape (n, d), whose columns are called ``names``.

        Raises
        ------
        ParameterError
            If there is no such scale.
        DataError
            If X has no records, values that are not finite, or a column of a range too small to be squared.
        """
        check_choice("scale", method, SCALES)
        if len(X) == 0:
            raise DataError("there are no records to scale.")
        check_finite(X, names)
        low, center, deviations = centered(X)
        extent = X.max(axis=0) - low
        constant = extent == 0.0
        if (tiny := ~constant & (extent < _SMALLEST_RANGE)).any():
            j = int(np.flatnonzero(tiny)[0])
            raise DataError(f"{_called(j, names)} has a range of {extent[j]:g}: its square is 0; use smaller units.")
        if method == "zscore":
            spread = np.sqrt([np.square(np.ascontiguousarray(column)).mean() for column in deviations.T])
        else:
            center, spread = np.zeros_like(low), extent
        columns = tuple(int(j) for j in np.flatnonzero(constant))
        return cls(method, low, center, spread, columns)

    def transform(self, X: FloatArray) -> FloatArray:
        """Return ``X`` (shape (m, d), the units it was fitted in) on the scale, as a new array."""
        if self.method == "none":
            return np.array(X, dtype=np.float64, order="C")
        constant = list(self.constant)
        spread = self.spread.copy()
        spread[constant] = 1.0
        scaled = X - self.low
        scaled -= self.center
        scaled /= spread
        # Rounding leaves the mean of equal values a little off them.
        scaled[:, constant] = 0.0
        return np.ascontiguousarray(scaled)


def standardize(X: ArrayLike | pd.DataFrame) -> FloatArray:
    """Return ``X`` with mean 0 and variance 1 in every column.

    The variance is the population's (divided by n), as in the literature's benchmarks. Columns that hold one value
    only become 0. A common offset, however large, costs no precision beyond what it cost the data themselves.

    Parameters
    ----------
    X : array or DataFrame of finite numbers, shape (n, d)

    Returns
    -------
    array, shape (n, d), without unit

    Warns
    -----
    ConstantColumnWarning
        Naming the columns (of an array: numbering the attributes from 0) that hold one value only.

    Raises
    ------
    DataError
        If X has no records, or anything but finite numbers.
    """
    return _scale(X, "zscore", None)


def scale(X: ArrayLike | pd.DataFrame, method: str, names: Sequence[Any] | None = None) -> FloatArray:
    """Return ``X`` on one of the :data:`SCALES`.

    Parameters
    ----------
    X : array or DataFrame of finite numbers, shape (n, d)
    method : {"zscore", "minmax", "none"}
        To mean 0 and variance 1 (see :func:`standardize`), to the interval from 0 to 1, or as it is.
    names : sequence, optional
        What messages call the columns of an array; a DataFrame has its own names.

    Returns
    -------
    array, shape (n, d)
        A new array, without unit (with "none": in the units of X).

    Warns
    -----
    ConstantColumnWarning
        Naming the columns that hold one value only and have become 0; never with "none".

    Raises
    ------
    DataError
        If X has no records, or anything but finite numbers.
    ParameterError
        If there is no such scale, or if ``names`` are not one for each column.
    """
    return _scale(X, method, names)


def _scale(X: ArrayLike | pd.DataFrame, method: str, names: Sequence[Any] | None) -> FloatArray:
    check_choice("scale", method, SCALES)
    if isinstance(X, pd.DataFrame):
        names = list(X.columns)
        data = check_matrix(numeric_matrix(X, names))
    else:
        data = check_matrix(X)
    if names is not None and len(names) != data.shape[1]:
        raise ParameterError(f"names must hold one name for each of the {data.shape[1]} columns, not {len(names)}.")
    scaling = Scaling.fit(data, method, names)
    if scaling.constant and method != "none":
        listed, one = listing([_called(j, names) for j in scaling.constant]), len(scaling.constant) == 1
        warnings.warn(
            f"{listed} {'holds' if one else 'hold'} one value only: {'it becomes' if one else 'they become'} 0 "
            f"and {'has' if one else 'have'} no part in distances.",
            ConstantColumnWarning,
            stacklevel=3,
        )
    return scaling.transform(data)


def _called(j: int, names: Sequence[Any] | None) -> str:
    return f"attribute {j}" if names is None else f"column {names[j]!r}"


@dataclass(frozen=True)
class Schema:
    """The roles of a file's columns, and the kinds of its quasi-identifiers. Others are released as they are.

    Attributes
    ----------
    quasi_identifiers : tuple
        The columns that could be linked to other files; these are microaggregated.
    confidential : tuple
        The columns that the release is about (confidential attributes); they stay as they are.
    identifiers : tuple
        The columns that name a record (names, numbers of documents); they are left out of a release.
    strata : tuple
        The columns within whose values groups must stay; they stay as they are.
    taxonomies : mapping of column name to Taxonomy
        The quasi-identifiers that are nominal, i.e. hold categories without an order.
    ordinal : mapping of column name to tuple of str
        The quasi-identifiers that are ordinal, with their categories from the lowest to the highest.

    Roles are given as one column name or as a collection of them. (A tuple is a collection.) Quasi-identifiers that are
    neither nominal nor ordinal are numeric.

    Raises
    ------
    ParameterError
        If a column is named twice, within a role or in two of them, if there is no quasi-identifier, or if a taxonomy
        or an order is given to something else.
    DataError
        If a taxonomy is none, or an order is empty or has a category twice.
    """

    quasi_identifiers: tuple[Hashable, ...]
    confidential: tuple[Hashable, ...] = ()
    identifiers: tuple[Hashable, ...] = ()
    strata: tuple[Hashable, ...] = ()
    taxonomies: Mapping[Hashable, Taxonomy] = field(default_factory=dict, hash=False)
    ordinal: Mapping[Hashable, tuple[str, ...]] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        roles: dict[Hashable, _Role] = {}
        for role in _ROLES:
            names = _names(role, getattr(self, role))
            object.__setattr__(self, role, names)
            for name in names:
                if roles.get(name) == role:
                    raise ParameterError(f"column {name!r} is named twice among the {_ROLES[role]}: name it once.")
                if name in roles:
                    raise ParameterError(
                        f"column {name!r} is named among the {_ROLES[roles[name]]} and among the {_ROLES[role]}: "
                        "a column has one role."
                    )
                roles[name] = role
        if not self.quasi_identifiers:
            raise ParameterError("quasi_identifiers names no column: name at least one to be microaggregated.")
        for what, given in (("a taxonomy", self.taxonomies), ("an order", self.ordinal)):
            for name in given:
                if name not in self.quasi_identifiers:
                    raise ParameterError(
                        f"there is {what} for {name!r}, which is not among the quasi-identifiers: leave it out, or "
                        "name the column a quasi-identifier."
                    )
        if both := [name for name in self.ordinal if name in self.taxonomies]:
            raise ParameterError(f"column {both[0]!r} has a taxonomy and an order: give one of them.")
        taxonomies = {name: _taxonomy(name, given, ()) for name, given in self.taxonomies.items()}
        object.__setattr__(self, "taxonomies", MappingProxyType(taxonomies))
        object.__setattr__(
            self, "ordinal", MappingProxyType({name: _levels(name, given) for name, given in self.ordinal.items()})
        )

    def __reduce__(self) -> tuple[Any, ...]:
        # A read-only view of a mapping cannot be pickled.
        parts = (getattr(self, role) for role in _ROLES)
        return type(self), (*parts, dict(self.taxonomies), dict(self.ordinal))

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """The quasi-identifiers with their kinds."""
        return tuple(self._attribute(name) for name in self.quasi_identifiers)

    @property
    def is_numeric(self) -> bool:
        """Whether all quasi-identifiers are numeric."""
        return not self.taxonomies and not self.ordinal

    def _attribute(self, name: Hashable) -> Attribute:
        if name in self.taxonomies:
            return Attribute(name, "nominal", taxonomy=self.taxonomies[name])
        if name in self.ordinal:
            return Attribute(name, "ordinal", levels=self.ordinal[name])
        return Attribute(name)

    @classmethod
    def infer(
        cls,
        frame: pd.DataFrame,
        quasi_identifiers: Any = None,
        confidential: Any = None,
        identifiers: Any = None,
        strata: Any = None,
        *,
        taxonomies: Mapping[Any, Any] | None = None,
        ordinal: Mapping[Any, Sequence[Any]] | None = None,
    ) -> Self:
        """Return the roles of the columns of ``frame``, checked against it.

        Where ``quasi_identifiers`` are not named, they are all numeric columns that have no other role: not those of
        booleans, but those that hold one value only too; and those with a taxonomy or an order. A column of booleans
        that is named counts as 0 and 1.

        A quasi-identifier with a taxonomy is nominal, one with an order (its categories from the lowest to the highest)
        is ordinal. Of the others, ordered categories of pandas are ordinal, text and other categories nominal with the
        flat taxonomy of their values, and numbers numeric. What ``taxonomies`` holds may be anything that
        :meth:`microagg.taxonomy.Taxonomy.of` takes: a taxonomy, a path, text, nested mappings, or None for a flat one.

        Raises
        ------
        DataError
            If ``frame`` is not a DataFrame with unique column names on one level, a column is not in it, a
            quasi-identifier holds what is neither number nor category, a value is missing in its taxonomy or order, a
            taxonomy is not valid, or no column is left to be a quasi-identifier.
        ParameterError
            If a column is named twice, within a role or in two of them, or a taxonomy or an order is given to a column
            that is not a quasi-identifier.
        """
        check_frame(frame)
        declared: dict[str, Any] = {
            role: _names(role, value)
            for role, value in (("confidential", confidential), ("identifiers", identifiers), ("strata", strata))
        }
        taken = {name for names in declared.values() for name in names}
        for what, given in (("taxonomies", taxonomies), ("ordinal", ordinal)):
            if given is not None and not isinstance(given, Mapping):
                raise ParameterError(f"{what} must be a mapping from column names, not {type(given).__name__}.")
        taxonomies, ordinal = dict(taxonomies or {}), dict(ordinal or {})
        if quasi_identifiers is None:
            names: tuple[Hashable, ...] = tuple(
                name
                for name in frame.columns
                if name not in taken and (_is_number(frame[name].dtype) or name in taxonomies or name in ordinal)
            )
            if not names:
                raise DataError(
                    "there is no numeric column to serve as quasi-identifier: turn columns into numbers first, "
                    "or name fewer columns in other roles."
                )
        else:
            names = _names("quasi_identifiers", quasi_identifiers)
        schema = cls(names, **declared)
        for role in _ROLES:
            for name in getattr(schema, role):
                if name not in frame.columns:
                    raise DataError(
                        f"there is no column {name!r} (named among the {_ROLES[role]}): "
                        f"the columns are {listing([repr(column) for column in frame.columns])}."
                    )
        for name in names:
            series = frame[name]
            if name in ordinal or (name in taxonomies and taxonomies[name] is not None):
                continue
            if name in taxonomies or (_is_category(series) and not getattr(series.dtype, "ordered", False)):
                taxonomies[name] = _taxonomy(name, None, _categories(series))
            elif _is_category(series):
                ordinal[name] = [category(value) for value in series.cat.categories]
        schema = cls(names, **declared, taxonomies=taxonomies, ordinal=ordinal)
        schema.encode(frame)
        return schema

    def records(self, frame: pd.DataFrame, missing: str = "error") -> Records:
        """Return the quasi-identifiers of ``frame``, encoded, in the order of the schema.

        With ``missing="drop"`` the records that lack one are left out: see :func:`complete_records`.

        Raises
        ------
        DataError
            If a quasi-identifier is not in ``frame``, holds a value that is not in its taxonomy or order, is infinite,
            or, unless dropped, missing.
        ParameterError
            If ``missing`` is not one of :data:`MISSING`.
        """
        check_frame(frame)
        values = self.encode(frame)
        return Records(self.attributes, values[complete_records(values, missing, self.quasi_identifiers)])

    def encode(self, frame: pd.DataFrame) -> FloatArray:
        """Return the quasi-identifiers of ``frame`` as numbers, ranks and nodes, shape (n, d); NaN stands for a gap.

        Raises
        ------
        DataError
            If a quasi-identifier is not in ``frame``, or holds a value that is not in its taxonomy or order.
        """
        check_columns(frame, self.quasi_identifiers)
        values = np.empty((len(frame), len(self.quasi_identifiers)))
        numeric = [j for j, attribute in enumerate(self.attributes) if attribute.kind == "numeric"]
        values[:, numeric] = numeric_matrix(frame, [self.quasi_identifiers[j] for j in numeric])
        for j, attribute in enumerate(self.attributes):
            if attribute.kind != "numeric":
                values[:, j] = _codes(frame[attribute.name], attribute)
        return values

    def matrix(self, frame: pd.DataFrame, missing: str = "error") -> FloatArray:
        """Return the quasi-identifiers of ``frame`` as finite floats, shape (n, d), in the order of the schema.

        With ``missing="drop"`` the records that lack one are left out: see :func:`complete_records`.

        Raises
        ------
        DataError
            If a quasi-identifier is not in ``frame``, not numeric, infinite, or, unless dropped, missing.
        ParameterError
            If ``missing`` is not one of :data:`MISSING`.
        """
        check_frame(frame)
        if not self.is_numeric:
            named = listing([repr(a.name) for a in self.attributes if a.kind != "numeric"])
            raise DataError(f"{named} hold{'' if ',' in named else 's'} categories, so there is no matrix of numbers.")
        values = numeric_matrix(frame, self.quasi_identifiers)
        return values[complete_records(values, missing, self.quasi_identifiers)]


def complete_records(values: FloatArray, missing: str, names: Sequence[Any] | None = None) -> NDArray[np.bool_]:
    """Return which records of ``values``, shape (n, d), can be used: an array of bool, shape (n,).

    Parameters
    ----------
    values : array, shape (n, d)
        NaN stands for a missing value.
    missing : {"error", "drop"}
        Whether a missing value is an error or makes its record unusable. Infinity is always an error.
    names : sequence, optional
        What messages call the columns.

    Raises
    ------
    DataError
        Naming the first column and record that hold infinity or, with "error", a missing value.
    ParameterError
        If ``missing`` is something else.
    """
    if check_choice("missing", missing, MISSING) == "error":
        check_finite(values, names)
        return np.ones(len(values), dtype=np.bool_)
    absent = np.isnan(values)
    # Zeros in their place, not a shorter table: a message must number the records as the caller does.
    check_finite(np.where(absent, 0.0, values), names)
    return np.asarray(~absent.any(axis=1))


def check_frame(frame: Any) -> None:
    """Raise :class:`DataError` unless ``frame`` is a DataFrame with unique column names on one level."""
    if not isinstance(frame, pd.DataFrame):
        raise DataError(
            f"the data must be a pandas DataFrame, not {type(frame).__name__}: "
            "pandas.DataFrame(X, columns=[...]) makes one of an array."
        )
    if frame.columns.nlevels > 1:
        raise DataError(f"the column names have {frame.columns.nlevels} levels: flatten them to one first.")
    check_unique_columns(list(frame.columns))


def _taxonomy(name: Hashable, given: Any, values: Iterable[str]) -> Taxonomy:
    try:
        return Taxonomy.of(given, values)
    except (DataError, ParameterError) as error:
        raise type(error)(f"the taxonomy of column {name!r}: {error}") from None


def _levels(name: Hashable, given: Any) -> tuple[str, ...]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ParameterError(f"the order of column {name!r} must be its categories from the lowest up, not {given!r}.")
    levels = tuple(category(value) for value in given)
    if not levels:
        raise DataError(f"the order of column {name!r} is empty: name its categories from the lowest up.")
    if len(set(levels)) < len(levels):
        twice = next(level for level in levels if levels.count(level) > 1)
        raise DataError(f"the order of column {name!r} has the category {twice!r} twice: name it once.")
    return levels


def _is_category(series: pd.Series[Any]) -> bool:
    """Whether a column holds categories by its type: pandas' own, or text."""
    if isinstance(series.dtype, pd.CategoricalDtype):
        return True
    if is_numeric_dtype(series) or is_bool_dtype(series):
        return False
    # Other objects, such as lists or complex numbers, are neither numbers nor categories.
    values = series.dropna()
    return len(values) > 0 and all(isinstance(value, str) for value in values)


def _categories(series: pd.Series[Any]) -> list[str]:
    """Return the categories of a column, sorted so that the order of the records does not matter."""
    return sorted({category(value) for value in series.dropna().unique()})


def _codes(series: pd.Series[Any], attribute: Attribute) -> FloatArray:
    """Return the rank or node of each value, shape (n,), NaN where it is missing."""
    absent = series.isna().to_numpy()
    # Each distinct value is looked up once, however many records there are.
    positions, distinct = pd.factorize(series.astype(object).to_numpy())
    found = np.empty(len(distinct) + 1)
    found[-1] = np.nan  # factorize numbers what is missing -1
    ranks = {level: rank for rank, level in enumerate(attribute.levels)}
    for i, value in enumerate(distinct):
        if attribute.taxonomy is not None:
            try:
                found[i] = attribute.taxonomy.node(value)
            except DataError as error:
                row = int(np.flatnonzero(positions == i)[0])
                raise DataError(f"column {attribute.name!r}, record {row} (counting from 0): {error}") from None
        elif category(value) in ranks:
            found[i] = ranks[category(value)]
        else:
            row = int(np.flatnonzero(positions == i)[0])
            raise DataError(
                f"column {attribute.name!r} has {category(value)!r} in record {row} (counting from 0), which is not in "
                f"its order {listing([repr(level) for level in attribute.levels])}: add it."
            )
    codes = found[positions]
    codes[absent] = np.nan
    return codes


_Role = Literal["quasi_identifiers", "confidential", "identifiers", "strata"]

# How messages call the roles.
_ROLES: dict[_Role, str] = {
    "quasi_identifiers": "quasi-identifiers",
    "confidential": "confidential attributes",
    "identifiers": "identifiers",
    "strata": "strata",
}


def _names(role: str, given: Any) -> tuple[Hashable, ...]:
    if given is None:
        return ()
    names = (given,) if isinstance(given, str) or not isinstance(given, Iterable) else tuple(given)
    for name in names:
        if not isinstance(name, Hashable):
            raise ParameterError(f"{role} must hold column names, not {name!r}.")
    return names


def _is_number(dtype: Any) -> bool:
    return is_numeric_dtype(dtype) and not is_bool_dtype(dtype) and not is_complex_dtype(dtype)
