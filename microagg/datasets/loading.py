"""Data sets loaded by name: :func:`load`, what it returns, and :func:`is_available`, whether that needs a network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd
from pandas.api.types import is_numeric_dtype

from microagg.columns.schema import Schema
from microagg.datasets import benchmarks, synthetic
from microagg.datasets.benchmarks import Progress
from microagg.datasets.catalog import describe
from microagg.errors import DataError, ParameterError
from microagg.validation import FloatArray, is_whole, numeric_matrix

# The roles of the columns that the benchmarks do not microaggregate. In Adult, education-num says the same as
# education, and fnlwgt is so nearly unique that it would name persons, as the names of the utilities in EIA do.
_ROLES: Mapping[str, Mapping[str, Any]] = {
    "adult": {
        "identifiers": ("education-num", "fnlwgt"),
        "classes": "income",
        "others": ("relationship", "capital-gain", "capital-loss", "hours-per-week"),
    },
    "eia": {"identifiers": ("UTILNAME",), "others": ("STATE", "YEAR", "MONTH")},
    **{name: {"confidential": ("target",)} for name in ("wine", "breast_cancer", "diabetes")},
}

_TAXONOMIES = Path(__file__).resolve().parents[2] / "sample_data" / "taxonomies"


@dataclass(frozen=True, eq=False)
class Dataset:
    """Records with the roles that the literature gives their columns.

    Attributes
    ----------
    name : str
        The name under which :func:`microagg.datasets.load` knows it.
    title : str
        The name to show to people.
    frame : DataFrame, shape (n, number of columns)
        All columns in their original units and order, with a plain 0..n-1 index.
    quasi_identifiers : tuple of str
        The columns that the benchmark microaggregates.
    description : str
        What the records are, in two or three sentences.
    source : str
        Where the data come from and how to cite them.
    seed : int, optional
        The seed of a synthetic set, None otherwise.
    """

    name: str
    title: str
    frame: pd.DataFrame = field(repr=False)
    quasi_identifiers: tuple[str, ...]
    description: str = field(repr=False)
    source: str = field(repr=False)
    seed: int | None = None

    @property
    def X(self) -> FloatArray:  # noqa: N802 - scikit-learn's name for the data
        """The quasi-identifiers as a fresh float array, shape (n, d), in their original units.

        Raises
        ------
        DataError
            If a quasi-identifier holds categories rather than numbers, as in the set ``adult``.
        """
        text = [name for name in self.quasi_identifiers if not is_numeric_dtype(self.frame[name])]
        if text:
            listed = ", ".join(repr(name) for name in text)
            raise DataError(
                f"the data set {self.name!r} has categorical quasi-identifiers ({listed}), so there is no numeric "
                "matrix of them: use .schema.records(.frame), or choose numeric columns of .frame."
            )
        return numeric_matrix(self.frame, self.quasi_identifiers)

    @cached_property
    def schema(self) -> Schema:
        """The roles of the columns and the kinds of the quasi-identifiers.

        All are numeric but those of ``adult``: there ``age`` is numeric and ``education`` ordinal, by
        ``education-num``; the other six are nominal with the taxonomies in ``sample_data/taxonomies/adult`` (flat ones
        where microagg is installed without a checkout), and ``income`` is the class. Missing values play no part in it:
        ``data.schema.records(data.frame, missing="drop")`` leaves out the records that have any.

        Every column has a role. Identifiers, which a release leaves out, are ``education-num`` and ``fnlwgt`` of
        ``adult`` and the names of the utilities of ``eia``; ``target`` of the sets of scikit-learn is confidential.
        """
        roles = _ROLES.get(self.name, {})
        if self.name != "adult":
            return Schema(self.quasi_identifiers, **roles)
        columns = self.frame[["education", "education-num"]].drop_duplicates().sort_values("education-num")
        nominal = [column for column in self.quasi_identifiers if column not in {"age", "education"}]
        files = {column: _TAXONOMIES / self.name / f"{column}.txt" for column in nominal}
        return Schema.infer(
            self.frame,
            self.quasi_identifiers,
            **roles,
            # Without a checkout around it, the package has no taxonomies: then categories stand side by side.
            taxonomies={column: file if file.is_file() else None for column, file in files.items()},
            ordinal={"education": columns["education"].tolist()},
        )

    @property
    def n(self) -> int:
        """The number of records."""
        return len(self.frame)

    @property
    def d(self) -> int:
        """The number of quasi-identifiers."""
        return len(self.quasi_identifiers)


def load(name: str, *, seed: int | None = None, download: bool = True, progress: Progress | None = None) -> Dataset:
    """Load a data set.

    A benchmark file is looked for in the folder that the environment variable ``MICROAGG_DATA_DIR`` names, then in
    the cache, and is else downloaded into the cache; its SHA-256 sum is checked every time. All other sets need
    neither a file nor a network.

    Parameters
    ----------
    name : str
        One of :data:`microagg.datasets.NAMES`.
    seed : int, optional
        The seed of a synthetic set, 0 if not given; other sets take none.
    download : bool, default True
        Whether a benchmark file may be downloaded.
    progress : callable, optional
        Called with (bytes done, bytes in total) during a download; what it raises ends the download.

    Returns
    -------
    Dataset

    Raises
    ------
    ParameterError
        If the name is unknown, or the seed is not a whole number from 0 or is given for a set that takes none.
    DatasetUnavailableError
        If a benchmark file is neither on this machine nor can be downloaded, or is not the published file.

    Examples
    --------
    >>> from microagg import datasets
    >>> datasets.load("simu", seed=7).X.shape
    (1000, 10)
    """
    entry = describe(name)
    quasi_identifiers: tuple[str, ...]
    if entry.kind == "synthetic":
        seed = 0 if seed is None else _check_seed(seed)
        frame = synthetic.GENERATORS[entry.name](seed)
        quasi_identifiers = tuple(frame.columns)
    elif seed is not None:
        raise ParameterError(
            f"the data set {name!r} takes no seed: leave it out, only synthetic sets are drawn from one."
        )
    elif entry.kind == "benchmark":
        frame, quasi_identifiers = benchmarks.read(entry, download=download, progress=progress)
    else:
        frame, quasi_identifiers = synthetic.read(entry.name)
    return Dataset(entry.name, entry.title, frame, quasi_identifiers, entry.description, entry.source, seed)


def is_available(name: str) -> bool:
    """Whether :func:`load` can give the data set ``name`` without a network.

    A benchmark file is judged by its presence and size; its checksum is left to :func:`load`, so that lists of data
    sets stay quick.

    Parameters
    ----------
    name : str

    Returns
    -------
    bool

    Raises
    ------
    ParameterError
        If there is no such data set.
    """
    file = describe(name).file
    return file is None or benchmarks.is_present(file)


def _check_seed(seed: Any) -> int:
    if not is_whole(seed) or seed < 0:
        raise ParameterError(f"seed must be a whole number of at least 0, not {seed!r}.")
    return int(seed)
