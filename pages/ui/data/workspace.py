"""What the pages for numbers compute on: the chosen quasi-identifiers, scaled, and named by their digest."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import streamlit as st

from microagg import ConstantColumnWarning, DataError
from microagg.scaling import scale
from microagg.schema import Schema
from microagg.tables import digest_array
from pages.ui import state
from pages.ui.data.tables import Table, chosen_table


@dataclass(frozen=True)
class Workspace:
    """What the pages for numbers compute on.

    Attributes
    ----------
    table : Table
    columns : tuple of str
        The quasi-identifiers.
    raw, X : array of float, shape (n, d)
        As they are, and scaled; read-only, shared between reruns.
    digest : str
        Of X: two workspaces with the same digest have the same results.
    notes : tuple of str
        What the user must know, such as a constant column.
    """

    table: Table
    columns: tuple[str, ...]
    raw: np.ndarray
    X: np.ndarray
    digest: str
    notes: tuple[str, ...]

    @property
    def data(self) -> np.ndarray:
        """What algorithms get."""
        return self.X

    @property
    def classes(self) -> None:
        """None: the pages for numbers know no classes."""
        return

    @property
    def n(self) -> int:
        """The number of records."""
        return len(self.X)

    @property
    def d(self) -> int:
        """The number of quasi-identifiers."""
        return self.X.shape[1]


def chosen_workspace() -> Workspace:
    """Return the chosen data set with its quasi-identifiers scaled.

    Raises
    ------
    MicroaggError
        As :func:`~pages.ui.data.tables.chosen_table`, or if a quasi-identifier is missing, not numeric or not finite.
    """
    choices = state.current()
    chosen = chosen_table()
    columns = choices.columns or chosen.quasi_identifiers
    if not columns:
        raise DataError(
            f"there is no numeric column in {chosen.title!r}: this page works on numbers, the page Mixed data on "
            "categories too."
        )
    return _workspace(chosen.identity, columns, choices.scale, chosen)


@st.cache_resource(scope="session", max_entries=6, show_spinner="Scaling the quasi-identifiers …")
def _workspace(identity: str, columns: tuple[str, ...], how: str, _table: Table) -> Workspace:
    raw = Schema.infer(_table.frame, quasi_identifiers=columns).matrix(_table.frame)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConstantColumnWarning)
        X = scale(raw, how, names=columns)
    X.setflags(write=False)
    raw.setflags(write=False)
    notes = tuple(str(warning.message) for warning in caught if warning.category is ConstantColumnWarning)
    return Workspace(_table, columns, raw, X, digest_array(X), notes)
