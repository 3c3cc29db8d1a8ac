"""The type that every loader returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd
from pandas.api.types import is_numeric_dtype

from microagg.errors import DataError
from microagg.schema import Schema
from microagg.validation import FloatArray, numeric_matrix

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
