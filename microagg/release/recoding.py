"""Replacements for the values of a group: one value, or a text that describes what its records have in common.

One value is the mean or median of numbers (Defays & Nanopoulos 1993; Domingo-Ferrer & Mateo-Sanz 2002), the median of
ordered categories and the most frequent of others (Domingo-Ferrer & Torra 2005). What records have in common is the
range of their numbers or ordered categories, and the lowest common ancestor of other categories in their taxonomy
(Sweeney 2002; Byun, Kamra, Bertino & Li, Section 3). Means and medians can be rounded to the decimals of the file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_bool_dtype, is_integer_dtype, is_unsigned_integer_dtype

from microagg.columns import dates
from microagg.columns.records import Records
from microagg.columns.taxonomy import Taxonomy
from microagg.metrics.generalization import extents
from microagg.partition import Partition
from microagg.tables.original import RANGE
from microagg.validation import FloatArray, IntArray, float_type

#: Whether means and medians are left unrounded, or rounded to the decimals of the file.
ROUNDINGS = ("none", "file")

#: Numbers with more decimals than this were computed, and are not rounded.
MOST_DECIMALS = 9

#: The maximum relative change of a mean weight by rounding.
MOST_CHANGED = 1e-4


def decimals(numbers: NDArray[Any]) -> int | None:
    """Number of decimals of numbers, shape (n,), in the type of their column. None if more than MOST_DECIMALS."""
    if np.issubdtype(numbers.dtype, np.integer):
        return 0
    wide = numbers.astype(np.float64)
    for places in range(MOST_DECIMALS + 1):
        if (np.round(wide, places).astype(numbers.dtype) == numbers).all():
            return places
    return None


def rounded(chosen: FloatArray, series: pd.Series[Any], numbers: NDArray[Any]) -> FloatArray:
    """Round the replacements ``chosen`` for a column of ``numbers`` to its number of decimals, half to even.

    Shares of booleans and replacements for numbers with more than :data:`MOST_DECIMALS` decimals are not rounded.
    """
    places = None if is_bool_dtype(series) else decimals(numbers)
    # Adding 0 turns -0.0, which is what -0.3 is rounded to, into 0.0.
    return chosen if places is None else np.round(chosen, places) + 0.0


def to_integer_type(chosen: pd.Series[Any], series: pd.Series[Any]) -> pd.Series[Any]:
    """Convert whole numbers to the type of the column ``series`` that they replace, if it has integers and they fit."""
    if not is_integer_dtype(series):
        return chosen
    dtype: Any = series.dtype
    limits = np.iinfo(getattr(dtype, "numpy_dtype", dtype))
    # Compared as Python numbers: numpy would round the largest integer of 64 bits up to one that does not fit.
    fits = limits.min <= float(chosen.min()) and float(chosen.max()) <= limits.max
    return chosen.astype(series.dtype) if fits else chosen


#: The replacements for the records of a group.
STATISTICS = ("mean", "median", "generalize")

#: Generalizations of nominal categories: their lowest common ancestor, or their set.
CATEGORIES = ("ancestor", "set")

#: Forms of the ranges of numbers and dates in files: text, two columns of their ends, or their middle.
RANGES = ("text", "columns", "middle")

#: Release of weights: the mean weight of the group, the weight of the record, or none.
RELEASE_WEIGHTS = ("mean", "keep", "drop")


@dataclass(frozen=True, eq=False)
class Recoding:
    """Replacements for the quasi-identifiers."""

    # Float64 for means and medians (of the file's integer type if rounded; datetime64 for dates, int64 if only the year
    # is released), of the file's type for categories, and text for generalized values.
    columns: tuple[pd.Series[Any], ...]
    values: FloatArray | None  # numbers, days, ranks and nodes, shape (n, d); None if the columns are generalized


def recode(
    frame: pd.DataFrame,
    records: Records,
    partition: Partition,
    statistic: str,
    categories: str = "ancestor",
    weights: FloatArray | None = None,
    rounding: str = "none",
) -> Recoding:
    """Replace the quasi-identifiers of ``frame`` by the same values for all records of a group.

    ``frame`` has the records of ``partition``, without missing quasi-identifiers; ``records`` are the same, encoded.
    """
    if statistic == "generalize":
        texts = group_texts(frame, records, partition, categories)
        spread = (np.array(column, dtype=object)[partition.labels] for column in texts)
        return Recoding(tuple(pd.Series(column, index=frame.index) for column in spread), None)
    chosen = group_values(records, partition, statistic, weights)
    columns: list[pd.Series[Any]] = []
    for j, attribute in enumerate(records.attributes):
        series = frame[attribute.name]
        if attribute.kind != "numeric":
            columns.append(_originals(series, records.values[:, j], chosen[partition.labels, j]))
            continue
        rounds = rounding == "file" and not attribute.unit
        if rounds:
            chosen[:, j] = rounded(chosen[:, j], series, exact_numbers(series))
        values = chosen[partition.labels, j]
        values = dates.released(values, attribute.unit) if attribute.unit else values
        column = pd.Series(values, index=frame.index)
        columns.append(to_integer_type(column, series) if rounds else column)
    return Recoding(tuple(columns), chosen[partition.labels])


def group_values(
    records: Records, partition: Partition, statistic: str, weights: FloatArray | None = None
) -> FloatArray:
    """One number, rank or node for each group and attribute, shape (n_groups, d).

    For numbers and dates it is the mean or median; dates are rounded to whole days, or to the middle of the year. For
    ordinal categories it is the median (the lower of two), for nominal ones the most frequent (of ties, the first in
    the taxonomy). ``weights``, shape (n,), apply to means only.
    """
    X, labels = records.values, partition.labels
    starts = np.cumsum(partition.sizes) - partition.sizes
    lower, upper = starts + (partition.sizes - 1) // 2, starts + partition.sizes // 2
    chosen = np.empty((partition.n_groups, records.d))
    numeric = [j for j, attribute in enumerate(records.attributes) if attribute.kind == "numeric"]
    if numeric and statistic == "mean":
        chosen[:, numeric] = partition.centroids(np.ascontiguousarray(X[:, numeric]), weights)
    for j, attribute in enumerate(records.attributes):
        if attribute.kind == "nominal":
            chosen[:, j] = _most_frequent(X[:, j].astype(np.int64), labels)
        elif attribute.kind == "ordinal" or statistic == "median":
            ascending = X[np.lexsort((X[:, j], labels)), j]
            chosen[:, j] = ascending[lower]
            if attribute.kind == "numeric":
                chosen[:, j] = 0.5 * ascending[lower] + 0.5 * ascending[upper]
        if attribute.unit:
            chosen[:, j] = dates.rounded(chosen[:, j], attribute.unit)
    return chosen


def group_texts(
    frame: pd.DataFrame, records: Records, partition: Partition, categories: str = "ancestor"
) -> list[list[str]]:
    """Texts that describe what the records of each group have in common, for each attribute.

    A range is written ``[17, 23]``, a set in the order of the taxonomy ``{Divorced, Widowed}``; values that agree stay.
    Numbers have the fewest digits that read back as the same number in the type of their column.
    """
    ranges = extents(records, partition.labels)
    order, starts = np.argsort(partition.labels, kind="stable"), np.cumsum(partition.sizes) - partition.sizes
    texts = []
    for j, attribute in enumerate(records.attributes):
        if attribute.unit:
            texts.append(_ranges(*(dates.texts(end[:, j], attribute.unit) for end in (ranges.low, ranges.high))))
            continue
        if attribute.kind == "numeric":
            numbers = exact_numbers(frame[attribute.name])[order]
            texts.append(_ranges(*(_number_texts(end.reduceat(numbers, starts)) for end in (np.minimum, np.maximum))))
            continue
        low, high = ranges.low[:, j].astype(np.int64), ranges.high[:, j].astype(np.int64)
        if attribute.taxonomy is None:
            texts.append(_ranges(*([attribute.levels[rank] for rank in end] for end in (low, high))))
        elif categories == "set":
            texts.append(_sets(attribute.taxonomy, records.values[:, j].astype(np.int64), partition.labels))
        else:
            texts.append([attribute.taxonomy.names[node] for node in low])
    return texts


def _ranges(low: Sequence[str], high: Sequence[str]) -> list[str]:
    return [a if a == b else f"[{a}, {b}]" for a, b in zip(low, high, strict=True)]


def with_ends(
    frame: pd.DataFrame, names: Sequence[Any], ranges: str, *, rounds: bool
) -> tuple[pd.DataFrame, dict[Any, list[str]]]:
    """Convert the ranges in columns ``names`` to two columns or their middle; also return the names of new columns.

    The middle is a whole day for dates, and has as many decimals as the ends if it ``rounds``.
    """
    new_names: dict[Any, list[str]] = {}
    columns: dict[Any, Any] = {}
    for name, series in frame.items():
        if name not in names:
            columns[name] = series
            continue
        codes, distinct = pd.factorize(series)
        matches = [(RANGE.fullmatch(text), text) for text in map(str, distinct)]
        low, high = (_parse_ends([text if span is None else span[end] for span, text in matches]) for end in (1, 2))
        if ranges == "middle":
            columns[name] = pd.Series(_middle(low, high, rounds=rounds)[codes], index=frame.index)
            continue
        taken = {*map(str, frame.columns), *map(str, columns)}
        new_names[name] = [f"{name}_{end}" for end in ("lower", "upper")]
        while taken & set(new_names[name]):
            new_names[name] = [f"{end_name}_" for end_name in new_names[name]]
        for end_name, ends in zip(new_names[name], (low, high), strict=True):
            columns[end_name] = pd.Series(ends[codes], index=frame.index)
    return pd.DataFrame(columns, index=frame.index), new_names


def _parse_ends(texts: Sequence[str]) -> NDArray[Any]:
    """Parse texts that are all whole numbers, other numbers or dates."""
    for kind in (np.int64, np.float64):
        try:
            return np.array([kind(text) for text in texts])
        except (ValueError, OverflowError):
            continue
    return np.array(texts, dtype="datetime64[s]")


def _middle(low: NDArray[Any], high: NDArray[Any], *, rounds: bool) -> NDArray[Any]:
    if low.dtype.kind == "M":
        return (low + (high - low) // 2).astype("datetime64[D]").astype("datetime64[s]")
    ends = np.concatenate([low, high])
    middle = 0.5 * low + 0.5 * high
    places = decimals(ends) if rounds else None
    middle = middle if places is None else np.round(middle, places) + 0.0
    return middle.astype(np.int64) if rounds and np.issubdtype(ends.dtype, np.integer) else middle


def _most_frequent(codes: IntArray, labels: IntArray) -> IntArray:
    """Most frequent code of each group, the lowest of ties."""
    groups, distinct, counts = _counts(codes, labels)
    # The order is stable: among equal counts codes stay ascending.
    order = np.lexsort((-counts, groups))
    return distinct[order[np.searchsorted(groups, np.arange(groups[-1] + 1))]]


def _sets(taxonomy: Taxonomy, nodes: IntArray, labels: IntArray) -> list[str]:
    groups, distinct, _ = _counts(nodes, labels)
    members: list[list[str]] = [[] for _ in range(int(groups[-1]) + 1)]
    for group, node in zip(groups, distinct, strict=True):
        members[group].append(taxonomy.names[node])
    return [names[0] if len(names) == 1 else f"{{{', '.join(names)}}}" for names in members]


def _counts(codes: IntArray, labels: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Pairs of a group and one of its codes, both ascending, and the number of records of each pair."""
    n_codes = int(codes.max()) + 1
    pairs, counts = np.unique(labels * n_codes + codes, return_counts=True)
    return pairs // n_codes, pairs % n_codes, counts


def exact_numbers(series: pd.Series[Any]) -> NDArray[Any]:
    """Numbers of a column in the numpy type that has exactly their digits."""
    if is_bool_dtype(series):
        return series.to_numpy(dtype=np.int64)
    if is_integer_dtype(series):
        return series.to_numpy(dtype=np.uint64 if is_unsigned_integer_dtype(series) else np.int64)
    return series.to_numpy(dtype=float_type(series.dtype))


def _number_texts(numbers: NDArray[Any]) -> list[str]:
    # Adding 0 turns -0.0 into 0.0, which is the same number.
    return [str(number + number.dtype.type(0)).removesuffix(".0") for number in numbers]


def _originals(series: pd.Series[Any], codes: FloatArray, chosen: FloatArray) -> pd.Series[Any]:
    """Column of the file's values for the codes ``chosen``: for each code, its first value in the file.

    If several values have one code, such as 1 and "1", only one of them is released: records must not differ by it.
    """
    distinct, first = np.unique(codes, return_index=True)
    return series.iloc[first[np.searchsorted(distinct, chosen)]].set_axis(series.index)


def replace_weights(
    released: pd.DataFrame, name: Any, weights: FloatArray, partition: Partition, how: str, *, rounds: bool = False
) -> None:
    """Replace the ``weights`` in ``released`` in the way ``how``, one of :data:`RELEASE_WEIGHTS`.

    Rounded means have the fewest decimals that change them by at most :data:`MOST_CHANGED`, or those of the weights.
    """
    if how == "drop":
        del released[name]
    elif how == "mean":
        means = partition.centroids(weights)
        min_decimals = decimals(weights) if rounds else None
        for places in () if min_decimals is None else range(min_decimals, MOST_DECIMALS + 1):
            if (np.abs(np.round(means, places) - means) <= MOST_CHANGED * means).all():
                means = np.round(means, places)
                break
        released[name] = means[partition.labels, 0]
