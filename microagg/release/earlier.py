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

from microagg.columns.recodes import meanings_of, meant
from microagg.errors import ConstantColumnWarning, DataError, MicroaggError, ParameterError
from microagg.metrics.risk.equivalence_classes import coded, combined, numbered
from microagg.release import recipe as recipes
from microagg.release.column_counts import log_orders, uniform
from microagg.release.findings import Finding
from microagg.release.guarantees import as_read
from microagg.release.measures import Joint
from microagg.release.plan import Plan
from microagg.release.release import Release
from microagg.tables import read_table
from microagg.tables.frames import KINDS, as_pandas, is_table
from microagg.validation import IntArray, quoted

# The earlier class of a record that was not released.
_ABSENT = -1

# Columns are equal row by row if a random order repeats their order with a probability below this.
_BY_CHANCE = 1e-6

_NEEDS_RECIPE = "Name the recipe of the earlier release: it says which record is which."


def read_earlier(source: str | os.PathLike[str] | bytes, name: str = "") -> Any:
    """Read the recipe or the table of a file, depending on its ending.

    Parameters
    ----------
    source : path or bytes
        A recipe (.json), or a table as in :func:`microagg.tables.read_table`.
    name : str, optional
        File name of bytes.

    Returns
    -------
    mapping or DataFrame
        The recipe, or the table.

    Raises
    ------
    DataError
        If the file cannot be read.
    """
    name = name or str(source)
    if not name.lower().endswith(".json"):
        return read_table(source, name=name)
    try:
        return json.loads(source if isinstance(source, bytes) else Path(source).read_bytes())
    except (OSError, ValueError) as error:
        raise DataError(f"the recipe {name!r} cannot be read ({error}): name what --recipe wrote.") from None


def compare_with(release: Release, earlier: Any) -> Release:
    """Count the joint classes of a release and an earlier one, and add them to its report.

    A joint class has the records that share their class in both releases; "not released" is a class, too. The finding
    "releases" is "stop" if some have fewer than k records and fewer than their earlier class, and otherwise "warn" if
    more records are in joint classes with one value of a confidential column than in such classes of each release, or
    joint classes have fewer than k and this release has further columns.

    Parameters
    ----------
    release : Release
        With the originals at hand.
    earlier : mapping, Release, path, or DataFrame of pandas or polars, or pyarrow.Table
        The recipe of the earlier release, which is replayed and exact, or its file. Records of a file are matched by
        row order if the columns left as they are agree in every row, otherwise by the values of these columns.

    Returns
    -------
    Release
        The same release with the new report.

    Raises
    ------
    DataError
        If the originals are not at hand, ``earlier`` is none of these, the recipe belongs to another file, or records
        of a file cannot be matched.
    ParameterError
        If the recipe is not complete, or belongs to a release in parts.

    References
    ----------
    Ganta, Kasiviswanathan & Smith 2008, Composition attacks and auxiliary information in data privacy.
    """
    prepared, match = release.at_hand(), ""
    original, schema = prepared.table, prepared.source.schema
    names, rows = {*schema.quasi_identifiers, *schema.strata}, prepared.source.rows(prepared.order)
    earlier = read_earlier(earlier) if isinstance(earlier, (str, os.PathLike)) else earlier
    earlier = earlier.recipe if isinstance(earlier, Release) else earlier
    if isinstance(earlier, Mapping):
        replayed = _replay(original, earlier)
        before = replayed.at_hand()
        names |= {*before.source.schema.quasi_identifiers, *before.source.schema.strata}
        table = replayed.to_pandas()
        then = _by_row(_classes(table, names), before.source.rows(before.order), len(original))
    elif not is_table(earlier):
        kind = type(earlier).__name__
        raise DataError(f"the earlier release must be a recipe, a Release, a path, or {KINDS}, not {kind}.")
    else:
        table = as_pandas(earlier)
        then, match, changed = _match(table, original, np.sort(rows), names)
        names |= {*changed}
    now = _by_row(_classes(release.to_pandas(), names), rows, len(original))
    joint = _measure_joint_classes(then, now, release.report.k)
    text = replace(release.report, joint=joint).of_releases + match
    if joint.narrowed:
        text += " Release the earlier groups again (labels), or whole ones together, or withdraw the earlier file."
    revealed = [] if joint.narrowed else _uniform_jointly(release, then[rows], now[rows])
    if revealed:
        text += (
            f" In some joint classes all records have the same {quoted(revealed)}, so that both files together reveal "
            "more of it than each. Release the earlier groups again (labels), or withdraw the earlier file."
        )
    added = [name for name in release.to_pandas() if name not in {*table, *names} and joint.smallest < release.report.k]
    if added:
        text += (
            f" The earlier file does not have {quoted(added)}: whoever holds both finds a person's value in it with "
            "the probability of the joint classes."
        )
    level = "stop" if joint.narrowed else "warn" if revealed or added else "ok"
    finding = Finding(level, "releases", tuple(dict.fromkeys([*revealed, *added])), text)
    # Of several earlier releases, the report has the figures of the worst.
    joint = max(filter(None, (joint, release.report.joint)), key=lambda each: (each.of_classes, each.narrowed))
    return replace(release, report=replace(release.report, joint=joint, findings=(*release.report.findings, finding)))


def _uniform_jointly(release: Release, then: IntArray, now: IntArray) -> list[Hashable]:
    """Confidential columns of which the joint classes of the released records reveal more than the classes of each."""
    released, prepared = release.to_pandas(), release.at_hand()
    names, meanings = prepared.source.schema.confidential, prepared.choices.meanings
    codes = [pd.factorize(meant(column))[0] for column in meanings_of(released, names, meanings).values()]
    n_uniform = [
        [0 if (counts := uniform(classes, column)) is None else counts.records for column in codes]
        for classes in (combined(then), now, combined(then, now))
    ]
    return [name for name, *alone, both in zip(names, *n_uniform, strict=True) if both > max(alone)]


def _replay(original: pd.DataFrame, recipe: Mapping[str, Any]) -> Release:
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


def _by_row(classes: IntArray, rows: IntArray, n: int) -> IntArray:
    placed = np.full(n, _ABSENT)
    placed[rows] = classes
    return placed


def _match(
    table: pd.DataFrame, original: pd.DataFrame, released_rows: IntArray, class_columns: set[Hashable]
) -> tuple[IntArray, str, Sequence[Hashable]]:
    """Earlier class of each original record, a sentence on the match, and the columns that differ."""
    shared = [name for name in table.columns if name in original.columns and len(table)]
    present = [name for name in shared if _are_among(*_codes(table, original, [name]))]
    changed = [name for name in table.columns if name not in present]
    unchanged = [name for name in present if name not in class_columns]
    classifying = [name for name in table.columns if name not in unchanged]
    if not classifying or (changed and np.bincount(numbered(table, changed), minlength=1).min() < 2):
        raise DataError(
            "the quasi-identifiers of the earlier file cannot be told: they are to be the columns that differ from the "
            f"original ({quoted(changed) or 'none'}), with no record alone in them. {_NEEDS_RECIPE}"
        )
    table_codes, original_codes = _codes(table, original, unchanged)
    classes, n_codes = numbered(table, classifying), int(max(table_codes.max(), original_codes.max())) + 1
    for rows in (np.arange(len(original)), released_rows):
        # Not where many random orders leave the codes as they are.
        is_telling = log_orders(np.bincount(table_codes)) > -log(_BY_CHANCE)
        if len(rows) == len(table_codes) and (table_codes == original_codes[rows]).all() and is_telling:
            text = f" The earlier file has the same row order: {quoted(unchanged)} agree in every row."
            return _by_row(classes, rows, len(original)), text, changed
    counts, originals = (np.bincount(codes, minlength=n_codes) for codes in (table_codes, original_codes))
    class_of = np.full(n_codes, _ABSENT)
    class_of[table_codes] = classes
    if (class_of[table_codes] != classes).any() or (counts != originals)[counts > 0].any():
        raise DataError(
            "the records of the earlier file cannot be matched: neither row order nor the columns left as they are "
            f"({quoted(unchanged) or 'none'}) tell which record is which. {_NEEDS_RECIPE}"
        )
    return class_of[original_codes], f" The earlier file is matched by the values of {quoted(unchanged)}.", changed


def _codes(table: pd.DataFrame, original: pd.DataFrame, names: Sequence[Hashable]) -> tuple[IntArray, IntArray]:
    """Number the records of both tables alike, by their values of some columns as read from a file."""
    pairs = [pd.concat([as_read(table[name]), as_read(original[name])], ignore_index=True) for name in names]
    codes = combined(np.zeros(len(table) + len(original), dtype=np.int64), *map(coded, pairs))
    return codes[: len(table)], codes[len(table) :]


def _are_among(part: IntArray, whole: IntArray) -> bool:
    """Whether each code occurs in ``whole`` at least as often as in ``part``."""
    n_codes = int(max(part.max(), whole.max())) + 1
    return bool((np.bincount(part, minlength=n_codes) <= np.bincount(whole, minlength=n_codes)).all())


def _measure_joint_classes(then: IntArray, now: IntArray, k: int) -> Joint:
    is_released = np.maximum(then, now) >= 0
    then, now = then[is_released], now[is_released]
    pairs = combined(then, now)
    sizes = np.bincount(pairs)[pairs]
    narrowed = (sizes < k) & (sizes < np.where(then >= 0, np.bincount(then + 1)[then + 1], k))
    n_alone = int(np.count_nonzero(narrowed & (sizes == 1)))
    return Joint(len(sizes), int(sizes.min()), int(np.count_nonzero(narrowed)), n_alone)
