"""Tables of results and what is stored beside them, read and written alike by all scripts."""

from __future__ import annotations

import csv
import json
import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import microagg

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"

Row = dict[str, str]


def stored(name: str) -> list[Row]:
    """Return the rows of a stored table; none if there is no such table."""
    path = RESULTS / name
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def store(name: str | Path, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Write a table to a file in the folder of results, or to another path."""
    with (RESULTS / name).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def store_row(name: str, columns: Sequence[str], row: Mapping[str, Any], n_keys: int) -> None:
    """Store a row in place of that of the same key, which are its first columns. Rows are sorted by their keys."""

    def key(row: Mapping[str, Any]) -> list[tuple[int, str]]:
        values = [str(row[column]) for column in columns[:n_keys]]
        return [(int(value) if value.isdigit() else 0, value) for value in values]

    rows = [each for each in stored(name) if key(each) != key(row)]
    store(name, columns, sorted([*rows, row], key=key))


def replace(path: Path, content: bytes) -> None:
    """Write a file at once: whoever reads it meanwhile finds the old one or the new one, whole."""
    beside = path.with_name(f"{path.name}.new")
    beside.write_bytes(content)
    beside.replace(path)


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write what is stored beside results."""
    replace(path, (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode())


def environment() -> dict[str, Any]:
    """Return the machine and the versions on which seconds depend."""
    packages = {name: version(name) for name in ("numpy", "numba")}
    return {
        "machine": {"processor": platform.processor() or platform.machine(), "cores": os.cpu_count()},
        "versions": {"microagg": microagg.__version__, "python": platform.python_version(), **packages},
    }
