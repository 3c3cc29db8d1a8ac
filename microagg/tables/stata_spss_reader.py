"""Reads an SPSS or Stata file as a program of its own: from standard input, to JSON and arrays on standard output.

The C library below pyreadstat ends the whole process on some damaged files, and a dashboard must outlive an upload.
A file that has taken such a process over must not reach the other one: what it answers is data, and runs nothing.
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


def read(data: bytes, max_cells: int, *, as_stored: bool = False) -> dict[str, Any]:
    """Return what a file says of its variables, and its records unless they have more than ``max_cells``.

    ``columns`` are arrays of n floats, or lists of n texts, in the order of ``names``: none if the file itself says
    that it has too many records, and at most one record too many otherwise. Dates are numbers, as they are stored.
    Where a file of Stata holds texts that are not in its encoding, these are ``recoded``: read as Latin-1. With
    ``as_stored``, values that count as missing are what they are, those of Stata the letters ``a`` to ``z``.
    """
    import pyreadstat

    stata = not data.startswith((b"$FL2", b"$FL3"))
    parse = pyreadstat.read_dta if stata else pyreadstat.read_sav
    options: dict[str, Any] = {"output_format": "dict", "disable_datetime_conversion": True}
    try:
        return _read(parse, data, max_cells, options, as_stored)
    except (pyreadstat.ReadstatError, UnicodeDecodeError) as error:
        if not stata or not (isinstance(error, UnicodeDecodeError) or "encoding" in str(error)):
            raise
    return {
        **_recoded(_read(parse, data, max_cells, {**options, "encoding": "ISO-8859-1"}, as_stored)),
        "recoded": True,
    }


def _read(parse: Any, data: bytes, max_cells: int, options: dict[str, Any], as_stored: bool) -> dict[str, Any]:
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        # Only so are the values listed that count as missing.
        _, about = parse(io.BytesIO(data), metadataonly=True, user_missing=True, **options)
    # A name that occurs twice is changed, and nothing else tells.
    twice = [re.fullmatch(r"column '(.*)' is duplicated, renamed to '(.*)'", str(each.message)) for each in warned]
    renamed = {each[2]: each[1] for each in twice if each}
    names = [renamed.get(name, name) for name in about.column_names]
    records = about.number_rows or 0
    parsed: dict[str, Any] = {
        "names": names,
        "records": records,
        "missing": about.missing_ranges,
        "labels": about.variable_value_labels,
        "measures": about.variable_measure,
        "formats": about.original_variable_types,
        "types": about.readstat_variable_types,
        "titles": about.column_names_to_labels,
        "widths": about.variable_display_width,
        "columns": [],
    }
    if records * len(names) <= max_cells and len(set(names)) == len(names):
        most = max_cells // max(len(names), 1) + 1
        table, _ = parse(io.BytesIO(data), row_limit=most, user_missing=as_stored, **options)
        # As arrays, numbers pass quickly from one process to the other, and each list is let go of.
        parsed["columns"] = [_compact(table.pop(name)) for name in names]
    return parsed


def _recoded(parsed: Any) -> Any:
    """Return texts that were read as Latin-1 as what they are in UTF-8 wherever they are valid in it."""
    if isinstance(parsed, str):
        try:
            return parsed.encode("latin-1").decode()
        except UnicodeError:
            return parsed
    if isinstance(parsed, dict):
        return {_recoded(key): _recoded(value) for key, value in parsed.items()}
    return [_recoded(each) for each in parsed] if isinstance(parsed, list) else parsed


def _compact(cells: list[Any]) -> Any:
    if not any(isinstance(cell, str) for cell in cells):
        return np.array(cells, dtype=np.float64)
    shared: dict[str | None, str | None] = {}  # equal texts are one object
    return [shared.setdefault(cell, cell) for cell in cells]


def read_or_error(data: bytes, max_cells: int, most: int | None = None, *, as_stored: bool = False) -> dict[str, Any]:
    """Return what :func:`read` does, or only the name of its error as ``error``.

    If what it returns takes more than half of ``most`` bytes, only how many they are is returned, as ``needed``.
    """
    try:
        parsed = read(data, max_cells, as_stored=as_stored)
    except Exception as error:  # pyreadstat has errors of its own, and lets others through
        no_memory = isinstance(error, MemoryError) or "allocate" in str(error)
        return {"error": "MemoryError" if no_memory else type(error).__name__}
    needed = sum(map(_size, parsed["columns"]))
    return {"needed": needed, "error": "MemoryError"} if most is not None and 2 * needed > most else parsed


def _size(cells: Any) -> int:
    """Return how many bytes a column takes: its characters, and of each distinct text an object of Python as well."""
    if isinstance(cells, np.ndarray):
        return int(cells.nbytes)
    return sum(8 + len(str(cell or "")) for cell in cells) + sum(64 + len(str(cell or "")) for cell in set(cells))


def write(parsed: dict[str, Any], stream: BinaryIO) -> None:
    """Write what :func:`read_or_error` returns: a line of JSON, and numbers and which texts are where."""
    columns = parsed.get("columns", [])
    about = {name: value for name, value in parsed.items() if name != "columns"}
    if "labels" in parsed:
        # A code is a number or a text, and keys of JSON are texts.
        about["labels"] = {name: list(codes.items()) for name, codes in parsed["labels"].items()}
        about["columns"] = []
    numbers = {}
    for place, cells in enumerate(columns):
        places = {} if isinstance(cells, np.ndarray) else {text: at for at, text in enumerate(dict.fromkeys(cells))}
        about["columns"].append(list(places))
        numbers[str(place)] = np.array([places[cell] for cell in cells], dtype=np.int32) if places else cells
    stream.write(json.dumps(about).encode("ascii") + b"\n")
    np.savez(stream, **numbers)  # type: ignore[arg-type]


def answered(data: bytes) -> dict[str, Any]:
    """Return what :func:`write` has written.

    Raises ValueError, LookupError, TypeError, AttributeError, EOFError, zipfile.BadZipFile if it is something else.
    """
    line, _, archive = data.partition(b"\n")
    parsed: dict[str, Any] = json.loads(line)
    if "labels" in parsed:
        parsed["labels"] = {name: dict(map(tuple, codes)) for name, codes in parsed["labels"].items()}
        with np.load(io.BytesIO(archive), allow_pickle=False) as numbers:
            parsed["columns"] = [
                [texts[each] for each in numbers[str(place)].tolist()] if texts else numbers[str(place)]
                for place, texts in enumerate(parsed["columns"])
            ]
    elif "error" not in parsed:
        raise ValueError("neither a table nor an error")
    return parsed


def limit_memory(most: int) -> None:
    """Let this process take no more than ``most`` bytes beside those it has, where the platform knows how."""
    with contextlib.suppress(ImportError, OSError, ValueError, StopIteration):
        import resource

        # What threads only reserve does not count.
        data = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmData:"))
        limit = 1024 * int(data.split()[1]) + most
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def main() -> None:
    """Write what the file on standard input says; the arguments are the limits of its cells and of memory in bytes.

    A third one, ``stored``, asks for values that count as missing as well.
    """
    data, max_cells, most = sys.stdin.buffer.read(), int(sys.argv[1]), int(sys.argv[2])
    import pyreadstat  # noqa: F401 - what it takes itself is not counted

    limit_memory(most)
    write(read_or_error(data, max_cells, most, as_stored="stored" in sys.argv[3:]), sys.stdout.buffer)


if __name__ == "__main__":
    main()
