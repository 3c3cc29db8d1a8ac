"""The disclosure risk of a file that somebody released, of which nothing is known but the file."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from microagg.errors import DataError
from microagg.metrics import risk
from microagg.metrics.risk.equivalence_classes import coded, record_classes
from microagg.metrics.risk.mixed_linkage import attributes_of
from microagg.metrics.utility.columns import columns_of
from microagg.optimum.formatting import share
from microagg.release.assessment import Figure, in_quotes
from microagg.release.before_after import LOOKED_UP, WIDTH, linked_by_one
from microagg.tables.frames import as_pandas
from microagg.validation import IntArray, check_columns, counted

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame


def risks_of_file(
    released: IntoDataFrame,
    quasi_identifiers: Sequence[Hashable],
    confidential: Sequence[Hashable] = (),
    original: IntoDataFrame | None = None,
    *,
    sampling_fraction: float | None = None,
) -> tuple[Figure, ...]:
    """Return who can be found in a released file, and what is learned of whom, in figures and sentences.

    Classes are the records that are equal in the quasi-identifiers as they are released. With the originals there are
    record linkage by distance too, see :class:`microagg.metrics.risk.Known`, and interval disclosure of the
    quasi-identifiers that are numbers or dates; of more than 20,000 records so many are looked up.

    Parameters
    ----------
    released : DataFrame of pandas or polars, or pyarrow.Table, shape (n, columns)
    quasi_identifiers : sequence of column names
        What an intruder knows: at least one.
    confidential : sequence of column names
        What he wants to learn; records without a value are left out.
    original : the same, optional
        The originals, record i of the one being record i of the other; it has the quasi-identifiers.
    sampling_fraction : float, optional
        If the file is a random sample, which share of the population it is.

    Raises
    ------
    DataError
        If a column is not there, there are no records, the originals are not as many, or what is released of numbers or
        dates is none.
    ParameterError
        If no quasi-identifier is named, or the fraction is not above 0 and at most 1.
    """
    after = as_pandas(released)
    before = None if original is None else as_pandas(original)
    classes = record_classes(after, quasi_identifiers)
    check_columns(after, confidential)
    if before is not None and len(before) != len(after):
        raise DataError(
            f"the original has {counted(len(before), 'record')} and the released file {len(after):,}: who is found by "
            "distance is known only if record i of the one is record i of the other. Leave the records that were not "
            "released out of the original, or pass no original."
        )
    own = None if before is None else record_classes(before, quasi_identifiers)
    figures = [*_found(classes, own)]
    if sampling_fraction is not None:
        figures.append(_in_population(classes, sampling_fraction))
    if before is not None:
        figures += _beside(before, after, quasi_identifiers)
    return (*figures, *(figure for name in confidential for figure in _learned(name, after[name], classes)))


def _found(classes: IntArray, own: IntArray | None) -> Iterator[Figure]:
    sizes = np.bincount(classes)
    was = None if own is None else np.bincount(own)
    least, n = int(sizes.min()), len(classes)
    yield Figure(
        "risk",
        risk.MEASURES["max_reidentification"],
        1.0 / least,
        f"The smallest class of equal records, of {len(sizes):,} in all, has {counted(least, 'record')}: who knows "
        "what is released of somebody's quasi-identifiers picks the right record with a probability of at most "
        f"{share(1.0 / least)}.",
        None if was is None else 1.0 / float(was.min()),
    )
    yield Figure(
        "risk",
        risk.MEASURES["mean_reidentification"],
        len(sizes) / n,
        f"Whoever does so for each of the {counted(n, 'record')} is right for {share(len(sizes) / n)} of them.",
        None if was is None else len(was) / n,
    )
    alone = int(np.count_nonzero(sizes == 1))
    yield Figure(
        "risk",
        risk.MEASURES["uniqueness"],
        alone / n,
        f"{counted(alone, 'record')} {'is' if alone == 1 else 'are'} alone with {'its' if alone == 1 else 'their'} "
        "quasi-identifiers.",
        None if was is None else float(np.count_nonzero(was == 1)) / n,
    )


def _in_population(classes: IntArray, sampling_fraction: float) -> Figure:
    found = risk.population_uniques(np.bincount(classes), sampling_fraction)
    return Figure(
        "risk",
        risk.MEASURES["population_uniques"],
        found.share,
        f"About {share(found.share)} of the records of the whole population, of which the file is "
        f"{share(sampling_fraction)}, would be alone.",
    )


def _beside(before: pd.DataFrame, after: pd.DataFrame, names: Sequence[Hashable]) -> Iterator[Figure]:
    columns = columns_of(before, after, names, matched=True)
    known = risk.Known.of(before, after, attributes_of(before, names))
    sample = LOOKED_UP if len(before) > LOOKED_UP else None
    found = known.linkage(sample=sample)
    looked_up = "" if found.n == known.n else f", looked up for {found.n:,} of them"
    yield Figure(
        "risk",
        risk.MEASURES["record_linkage"],
        found.share,
        "Who knows the true values of all quasi-identifiers and picks a released record nearest to them is right for "
        f"{share(found.share)} of the records{looked_up}, if those of both files have the same order.",
        n=None if found.n == known.n else found.n,
    )
    yield from linked_by_one(known, found, sample)
    columns = [c for c in columns if c.numeric and c.before.std() > 0.0]
    if not columns:
        return
    X, released = (np.column_stack([getattr(c, side) for c in columns]) for side in ("before", "after"))
    intervals = risk.interval_disclosure(X, released, WIDTH, by="sd")
    worst = int(intervals.attributes.argmax())
    which = "" if len(columns) == len(names) else f", those of {len(columns):,} of {len(names):,} quasi-identifiers,"
    yield Figure(
        "risk",
        risk.MEASURES["interval_disclosure_sd"],
        intervals.share,
        f"{share(intervals.share)} of the released numbers{which} are within {WIDTH:g} standard deviations of "
        f"the original, most of {in_quotes(columns[worst].name)}: {share(float(intervals.attributes[worst]))}.",
    )


def _learned(name: Hashable, values: pd.Series, classes: IntArray) -> Iterator[Figure]:
    present = coded(values) >= 0
    if not present.any():
        return
    found = risk.homogeneity(values[present], classes[present])
    n, called = int(np.count_nonzero(present)), in_quotes(name)
    sure = round(found.homogeneous * n)
    yield Figure(
        "risk",
        risk.MEASURES["homogeneous"],
        found.homogeneous,
        f"Whoever finds the class of somebody learns the {called} of {counted(sure, 'record')} of {n:,} for certain.",
        attribute=name,
    )
    yield Figure(
        "risk",
        risk.MEASURES["t_closeness"],
        found.t_closeness,
        f"In the class that differs most, {called} is {found.t_closeness:.2g} away from all records on a scale from 0 "
        "to 1 (t-closeness).",
        attribute=name,
    )
    yield Figure(
        "risk",
        risk.MEASURES["alpha"],
        found.alpha,
        f"One value of {called} has at most {share(found.alpha)} of a class (α), and each class has at least "
        f"{counted(found.distinct_l, 'distinct value')} (l).",
        attribute=name,
    )
