"""What the cells of quasi-identifiers stand for: codes for missing values, numbers and dates held as text, categories.

:func:`read` gives a frame whose columns have the types that they should have; :func:`encode` numbers, ranks and nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_complex_dtype, is_numeric_dtype

from microagg.columns import dates, numerals
from microagg.columns.records import Attribute
from microagg.columns.taxonomy import category
from microagg.errors import DataError
from microagg.validation import FloatArray, check_columns, factorized, numeric_matrix, quoted


def read(
    frame: pd.DataFrame,
    dated: Collection[Hashable],
    numbers: Mapping[Hashable, str | None],
    missing_codes: Mapping[Hashable, Collection[str]],
) -> pd.DataFrame:
    """Return ``frame`` with the codes of missing values missing, and text as the numbers or dates that it says.

    Columns that stay as they are are not copied, and a frame of which all stay is returned itself; so is one that was
    read already. Numbers become float64, dates datetime64[s] at midnight; see :func:`microagg.columns.dates.read`.

    Parameters
    ----------
    frame : DataFrame
    dated : collection of column names
        The columns that hold dates.
    numbers : mapping of column name to str or None
        The columns that hold numbers, and how they are written where that is said, see
        :func:`microagg.columns.numerals.read`.
    missing_codes : mapping of column name to collection of str
        As :func:`microagg.columns.taxonomy.category` writes them. They are looked for among the values as the file has
        them and among what these are read as, so that -999 is also found as the text "-999.0"; a date without a time.

    Raises
    ------
    DataError
        Naming column, record and value: of what should be a number or a date and is none.
    """
    changed = {}
    for name in dict.fromkeys([*missing_codes, *numbers, *dated]):
        convert: Callable[[pd.Series[Any]], pd.Series[Any]] | None = None
        if name in dated:
            convert = dates.read
        elif name in numbers:
            convert = partial(numerals.read, notation=numbers[name])
        series = frame[name]
        column = _read(series, missing_codes.get(name, ()), _day if name in dated else category, convert)
        if column is not series:
            changed[name] = column
    if not changed:
        return frame
    frame = frame.copy(deep=False)
    for name, column in changed.items():
        frame[name] = column
    return frame


def notations(
    frame: pd.DataFrame,
    numbers: Mapping[Hashable, str | None],
    missing_codes: Mapping[Hashable, Collection[str]],
) -> dict[Hashable, str | None]:
    """Return how each column of ``numbers`` is written: as is said there, else as the column shows by itself.

    Raises
    ------
    DataError
        As :func:`microagg.columns.numerals.notation_of`.
    """
    found = dict(numbers)
    for name in [name for name, notation in numbers.items() if notation is None]:
        codes = set(missing_codes.get(name, ()))
        found[name] = numerals.notation_of(_without_codes(frame[name], codes, category))
    return found


def encode(frame: pd.DataFrame, attributes: Sequence[Attribute]) -> FloatArray:
    """Return ``attributes`` of a frame that was read as numbers, days, ranks and nodes, shape (n, d); NaN is a gap.

    Raises
    ------
    DataError
        If one is not in ``frame``, or holds a value that is no number, or not in its taxonomy or order.
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


def _read(
    series: pd.Series[Any],
    codes: Collection[str],
    written: Callable[[Any], str],
    convert: Callable[[pd.Series[Any]], pd.Series[Any]] | None,
) -> pd.Series[Any]:
    codes = {written(code) for code in codes}
    series = _without_codes(series, codes, written)
    return series if convert is None else _without_codes(convert(series), codes, written)


def _day(value: Any) -> str:
    """Return how a date is compared with codes: without a time where that is midnight."""
    return category(value).removesuffix(" 00:00:00")


def _without_codes(series: pd.Series[Any], codes: Collection[str], written: Callable[[Any], str]) -> pd.Series[Any]:
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
        if attribute.taxonomy is not None:
            try:
                numbers[i] = attribute.taxonomy.node(value)
            except DataError as error:
                row = int(np.flatnonzero(positions == i)[0])
                raise DataError(f"column {attribute.name!r}, record {row} (counting from 0): {error}") from None
        elif category(value) in ranks:
            numbers[i] = ranks[category(value)]
        else:
            row = int(np.flatnonzero(positions == i)[0])
            raise DataError(
                f"column {attribute.name!r} has {category(value)!r} in record {row} (counting from 0), which is not in "
                f"its order {quoted(attribute.levels)}: add it."
            )
    codes = numbers[positions]
    codes[series.isna().to_numpy()] = np.nan
    return codes
