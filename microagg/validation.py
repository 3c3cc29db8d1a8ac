"""Checks on input that every layer shares; each failure is one sentence that says where and what to do."""

from __future__ import annotations

import importlib
import re
import sys
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from pandas.api.types import is_bool_dtype, is_complex_dtype, is_numeric_dtype, is_scalar

from microagg.errors import DataError, ParameterError, brief, names_arguments

#: Of more names a sentence says the first ones only.
MOST_NAMED = 12

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

#: Values beyond this would overflow when squared and summed.
LARGEST = 1e140


def optional_import(name: str, extra: str, what: str = "this", otherwise: str = "") -> Any:
    """Return the module ``name``, which is installed with an ``extra`` of the package.

    Raises DataError if it is not installed: that ``what`` needs its package, and what can be done ``otherwise``.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = str(error.name or name).partition(".")[0]
        otherwise = f", or {otherwise}" if otherwise else ""
        raise DataError(f"{what} needs the package {package}: install microagg[{extra}]{otherwise}.") from None


def is_whole(value: Any) -> bool:
    """Whether ``value`` is a whole number of Python or numpy; booleans are none."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def is_real(value: Any) -> bool:
    """Whether ``value`` is a number of Python or numpy that a float can hold; booleans are none."""
    return (is_whole(value) and abs(value) <= sys.float_info.max) or isinstance(value, (float, np.floating))


def is_name(value: Any, *, missing: bool = False) -> bool:
    """Whether ``value`` can be a column's name: a single value, or a tuple; ``missing`` ones only if allowed."""
    try:
        hash(value)
    except TypeError:
        return False
    return isinstance(value, tuple) or (is_scalar(value) and (missing or not pd.isna(value)))


def check_whole(name: str, value: Any, least: int) -> int:
    """Return ``value`` as an int, or raise :class:`ParameterError` if it is no whole number of at least ``least``."""
    if not is_whole(value) or value < least:
        raise ParameterError(f"{name} must be a whole number of at least {least}, not {value!r}.")
    return int(value)


def check_k(k: Any) -> int:
    """Return the minimum group size as an int, or raise :class:`ParameterError`."""
    if not is_whole(k):
        raise ParameterError(f"k must be a whole number of at least 1, not {k!r}.")
    if k < 1:
        raise ParameterError(f"k must be at least 1, not {k}: it is the minimum number of records in a group.")
    return int(k)


def check_choice(name: str, value: Any, choices: Sequence[str]) -> str:
    """Return ``value``, or raise :class:`ParameterError` naming the parameter and its ``choices``."""
    if not isinstance(value, str) or value not in choices:
        raise ParameterError(f"{name} must be one of {', '.join(map(repr, choices))}, not {value!r}.")
    return value


@names_arguments
def check_labels(labels: ArrayLike) -> IntArray:
    """Return group labels as a 1-D int64 array, or raise :class:`DataError`."""
    array = np.asarray(labels)
    if array.ndim != 1 or array.size == 0:
        raise DataError(f"labels must be a 1-D array with one group per record, not of shape {array.shape}.")
    if not np.issubdtype(array.dtype, np.integer):
        raise DataError(f"labels must be whole numbers, not {array.dtype}.")
    return array.astype(np.int64, copy=False)


def check_matrix(X: ArrayLike, n: int | None = None) -> FloatArray:
    """Return ``X`` as a 2-D float array (a 1-D array is one attribute) with ``n`` rows, or raise :class:`DataError`."""
    check_dense(X)
    try:
        data = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(f"X must hold numbers only: {str(error).rstrip('.')}.") from None
    if data.ndim == 1:
        data = data[:, np.newaxis]
    if data.ndim != 2 or data.shape[1] == 0:
        raise DataError(f"X must be a table of n records by d attributes, not of shape {data.shape}.")
    if n is not None and len(data) != n:
        raise DataError(f"X has {len(data)} records, but there are labels for {n}.")
    return data


def check_dense(X: Any) -> None:
    """Raise :class:`DataError` if ``X`` is a sparse matrix, or holds masked values or complex numbers.

    As an array of floats the first would be none, and the others would lose the mask or the imaginary part unsaid.
    """
    if hasattr(X, "toarray") and hasattr(X, "nnz"):
        raise DataError("X is a sparse matrix, and dense data are required: pass X.toarray().")
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        row = int(np.flatnonzero(np.ma.getmaskarray(X).reshape(len(X), -1).any(axis=1))[0])
        raise DataError(
            f"X has masked values, the first in record {row} (counting from 0): fill them in, or leave records out."
        )
    if getattr(getattr(X, "dtype", None), "kind", "") == "c":
        raise DataError("Complex data not supported: X must hold real numbers, such as X.real.")


def check_finite(X: FloatArray, names: Sequence[str] | None = None) -> None:
    """Raise :class:`DataError` naming the first NaN or infinity in ``X``, shape (n, d), whose columns are ``names``."""
    # Squared distances over d attributes must not overflow either.
    with np.errstate(over="ignore", invalid="ignore"):
        if X.size == 0 or (X.max() < LARGEST and X.min() > -LARGEST):
            return
    bad = ~np.isfinite(X)
    count = int(bad.sum())
    first = bad.argmax() if count else np.abs(X).argmax()
    row, column = (int(i) for i in np.unravel_index(first, X.shape))
    where = attribute_name(column, names)
    if count == 0:
        raise DataError(f"{where} has {X[row, column]:g} in record {row}: its square is too large; use larger units.")
    what = "NaN (a missing value)" if np.isnan(X[row, column]) else "infinity"
    more = f", one of {count} such values" if count > 1 else ""
    raise DataError(
        f"{where} has {what} in record {row} (counting from 0){more}: "
        "fill in or leave out such records before microaggregating."
    )


def check_pair(
    before: ArrayLike, after: ArrayLike, *, matched: bool = True, names: Sequence[Any] | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return originals and their release as float arrays, shape (n, d) and (m, d).

    Record i of one is record i of the other if they are ``matched``; otherwise they may differ in number. ``names`` are
    those of the attributes, where these are known.

    Raises DataError if one of them is no table of finite numbers, or has no records, or their shapes do not go
    together.
    """
    X, released = _table(before, "the originals", names), _table(after, "the release", names)
    if X.shape[1] != released.shape[1] or (matched and len(X) != len(released)):
        raise DataError(
            f"the originals have the shape {X.shape}, the release has {released.shape}: pass the same attributes"
            f"{' of the same records, in the same order' if matched else ' of both'}."
        )
    return X, released


def _table(values: ArrayLike, whose: str, names: Sequence[Any] | None) -> FloatArray:
    try:
        data = check_matrix(values)
        if len(data) == 0:
            raise DataError("there are no records: give at least one.")
        check_finite(data, names)
    except DataError as error:
        raise DataError(f"in {whose}: {error}") from None
    return data


def attribute_name(j: int, names: Sequence[Any] | None) -> str:
    """Return what messages call the attribute ``j``: a column where its name is known."""
    return f"attribute {j}" if names is None else f"column {names[j]!r}"


def check_enough_records(n: int, k: int, where: str = "the data") -> None:
    """Raise :class:`DataError` if ``n`` records cannot form one group of ``k``."""
    if n < k:
        raise DataError(
            f"{where} has only {n} record{'' if n == 1 else 's'}, fewer than k={k}: "
            f"no group of {k} can be formed. Choose k of at most {n}."
        )


def check_unique_columns(names: Sequence[Any]) -> None:
    """Raise :class:`DataError` naming the column names that occur more than once, or one that can be no name."""
    seen: set[Any] = set()
    twice: list[Any] = []
    for name in names:
        if not is_name(name, missing=True):
            raise DataError(f"the column name {brief(name)} is no text or other single value: rename the column.")
        if name in seen and name not in twice:
            twice.append(name)
        seen.add(name)
    if twice:
        listed = ", ".join(repr(name) for name in twice[:5])
        raise DataError(f"the column name {listed} occurs more than once: rename the columns so that each is unique.")


def check_columns(frame: pd.DataFrame, columns: Sequence[Any], aside: str = "") -> None:
    """Raise :class:`DataError` naming the first of ``columns`` that ``frame`` does not have, with an ``aside``."""
    for column in columns:
        if not is_name(column, missing=True):
            raise DataError(f"{brief(column)} is no column name{aside}: give text.")
        if column not in frame.columns:
            raise DataError(f"there is no column {column!r}{aside}: the columns are {quoted(frame.columns)}.")


def check_present(series: pd.Series[Any], used: NDArray[np.bool_], lacks: str, so: str = "", remedy: str = "") -> None:
    """Raise :class:`DataError` naming the first record that is ``used``, shape (n,), and has no value in a column.

    ``lacks`` and ``so`` are what the message says that it lacks, and what follows from that; ``remedy`` is what else
    can be done.
    """
    absent = np.flatnonzero(series.isna().to_numpy() & used)
    if len(absent):
        more = f", one of {len(absent):,} such records" if len(absent) > 1 else ""
        raise DataError(
            f"column {series.name!r} has {lacks} in record {int(absent[0])} (counting from 0){more}{so}: "
            f"fill in or leave out such records first{remedy}."
        )


def numeric_matrix(frame: pd.DataFrame, columns: Sequence[Any], role: str = "quasi-identifiers") -> FloatArray:
    """Return ``columns`` of ``frame`` as a float array, shape (n, len(columns)), finite or not.

    Booleans count as 0 and 1. Missing values of nullable types become NaN. ``role`` is what messages call the columns.

    Raises DataError if a column is missing or duplicated, or holds anything but real numbers; the message names the
    column and the first offending value.
    """
    check_unique_columns(list(frame.columns))
    check_columns(frame, columns)
    # By position: a list of names such as True would be taken for a choice of records.
    places: list[Any] = [frame.columns.get_loc(column) for column in columns]
    taken = frame.iloc[:, places]
    if all(isinstance(dtype, np.dtype) and dtype.kind in "biuf" for dtype in taken.dtypes):
        # In one go, as a table may have thousands of columns.
        return np.array(taken.to_numpy(), dtype=np.float64, order="C")  # pandas may give a read-only view
    for column in columns:
        series = frame[column]
        if not (is_numeric_dtype(series) or is_bool_dtype(series)) or is_complex_dtype(series):
            row, value = _first_not_number(series)
            raise DataError(
                f"column {column!r} is not numeric (record {row} holds {value!r}): "
                f"leave it out of the {role}, or turn it into numbers first."
            )
    matrix = np.empty((len(frame), len(columns)), dtype=np.float64)
    for j, column in enumerate(columns):
        matrix[:, j] = frame[column].to_numpy(dtype=np.float64, na_value=np.nan)
    return matrix


def factorized(series: pd.Series[Any]) -> tuple[IntArray, list[Any]]:
    """Return the number of each record's value, shape (n,), -1 where it is missing, and these distinct values.

    So each value is looked at once, however many records there are.

    Raises DataError if values cannot be told apart.
    """
    try:
        positions, distinct = pd.factorize(series.astype(object).to_numpy())
    except TypeError:
        raise DataError(
            f"column {series.name!r} holds values that cannot be told apart (such as lists): turn them into text or "
            "numbers first."
        ) from None
    return positions.astype(np.int64), list(distinct)


def listing(words: Sequence[str], most: int | None = None, joint: str = "and") -> str:
    """Return ``a``, ``a and b``, ``a, b and c``; of more than ``most`` the rest as a number, ``a, b and 3 more``."""
    parts = list(words[:most])
    if rest := len(words) - len(parts):
        parts.append(f"{rest:,} more")
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} {joint} {parts[-1]}" if parts else ""


def plain(value: Any) -> Any:
    """Return ``value`` made of what JSON knows; column names, index labels and strata may be anything."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def counted(count: int, noun: str) -> str:
    """Return a number with its noun, in the plural unless it is 1."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def shortened(text: object, most: int = 60) -> str:
    """Return a text cut to ``most`` characters, an ellipsis the last of them."""
    whole = str(text)
    return whole if len(whole) <= most else f"{whole[: most - 1]}…"


def quoted(names: Iterable[Any]) -> str:
    """Return names in quotes, separated by commas; of more than :data:`MOST_NAMED` the rest as a number."""
    each = [repr(plain(name)) for name in names]
    rest = len(each) - MOST_NAMED
    return ", ".join(each[:MOST_NAMED]) + (f" and {rest:,} more" if rest > 0 else "")


def _first_not_number(series: pd.Series[Any]) -> tuple[int, Any]:
    try:
        values = pd.to_numeric(series.astype(object), errors="coerce")
    except OverflowError:  # an integer beyond all floats
        row = next(
            row for row, value in enumerate(series) if isinstance(value, int) and abs(value) > sys.float_info.max
        )
        return row, f"an integer of {len(str(abs(series.iloc[row])))} digits"
    rows = np.flatnonzero((values.isna() & series.notna()).to_numpy())
    row = int(rows[0]) if len(rows) else 0
    return row, series.iloc[row] if len(series) else None


# A value of k, the minimum group size, or a range, as people write them.
_WORD = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")


def read_ks(text: str, n: int, most: int) -> tuple[list[int], bool]:
    """Return the values of k in a text like ``2–10, 20``, ascending, up to ``n``; and whether larger ones are there.

    Raises ParameterError if a word is no value or range of k, or there are more than ``most`` values.
    """
    ks: set[int] = set()
    beyond = False
    for word in re.sub(r"\s*[-–—−]\s*", "-", text).replace(",", " ").replace(";", " ").split():
        match = _WORD.fullmatch(word)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
        if first < 1:
            raise ParameterError(
                f"{word!r} is no value of k: write whole numbers of at least 1, or ranges like 2–20, with commas "
                "between."
            )
        if first > last:
            raise ParameterError(f"the range {word} runs backward: write the smaller k first.")
        ks.update(range(first, min(last, n) + 1)[: most + 1])
        beyond = beyond or last > n
        if len(ks) > most:
            raise ParameterError(f"these are more than {most} values of k, too many to compare: write fewer.")
    return sorted(ks), beyond


def spread(ks: Sequence[int], first: int | None = None) -> list[int]:
    """Return ``ks``, ascending, in an order in which the first few lie far apart: both ends, the middle, the quarters.

    A curve that is computed in this order has its shape early. Of what is equally far apart the larger k comes first,
    as large groups take least time. ``first``, if it is one of them, comes first.

    >>> spread([2, 3, 4, 5, 6, 7, 8, 9, 10])
    [10, 6, 2, 8, 4, 9, 7, 5, 3]
    """
    if not ks:
        return []
    places = [*dict.fromkeys([len(ks) - 1, (len(ks) - 1) // 2, 0])]
    gaps = [((len(ks) - 1) // 2, len(ks) - 1), (0, (len(ks) - 1) // 2)]
    while gaps:
        halves = []
        for low, high in gaps:
            if high - low > 1:
                middle = (low + high) // 2
                places.append(middle)
                halves += [(middle, high), (low, middle)]
        gaps = halves
    ordered = [ks[place] for place in places]
    return sorted(ordered, key=lambda k: k != first)


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn of what the caller of this package did: the line named is the nearest one outside of it."""
    package, level, frame = str(Path(__file__).parent), 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(package):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
