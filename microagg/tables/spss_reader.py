"""Reads an SPSS file as a program of its own: from standard input, to a pickle on standard output.

The C library below pyreadstat ends the whole process on some damaged files, and a dashboard must outlive an upload.
Run by :mod:`microagg.tables.spss`; imports nothing else of the package, so that it starts quickly.
"""

from __future__ import annotations

import io
import pickle
import sys
from typing import Any

import numpy as np


def read(data: bytes, max_cells: int) -> dict[str, Any]:
    """Return what an SPSS file says of its variables, and its records unless they have more than ``max_cells``.

    ``columns`` are arrays of n floats, or lists of n texts, in the order of ``names``. There is none if the file itself
    says that it has too many records, and at most one record too many otherwise. Dates are seconds since 1582-10-14.
    """
    import pyreadstat

    # Only so are the values listed that count as missing.
    _, about = pyreadstat.read_sav(io.BytesIO(data), metadataonly=True, user_missing=True)
    names = list(about.column_names)
    records = about.number_rows or 0
    found: dict[str, Any] = {
        "names": names,
        "records": records,
        "missing": about.missing_ranges,
        "labels": about.variable_value_labels,
        "measures": about.variable_measure,
        "formats": about.original_variable_types,
        "columns": [],
    }
    if records * len(names) <= max_cells and len(set(names)) == len(names):
        most = max_cells // max(len(names), 1) + 1
        table, _ = pyreadstat.read_sav(
            io.BytesIO(data), disable_datetime_conversion=True, row_limit=most, output_format="dict"
        )
        # As arrays, numbers pass quickly from one process to the other.
        found["columns"] = [_compact(table[name]) for name in names]
    return found


def _compact(cells: list[Any]) -> Any:
    return cells if any(isinstance(cell, str) for cell in cells) else np.array(cells, dtype=np.float64)


def read_or_error(data: bytes, max_cells: int) -> dict[str, Any]:
    """Return what :func:`read` does, or only the name of its error as ``error``."""
    try:
        return read(data, max_cells)
    except Exception as error:  # pyreadstat has errors of its own, and lets others through
        return {"error": type(error).__name__}


def main() -> None:
    """Pickle the file that standard input holds; the first argument is the limit of its cells."""
    found = read_or_error(sys.stdin.buffer.read(), int(sys.argv[1]))
    pickle.dump(found, sys.stdout.buffer, protocol=pickle.HIGHEST_PROTOCOL)


if __name__ == "__main__":
    main()
