"""Tables from Parquet files."""

from __future__ import annotations

import io

import pandas as pd

from microagg.errors import DataError, MicroaggError
from microagg.tables.checks import check_cells, check_names, refuse_no_records
from microagg.tables.notices import Reading


def read_parquet(data: bytes, label: str, max_cells: int) -> Reading:
    """Return the table of a Parquet file; see :func:`microagg.tables.read_file`."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise DataError(
            f"reading {label!r} needs the package pyarrow: install microagg[files], or save the table as .csv."
        ) from None
    try:
        with pq.ParquetFile(io.BytesIO(data)) as file:
            schema = file.schema_arrow
            for column in schema:
                if pa.types.is_nested(column.type):
                    raise DataError(
                        f"column {column.name!r} of the file {label!r} holds lists or records ({column.type}): "
                        "leave it out, or unfold it into columns of single values."
                    )
            check_names(schema.names, label)
            # A malicious file may lie about sizes in bytes; how much memory the table takes follows from its cells.
            check_cells(file.metadata.num_rows, len(schema.names), max_cells, label)
            if file.metadata.num_rows == 0:
                refuse_no_records(label)
            table = file.read()
        for j, column in enumerate(table.schema):
            if pa.types.is_decimal(column.type):
                table = table.set_column(j, column.name, table.column(j).cast(pa.float64()))
        # Without the notes that pandas leaves in its files, which would turn columns into an index.
        frame: pd.DataFrame = table.to_pandas(ignore_metadata=True)
    except MicroaggError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__
        raise DataError(f"the file {label!r} is a damaged Parquet file ({reason}): export it again.") from None
    return Reading(frame)
