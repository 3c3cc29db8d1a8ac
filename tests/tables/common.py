"""What tests of tables share: files in memory, and what every refusal is like."""

import io

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from microagg.errors import DataError, ParameterError
from microagg.tables import read_table
from microagg.tables.stata_spss_process import read_or_error


def read_csv(text, **options):
    data = text if isinstance(text, bytes) else text.encode()
    return read_table(data, name="x.csv", **options)


def xlsx(*sheets, titles=("Sheet",)):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in zip(titles, sheets, strict=True):
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def parquet(table, **options):
    stream = io.BytesIO()
    pq.write_table(table if isinstance(table, pa.Table) else pa.Table.from_pandas(table), stream, **options)
    return stream.getvalue()


def fails(match, *args, error=DataError, **options):
    with pytest.raises(error, match=match) as caught:
        read_table(*args, **options)
    message = str(caught.value)
    # One plain sentence: no line break, one full stop, and advice after a colon.
    assert "\n" not in message
    assert message.endswith(".")
    assert ":" in message or error is ParameterError
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return message


def read_here(data, max_cells):
    """Read a file of SPSS or Stata in this process, with the arguments of the other process."""
    return read_or_error(data, int(max_cells))
