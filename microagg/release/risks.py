"""The disclosure risk of a release, or of anybody's file, in figures and sentences: who is found, what is learned."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from microagg.errors import DataError
from microagg.metrics import risk
from microagg.metrics.risk.disclosure import of_codes, values_of
from microagg.metrics.risk.equivalence_classes import numbered, record_classes
from microagg.metrics.risk.mixed_linkage import attributes_of
from microagg.metrics.utility.columns import columns_of
from microagg.optimum.formatting import number, percent, share
from microagg.partition import canonical_labels
from microagg.progress import checkpoint
from microagg.release.before_after import LOOKED_UP, WIDTH, BeforeAfter
from microagg.release.predicted_linkage import Predicted, predicted_linkage
from microagg.release.released import Figure, in_quotes
from microagg.tables.frames import as_pandas
from microagg.validation import FloatArray, IntArray, check_columns, counted

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame

#: Of so many confidential columns, and of so many that are neither, the first and the most telling ones, there are
#: figures.
MOST_COLUMNS = 50

#: So many records are listed that are farthest from all others.
MOST_OUTLIERS = 20

# What sentences call the estimators of uniques.
_ESTIMATORS = {"pitman": "estimated by Pitman's formula", "zayatz": "estimated after Zayatz", "count": "counted"}


def _figure(
    key: str,
    after: float,
    sentence: str,
    before: float | None = None,
    attribute: Hashable | None = None,
    n: int | None = None,
) -> Figure:
    return Figure("risk", risk.MEASURES[key], after, sentence, before, attribute, n)


def risks(both: BeforeAfter, sampling_fraction: float | None = None) -> Iterator[Figure]:
    """Yield the risks of a release, those that matter most first; see :meth:`microagg.Release.assess`."""
    schema = both.schema
    names = (*schema.quasi_identifiers, *schema.strata)
    checkpoint("Counting who is alone", 0.0)
    classes = numbered(both.before, names)
    yield from _classes(both, np.bincount(classes))
    if sampling_fraction is not None:
        yield _population(np.bincount(numbered(both.after, names)), sampling_fraction, np.bincount(classes))
    if both.weights is not None and both.weights.min() >= 1.0:
        yield _of_weighted(both, names, both.weights)
    yield from _linkage(both, numbered(both.before, (*both.linked_by, *schema.strata)))
    if both.numbers:
        yield from _of_numbers(both)
    confidential = [name for name in schema.confidential[:MOST_COLUMNS] if name in both.after.columns]
    after = numbered(both.after, names) if confidential else classes
    for name in confidential:
        checkpoint(f"What classes say of {name}", 0.4)
        yield from _learned(name, both.secrets[name], after, classes)
    yield from sorted(_with_one_more(both, names), key=lambda figure: figure.after, reverse=True)[:MOST_COLUMNS]


def outliers(both: BeforeAfter) -> tuple[pd.DataFrame, str]:
    """Return :attr:`microagg.release.Assessment.outliers`, and what leaving them out would do."""
    if not both.numbers:
        return pd.DataFrame(columns=["record", "attribute", "outlyingness", "probability"]), ""
    checkpoint("Looking for outliers", 0.95)
    X, released = both.pair
    most, linkage = min(MOST_OUTLIERS, both.n - 1), both.linkage
    at_risk = risk.records_at_risk(X, released, most=most, by="outlyingness", linkage=linkage)
    table = pd.DataFrame(
        {
            "record": at_risk.rows + 1,
            "attribute": [both.names[j] for j in at_risk.attributes],
            "outlyingness": at_risk.outlyingness,
            "probability": at_risk.probability,
        }
    )
    without = risk.leaving_out(X, both.labels, at_risk.rows)
    return table, (
        f"The {counted(most, 'record')} farthest from all others are found with a probability of "
        f"{share(float(at_risk.probability.mean()))} on average, against {share(linkage.share)} of all, and have "
        f"{percent(without.sse_share)} of what the groups lose: without them the loss would be "
        f"{percent(without.after)} in place of {percent(without.before)}."
    )


def _classes(both: BeforeAfter, before: IntArray) -> Iterator[Figure]:
    """Yield who is alone, ``before`` being the sizes of the classes of the file."""
    risk, n = both.report.risk, both.n
    whose = "quasi-identifiers and strata" if both.schema.strata else "quasi-identifiers"
    smallest = int(before.min())
    yield _figure(
        "max_reidentification",
        risk.max_reidentification_probability,
        f"{risk.sentence} In the original file, it is up to {share(1.0 / smallest)}.",
        1.0 / smallest,
    )
    yield from _predicted(risk.predicted, n)
    if both.report.joint is not None:
        yield _figure("max_reidentification", 1.0 / both.report.joint.smallest, both.report.of_releases)
    alone, left = int(np.count_nonzero(before == 1)), n - both.report.risk.n_shared
    yield _figure(
        "uniqueness",
        left / n,
        f"{_are(left) if left else 'No record is'} alone with {'its' if left <= 1 else 'their'} {whose}; in the "
        f"original file, {share(alone / n)} of the records are.",
        alone / n,
    )


def _predicted(predicted: Sequence[Predicted], n: int) -> Iterator[Figure]:
    for each in predicted:
        name = each.columns[0] if len(each.columns) == 1 else None
        yield _figure("predicted_linkage", each.share, str(each), attribute=name, n=each.n if each.n < n else None)


def _are(count: int) -> str:
    return f"{counted(count, 'record')} {'is' if count == 1 else 'are'}"


def _population(sizes: IntArray, sampling_fraction: float, before: IntArray | None = None) -> Figure:
    """Return who would be alone in the population, from the sizes of classes, of the release and ``before``."""
    uniques = risk.population_uniques(sizes, sampling_fraction)
    of_which = f"whole population, of which the file is {share(sampling_fraction)}"
    if before is None:
        says = f"About {share(uniques.share)} of the records of the {of_which}, would be alone."
        return _figure("population_uniques", uniques.share, says)
    was = risk.population_uniques(before, sampling_fraction)
    return _figure(
        "population_uniques",
        uniques.share,
        f"Of the records of the original file about {share(was.share)} would be alone in the {of_which} "
        f"({_ESTIMATORS[was.estimator]}). In the release "
        f"{f'about {share(uniques.share)} would be' if uniques.share else 'none is'}.",
        was.share,
    )


def _of_weighted(both: BeforeAfter, names: tuple[Hashable, ...], weights: FloatArray) -> Figure:
    was, after = (risk.individual_risk(frame, names, weights).share for frame in (both.before, both.after))
    return _figure(
        "individual_risk",
        after,
        "If a weight says how many persons a record stands for, whoever knows the true quasi-identifiers of all of "
        f"them finds a record with a probability of {share(after)} on average; in the original file, of "
        f"{share(was)}.",
        was,
    )


def _linkage(both: BeforeAfter, classes: IntArray) -> Iterator[Figure]:
    checkpoint("Looking for the nearest released records", 0.1)
    linkage, schema = both.linkage, both.schema
    d, used = len(schema.quasi_identifiers), len(both.linked_by)
    which = "all quasi-identifiers" if d > 1 else in_quotes(schema.quasi_identifiers[0])
    if used < d:
        which = f"the {used:,} quasi-identifiers that lose most"
    yield _linked(
        both,
        "record_linkage",
        linkage,
        f"Who knows the true values of {which}{' and the strata' if schema.strata else ''} and picks a released record "
        "nearest to them",
        # Were the originals released, each would be nearest to itself, and to those that equal it.
        (int(classes.max()) + 1) / both.n,
    )
    yield from _linked_by_one(both.known, linkage, both.looked_up)


def _linked(both: BeforeAfter, key: str, linkage: risk.Linkage, who: str, before: float) -> Figure:
    k, some = both.report.risk.realized_k, linkage.n if linkage.n < both.n else None
    looked_up = "" if some is None else f", looked up for {some:,} of them"
    says = f"{who} is right for {share(linkage.share)} of the records{looked_up}; groups of {k:,} allow at most "
    return _figure(key, linkage.share, f"{says}{share(1.0 / k)}.", before, n=some)


def _linked_by_one(attributes: risk.Known, by_all: risk.Linkage, sample: int | None) -> Iterator[Figure]:
    """Yield the attribute by which alone most records are found, if these are more than ``by_all`` attributes find."""
    if len(attributes.names) < 2:
        return
    name, linkage = attributes.linkage_by_one(sample=sample)
    if linkage.share > by_all.share:
        says = f"Who goes by {in_quotes(name)} alone finds more: {share(linkage.share)} of the records."
        n = None if linkage.n == attributes.n else linkage.n
        yield _figure("record_linkage", linkage.share, says, attribute=name, n=n)


def _of_numbers(both: BeforeAfter) -> Iterator[Figure]:
    checkpoint("Looking for the nearest released records", 0.25)
    linkage = risk.record_linkage(*both.pair, distance="mahalanobis", sample=both.looked_up)
    d = len(both.schema.quasi_identifiers)
    yield _linked(
        both,
        "record_linkage_mahalanobis",
        linkage,
        f"Who knows the true {'values' if len(both.names) == d else 'numbers'}, picks a released record nearest to "
        "them and takes correlations into account",
        (int(numbered(both.before, both.names).max()) + 1) / both.n,
    )
    checkpoint("Comparing released values with their originals", 0.35)
    middles = ", each range taken by its middle," if both.report.statistic == "generalize" else ""
    yield _near_originals(both.intervals, both.names, d, middles, 1.0)


def _near_originals(
    intervals: risk.Intervals, names: Sequence[Hashable], d: int, middles: str = "", before: float | None = None
) -> Figure:
    """Return how many numbers are near their originals, those of the attributes ``names``, out of ``d``."""
    worst = int(intervals.attributes.argmax())
    which = "" if len(names) == d else f", those of {len(names):,} of {d:,} quasi-identifiers,"
    return _figure(
        "interval_disclosure_sd",
        intervals.share,
        f"{share(intervals.share)} of the released numbers{which}{middles} are within {WIDTH:g} standard deviations of "
        f"the original, most of {in_quotes(names[worst])}: {share(float(intervals.attributes[worst]))}.",
        before,
    )


def _learned(name: Hashable, values: pd.Series, classes: IntArray, before: IntArray | None = None) -> Iterator[Figure]:
    """Yield what is learned of a confidential attribute by who finds somebody's class, perhaps that ``before``, too."""
    codes, ordered = values_of(values, len(values), None)
    present = codes >= 0
    if not present.any() or (before is not None and int(codes.max()) == 0):
        return  # of a release: one value only is no secret
    codes, n, called = codes[present], int(np.count_nonzero(present)), in_quotes(name)
    shares = np.bincount(codes) / n
    after = of_codes(canonical_labels(classes[present]), codes, shares, ordered)
    was = None if before is None else of_codes(canonical_labels(before[present]), codes, shares, ordered)
    sure = round(after.homogeneous * n)
    whose, of_all, was_near, diverse = counted(sure, "record"), f" of {n:,}", "", ""
    certain = "for certain"
    if was is not None:
        whose, of_all = whose if sure else "no one", ""
        certain = f"for certain; in the original file, of {share(was.homogeneous)} of the records"
        was_near = f"; in the original file, {was.t_closeness:.2g}"
        diverse = f", as diverse as {number(after.entropy_l)} that are equally frequent (entropy l)"
    says = {
        "homogeneous": f"Whoever finds the class of somebody learns the {called} of {whose}{of_all} {certain}.",
        "t_closeness": f"In the class that differs most, {called} is {after.t_closeness:.2g} away from all records on "
        f"a scale from 0 to 1 (t-closeness){was_near}.",
        "alpha": f"One value of {called} has at most {share(after.alpha)} of a class (α), and each class has at least "
        f"{counted(after.distinct_l, 'distinct value')} (l){diverse}.",
    }
    for key, sentence in says.items():
        yield _figure(key, getattr(after, key), sentence, None if was is None else getattr(was, key), name)


def _with_one_more(both: BeforeAfter, names_known: tuple[Hashable, ...]) -> Iterator[Figure]:
    """Yield who is alone for somebody who knows one more column, for each that is neither known nor confidential."""
    columns = (*both.schema.others, *both.report.undeclared_columns)
    names = [name for name in columns if name in both.after.columns]
    if not names:
        return
    was, after = (risk.uniqueness_with_each(frame, names_known, names) for frame in (both.before, both.after))
    n, k, declared = both.n, both.report.k, set(both.schema.others)
    for name in names:
        alone, few = after[name].n_unique, after[name].below(k)
        what = "which counts as neither known nor confidential" if name in declared else "of which nothing was said"
        says = f"Who also knows {in_quotes(name)}, {what}, finds {counted(alone, 'record')} alone and {few:,} in "
        yield _figure(
            "uniqueness", alone / n, f"{says}classes of fewer than {k:,}.", was[name].n_unique / n, attribute=name
        )


def risks_of_file(
    released: IntoDataFrame,
    quasi_identifiers: Sequence[Hashable],
    confidential: Sequence[Hashable] = (),
    original: IntoDataFrame | None = None,
    *,
    sampling_fraction: float | None = None,
) -> tuple[Figure, ...]:
    """Return who can be found in a file of which nothing else is known, and what is learned of whom.

    Classes are the records that are equal in the quasi-identifiers as they are released. With the originals there are
    record linkage by distance too, see :class:`microagg.metrics.risk.Known`, and interval disclosure of the
    quasi-identifiers that are numbers or dates; of more than 20,000 records so many are looked up.

    Parameters
    ----------
    released, original : DataFrame of pandas or polars, or pyarrow.Table, shape (n, columns)
        Record i of the one is record i of the other, if there is an original; that has the quasi-identifiers.
    quasi_identifiers, confidential : sequence of column names
        What an intruder knows, at least one; what he wants to learn, where records without a value are left out.
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
    sizes = np.bincount(classes)
    was = None if before is None else np.bincount(record_classes(before, quasi_identifiers))
    predicted: tuple[Predicted, ...] = ()
    if before is not None:
        predicted = predicted_linkage(before[[*quasi_identifiers]], after[[*confidential]], classes)
    figures = [*_classes_of_file(sizes, was, predicted)]
    if sampling_fraction is not None:
        figures.append(_population(sizes, sampling_fraction))
    if before is not None:
        figures += _with_originals(before, after, quasi_identifiers)
    return (*figures, *(figure for name in confidential for figure in _learned(name, after[name], classes)))


def _classes_of_file(sizes: IntArray, was: IntArray | None, predicted: Sequence[Predicted] = ()) -> Iterator[Figure]:
    least, n = int(sizes.min()), int(sizes.sum())
    yield _figure(
        "max_reidentification",
        max(1.0 / least, *(each.highest for each in predicted), 0.0),
        f"The smallest class of equal records, of {len(sizes):,} in all, has {counted(least, 'record')}: an intruder "
        "who knows the released quasi-identifiers of a person and nothing more picks the right record with "
        f"probability at most {share(1.0 / least)}.",
        None if was is None else 1.0 / float(was.min()),
    )
    yield from _predicted(predicted, n)
    yield _figure(
        "mean_reidentification",
        len(sizes) / n,
        f"Whoever does so for each of the {counted(n, 'record')} is right for {share(len(sizes) / n)} of them.",
        None if was is None else len(was) / n,
    )
    alone = int(np.count_nonzero(sizes == 1))
    yield _figure(
        "uniqueness",
        alone / n,
        f"{_are(alone)} alone with {'its' if alone == 1 else 'their'} quasi-identifiers.",
        None if was is None else float(np.count_nonzero(was == 1)) / n,
    )


def _with_originals(before: pd.DataFrame, after: pd.DataFrame, names: Sequence[Hashable]) -> Iterator[Figure]:
    columns = columns_of(before, after, names, matched=True)
    attributes = risk.Known.of(before, after, attributes_of(before, names))
    sample = LOOKED_UP if len(before) > LOOKED_UP else None
    linkage = attributes.linkage(sample=sample)
    some = None if linkage.n == attributes.n else linkage.n
    looked_up = "" if some is None else f", looked up for {some:,} of them"
    yield _figure(
        "record_linkage",
        linkage.share,
        "Who knows the true values of all quasi-identifiers and picks a released record nearest to them is right for "
        f"{share(linkage.share)} of the records{looked_up}, if those of both files have the same order.",
        n=some,
    )
    yield from _linked_by_one(attributes, linkage, sample)
    columns = [column for column in columns if column.numeric and column.before.std() > 0.0]
    if columns:
        X, released = (np.column_stack([getattr(c, side) for c in columns]) for side in ("before", "after"))
        intervals = risk.interval_disclosure(X, released, WIDTH, by="sd")
        yield _near_originals(intervals, [column.name for column in columns], len(names))
