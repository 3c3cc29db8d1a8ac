"""Whether a release keeps k for somebody who also holds an earlier release of the same persons.

It stands above plans, because a recipe is replayed. A released file has no key to the persons, so its records are
matched by what was left as it is, or refused.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from microagg.errors import ConstantColumnWarning, DataError, MicroaggError, ParameterError
from microagg.metrics.risk.equivalence_classes import coded, combined, numbered
from microagg.release import recipe as recipes
from microagg.release.column_counts import log_orders
from microagg.release.findings import Finding
from microagg.release.guarantees import as_read
from microagg.release.measures import Joint
from microagg.release.plan import Plan
from microagg.release.release import Release
from microagg.tables import read_table
from microagg.tables.frames import as_pandas
from microagg.validation import IntArray, quoted

# What stands for the earlier class of a record that was not released, or whose match is not clear.
_ABSENT, _UNCLEAR = -1, -2

# Equal row by row are columns whose order a random one would repeat less often than this.
_BY_CHANCE = 1e-6

_NEEDS_RECIPE = "Name the recipe of the earlier release: it says which record is which."


def read_earlier(source: str | os.PathLike[str] | bytes, name: str = "") -> Any:
    """Return the recipe or the table of a file, by the ending of its name; ``name`` is what bytes are called."""
    name = name or str(source)
    if not name.lower().endswith(".json"):
        return read_table(source, name=name)
    try:
        return json.loads(source if isinstance(source, bytes) else Path(source).read_bytes())
    except (OSError, ValueError) as error:
        raise DataError(f"the recipe {name!r} cannot be read ({error}): name what --recipe wrote.") from None


def compare_with(release: Release, earlier: Any) -> Release:
    """Return the same release with a report that counts its joint classes with an earlier release.

    A joint class has the records that share their class in both releases; "not released" is a class, too. The finding
    "releases" is "stop" if some have fewer than k records and fewer than their earlier class.

    Parameters
    ----------
    release : Release
        With the originals at hand.
    earlier : mapping, Release, path, or DataFrame of pandas or polars, or pyarrow.Table
        The recipe of the earlier release, which is replayed and exact, or its file. Records of a file are matched by
        row order if the columns left as they are agree in every row, otherwise by the values of these columns.

    Raises
    ------
    DataError
        If the originals are not at hand, the recipe is that of another file, or no record can be matched.
    ParameterError
        If the recipe is not complete, or that of a release in parts.

    References
    ----------
    Ganta, Kasiviswanathan & Smith 2008, Composition attacks and auxiliary information in data privacy.
    """
    prepared, how = release.at_hand(), ""
    original, schema = prepared.table, prepared.source.schema
    names, rows = {*schema.quasi_identifiers, *schema.strata}, prepared.source.rows(prepared.order)
    earlier = read_earlier(earlier) if isinstance(earlier, (str, os.PathLike)) else earlier
    earlier = earlier.recipe if isinstance(earlier, Release) else earlier
    if isinstance(earlier, Mapping):
        other = _replayed(original, earlier)
        before = other.at_hand()
        names |= {*before.source.schema.quasi_identifiers, *before.source.schema.strata}
        then = _placed(_classes(other.to_pandas(), names), before.source.rows(before.order), len(original))
    else:
        then, how = _matched(as_pandas(earlier), original, np.sort(rows), names)
    now = _placed(_classes(release.to_pandas(), names), rows, len(original))
    joint = _joint(then, now, release.report.k)
    report = replace(release.report, joint=joint)
    text = report.of_releases + how + (f" {_NEEDS_RECIPE}" if joint.unmatched else "")
    if joint.narrowed:
        text += " Release the earlier groups again (labels), or whole ones together, or withdraw the earlier file."
    finding = Finding("stop" if joint.narrowed else "warn" if joint.unmatched else "ok", "releases", (), text)
    return replace(release, report=replace(report, findings=(*report.findings, finding)))


def _replayed(original: pd.DataFrame, recipe: Mapping[str, Any]) -> Release:
    if recipe.get("engine") == "dask":
        raise ParameterError("the earlier release was made in parts, so its recipe cannot be compared: name its file.")
    recipes.check(recipe)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConstantColumnWarning)
            return Plan.of_recipe(recipe).replay(original, recipe)
    except MicroaggError as error:
        raise DataError(f"the earlier release cannot be made again from these data: {error}") from None


def _classes(frame: pd.DataFrame, names: set[Hashable]) -> IntArray:
    return numbered(frame, [name for name in frame.columns if name in names])


def _placed(classes: IntArray, rows: IntArray, n: int) -> IntArray:
    placed = np.full(n, _ABSENT)
    placed[rows] = classes
    return placed


def _matched(
    table: pd.DataFrame, original: pd.DataFrame, released_rows: IntArray, class_columns: set[Hashable]
) -> tuple[IntArray, str]:
    """Return the earlier class of each original record, and a sentence on how it is known."""
    shared = [name for name in table.columns if name in original.columns and len(table)]
    as_they_were = [name for name in shared if _are_among(*_codes(table, original, [name]))]
    changed = [name for name in table.columns if name not in as_they_were]
    left = [name for name in as_they_were if name not in class_columns]
    of_class = [name for name in table.columns if name not in left]
    if not of_class or (changed and np.bincount(numbered(table, changed), minlength=1).min() < 2):
        raise DataError(
            "the quasi-identifiers of the earlier file cannot be told: they are to be the columns that differ from the "
            f"original ({quoted(changed) or 'none'}), with no record alone in them. {_NEEDS_RECIPE}"
        )
    theirs, ours = _codes(table, original, left)
    classes, most = numbered(table, of_class), int(max(theirs.max(), ours.max())) + 1
    for rows in (np.arange(len(original)), released_rows):
        # Not where many random orders leave the codes as they are.
        is_telling = log_orders(np.bincount(theirs)) > -log(_BY_CHANCE)
        if len(rows) == len(theirs) and (theirs == ours[rows]).all() and is_telling:
            how = f" The earlier file has the same row order: {quoted(left)} agree in every row."
            return _placed(classes, rows, len(original)), how
    low, high = np.full(most, len(table)), np.full(most, _ABSENT)
    if _are_among(theirs, ours):
        np.minimum.at(low, theirs, classes)
        np.maximum.at(high, theirs, classes)
    there = np.bincount(theirs, minlength=most)
    clear = (low == high) & (there == np.bincount(ours, minlength=most))
    if not clear.any():
        raise DataError(
            "the records of the earlier file cannot be matched: neither row order nor the columns left as they are "
            f"({quoted(left) or 'none'}) tell which record is which. {_NEEDS_RECIPE}"
        )
    how = f" The earlier file is matched by the values of {quoted(left)}."
    return np.where(clear, high, np.where(there > 0, _UNCLEAR, _ABSENT))[ours], how


def _codes(table: pd.DataFrame, original: pd.DataFrame, names: Sequence[Hashable]) -> tuple[IntArray, IntArray]:
    """Number the records of both tables alike, by their values of some columns as a file has them."""
    pairs = [pd.concat([as_read(table[name]), as_read(original[name])], ignore_index=True) for name in names]
    codes = combined(np.zeros(len(table) + len(original), dtype=np.int64), *map(coded, pairs))
    return codes[: len(table)], codes[len(table) :]


def _are_among(part: IntArray, whole: IntArray) -> bool:
    """Whether each code occurs in ``whole`` at least as often as in ``part``."""
    most = int(max(part.max(), whole.max())) + 1
    return bool((np.bincount(part, minlength=most) <= np.bincount(whole, minlength=most)).all())


def _joint(then: IntArray, now: IntArray, k: int) -> Joint:
    seen, unclear = (np.maximum(then, now) >= 0) & (then != _UNCLEAR), now[then == _UNCLEAR]
    then, now = then[seen], now[seen]
    pairs = combined(then, now)
    # A record whose earlier class is unclear may be in any joint class of its class now: sizes are the largest ones.
    left = np.bincount(pairs)[pairs] + np.bincount(unclear + 1, minlength=int(now.max()) + 2)[now + 1]
    narrowed = (left < k) & (left < np.where(then >= 0, np.bincount(then + 1)[then + 1], k))
    alone = int(np.count_nonzero(narrowed & (left == 1)))
    return Joint(len(left), int(left.min()), int(np.count_nonzero(narrowed)), alone, len(unclear))
