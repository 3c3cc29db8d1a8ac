"""Gaps: what is done about the missing values of quasi-identifiers before records are grouped."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, NamedTuple, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_bool_dtype, is_integer_dtype, is_numeric_dtype

from microagg.columns import dates
from microagg.columns.kinds import read_kind
from microagg.columns.records import Attribute
from microagg.columns.taxonomy import Taxonomy, category
from microagg.columns.values import ColumnValues
from microagg.errors import DataError, ParameterError
from microagg.tables.value_labels import GAP, kinds_of_missing
from microagg.validation import FloatArray, IntArray, check_choice, check_finite, counted, quoted, warn_caller

#: What can be done about a gap: it is an error, its record is left out, it becomes a category, or it is filled in.
GAPS = ("error", "drop", "category", "impute")


@dataclass(frozen=True)
class Filled:
    """The ``n`` gaps of one quasi-identifier that were filled, in the records that are released."""

    column: Hashable
    n: int
    how: str  # "median", "most frequent" or "category"
    value: int | float | str | date  # what is in their place; "" for several kinds of missing values
    codes: bool = field(default=False, compare=False)  # whether the other values are numbers, which are text beside it

    def __str__(self) -> str:
        one, value = self.n == 1, self.value
        gaps = f"{counted(self.n, 'missing value')} of {quoted([self.column])}"
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
    """Return the treatment of each attribute's gaps: ``missing``, or what it maps names to, by default "error".

    Raises ParameterError if it is not one of :data:`GAPS`, names no attribute, or is "category" of one that is not
    nominal.
    """
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

    "category" gives the gaps of a nominal attribute the category :data:`GAP`, which has only the root of the taxonomy
    in common with others; gaps of a kind (:func:`microagg.tables.value_labels.kinds_of_missing`) have it as category
    instead, unless the taxonomy has :data:`GAP` and no kind. "impute" fills in, from the records that are not left out,
    the median of numbers and dates (the lower of two if all are whole), the lower median of ordered categories, or the
    most frequent category (the first in the taxonomy among equals). ``frame`` is read by :meth:`microagg.Schema.read`,
    ``encoded``, shape (n, d), are its attributes, NaN where missing, and ``missing`` is as :func:`treatments` takes it.

    Raises DataError, naming column and record, if a value is infinite or missing where that is an error, or a column to
    impute has no value; ParameterError as :func:`treatments`, or if the file has a category :data:`GAP` already.
    """
    how = treatments(missing, attributes)
    values, absent = encoded, np.isnan(encoded)
    retained = np.asarray(~absent[:, [how[attribute.name] == "drop" for attribute in attributes]].any(axis=1))
    # Zeros in place of other gaps, not a shorter table: a message must number the records as the caller does.
    refused = retained[:, np.newaxis] & np.array([how[attribute.name] == "error" for attribute in attributes])
    names: list[Any] = [attribute.name for attribute in attributes]
    check_finite(np.where(absent & ~refused, 0.0, values), names)
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
            are_codes = is_numeric_dtype(frame[name]) and not is_bool_dtype(frame[name])
            by_gap = _gap_categories(kinds_of_missing(frame, name)[rows], attribute.taxonomy)
            for gap, places in by_gap.items():
                at = rows[places]
                taxonomies[name], code = _taxonomy_with_gap(attribute, taxonomies.get(name), values[:, j], gap)
                frame[name] = _with_gap_category(frame[name], at, gap)
                values[at, j] = code
            filled.append(Filled(name, len(rows), "category", GAP if list(by_gap) == [GAP] else "", are_codes))
        else:
            code = _imputed_code(attribute, values[retained, j], frame[name].dtype)
            frame[name] = _with_value(frame[name], attribute, values[:, j], rows, code)
            what = "most frequent" if attribute.kind == "nominal" else "median"
            filled.append(Filled(name, len(rows), what, _filled_value(attribute, code)))
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
    """Return where among gaps, whose ``kinds`` are "" for none, each category of gaps is, in the order of names."""
    names = set() if taxonomy is None else set(taxonomy.names)
    if GAP in names and names.isdisjoint(kinds):  # of a recipe that knows no kinds
        return {GAP: np.arange(len(kinds))}
    return {kind or GAP: np.flatnonzero(kinds == kind) for kind in sorted(set(kinds))}


def _taxonomy_with_gap(
    attribute: Attribute, taxonomy: Taxonomy | None, codes: FloatArray, gap: str
) -> tuple[Taxonomy, int]:
    """Return the taxonomy with a last leaf ``gap`` below its root, as that of a recipe has already, and that leaf."""
    _check_nominal(attribute)
    assert taxonomy is not None
    depth, gap_nodes = taxonomy.height, [node for node, name in enumerate(taxonomy.names) if name == gap]
    if not gap_nodes:
        first = len(taxonomy.names)
        # Levels that divide nothing, so that all leaves have the same depth.
        names, parents = (gap,) * depth, (0, *range(first, first + depth - 1))
        return Taxonomy(taxonomy.names + names, taxonomy.parents + parents), first + depth - 1
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
    """Return a column with ``gap`` at the positions ``rows``; what is no text becomes text by it."""
    series, value = series.copy(), cast("Any", gap)
    if isinstance(series.dtype, pd.CategoricalDtype):
        if gap not in series.cat.categories:
            series = series.cat.add_categories([gap])
    elif is_numeric_dtype(series) or is_bool_dtype(series):
        series = series.astype(object).map(category, na_action="ignore").astype(object)
    series.iloc[rows] = value
    return series


def _imputed_code(attribute: Attribute, codes: FloatArray, dtype: Any) -> float:
    """Return the median number, day or rank, or the most frequent node of ``codes``, as ``dtype`` can hold it."""
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
    narrow = getattr(dtype, "numpy_dtype", dtype)
    return float(narrow.type(middle)) if isinstance(narrow, np.dtype) and narrow.kind == "f" else float(middle)


def _with_value(
    series: pd.Series[Any], attribute: Attribute, codes: FloatArray, rows: IntArray, code: float
) -> pd.Series[Any]:
    """Return a column with the value that ``code`` stands for at the positions ``rows``, in the column's own type."""
    value: Any = code
    if attribute.kind != "numeric":
        value = series.iloc[int(np.flatnonzero(codes == code)[0])]
    elif attribute.unit:
        value = pd.Timestamp(dates.to_dates(np.array([code]))[0])
    elif is_bool_dtype(series):
        value = bool(code)
    elif is_integer_dtype(series):
        value = int(code)
    series = series.copy()
    series.iloc[rows] = value
    return series


def warn_of_suppressed(columns: Iterable[pd.Series[Any]]) -> None:
    """Warn of each of the ``columns`` that would hold numbers but for marks of suppressed cells, such as ``*``."""
    for series in columns:
        values = None if is_numeric_dtype(series) else ColumnValues.of(series)
        if values is not None and (marks := read_kind(values).suppressed):
            warn_caller(
                f"column {series.name!r} would hold numbers but for {quoted(marks)}, perhaps suppressed cells: name it "
                "among the numbers and these among its missing_codes, or name it among the taxonomies.",
                UserWarning,
            )


def _filled_value(attribute: Attribute, code: float) -> int | float | str | date:
    if attribute.kind != "numeric":
        return (attribute.taxonomy.names if attribute.taxonomy else attribute.levels)[int(code)]
    if attribute.unit:
        return date.fromisoformat(dates.texts(np.array([code]), "day")[0])
    return int(code) if code == int(code) else code
