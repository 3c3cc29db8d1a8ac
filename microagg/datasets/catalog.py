"""The list of all data sets, ``catalog.csv``, with their descriptions."""

from __future__ import annotations

import csv
import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from microagg.errors import ParameterError

Kind = Literal["benchmark", "synthetic", "bundled", "example"]

# The columns of ``catalog.csv`` that hold whole numbers.
_NUMBERS = ("n", "d", "least", "greatest", "size")


@dataclass(frozen=True)
class RemoteFile:
    """A public file with its digest and size in bytes, under the same name in the cache and the user's folder.

    ``sha256`` has 64 hexadecimal digits, ``base_url`` ends with a slash.
    """

    name: str
    base_url: str
    sha256: str
    size: int

    @property
    def url(self) -> str:
        """The address to download from."""
        return self.base_url + self.name


@dataclass(frozen=True, kw_only=True)
class Entry:
    """Description of a data set.

    ``name`` is that for :func:`microagg.datasets.load`, ``title`` that for people. ``kind`` is "benchmark" for a
    published ``file`` that is downloaded once, "synthetic" for a set generated from a seed, "bundled" for a part of
    scikit-learn and "example" for a part of microagg. ``shape`` is the number of records and of quasi-identifiers, or
    None if a synthetic set draws it, between the two numbers ``drawn``. ``description`` is about the records,
    ``source`` their origin with the citation. If all quasi-identifiers are numbers, ``numeric`` is True and
    ``Dataset.X`` exists.
    """

    name: str
    title: str
    kind: Kind
    shape: tuple[int | None, int | None]
    drawn: tuple[int, int] | None = None
    description: str
    source: str
    numeric: bool = True
    file: RemoteFile | None = None

    @property
    def n(self) -> int | None:
        """The number of records, or None where it depends on the seed."""
        return self.shape[0]

    @property
    def d(self) -> int | None:
        """The number of quasi-identifiers, or None where it depends on the seed."""
        return self.shape[1]

    @property
    def size(self) -> str:
        """Records by quasi-identifiers in words, e.g. ``"1,080 × 13"`` or ``"100 × 4 to 8"``."""
        drawn = " to ".join(f"{count:,}" for count in self.drawn or ())
        return " × ".join(drawn if count is None else f"{count:,}" for count in self.shape)


def _entry(row: dict[str, Any]) -> Entry:
    numbers: dict[str, Any] = {name: int(row[name]) if row[name] else None for name in _NUMBERS}
    return Entry(
        **{name: row[name] for name in ("name", "title", "kind", "description", "source")},
        shape=(numbers["n"], numbers["d"]),
        drawn=(numbers["least"], numbers["greatest"]) if row["least"] else None,
        numeric=row["numeric"] == "1",
        file=RemoteFile(row["file"], row["base_url"], row["sha256"], numbers["size"]) if row["file"] else None,
    )


def _entries() -> dict[str, Entry]:
    with Path(__file__).with_suffix(".csv").open(encoding="utf-8", newline="") as file:
        return {row["name"]: _entry(row) for row in csv.DictReader(file)}


#: Every data set by name, in the order of lists.
CATALOG: Mapping[str, Entry] = MappingProxyType(_entries())

#: The names for :func:`microagg.datasets.load`, in the order of lists.
NAMES: tuple[str, ...] = tuple(CATALOG)


def describe(name: Any) -> Entry:
    """Return the description of the data set ``name`` without loading it.

    Parameters
    ----------
    name : str
        One of :data:`NAMES`.

    Raises
    ------
    ParameterError
        If the name is unknown. The message lists near matches.
    """
    if isinstance(name, str) and name in CATALOG:
        return CATALOG[name]
    near = difflib.get_close_matches(name.strip().lower(), NAMES) if isinstance(name, str) else []
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"choose one of {', '.join(NAMES)}."
    raise ParameterError(f"there is no data set {name!r}: {hint}")
