"""Tables to Parquet files."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

import pandas as pd
from pandas.api.types import is_datetime64_any_dtype, is_timedelta64_dtype

from microagg.errors import DataError
from microagg.tables.columns import is_text, plain_column


def write_parquet(columns: Mapping[str, pd.Series[Any]], name: str) -> bytes:
    """Return columns as a Parquet file; see :func:`microagg.tables.write_table`."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise DataError(
            f"writing {name!r} needs the package pyarrow: install microagg[files], or choose .csv."
        ) from None
    arrays = []
    for series in columns.values():
        column = _storable(series)
        # Without a type, a column of missing values only would not be text any more.
        arrays.append(pa.array(column, type=pa.string() if is_text(column) and column.dtype == object else None))
    stream = io.BytesIO()
    pq.write_table(pa.Table.from_arrays(arrays, names=list(columns)), stream)
    return stream.getvalue()


def _storable(series: pd.Series[Any]) -> pd.Series[Any]:
    """Return what pyarrow stores as it is, which is more than other files take, or a plain column."""
    dtype = series.dtype
    if is_datetime64_any_dtype(dtype) or is_timedelta64_dtype(dtype):
        return series
    return plain_column(series)
