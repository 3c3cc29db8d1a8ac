"""A separate program that reads an SPSS or Stata file from standard input and writes JSON and arrays.

The C library below pyreadstat ends the whole process on some damaged files, and a dashboard must survive an upload.
A file that takes over this process must not reach the other one: the answer is data and runs nothing.
Run by :mod:`microagg.tables.stata_spss`; imports nothing else of the package, so that it starts quickly.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import sys
import warnings
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np


def read(data: bytes, max_cells: int) -> dict[str, Any]:
    """Variables of a file, and at most one record more than ``max_cells`` allow, or none if it declares too many.

    ``columns`` are arrays of n floats, or lists of n texts, in the order of ``names``, with dates as they are stored.
    Texts of Stata that are not in the encoding of the file are ``recoded``: read as Latin-1. User-missing values are
    among the others, those of Stata as the letters ``a`` to ``z``.
    """
    import pyreadstat

    stata = not data.startswith((b"$FL2", b"$FL3"))
    parse = pyreadstat.read_dta if stata else pyreadstat.read_sav
    options: dict[str, Any] = {"output_format": "dict", "disable_datetime_conversion": True}
    try:
        return _read(parse, data, max_cells, options)
    except (pyreadstat.ReadstatError, UnicodeDecodeError) as error:
        if not stata or not (isinstance(error, UnicodeDecodeError) or "encoding" in str(error)):
            raise
    return {**_recoded(_read(parse, data, max_cells, {**options, "encoding": "ISO-8859-1"})), "recoded": True}


def _read(parse: Any, data: bytes, max_cells: int, options: dict[str, Any]) -> dict[str, Any]:
    """Parse the metadata, then the records if there are not too many."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        # Only this call lists the values that count as missing.
        _, metadata = parse(io.BytesIO(data), metadataonly=True, user_missing=True, **options)
    # A repeated name is changed, which only a warning reports.
    matches = [re.fullmatch(r"column '(.*)' is duplicated, renamed to '(.*)'", str(match.message)) for match in caught]
    renamed = {match[2]: match[1] for match in matches if match}
    names = [renamed.get(name, name) for name in metadata.column_names]
    records = metadata.number_rows or 0
    parsed: dict[str, Any] = {
        "names": names,
        "records": records,
        "missing": metadata.missing_ranges,
        "labels": metadata.variable_value_labels,
        "measures": metadata.variable_measure,
        "formats": metadata.original_variable_types,
        "types": metadata.readstat_variable_types,
        "titles": metadata.column_names_to_labels,
        "widths": metadata.variable_display_width,
        "label": metadata.file_label,
        "notes": metadata.notes,
        "columns": [],
    }
    if records * len(names) <= max_cells and len(set(names)) == len(names):
        max_records = max_cells // max(len(names), 1) + 1
        table, _ = parse(io.BytesIO(data), row_limit=max_records, user_missing=True, **options)
        # As arrays, numbers pass quickly from one process to the other, and each list is freed.
        parsed["columns"] = [_compact(table.pop(name)) for name in names]
    return parsed


def _recoded(parsed: Any) -> Any:
    """Decode texts that were read as Latin-1 as UTF-8 if they are valid in it."""
    if isinstance(parsed, str):
        try:
            return parsed.encode("latin-1").decode()
        except UnicodeError:
            return parsed
    if isinstance(parsed, dict):
        return {_recoded(key): _recoded(value) for key, value in parsed.items()}
    return [_recoded(item) for item in parsed] if isinstance(parsed, list) else parsed


def _compact(cells: list[Any]) -> Any:
    if not any(isinstance(cell, str) for cell in cells):
        return np.array(cells, dtype=np.float64)
    shared: dict[str | None, str | None] = {}  # equal texts are one object
    return [shared.setdefault(cell, cell) for cell in cells]


def read_or_error(data: bytes, max_cells: int, most: int | None = None) -> dict[str, Any]:
    """The result of :func:`read`, or its ``error``; only its size as ``needed`` if it takes half of ``most`` bytes."""
    try:
        parsed = read(data, max_cells)
    except Exception as error:  # pyreadstat has errors of its own, and lets others through
        no_memory = isinstance(error, MemoryError) or "allocate" in str(error)
        return {"error": "MemoryError" if no_memory else type(error).__name__}
    needed = sum(map(_size, parsed["columns"]))
    return {"needed": needed, "error": "MemoryError"} if most is not None and 2 * needed > most else parsed


def _size(cells: Any) -> int:
    """Memory of a column in bytes: its characters, and for each distinct text an object of Python as well."""
    if isinstance(cells, np.ndarray):
        return int(cells.nbytes)
    return sum(8 + len(str(cell or "")) for cell in cells) + sum(64 + len(str(cell or "")) for cell in set(cells))


def write(parsed: dict[str, Any], stream: BinaryIO) -> None:
    """Write the result of :func:`read_or_error`: a line of JSON, then numbers, and positions of texts."""
    columns = parsed.get("columns", [])
    metadata = {name: value for name, value in parsed.items() if name != "columns"}
    if "labels" in parsed:
        # A code is a number or a text, and keys of JSON are texts.
        metadata["labels"] = {name: list(codes.items()) for name, codes in parsed["labels"].items()}
        metadata["columns"] = []
    numbers = {}
    for index, cells in enumerate(columns):
        codes = {} if isinstance(cells, np.ndarray) else {text: code for code, text in enumerate(dict.fromkeys(cells))}
        metadata["columns"].append(list(codes))
        numbers[str(index)] = np.array([codes[cell] for cell in cells], dtype=np.int32) if codes else cells
    stream.write(json.dumps(metadata).encode("ascii") + b"\n")
    np.savez(stream, **numbers)  # type: ignore[arg-type]


def parse_answer(data: bytes) -> dict[str, Any]:
    """The result that :func:`write` has written. An error of many kinds for other data."""
    line, _, archive = data.partition(b"\n")
    parsed: dict[str, Any] = json.loads(line)
    if "labels" in parsed:
        parsed["labels"] = {name: dict(map(tuple, codes)) for name, codes in parsed["labels"].items()}
        with np.load(io.BytesIO(archive), allow_pickle=False) as numbers:
            parsed["columns"] = [
                [texts[code] for code in numbers[str(index)].tolist()] if texts else numbers[str(index)]
                for index, texts in enumerate(parsed["columns"])
            ]
    elif "error" not in parsed:
        raise ValueError("neither a table nor an error")
    return parsed


def limit_memory(most: int) -> None:
    """Limit this process to ``most`` bytes more than it has, if the platform supports it."""
    with contextlib.suppress(ImportError, OSError, ValueError, StopIteration):
        import resource

        # Memory that threads only reserve does not count.
        data = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmData:"))
        limit = 1024 * int(data.split()[1]) + most
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def main() -> None:
    """Write the content of the file on standard input. The arguments are the limits of cells and of memory in bytes."""
    data, max_cells, max_bytes = sys.stdin.buffer.read(), int(sys.argv[1]), int(sys.argv[2])
    import pyreadstat  # noqa: F401 - its own memory does not count

    limit_memory(max_bytes)
    write(read_or_error(data, max_cells, max_bytes), sys.stdout.buffer)


if __name__ == "__main__":
    main()
