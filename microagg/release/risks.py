"""The disclosure risk of a release, in figures and sentences: who can be found in it, and what is learned of whom."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

import numpy as np
import pandas as pd

from microagg.metrics import risk
from microagg.metrics.risk.equivalence_classes import coded, numbered
from microagg.optimum.formatting import number, percent, share
from microagg.progress import checkpoint
from microagg.release.assessment import Figure, in_quotes
from microagg.release.before_after import WIDTH, Beside, linked_by_one
from microagg.validation import FloatArray, IntArray, counted

#: Of so many confidential columns, and of so many that are neither, the first and the most telling ones, there are
#: figures.
MOST_COLUMNS = 50

#: So many records are listed that are farthest from all others.
MOST_OUTLIERS = 20


# What sentences call the estimators of uniques.
_ESTIMATORS = {"pitman": "estimated by Pitman's formula", "zayatz": "estimated after Zayatz", "count": "counted"}


def risks(beside: Beside, sampling_fraction: float | None = None) -> Iterator[Figure]:
    """Yield the risks of a release, those that matter most first; see :meth:`microagg.Release.assess`."""
    schema, n = beside.schema, beside.n
    known = (*schema.quasi_identifiers, *schema.strata)
    checkpoint("Counting who is alone", 0.0)
    classes = numbered(beside.before, known)
    released = beside.report.risk
    whose = "quasi-identifiers and strata" if schema.strata else "quasi-identifiers"
    yield from _classes(np.bincount(classes), released.realized_k, released.n_shared, n, whose)
    if sampling_fraction is not None:
        yield _population(np.bincount(classes), np.bincount(numbered(beside.after, known)), sampling_fraction)
    if beside.weights is not None and beside.weights.min() >= 1.0:
        yield _of_weighted(beside, known, beside.weights)
    yield from _linkage(beside, numbered(beside.before, (*beside.linked_by, *schema.strata)))
    if beside.numbers:
        yield from _of_numbers(beside)
    confidential = [name for name in schema.confidential[:MOST_COLUMNS] if name in beside.after.columns]
    after = numbered(beside.after, known) if confidential else classes
    for name in confidential:
        checkpoint(f"What classes say of {name}", 0.4)
        yield from _homogeneity(name, beside.after[name], classes, after)
    yield from sorted(_with_one_more(beside, known), key=lambda figure: figure.after, reverse=True)[:MOST_COLUMNS]


def outliers(beside: Beside) -> tuple[pd.DataFrame, str]:
    """Return :attr:`microagg.release.assessment.Assessment.outliers`, and what leaving them out would do."""
    if not beside.numbers:
        return pd.DataFrame(columns=["record", "attribute", "outlyingness", "probability"]), ""
    checkpoint("Looking for outliers", 0.95)
    X, released = beside.pair
    most = min(MOST_OUTLIERS, beside.n - 1)
    linkage = beside.linkage
    found = risk.records_at_risk(X, released, most=most, by="outlyingness", linkage=linkage)
    table = pd.DataFrame(
        {
            "record": found.rows + 1,
            "attribute": [beside.names[j] for j in found.attributes],
            "outlyingness": found.outlyingness,
            "probability": found.probability,
        }
    )
    without = risk.leaving_out(X, beside.labels, found.rows)
    return table, (
        f"The {counted(most, 'record')} farthest from all others are found with a probability of "
        f"{share(float(found.probability.mean()))} on average, against {share(linkage.share)} of all, and have "
        f"{percent(without.sse_share)} of what the groups lose: without them the loss would be "
        f"{percent(without.after)} in place of {percent(without.before)}."
    )


def _classes(before: IntArray, realized_k: int, n_shared: int, n: int, whose: str) -> Iterator[Figure]:
    measures = risk.MEASURES
    smallest = int(before.min())
    yield Figure(
        "risk",
        measures["max_reidentification"],
        1.0 / realized_k,
        f"Who knows a person's true {whose} and nothing else picks the right record with a probability of at "
        f"most {share(1.0 / realized_k)} (1 in {realized_k:,}); in the original file, of up to "
        f"{share(1.0 / smallest)}.",
        1.0 / smallest,
    )
    alone, left = int(np.count_nonzero(before == 1)), n - n_shared
    yield Figure(
        "risk",
        measures["uniqueness"],
        left / n,
        f"{_records(left)} alone with {_its(left)} {whose}; in the original file, {share(alone / n)} of the "
        "records are.",
        alone / n,
    )


def _records(count: int) -> str:
    return "No record is" if not count else f"{counted(count, 'record')} {'is' if count == 1 else 'are'}"


def _its(count: int) -> str:
    return "its" if count <= 1 else "their"


def _population(before: IntArray, after: IntArray, sampling_fraction: float) -> Figure:
    found, left = (risk.population_uniques(sizes, sampling_fraction) for sizes in (before, after))
    return Figure(
        "risk",
        risk.MEASURES["population_uniques"],
        left.share,
        f"Of the records of the original file about {share(found.share)} would be alone in the whole population, of "
        f"which the file is {share(sampling_fraction)} ({_ESTIMATORS[found.estimator]}). In the release "
        f"{f'about {share(left.share)} would be' if left.share else 'none is'}.",
        found.share,
    )


def _of_weighted(beside: Beside, known: tuple[Hashable, ...], weights: FloatArray) -> Figure:
    was, found = (risk.individual_risk(frame, known, weights).share for frame in (beside.before, beside.after))
    return Figure(
        "risk",
        risk.MEASURES["individual_risk"],
        found,
        "If a weight says how many persons a record stands for, whoever knows the true quasi-identifiers of all of "
        f"them finds a record with a probability of {share(found)} on average; in the original file, of "
        f"{share(was)}.",
        was,
    )


def _linkage(beside: Beside, classes: IntArray) -> Iterator[Figure]:
    checkpoint("Looking for the nearest released records", 0.1)
    found, schema = beside.linkage, beside.schema
    d, used = len(schema.quasi_identifiers), len(beside.linked_by)
    which = "all quasi-identifiers" if d > 1 else in_quotes(schema.quasi_identifiers[0])
    if used < d:
        which = f"the {used:,} quasi-identifiers that lose most"
    yield _linked(
        beside,
        "record_linkage",
        found,
        f"Who knows the true values of {which}{' and the strata' if schema.strata else ''} and picks a released record "
        "nearest to them",
        # Were the originals released, each would be nearest to itself, and to those that equal it.
        (int(classes.max()) + 1) / beside.n,
    )
    yield from linked_by_one(beside.known, found, beside.looked_up)


def _linked(beside: Beside, key: str, found: risk.Linkage, who: str, before: float) -> Figure:
    k = beside.report.risk.realized_k
    looked_up = "" if found.n == beside.n else f", looked up for {found.n:,} of them"
    return Figure(
        "risk",
        risk.MEASURES[key],
        found.share,
        f"{who} is right for {share(found.share)} of the records{looked_up}; groups of {k:,} allow at most "
        f"{share(1.0 / k)}.",
        before=before,
        n=None if found.n == beside.n else found.n,
    )


def _of_numbers(beside: Beside) -> Iterator[Figure]:
    checkpoint("Looking for the nearest released records", 0.25)
    found = risk.record_linkage(*beside.pair, distance="mahalanobis", sample=beside.looked_up)
    d, used = len(beside.schema.quasi_identifiers), len(beside.names)
    yield _linked(
        beside,
        "record_linkage_mahalanobis",
        found,
        f"Who knows the true {'values' if used == d else 'numbers'}, picks a released record nearest to them and takes "
        "correlations into account",
        (int(numbered(beside.before, beside.names).max()) + 1) / beside.n,
    )
    checkpoint("Comparing released values with their originals", 0.35)
    intervals = beside.intervals
    worst = int(intervals.attributes.argmax())
    which = "" if used == d else f", those of {used:,} of {d:,} quasi-identifiers,"
    middles = ", each range taken by its middle," if beside.report.statistic == "generalize" else ""
    yield Figure(
        "risk",
        risk.MEASURES["interval_disclosure_sd"],
        intervals.share,
        f"{share(intervals.share)} of the released numbers{which}{middles} are within {WIDTH:g} standard deviations of "
        f"the original, most of {in_quotes(beside.names[worst])}: {share(float(intervals.attributes[worst]))}.",
        1.0,
    )


def _homogeneity(name: Hashable, values: pd.Series, before: IntArray, after: IntArray) -> Iterator[Figure]:
    """Yield what is learned of a confidential attribute by who finds somebody's class of the file or of the release."""
    codes = coded(values)
    present = codes >= 0
    if not present.any() or int(codes.max()) == 0:
        return  # one value only is no secret
    found, was = (risk.homogeneity(values[present], classes[present]) for classes in (after, before))
    n = int(np.count_nonzero(present))
    sure = round(found.homogeneous * n)
    called = in_quotes(name)
    yield Figure(
        "risk",
        risk.MEASURES["homogeneous"],
        found.homogeneous,
        (
            f"Whoever finds the class of somebody learns the {called} of no one for certain"
            if not sure
            else f"Whoever finds the class of somebody learns the {called} of {counted(sure, 'record')} for certain"
        )
        + f"; in the original file, of {share(was.homogeneous)} of the records.",
        was.homogeneous,
        name,
    )
    yield Figure(
        "risk",
        risk.MEASURES["t_closeness"],
        found.t_closeness,
        f"In the class that differs most, {called} is {found.t_closeness:.2g} away from all records on a scale from 0 "
        f"to 1 (t-closeness); in the original file, {was.t_closeness:.2g}.",
        was.t_closeness,
        name,
    )
    yield Figure(
        "risk",
        risk.MEASURES["alpha"],
        found.alpha,
        f"One value of {called} has at most {share(found.alpha)} of a class (α), and each class has at least "
        f"{counted(found.distinct_l, 'distinct value')} (l), as diverse as {number(found.entropy_l)} that are equally "
        "frequent (entropy l).",
        was.alpha,
        name,
    )


def _with_one_more(beside: Beside, known: tuple[Hashable, ...]) -> Iterator[Figure]:
    """Yield who is alone for somebody who knows one more column, for each that is neither known nor confidential."""
    columns = (*beside.schema.others, *beside.report.undeclared_columns)
    names = [name for name in columns if name in beside.after.columns]
    if not names:
        return
    was, found = (risk.uniqueness_with_each(frame, known, names) for frame in (beside.before, beside.after))
    n, k, declared = beside.n, beside.report.k, set(beside.schema.others)
    for name in names:
        alone, few = found[name].n_unique, found[name].below(k)
        what = "which counts as neither known nor confidential" if name in declared else "of which nothing was said"
        yield Figure(
            "risk",
            risk.MEASURES["uniqueness"],
            alone / n,
            f"Who also knows {in_quotes(name)}, {what}, finds {counted(alone, 'record')} alone and {few:,} in "
            f"classes of fewer than {k:,}.",
            was[name].n_unique / n,
            name,
        )
