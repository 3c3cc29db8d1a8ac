"""Checks of input for all rooms. Each error message names the place and the remedy in one sentence."""

from __future__ import annotations

import difflib
import importlib
import re
import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from pandas.api.types import is_bool_dtype, is_complex_dtype, is_float_dtype, is_numeric_dtype, is_scalar

from microagg.errors import DataError, ParameterError, brief, names_arguments

#: Maximum number of names in a sentence.
MOST_NAMED = 12

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

#: Values beyond this would overflow when squared and summed.
LARGEST = 1e140


def optional_import(name: str, extra: str, what: str = "this", otherwise: str = "") -> Any:
    """Import the module ``name``, which is installed with an ``extra`` of the package.

    The error without it begins with ``what`` and may end with ``otherwise``, another way.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = str(error.name or name).partition(".")[0]
        otherwise = f", or {otherwise}" if otherwise else ""
        raise DataError(f"{what} needs the package {package}: install microagg[{extra}]{otherwise}.") from None


def is_whole(value: Any) -> bool:
    """Whether ``value`` is a whole number of Python or numpy, and not a boolean."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def is_real(value: Any) -> bool:
    """Whether ``value`` is a number of Python or numpy in the range of floats, and not a boolean."""
    return (is_whole(value) and abs(value) <= sys.float_info.max) or isinstance(value, (float, np.floating))


def is_name(value: Any, *, missing: bool = False) -> bool:
    """Whether ``value`` can be the name of a column: a single value, perhaps ``missing``, or a tuple."""
    try:
        hash(value)
    except TypeError:
        return False
    return isinstance(value, tuple) or (is_scalar(value) and (missing or not pd.isna(value)))


def check_whole(name: str, value: Any, minimum: int) -> int:
    """Return ``value`` as an int, or raise :class:`ParameterError` unless it is whole and at least ``minimum``."""
    if not is_whole(value) or value < minimum:
        raise ParameterError(f"{name} must be a whole number of at least {minimum}, not {value!r}.")
    return int(value)


def check_k(k: Any) -> int:
    """Return the minimum group size as an int, or raise :class:`ParameterError`."""
    if is_whole(k) and k < 1:
        raise ParameterError(f"k must be at least 1, not {k}: it is the minimum number of records in a group.")
    return check_whole("k", k, 1)


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
    """Return ``X`` as a 2-D float array with ``n`` rows (one column if it is 1-D), or raise :class:`DataError`."""
    check_dense(X)
    try:
        array = np.asarray(X)
        data = array if array.dtype == np.float64 else np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(f"X must hold numbers only: {str(error).rstrip('.')}.") from None
    check_dense(array)
    if data.ndim == 1:
        data = data[:, np.newaxis]
    if data.ndim != 2 or data.shape[1] == 0:
        raise DataError(f"X must be a table of n records by d attributes, not of shape {data.shape}.")
    if n is not None and len(data) != n:
        raise DataError(f"X has {len(data)} records, but there are labels for {n}.")
    return data


def check_dense(X: Any) -> None:
    """Raise :class:`DataError` if ``X`` is sparse or not computed, or holds masked values, complex numbers or dates.

    An array of floats would silently lose the mask or the imaginary part, and have -9e18 for a missing date.
    """
    if hasattr(X, "collect"):
        raise DataError("X is not computed yet: pass X.collect().")
    if hasattr(X, "toarray") and hasattr(X, "nnz"):
        raise DataError("X is a sparse matrix, and dense data are required: pass X.toarray().")
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        row = int(np.flatnonzero(np.ma.getmaskarray(X).reshape(len(X), -1).any(axis=1))[0])
        raise DataError(
            f"X has masked values, the first in record {row} (counting from 0): fill them in, or leave records out."
        )
    kind = getattr(getattr(X, "dtype", None), "kind", "")
    if kind == "c":
        raise DataError("Complex data not supported: X must hold real numbers, such as X.real.")
    if kind in ("m", "M"):
        raise DataError("X holds dates or durations: turn them into numbers first, such as years.")


def check_finite(X: FloatArray, names: Sequence[str] | None = None) -> None:
    """Raise :class:`DataError` for NaN, infinity, or values beyond :data:`LARGEST` in ``X``, shape (n, d).

    The message names the first one's record and attribute, from ``names`` if given.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        if X.size == 0 or (X.max() < LARGEST and X.min() > -LARGEST):
            return
    not_finite = ~np.isfinite(X)
    index = not_finite.argmax() if not_finite.any() else np.abs(X).argmax()
    row, column = (int(i) for i in np.unravel_index(index, X.shape))
    value, name, where = X[row, column], attribute_name(column, names), f"in record {row} (counting from 0)"
    if np.isfinite(value):
        raise DataError(f"{name} has {value:g} {where}: its square is too large; use larger units.")
    kind, count = ("NaN (a missing value)", np.isnan(X).sum()) if np.isnan(value) else ("infinity", np.isinf(X).sum())
    more = f", one of {count} such values" if count > 1 else ""
    raise DataError(f"{name} has {kind} {where}{more}: fill in or leave out such records before microaggregating.")


def check_weights(weights: FloatArray, name: Any) -> None:
    """Raise DataError unless all weights of records, shape (n,), are above 0. ``name``: their column."""
    if len(small := np.flatnonzero(weights <= 0.0)):
        row = int(small[0])
        more = f", one of {len(small):,} such records" if len(small) > 1 else ""
        raise DataError(
            f"column {name!r} has the weight {weights[row]:g} in record {row} (counting from 0){more}, but weights "
            "must be above 0: leave out such records first, or do not name the column as the weights."
        )


def check_pair(before: ArrayLike, after: ArrayLike, *, matched: bool = True) -> tuple[FloatArray, FloatArray]:
    """Return originals and their release as float arrays, shape (n, d) and (m, d).

    If they are ``matched``, record i of one is record i of the other; otherwise their numbers may differ.
    """
    X, released = _table(before, "the originals"), _table(after, "the release")
    if X.shape[1] != released.shape[1] or (matched and len(X) != len(released)):
        raise DataError(
            f"the originals have the shape {X.shape}, the release has {released.shape}: pass the same attributes"
            f"{' of the same records, in the same order' if matched else ' of both'}."
        )
    return X, released


def _table(values: ArrayLike, subject: str) -> FloatArray:
    try:
        data = check_matrix(values)
        if len(data) == 0:
            raise DataError("there are no records: give at least one.")
        check_finite(data)
    except DataError as error:
        raise DataError(f"in {subject}: {error}") from None
    return data


def attribute_name(j: int, names: Sequence[Any] | None) -> str:
    """Name of attribute ``j`` in messages: that of its column, if there are ``names``."""
    return f"attribute {j}" if names is None else f"column {names[j]!r}"


def check_enough_records(n: int, k: int, subject: str = "the data") -> None:
    """Raise :class:`DataError` if ``n`` records cannot form one group of ``k``."""
    if n < k:
        raise DataError(
            f"{subject} has only {counted(n, 'record')}, fewer than k={k}: "
            f"no group of {k:,} can be formed.{f' Choose k of at most {n:,}.' if n else ''}"
        )


def check_unique_columns(names: Sequence[Any]) -> None:
    """Raise :class:`DataError` naming the column names that occur more than once, or an impossible one."""
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


def check_columns(frame: pd.DataFrame, columns: Sequence[Any], addition: str = "") -> None:
    """Raise :class:`DataError` naming the first of ``columns`` that ``frame`` lacks, with an ``addition``."""
    for column in columns:
        if not is_name(column, missing=True):
            raise DataError(f"{brief(column)} is no column name{addition}: give text.")
        if column not in frame.columns:
            raise DataError(f"there is no column {column!r}{addition}: the columns are {quoted(frame.columns)}.")


def check_present(series: pd.Series[Any], used: NDArray[np.bool_], lacks: str, so: str = "", remedy: str = "") -> None:
    """Raise :class:`DataError` naming the first record in ``used``, shape (n,), without a value in a column.

    ``lacks``, ``so`` and ``remedy`` are parts of the message: the missing thing, its consequence, and another remedy.
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

    Booleans count as 0 and 1. Missing values of nullable types become NaN. Messages call the columns ``role``.
    """
    check_unique_columns(list(frame.columns))
    check_columns(frame, columns)
    # By position: pandas takes a list of names like True for a mask of records.
    indices: list[Any] = [frame.columns.get_loc(column) for column in columns]
    selected = frame.iloc[:, indices]
    if all(isinstance(dtype, np.dtype) and dtype.kind in "biuf" for dtype in selected.dtypes):
        # In one go, as a table may have thousands of columns.
        return np.array(selected.to_numpy(), dtype=np.float64, order="C")  # pandas may give a read-only view
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


def float_type(dtype: Any) -> type[np.floating[Any]]:
    """The numpy type of the floats of a column, or of its categories: of 16, 32 or 64 bits."""
    dtype = getattr(getattr(dtype, "categories", None), "dtype", dtype)
    narrow: dict[int, type[np.floating[Any]]] = {2: np.float16, 4: np.float32}
    return narrow.get(getattr(dtype, "itemsize", 8), np.float64) if is_float_dtype(dtype) else np.float64


def widened(series: pd.Series[Any]) -> pd.Series[Any]:
    """A column with floats of fewer than 64 bits as those of 64 bits with the same text.

    0.1 of 32 bits is 0.10000000149011612 in 64 bits: digits that are not in the file.
    """
    if float_type(series.dtype) is np.float64:
        return series
    positions, distinct = factorized(series)
    return pd.Series(np.array([*distinct, np.nan])[positions], index=series.index, name=series.name)


def shortest(value: Any, dtype: Any) -> float:
    """The float of 64 bits with the text of a value as a float of ``dtype``."""
    return float(str(float_type(dtype)(value)))


def factorized(series: pd.Series[Any]) -> tuple[IntArray, list[Any]]:
    """Number of each record's value, shape (n,), or -1 if missing, and the distinct values, as :func:`widened`."""
    try:
        is_text = isinstance(series.dtype, pd.StringDtype)
        positions, distinct = pd.factorize(series if is_text else series.astype(object).to_numpy())
    except TypeError:
        raise DataError(
            f"column {series.name!r} holds values that cannot be told apart (such as lists): turn them into text or "
            "numbers first."
        ) from None
    is_narrow = float_type(series.dtype) is not np.float64
    values = [shortest(value, series.dtype) for value in distinct] if is_narrow else list(distinct)
    return positions.astype(np.int64), values


def listing(words: Sequence[str], max_words: int | None = None, joint: str = "and") -> str:
    """List words as ``a``, ``a and b`` or ``a, b and c``, or with ``max_words`` as ``a, b and 3 more``."""
    parts = list(words[:max_words])
    if n_more := len(words) - len(parts):
        parts.append(f"{n_more:,} more")
    return f"{', '.join(parts[:-1])} {joint} {parts[-1]}" if len(parts) > 1 else "".join(parts)


def plain(value: Any) -> Any:
    """Return ``value`` in types of JSON, with names and labels of other types as text."""
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


def shortened(text: object, max_length: int = 60) -> str:
    """Return a text cut to ``max_length`` characters, including an ellipsis."""
    string = str(text)
    return string if len(string) <= max_length else f"{string[: max_length - 1]}…"


def nearest_keys(value: Any, keys: Mapping[str, Any]) -> str:
    """Return the end of a message that ``value`` is none of ``keys``."""
    near = difflib.get_close_matches(str(value), keys, n=3, cutoff=0.4)
    return f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(keys)}."


def quoted(names: Iterable[Any]) -> str:
    """List names in quotes, at most :data:`MOST_NAMED` of them and the number of further ones."""
    each = [repr(plain(name)) for name in names]
    n_more = len(each) - MOST_NAMED
    return ", ".join(each[:MOST_NAMED]) + (f" and {n_more:,} more" if n_more > 0 else "")


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


# A value of k, the minimum group size, or a range of them.
_WORD = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")


def read_ks(text: str, n: int, max_ks: int) -> tuple[list[int], bool]:
    """Read the values of k in a text like ``2–10, 20``: those up to ``n``, ascending, and whether some are larger."""
    ks: set[int] = set()
    beyond = False
    for word in re.sub(r"\s*[-–—−]\s*", "-", text).replace(",", " ").replace(";", " ").split():
        match = _WORD.fullmatch(word)
        low, high = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
        if low < 1:
            raise ParameterError(
                f"{word!r} is no value of k: write whole numbers of at least 1, or ranges like 2–20, with commas "
                "between."
            )
        if low > high:
            raise ParameterError(f"the range {word} runs backward: write the smaller k first.")
        ks.update(range(low, min(high, n) + 1)[: max_ks + 1])
        beyond = beyond or high > n
        if len(ks) > max_ks:
            raise ParameterError(f"these are more than {max_ks} values of k, too many to compare: write fewer.")
    return sorted(ks), beyond


def spread(ks: Sequence[int], first: int | None = None) -> list[int]:
    """Return ``ks``, ascending, with distant values first: both ends, the middle, the quarters and so on.

    A curve that is computed in this order has its shape early. ``first`` comes before all if it is one of ``ks``.

    >>> spread([2, 3, 4, 5, 6, 7, 8, 9, 10])
    [10, 2, 6, 8, 4, 9, 7, 5, 3]
    """
    if not ks:
        return []
    levels = [np.linspace(len(ks) - 1, 0, 2**level + 1).round() for level in range(len(ks).bit_length() + 1)]
    ordered = dict.fromkeys(ks[int(i)] for i in np.concatenate(levels))
    return sorted(ordered, key=lambda k: k != first)


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn the caller of this package, at the nearest line outside of it."""
    package, level, frame = str(Path(__file__).parent), 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(package):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def renamed(old: str, new: str) -> property:
    """The attribute ``new`` under its ``old`` name, with a warning."""

    def value(self: object) -> Any:
        warn_caller(f"{type(self).__name__}.{old} is deprecated: it is called {new} now", DeprecationWarning)
        return getattr(self, new)

    return property(value)
