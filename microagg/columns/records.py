"""Records of mixed attributes in the form that algorithms and metrics work on.

An attribute is numeric, ordinal (ordered categories) or nominal (categories with a taxonomy). Numbers and ranks are
compared by their difference as a share of the attribute's domain, categories by the height of their lowest common
ancestor in the taxonomy (Byun, Kamra, Bertino & Li, Definitions 2 to 4). :meth:`microagg.Schema.records` makes
records from a DataFrame.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from pandas.api.types import is_bool_dtype, is_complex_dtype, is_numeric_dtype

from microagg.columns import dates
from microagg.columns.taxonomy import Taxonomy, category
from microagg.errors import DataError
from microagg.validation import FloatArray, IntArray, check_columns, factorized, numeric_matrix, quoted

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
    """n records with d attributes, encoded.

    Of ``values``, shape (n, d), each is a number; of an ordinal attribute the rank of its category from 0, of a nominal
    one the node of its taxonomy. ``file_domains``, shape (d,), are the :attr:`domains` of the file that these records
    are a part of; by default they are a whole file.

    Raises DataError if there are not as many attributes as columns, not as many domains, or a value is no rank of an
    ordinal or no leaf of a nominal attribute.
    """

    attributes: tuple[Attribute, ...]
    values: FloatArray
    file_domains: FloatArray | None = None

    def __post_init__(self) -> None:
        if self.values.ndim != 2 or self.values.shape[1] != len(self.attributes) or not self.attributes:
            raise DataError(
                f"records need one column of values for each of {len(self.attributes)} attributes (at least one), "
                f"not values of shape {self.values.shape}."
            )
        if self.file_domains is not None and self.file_domains.shape != (self.d,):
            raise DataError(
                f"records need one domain for each of {self.d} attributes, not domains of shape "
                f"{self.file_domains.shape}."
            )
        for j, attribute in enumerate(self.attributes):
            codes: Iterable[int] = attribute.taxonomy.leaves if attribute.taxonomy else range(len(attribute.levels))
            if attribute.kind != "numeric" and not np.isin(self.values[:, j], list(codes)).all():
                raise DataError(f"attribute {attribute.name!r} has a value that is no category of it.")

    @classmethod
    def of_numbers(cls, X: FloatArray) -> Self:
        """Return the records of ``X``, shape (n, d), all attributes numeric."""
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
        sizes = np.empty(self.d)
        for j, attribute in enumerate(self.attributes):
            if attribute.kind == "numeric":
                sizes[j] = self.values[:, j].max() - self.values[:, j].min() if self.n else 0.0
            elif attribute.kind == "ordinal":
                sizes[j] = len(attribute.levels) - 1
            else:
                assert attribute.taxonomy is not None
                sizes[j] = attribute.taxonomy.height
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
        """Return the records at ``rows``; domains stay those of the file, so that differences count the same."""
        return Records(self.attributes, self.values[rows], self.domains)


def class_codes(classes: ArrayLike, n: int, name: Hashable = None) -> IntArray:
    """Return the class of each of ``n`` records as a number from 0, in order of first appearance, shape (n,).

    ``name`` is the column's, for messages.

    Raises DataError if there is not one class for each record, or one is missing or not hashable.
    """
    # As objects: numpy would turn a missing value among text into the text "nan".
    values = np.asarray(classes, dtype=object)
    if values.shape != (n,):
        raise DataError(f"there must be one class for each of {n} records, not classes of shape {values.shape}.")
    try:
        codes, _ = pd.factorize(values)
    except TypeError:
        raise DataError(
            f"the classes {'' if name is None else f'{name!r} '}hold values that cannot be told apart (such as lists): "
            "turn them into text or numbers first."
        ) from None
    if (codes < 0).any():
        raise DataError(f"record {int(np.flatnonzero(codes < 0)[0])} (counting from 0) has no class: fill it in.")
    return codes.astype(np.int64)


# --- from columns to numbers ------------------------------------------------------------------------------------------


def encode(frame: pd.DataFrame, attributes: Sequence[Attribute]) -> FloatArray:
    """Return ``attributes`` of a frame that was read as numbers, days, ranks and nodes, shape (n, d); NaN is a gap.

    Raises DataError if one is not in ``frame``, or holds a value that is no number, or not in its taxonomy or order.
    """
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
    """Return the categories of a column, sorted so that the order of the records does not matter."""
    return sorted({category(value) for value in series.dropna().unique()})


def without_codes(
    series: pd.Series[Any], codes: Collection[str], written: Callable[[Any], str] = category
) -> pd.Series[Any]:
    """Return a column in which the values that are ``written`` as one of the ``codes`` are missing."""
    if not codes:
        return series
    if isinstance(series.dtype, pd.CategoricalDtype):
        # Not only from the records: what stands for no value is no category, nor a step of an order.
        gone = [value for value in series.cat.categories if written(value) in codes]
        return series.cat.remove_categories(gone) if gone else series
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
    """Return the rank or node of each value, shape (n,), NaN where it is missing."""
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
