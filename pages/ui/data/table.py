"""What a data set is to the pages, before anything is decided about its columns."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from microagg.schema import Schema


@dataclass(frozen=True)
class Whole:
    """A large file on this machine, of which a table is a sample."""

    path: Path
    n_records: int


@dataclass(frozen=True, eq=False)
class Table:
    """A data set before anything is decided about its columns.

    Attributes
    ----------
    title : str
    frame : DataFrame
    description, source : str
    identity : str
        Tells the table from all others of this session.
    origin : dict
        How a program gets it: arguments of :func:`microagg.release.script.script`.
    schema : Schema or None
        The roles and kinds that the data set itself declares; None of an uploaded file.
    whole : Whole or None
        The large file of which it is a sample; None of all others.
    notes : tuple of str
        What there is to say of how a large file is read, for Markdown.
    """

    title: str
    frame: pd.DataFrame
    description: str
    source: str
    identity: str
    origin: dict[str, Any]
    schema: Schema | None = None
    whole: Whole | None = None
    notes: tuple[str, ...] = ()
