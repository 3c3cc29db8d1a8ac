"""Records of mixed attributes in the form that algorithms and metrics work on, and their missing values.

An attribute is numeric, ordinal (ordered categories) or nominal (categories with a taxonomy). Numbers and ranks are
compared by their difference as a share of the attribute's domain, categories by the height of their lowest common
ancestor in the taxonomy (Byun, Kamra, Bertino & Li, Definitions 2 to 4). :meth:`microagg.Schema.records` makes
records from a DataFrame.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Any, Literal, NamedTuple, Self, cast

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from pandas.api.types import (
    is_bool_dtype,
    is_complex_dtype,
    is_integer_dtype,
    is_numeric_dtype,
    is_object_dtype,
    is_string_dtype,
)

from microagg.columns import dates
from microagg.columns.taxonomy import Taxonomy, category
from microagg.errors import DataError, ParameterError
from microagg.tables.stata_spss import GAP, kinds_of_missing
from microagg.validation import (
    FloatArray,
    IntArray,
    check_choice,
    check_columns,
    check_finite,
    counted,
    factorized,
    float_type,
    numeric_matrix,
    quoted,
    shortest,
    widened,
)

Kind = Literal["numeric", "ordinal", "nominal"]

#: The kinds of attributes.
KINDS: tuple[Kind, ...] = ("numeric", "ordinal", "nominal")


@dataclass(frozen=True)
class Attribute:
    """Name, kind and scale of an attribute."""

    #: The column's name; for an array, the number of the column.
    name: Hashable
    kind: Kind = "numeric"
    levels: tuple[str, ...] = ()  # the categories of an ordinal attribute, lowest first
    taxonomy: Taxonomy | None = None  # that of a nominal attribute
    #: What dates are released by, "day" or "year"; they are numeric, in days since 1970-01-01. Empty for others.
    unit: str = ""


@dataclass(frozen=True, eq=False)
class Records:
    """n records with d attributes, encoded."""

    attributes: tuple[Attribute, ...]
    #: Shape (n, d); of an ordinal attribute ranks of categories from 0, of a nominal one nodes of its taxonomy.
    values: FloatArray
    #: The :attr:`domains` of the file that these records are a part of, shape (d,); None if they are a whole file.
    file_domains: FloatArray | None = None

    def __post_init__(self) -> None:
        if self.values.ndim != 2 or self.values.shape[1] != len(self.attributes) or not self.attributes:
            raise DataError(
                f"records need one column of values for each of {len(self.attributes)} attributes (at least one), "
                f"not values of shape {self.values.shape}."
            )
        for j, attribute in enumerate(self.attributes):
            codes: Iterable[int] = attribute.taxonomy.leaves if attribute.taxonomy else range(len(attribute.levels))
            if attribute.kind != "numeric" and not np.isin(self.values[:, j], list(codes)).all():
                raise DataError(f"attribute {attribute.name!r} has a value that is no category of it.")

    @classmethod
    def of_numbers(cls, X: FloatArray) -> Self:
        """The records of ``X``, shape (n, d), all attributes numeric."""
        return cls(tuple(Attribute(j) for j in range(X.shape[1])), X)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def n(self) -> int:
        """The number of records."""
        return len(self.values)

    @property
    def d(self) -> int:
        """The number of attributes."""
        return len(self.attributes)

    @cached_property
    def nominal(self) -> NDArray[np.bool_]:
        """Which attributes are nominal, shape (d,)."""
        return np.array([attribute.kind == "nominal" for attribute in self.attributes])

    @cached_property
    def domains(self) -> FloatArray:
        """The size of each attribute's domain, shape (d,).

        The largest minus the smallest number in the file; the number of an ordinal attribute's categories less one; the
        height of the taxonomy. 0 where there is one number or category only.
        """
        if self.file_domains is not None:
            return self.file_domains
        sizes = np.ptp(self.values, axis=0) if self.n else np.zeros(self.d)
        for j, attribute in enumerate(self.attributes):
            if attribute.kind != "numeric":
                sizes[j] = attribute.taxonomy.height if attribute.taxonomy else len(attribute.levels) - 1
        return sizes

    @cached_property
    def trees(self) -> tuple[IntArray, FloatArray]:
        """The taxonomies of all attributes as two tables, shape (d, m), padded to the largest tree of m nodes.

        The parent of every node (-1 for a root), and the height of the subtree below it as a share of that of the tree;
        -1 and 0 for attributes that are not nominal.
        """
        taxonomies = [attribute.taxonomy for attribute in self.attributes]
        most = max((len(taxonomy.names) for taxonomy in taxonomies if taxonomy), default=1)
        parents = np.full((self.d, most), -1, dtype=np.int64)
        heights = np.zeros((self.d, most))
        for j, taxonomy in enumerate(taxonomies):
            if taxonomy:
                parents[j, : len(taxonomy.parents)] = taxonomy.parents
                heights[j, : len(taxonomy.parents)] = taxonomy.heights
        return parents, heights

    def take(self, rows: IntArray) -> Records:
        """Return the records at ``rows``, with the domains of the file; not copied if these are all in their order."""
        is_all = len(rows) == self.n and bool((np.diff(rows) == 1).all())
        return Records(self.attributes, self.values if is_all else self.values[rows], self.domains)


def class_codes(classes: ArrayLike, n: int, name: Hashable = "classes") -> IntArray:
    """The class of each of ``n`` records as a number from 0, in order of first appearance, shape (n,)."""
    # As objects: numpy would turn a missing value among text into the text "nan".
    values = np.asarray(classes, dtype=object)
    if values.shape != (n,):
        raise DataError(f"there must be one class for each of {n} records, not classes of shape {values.shape}.")
    codes, _ = factorized(pd.Series(values, name=name, dtype=object))
    if (codes < 0).any():
        raise DataError(f"record {int(np.flatnonzero(codes < 0)[0])} (counting from 0) has no class: fill it in.")
    return codes


# --- from columns to numbers ------------------------------------------------------------------------------------------


def encode(frame: pd.DataFrame, attributes: Sequence[Attribute]) -> FloatArray:
    """Attributes of a frame that was read, as numbers, days, ranks and nodes, shape (n, d), NaN where missing."""
    check_columns(frame, [attribute.name for attribute in attributes])
    values = np.empty((len(frame), len(attributes)))
    numeric = [j for j, attribute in enumerate(attributes) if attribute.kind == "numeric" and not attribute.unit]
    values[:, numeric] = numeric_matrix(frame, [attributes[j].name for j in numeric])
    for j, attribute in enumerate(attributes):
        if attribute.kind != "numeric":
            values[:, j] = _codes(frame[attribute.name], attribute)
        elif attribute.unit:
            values[:, j] = dates.to_days(frame[attribute.name])
    return values


def is_category(series: pd.Series[Any]) -> bool:
    """Whether a column holds categories by its type: pandas' own, or text."""
    if isinstance(series.dtype, pd.CategoricalDtype):
        return True
    if is_numeric_dtype(series) or is_bool_dtype(series):
        return False
    # Other objects, such as lists or complex numbers, are neither numbers nor categories.
    values = series.dropna()
    return len(values) > 0 and all(isinstance(value, str) for value in values)


def is_number(dtype: Any) -> bool:
    """Whether a column of ``dtype`` holds real numbers; booleans are none."""
    return is_numeric_dtype(dtype) and not is_bool_dtype(dtype) and not is_complex_dtype(dtype)


def categories(series: pd.Series[Any]) -> list[str]:
    """The categories of a column, sorted so that the order of the records does not matter."""
    return sorted(set(map(category, factorized(series)[1])))


def without_codes(
    series: pd.Series[Any], codes: Collection[str], written: Callable[[Any], str] = category
) -> pd.Series[Any]:
    """A column in which the values that are ``written`` as one of the ``codes`` are missing."""
    if not codes:
        return series
    if isinstance(series.dtype, pd.CategoricalDtype):
        # Not only from the records: what stands for no value is no category, nor a step of an order.
        gone = [value for value in series.cat.categories.to_numpy() if written(value) in codes]
        return series.cat.remove_categories(gone) if gone else series
    if isinstance(series.dtype, pd.SparseDtype):
        series = series.astype(series.dtype.subtype)  # to which missing values can be assigned
    positions, distinct = factorized(series)
    absent = np.isin(positions, [i for i, value in enumerate(distinct) if written(value) in codes])
    if not absent.any():
        return series
    # A nullable type, because integers beside a gap would become floats, which do not hold all of their digits.
    whole = isinstance(series.dtype, np.dtype) and series.dtype.kind in "iub"
    series = series.convert_dtypes() if whole else series.copy()
    series.iloc[np.flatnonzero(absent)] = None
    # Numbers that were objects only because of a code among them.
    return series.infer_objects()


def _codes(series: pd.Series[Any], attribute: Attribute) -> FloatArray:
    """The rank or node of each value, shape (n,), NaN where it is missing."""
    positions, distinct = factorized(series)
    numbers = np.empty(len(distinct) + 1)
    numbers[-1] = np.nan  # factorize numbers what is missing -1
    ranks = {level: rank for rank, level in enumerate(attribute.levels)}
    for i, value in enumerate(distinct):
        try:
            numbers[i] = ranks[category(value)] if attribute.taxonomy is None else attribute.taxonomy.node(value)
        except (DataError, KeyError) as error:
            row = int(np.flatnonzero(positions == i)[0])
            if attribute.taxonomy is not None:
                raise DataError(f"column {attribute.name!r}, record {row} (counting from 0): {error}") from None
            raise DataError(
                f"column {attribute.name!r} has {category(value)!r} in record {row} (counting from 0), which is not in "
                f"its order {quoted(attribute.levels)}: add it."
            ) from None
    codes = numbers[positions]
    codes[series.isna().to_numpy()] = np.nan
    return codes


# --- missing values ---------------------------------------------------------------------------------------------------

#: The treatments of missing values: an error, leaving out the record, a category of its own, or filling in a value.
GAPS = ("error", "drop", "category", "impute")


@dataclass(frozen=True)
class Filled:
    """The ``n`` missing values of one quasi-identifier that were filled, in the records that are released."""

    column: Hashable
    n: int
    how: str  # "median", "most frequent" or "category"
    value: int | float | str | date  # what is in their place; "" for several kinds of missing values

    def __str__(self) -> str:
        one, value = self.n == 1, self.value
        gaps = f"{counted(self.n, 'missing value')} of {quoted([self.column])} in the released records"
        if self.how == "category":
            what = f"the category {value!r}" if value else "categories of their own, by the kind of missing value"
            return f"{gaps} {'counts' if one else 'count'} as {what}."
        text = f"{value:,}" if isinstance(value, (int, float)) else repr(value) if isinstance(value, str) else value
        return f"{gaps} {'was' if one else 'were'} filled with the {self.how} {text} before grouping."


class Filling(NamedTuple):
    """The records of a file with their missing values treated."""

    frame: pd.DataFrame  # quasi-identifiers read and filled, other columns as they are; a new one only if it differs
    taxonomies: dict[Hashable, Taxonomy]  # of all nominal attributes, with the category of missing values if needed
    encoded: FloatArray  # the quasi-identifiers as numbers, days, ranks and nodes, shape (n, d); NaN where missing
    values: FloatArray  # the same, filled; NaN only in records that are left out
    retained: NDArray[np.bool_]  # the records that are not left out, shape (n,)
    filled: tuple[Filled, ...]  # in the order of the quasi-identifiers


def treatments(missing: str | Mapping[Any, str], attributes: Sequence[Attribute]) -> dict[Hashable, str]:
    """The treatment of each attribute's missing values: ``missing``, or what it maps names to, by default "error"."""
    names = [attribute.name for attribute in attributes]
    if not isinstance(missing, Mapping):
        return dict.fromkeys(names, check_choice("missing", missing, GAPS))
    for name, how in missing.items():
        if name not in names:
            raise ParameterError(
                f"missing says what to do about the gaps of {name!r}, which is not among the quasi-identifiers: leave "
                "it out, or name the column a quasi-identifier."
            )
        check_choice(f"missing of column {name!r}", how, GAPS)
    for attribute in attributes:
        if missing.get(attribute.name) == "category":
            _check_nominal(attribute)
    return {name: missing.get(name, "error") for name in names}


def fill(
    frame: pd.DataFrame, attributes: Sequence[Attribute], encoded: FloatArray, missing: str | Mapping[Any, str]
) -> Filling:
    """Treat missing values: leave records out ("drop"), then make a category or impute.

    "category" gives the missing values of a nominal attribute the category :data:`GAP`, which has only the root of the
    taxonomy in common with others; those of a kind (:func:`microagg.tables.stata_spss.kinds_of_missing`) have it as
    category instead, unless the taxonomy has :data:`GAP` and no kind. "impute" fills in, from the records that are not
    left out, the median of numbers and dates (the lower of two if all are whole), the lower median of ordered
    categories, or the most frequent category (the first in the taxonomy among equals). ``encoded``, shape (n, d), are
    the ``attributes`` of ``frame``, as :func:`encode` returns them.
    """
    how = treatments(missing, attributes)
    values, absent = encoded, np.isnan(encoded)
    retained = np.asarray(~absent[:, [how[attribute.name] == "drop" for attribute in attributes]].any(axis=1))
    # Zeros in place of other gaps, not a shorter table: a message must number the records as the caller does.
    refused = retained[:, np.newaxis] & np.array([how[attribute.name] == "error" for attribute in attributes])
    names: list[Any] = [attribute.name for attribute in attributes]
    check_finite(np.where(absent & ~refused, 0.0, values) if absent.any() else values, names)
    taxonomies = {a.name: a.taxonomy for a in attributes if a.taxonomy is not None}
    filled: list[Filled] = []
    if absent[retained].any():
        frame, values = frame.copy(deep=False), values.copy()
    for j, attribute in enumerate(attributes):
        name, rows = attribute.name, np.flatnonzero(absent[:, j] & retained)
        if not len(rows):
            continue
        code: float
        if how[name] == "category":
            by_gap = _gap_categories(kinds_of_missing(frame, name)[rows], attribute.taxonomy)
            for gap, places in by_gap.items():
                at = rows[places]
                taxonomies[name], code = _taxonomy_with_gap(attribute, taxonomies.get(name), values[:, j], gap)
                frame[name] = _with_gap_category(frame[name], at, gap)
                values[at, j] = code
            filled.append(Filled(name, len(rows), "category", GAP if list(by_gap) == [GAP] else ""))
        else:
            series = frame[name].copy()
            code = _imputed_code(attribute, values[retained, j], series.dtype)
            value = _value_of(code, attribute, series, values[:, j])
            series.iloc[rows] = value
            frame[name] = series
            if attribute.kind == "numeric":
                number = shortest(code, series.dtype)
                value = value.date() if attribute.unit else int(number) if number == int(number) else number
            else:
                value = category(value)
            filled.append(Filled(name, len(rows), "most frequent" if attribute.kind == "nominal" else "median", value))
            values[rows, j] = code
    return Filling(frame, taxonomies, encoded, values, retained, tuple(filled))


def _check_nominal(attribute: Attribute) -> None:
    if attribute.kind == "nominal":
        return
    what = "dates" if attribute.unit else "numbers" if attribute.kind == "numeric" else "ordered categories"
    raise ParameterError(
        f"the gaps of column {attribute.name!r} cannot be a category of their own, for it holds {what}: choose "
        "'error', 'drop' or 'impute' for it."
    )


def _gap_categories(kinds: NDArray[np.object_], taxonomy: Taxonomy | None) -> dict[str, IntArray]:
    """Where each category is among missing values, whose ``kinds`` are "" for none, in the order of the names."""
    names = set() if taxonomy is None else set(taxonomy.names)
    if GAP in names and names.isdisjoint(kinds):  # of a recipe that knows no kinds
        return {GAP: np.arange(len(kinds))}
    return {kind or GAP: np.flatnonzero(kinds == kind) for kind in sorted(set(kinds))}


def _taxonomy_with_gap(
    attribute: Attribute, taxonomy: Taxonomy | None, codes: FloatArray, gap: str
) -> tuple[Taxonomy, int]:
    """The taxonomy with a last leaf ``gap`` below its root, as that of a recipe has already, and that leaf."""
    _check_nominal(attribute)
    assert taxonomy is not None
    depth, gap_nodes = taxonomy.height, [node for node, name in enumerate(taxonomy.names) if name == gap]
    if not gap_nodes:
        taxonomy = taxonomy.with_values([gap])
        return taxonomy, taxonomy.leaves[-1]
    is_below_root = len(gap_nodes) == depth and taxonomy.parents[gap_nodes[0]] == 0
    # Kinds of missing values may have a place elsewhere in a taxonomy.
    is_leaf = is_below_root if gap == GAP else gap_nodes[-1] in taxonomy.leaves
    if not is_leaf or (codes == gap_nodes[-1]).any():
        raise ParameterError(
            f"the gaps of column {attribute.name!r} cannot become the category {gap!r}, for it has one of that name "
            "already: rename that, or choose 'error', 'drop' or 'impute' for the column."
        )
    return taxonomy, gap_nodes[-1]


def _with_gap_category(series: pd.Series[Any], rows: IntArray, gap: str) -> pd.Series[Any]:
    """A column with ``gap`` at the positions ``rows``; numbers and dates become text beside it."""
    series, value = series.copy(), cast("Any", gap)
    if isinstance(series.dtype, pd.CategoricalDtype):
        if gap not in series.cat.categories:
            series = series.cat.add_categories([gap])
    elif not (is_object_dtype(series) or is_string_dtype(series)):
        series = widened(series).astype(object).map(category, na_action="ignore").astype(object)
    series.iloc[rows] = value
    return series


def _imputed_code(attribute: Attribute, codes: FloatArray, dtype: Any) -> float:
    """The median number, day or rank, or the most frequent node of ``codes``, as ``dtype`` can hold it."""
    present = np.sort(codes[~np.isnan(codes)])
    if not len(present):
        raise DataError(
            f"column {attribute.name!r} has no value in any record that could be released, so its gaps cannot be "
            "filled in: leave it out of the quasi-identifiers, or choose another treatment of its gaps."
        )
    if attribute.kind == "nominal":
        distinct, counts = np.unique(present, return_counts=True)
        return float(distinct[counts.argmax()])
    lower, upper = present[(len(present) - 1) // 2], present[len(present) // 2]
    # What is whole stays so.
    if attribute.kind == "ordinal" or (present == np.rint(present)).all():
        return float(lower)
    middle = 0.5 * lower + 0.5 * upper
    return float(float_type(dtype)(middle))


def _value_of(code: float, attribute: Attribute, series: pd.Series[Any], codes: FloatArray) -> Any:
    """The value of a code, one of the ``codes`` of a column unless it is numeric, in the type of the column."""
    if attribute.kind != "numeric":
        return series.iloc[int(np.flatnonzero(codes == code)[0])]
    if attribute.unit:
        return pd.Timestamp(dates.to_dates(np.array([code]))[0])
    return bool(code) if is_bool_dtype(series) else int(code) if is_integer_dtype(series) else code
