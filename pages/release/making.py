"""The release of the chosen partition: made as a job for all complete records, once for each set of choices."""

from __future__ import annotations

import warnings
from collections.abc import Hashable
from typing import Any

import numpy as np
import streamlit as st

from microagg import ConstantColumnWarning, DataError, MicroaggError, Release, microaggregate
from microagg.release import Finding, Remedy, try_remedies
from microagg.tables import digest_array, digest_bytes
from pages.shared import certificate, columns, jobs, methods, state
from pages.shared.workspace import Workspace

# The arguments ``statistic`` and ``categories`` of :func:`microagg.microaggregate` for each statistic of the page.
_STATISTICS = {
    "mean": ("mean", "ancestor"),
    "median": ("median", "ancestor"),
    "ancestor": ("generalize", "ancestor"),
    "set": ("generalize", "set"),
}


def statistic(workspace: Workspace) -> str:
    """Return what replaces the values of a group, as :attr:`Choices.statistic`: means of numbers, else ranges."""
    return state.current().release.statistic or ("mean" if workspace.is_numeric else "ancestor")


def arguments(workspace: Workspace) -> dict[str, Any]:
    """Return all choices as arguments of :func:`microagg.microaggregate`.

    Raises
    ------
    DataError
        If the best partition of a search is to be released and there is none, or it is that of a sample.
    """
    choices = state.current()
    how, categories = _STATISTICS[statistic(workspace)]
    rounding = "none" if choices.release.exact else "file"
    said = {"k": choices.k, "statistic": how, "categories": categories, "rounding": rounding}
    given = columns.arguments(workspace.table) | choices.options() | said
    name = methods.chosen(workspace)
    if name != state.FOUND:
        method = methods.method(workspace, name)
        return given | {"method": method.key, "polish": method.polish, "method_params": method.params}
    found = certificate.found(workspace, choices.k)
    if found is None:
        raise DataError(
            f"no search has been made at k = {choices.k} in this session: search on the page Choose k, or choose a method."
        )
    if workspace.is_sample:
        raise DataError(
            "the search was made on a sample, so its groups are not those of the file: compare all records."
        )
    return given | {"method": found.method.key, "labels": found.partition.labels}


def identity(workspace: Workspace) -> Hashable:
    """Return what tells the chosen release from all others of this session."""
    given = arguments(workspace)
    said = {name: digest_array(value) if isinstance(value, np.ndarray) else value for name, value in given.items()}
    return workspace.table.identity, digest_bytes(repr(sorted(said.items())).encode("utf-8", "replace"))


def made(workspace: Workspace, identity: Hashable) -> Release | None:
    """Return the release of all complete records; while it is made, or cannot be, show that and return None."""
    frame, given = workspace.table.frame, arguments(workspace)

    def make() -> Release:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConstantColumnWarning)  # the report says it
            return microaggregate(frame, **given)

    release: Release | None = jobs.once(
        "release", identity, [given["method"]], "Grouping all records", make, workspace.n_complete
    )
    return release


def remedies(workspace: Workspace, identity: Hashable) -> list[Remedy] | None:
    """Return what the loss would be after each change; while that is tried, or cannot be, show that and return None."""
    frame, given = workspace.table.frame, arguments(workspace)
    given.pop("labels", None)
    says = "Trying what would help"
    tried: list[Remedy] | None = jobs.once(
        "remedies",
        identity,
        [given["method"]],
        says,
        lambda: list(try_remedies(frame, **given)),
        workspace.n_complete,
    )
    return tried


@st.cache_resource(scope="session", max_entries=4, show_spinner="Writing the file, and reading it again to count …")
def written(identity: Hashable, ending: str, _release: Release) -> tuple[bytes, Finding]:
    """Return the bytes of the protected file, and what was counted on them."""
    try:
        return _release.export(f"protected{ending}")
    except MicroaggError as error:
        # Another kind of file may hold it, so the page goes on: this one is held up.
        return b"", Finding("stop", "bytes", (), str(error))
