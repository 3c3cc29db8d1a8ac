"""Risk and utility of a release, or of anybody's file, in figures and sentences."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from microagg.errors import DataError, ParameterError
from microagg.metrics import risk, utility
from microagg.metrics.risk.diversity import encode_values, measure_codes
from microagg.metrics.risk.equivalence_classes import max_reidentification, numbered, record_classes
from microagg.metrics.risk.mixed_linkage import infer_attributes
from microagg.metrics.utility.columns import pair_columns
from microagg.optimum.formatting import number, percent, share
from microagg.partition import canonical_labels
from microagg.progress import checkpoint
from microagg.release.assessment import Assessment, Figure, Released, in_quotes
from microagg.release.before_after import WIDTH, BeforeAfter, looked_up
from microagg.release.measures import Generalization, Loss
from microagg.release.predicted_linkage import Predicted, predicted_linkage
from microagg.release.prepare import Prepared
from microagg.tables.frames import as_pandas
from microagg.validation import FloatArray, IntArray, check_columns, counted, is_real, quoted

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame

#: The maximum number of confidential columns, and of other ones, with figures.
MOST_COLUMNS = 50

#: The maximum number of listed outliers.
MOST_OUTLIERS = 20

# The estimators of uniques, as sentences name them.
_ESTIMATORS = {"pitman": "estimated by Pitman's formula", "zayatz": "estimated after Zayatz", "count": "counted"}

# What the score of a predictive model is a share of.
_SCORES = {"R²": "of the variance is explained", "accuracy": "of the records are predicted correctly"}


def assess(
    release: Released, prepared: Prepared, *, target: Hashable | None = None, sampling_fraction: float | None = None
) -> Assessment:
    """Measure risk and utility of ``release``, made from ``prepared`` (see :meth:`microagg.Release.assess`)."""
    if sampling_fraction is not None and not (is_real(sampling_fraction) and 0.0 < sampling_fraction <= 1.0):
        raise ParameterError(f"sampling_fraction must be above 0 and at most 1, not {sampling_fraction!r}.")
    frame = release.to_pandas()
    if target is not None and target not in list(frame.columns):
        raise DataError(
            f"there is no column {target!r} in the release to be predicted: its columns are {quoted(frame.columns)}."
        )
    both = BeforeAfter.of(prepared, frame, release.partition.labels, release.report)
    notes, confidential = list(both.notes), both.schema.confidential
    if len(confidential) > MOST_COLUMNS:
        notes.append(f"Of {len(confidential):,} confidential columns the first {MOST_COLUMNS} were measured.")
    figures = (*risks(both, sampling_fraction), *_utility(both, target, notes))
    checkpoint("Comparing attribute by attribute", 0.9)
    listed, without = outliers(both)
    return Assessment(figures, _attributes(both), listed, without, both.n, tuple(notes))


def _figure(
    key: str,
    after: float,
    sentence: str,
    before: float | None = None,
    attribute: Hashable | None = None,
    n: int | None = None,
) -> Figure:
    part: Literal["risk", "utility"] = "risk" if key in risk.MEASURES else "utility"
    measure = {**risk.MEASURES, **utility.MEASURES}[key]
    return Figure(part, measure, after, sentence, before, attribute, n)


def risks(both: BeforeAfter, sampling_fraction: float | None = None) -> Iterator[Figure]:
    """Yield the risk figures of a release, most important first (see :meth:`microagg.Release.assess`)."""
    schema = both.schema
    names = (*schema.quasi_identifiers, *schema.strata)
    checkpoint("Counting who is alone", 0.0)
    classes = numbered(both.before, names)
    yield from _classes(both, np.bincount(classes))
    if sampling_fraction is not None:
        yield _population(np.bincount(numbered(both.after, names)), sampling_fraction, np.bincount(classes))
    if both.weights is not None and both.weights.min() >= 1.0:
        yield _individual_risk(both, names, both.weights)
    yield from _linkage(both, numbered(both.before, (*both.linked_by, *schema.strata)))
    if both.numbers:
        yield from _linkage_by_numbers(both)
    confidential = [name for name in schema.confidential[:MOST_COLUMNS] if name in both.after.columns]
    after = numbered(both.after, names) if confidential else classes
    for name in confidential:
        checkpoint(f"What classes say of {name}", 0.4)
        yield from _inferred(name, both.secrets[name], after, classes)
    yield from sorted(_with_one_more(both, names), key=lambda figure: figure.after, reverse=True)[:MOST_COLUMNS]


def outliers(both: BeforeAfter) -> tuple[pd.DataFrame, str]:
    """The table :attr:`microagg.release.Assessment.outliers`, and a sentence on the loss without these records."""
    if not both.numbers:
        return pd.DataFrame(columns=["record", "attribute", "outlyingness", "probability"]), ""
    checkpoint("Looking for outliers", 0.95)
    X, released = both.pair
    n_listed, linkage = min(MOST_OUTLIERS, both.n - 1), both.linkage
    at_risk = risk.records_at_risk(X, released, most=n_listed, by="outlyingness", linkage=linkage)
    table = pd.DataFrame(
        {
            "record": at_risk.rows + 1,
            "attribute": [both.names[j] for j in at_risk.attributes],
            "outlyingness": at_risk.outlyingness,
            "probability": at_risk.probability,
        }
    )
    without = risk.leaving_out(X, both.labels, at_risk.rows)
    # With categories the loss is Total-IL, which has no share of a record.
    is_numeric = both.report.generalization is None
    measure = "information loss" if is_numeric else "IL of the numeric quasi-identifiers"
    return table, (
        f"The {counted(n_listed, 'record')} farthest from all others are linked by distance with probability "
        f"{share(float(at_risk.probability.mean()))} on average, all records with {share(linkage.share)}. They cause "
        f"{percent(without.sse_share)} of the {measure}: without them it would be {percent(without.after)} "
        f"instead of {percent(without.before)}."
    )


def _classes(both: BeforeAfter, before: IntArray) -> Iterator[Figure]:
    """Yield the re-identification risk and uniqueness of a release. ``before`` are the class sizes of the original."""
    risk, n = both.report.risk, both.n
    columns = "quasi-identifiers and strata" if both.schema.strata else "quasi-identifiers"
    in_original = max_reidentification(before.min())
    text = f"{risk.sentence} In the original file, it is up to {share(in_original)}."
    yield _figure("max_reidentification", risk.max_reidentification_probability, text, in_original)
    yield from _predicted(risk.predicted, n)
    if (joint := both.report.joint) is not None:
        yield _figure("max_reidentification", joint.of_classes, both.report.of_releases)
    was_unique, unique = int(np.count_nonzero(before == 1)), n - both.report.risk.n_shared
    subject = f"{_are(unique) if unique else 'No record is'} unique in {'its' if unique <= 1 else 'their'} {columns}"
    text = f"{subject}; in the original file, {share(was_unique / n)} of the records are."
    yield _figure("uniqueness", unique / n, text, was_unique / n)


def _predicted(predicted: Sequence[Predicted], n: int) -> Iterator[Figure]:
    for gain in predicted:
        name = gain.columns[0] if len(gain.columns) == 1 else None
        yield _figure("predicted_linkage", gain.share, str(gain), attribute=name, n=gain.n if gain.n < n else None)


def _are(count: int) -> str:
    return f"{counted(count, 'record')} {'is' if count == 1 else 'are'}"


def _population(sizes: IntArray, sampling_fraction: float, before: IntArray | None = None) -> Figure:
    """Share of records that are unique in the population, from class sizes of the release and ``before``."""
    new = risk.population_uniques(sizes, sampling_fraction)
    population = f"whole population, of which the file is {share(sampling_fraction)}"
    if before is None:
        text = f"About {share(new.share)} of the records would be unique in the {population}."
        return _figure("population_uniques", new.share, text)
    old = risk.population_uniques(before, sampling_fraction)
    text = (
        f"Of the records of the original file about {share(old.share)} would be unique in the {population} "
        f"({_ESTIMATORS[old.estimator]}). In the release "
        f"{f'about {share(new.share)} would be' if new.share else 'none is'}."
    )
    return _figure("population_uniques", new.share, text, old.share)


def _individual_risk(both: BeforeAfter, names: tuple[Hashable, ...], weights: FloatArray) -> Figure:
    old, new = (risk.individual_risk(frame, names, weights).share for frame in (both.before, both.after))
    text = (
        "If a weight is the number of persons that a record represents, an intruder who knows the true "
        f"quasi-identifiers of all of them finds a record with probability {share(new)} on average; in the original "
        f"file, {share(old)}."
    )
    return _figure("individual_risk", new, text, old)


def _linkage(both: BeforeAfter, classes: IntArray) -> Iterator[Figure]:
    checkpoint("Looking for the nearest released records", 0.1)
    schema = both.schema
    d, used = len(schema.quasi_identifiers), len(both.linked_by)
    names = "all quasi-identifiers" if d > 1 else in_quotes(schema.quasi_identifiers[0])
    if used < d:
        names = f"the {used:,} quasi-identifiers with the highest loss"
    facts = f"values of {names}{' and the strata' if schema.strata else ''} and picks a released record nearest to them"
    # Were the originals released, each would be nearest to itself, and to those that equal it.
    before = (int(classes.max()) + 1) / both.n
    yield _link_risk("record_linkage", both.linkage, both.n, facts, _allowed(both), before)
    yield from _linkage_by_one(both.intruder, both.linkage)


def _allowed(both: BeforeAfter) -> str:
    risk = both.report.risk
    return f"; groups of {risk.realized_k:,} allow at most {share(risk.of_classes)}"


def _link_risk(
    key: str, linkage: risk.Linkage, n: int, facts: str, ending: str = "", before: float | None = None
) -> Figure:
    n_sampled = linkage.n if linkage.n < n else None
    sampled = "" if n_sampled is None else f", looked up for {n_sampled:,} of them"
    text = (
        f"An intruder who knows the true {facts} is right for {share(linkage.share)} of the records{sampled}{ending}."
    )
    return _figure(key, linkage.share, text, before, n=n_sampled)


def _linkage_by_one(attributes: risk.Known, by_all: risk.Linkage) -> Iterator[Figure]:
    """Yield the linkage by the best single attribute if it exceeds the linkage by all of them."""
    if len(attributes.names) < 2:
        return
    name, linkage = attributes.linkage_by_one(sample=looked_up(attributes.n))
    if linkage.share > by_all.share:
        text = f"An intruder who compares {in_quotes(name)} alone finds more: {share(linkage.share)} of the records."
        n = None if linkage.n == attributes.n else linkage.n
        yield _figure("record_linkage", linkage.share, text, attribute=name, n=n)


def _linkage_by_numbers(both: BeforeAfter) -> Iterator[Figure]:
    checkpoint("Looking for the nearest released records", 0.25)
    linkage = risk.record_linkage(*both.pair, distance="mahalanobis", sample=looked_up(both.n))
    d = len(both.schema.quasi_identifiers)
    noun = "values" if len(both.names) == d else "numbers"
    facts = f"{noun}, picks a released record nearest to them and takes correlations into account"
    before = (int(numbered(both.before, both.names).max()) + 1) / both.n
    yield _link_risk("record_linkage_mahalanobis", linkage, both.n, facts, _allowed(both), before)
    checkpoint("Comparing released values with their originals", 0.35)
    middles = ", each range taken by its middle," if both.report.statistic == "generalize" else ""
    yield _interval_disclosure(both.intervals, both.names, d, middles, 1.0)


def _interval_disclosure(
    intervals: risk.Intervals, names: Sequence[Hashable], d: int, middles: str = "", before: float | None = None
) -> Figure:
    worst = int(intervals.attributes.argmax())
    scope = "" if len(names) == d else f", those of {len(names):,} of {d:,} quasi-identifiers{'' if middles else ','}"
    text = (
        f"{share(intervals.share)} of the released numbers{scope}{middles} are within {WIDTH:g} standard deviations of "
        f"the original, most of {in_quotes(names[worst])}: {share(float(intervals.attributes[worst]))}."
    )
    return _figure("interval_disclosure_sd", intervals.share, text, before)


def _inferred(name: Hashable, values: pd.Series, classes: IntArray, before: IntArray | None = None) -> Iterator[Figure]:
    """Yield the knowledge of an intruder who identifies a class about a confidential attribute."""
    codes, ordered = encode_values(values, len(values), None)
    present = codes >= 0
    if not present.any() or (before is not None and int(codes.max()) == 0):
        return  # of a release: one value only is no secret
    codes, n, column = codes[present], int(np.count_nonzero(present)), in_quotes(name)
    shares = np.bincount(codes) / n
    new = measure_codes(canonical_labels(classes[present]), codes, shares, ordered)
    old = None if before is None else measure_codes(canonical_labels(before[present]), codes, shares, ordered)
    n_certain = round(new.homogeneous * n)
    certain, old_t, entropy = f"{counted(n_certain, 'record')} of {n:,}", "", ""
    if old is not None:
        certain = f"{counted(n_certain, 'record') if n_certain else 'no record'}; in the original file, for "
        certain += f"{share(old.homogeneous)} of the records"
        old_t = f"; in the original file, {old.t_closeness:.3g}"
        entropy = f", as diverse as {number(new.entropy_l)} that are equally frequent (entropy l)"
    texts = {
        "homogeneous": f"Finding a person's class reveals {column} with certainty for {certain}.",
        "t_closeness": f"In the class that differs most, the distance of {column} from all records is "
        f"{new.t_closeness:.3g} on a scale from 0 to 1 (t-closeness){old_t}.",
        "alpha": f"One value of {column} has at most {share(new.alpha)} of a class (α), and each class has at least "
        f"{counted(new.distinct_l, 'distinct value')} (l){entropy}.",
    }
    for key, sentence in texts.items():
        yield _figure(key, getattr(new, key), sentence, None if old is None else getattr(old, key), name)


def _with_one_more(both: BeforeAfter, known: tuple[Hashable, ...]) -> Iterator[Figure]:
    """Yield the uniqueness for an intruder who knows one more column, for each open column."""
    columns = (*both.schema.others, *both.report.undeclared_columns)
    names = [name for name in columns if name in both.after.columns]
    if not names:
        return
    old, new = (risk.uniqueness_with_each(frame, known, names) for frame in (both.before, both.after))
    n, k, declared = both.n, both.report.k, set(both.schema.others)
    for name in names:
        unique, small = new[name].n_unique, new[name].below(k)
        status = "whose role is other" if name in declared else "which has no role"
        subject = f"An intruder who also knows {in_quotes(name)}, {status}, finds {counted(unique, 'record')} unique"
        text = f"{subject} and {small:,} in classes of fewer than k = {k:,}."
        yield _figure("uniqueness", unique / n, text, old[name].n_unique / n, name)


def _utility(both: BeforeAfter, target: Hashable | None, notes: list[str]) -> Iterator[Figure]:
    """Yield the utility figures of a release, most important first. Add failed measurements to ``notes``."""
    report = both.report

    def ending(loss: Loss | Generalization, subject: str) -> str:
        """Sentence on the lower bound and the attribute with the highest loss."""
        bound, k = loss.lower_bound, report.k
        least = "" if bound is None else f"; the lower bound for groups of at least {k:,} is {percent(bound)}"
        name, highest = max(loss.attributes.items(), key=lambda item: item[1])
        return f"{least}. {subject} highest for {in_quotes(name)}: {percent(highest)}."

    if (total := report.generalization) is not None:
        text = f"The information loss Total-IL is {percent(total.information_loss)} of the largest possible"
        yield _figure("total_information_loss", total.information_loss, f"{text}{ending(total, 'It is')}")
    if (measured := report.loss) is not None:
        noun = "quasi-identifiers" if total is None else "numeric quasi-identifiers"
        subject = "It is" if total is None else "The IL is"
        text = f"The information loss IL is {percent(measured.information_loss)} of the variance of the {noun}"
        yield _figure("information_loss", measured.information_loss, f"{text}{ending(measured, subject)}")
    if both.numbers:
        yield from _number_changes(both)
    checkpoint("Comparing distributions", 0.7)
    for key, distances in both.distances.items():
        worst = int(distances.attributes.argmax())
        text = (
            f"The {key.capitalize()} distance of an attribute's distribution from the original one is "
            f"{distances.value:.3g} on average and largest for {in_quotes(distances.names[worst])}: "
            f"{distances.attributes[worst]:.3g}."
        )
        yield _figure(key, distances.value, text)
    checkpoint("Telling released records from originals", 0.8)
    try:
        propensity = utility.propensity(*both.frames)
    except DataError as error:
        notes.append(f"No model distinguished released records from originals: {error}")
    else:
        used = propensity.n if propensity.n < both.n else None
        text = (
            f"A model that distinguishes released records from originals{'' if used is None else f', of {used:,},'} "
            f"has a propensity-score error of {propensity.pmse:.3g}, {share(propensity.share)} of the largest possible "
            "(0: indistinguishable)."
        )
        yield _figure("pmse", propensity.pmse, text, n=used)
    if target is not None:
        yield from _prediction(both, target, notes)


def _attributes(both: BeforeAfter) -> pd.DataFrame:
    lost = both.report.lost
    table = pd.DataFrame(
        {"attribute": list(lost), "lost": list(lost.values())}, index=pd.Index(list(lost), tupleize_cols=False)
    ).astype({"attribute": object})
    if both.numbers:
        moments = both.moments
        correlated = moments.correlations.attributes
        figures = {
            "il1s": both.deviations.attributes,
            "mean_change": moments.means,
            "sd_ratio": np.sqrt(moments.variances),
            "quantile_change": np.abs(moments.quantiles).max(axis=1),
            "correlation_change": np.where(correlated >= 0.0, correlated, np.nan),
            "interval_disclosure": both.intervals.attributes,
        }
        for figure, values in figures.items():
            table.loc[list(both.names), figure] = values
    for figure, distances in both.distances.items():
        table.loc[list(distances.names), figure] = distances.attributes
    return table.sort_values("lost", ascending=False, kind="stable", ignore_index=True)


def _number_changes(both: BeforeAfter) -> Iterator[Figure]:
    """Yield the changes of means, variances, quantiles and correlations of the numbers."""
    checkpoint("Comparing means, variances and correlations", 0.6)
    deviations, moments = both.deviations, both.moments

    def argmax(figures: Any) -> str:
        return in_quotes(both.names[int(np.argmax(figures))])

    text = (
        f"A released number is on average {np.sqrt(2.0) * deviations.value:.3g} standard deviations from the original "
        f"(IL1s {deviations.value:.3g}), most of {argmax(deviations.attributes)}."
    )
    yield _figure("il1s", deviations.value, text)
    shifted, text = np.abs(moments.means), "All means are kept."
    if moments.mean_change >= 1e-9:
        text = f"The mean that changes most is that of {argmax(shifted)}, by {shifted.max():.3g} standard deviations."
    yield _figure("mean_change", moments.mean_change, text)
    changed = np.nan_to_num(moments.variances, nan=1.0) - 1.0
    largest = changed[np.abs(changed).argmax()]
    text = (
        f"The variance that changes most is that of {argmax(np.abs(changed))}: it "
        f"{'shrinks' if largest < 0.0 else 'grows'} by {share(float(abs(largest)))}."
    )
    yield _figure("variance_change", moments.variance_change, text)
    changes = np.abs(moments.quantiles)
    worst, level = np.unravel_index(int(changes.argmax()), changes.shape)
    text = (
        f"The quantile that changes most is that below which {share(utility.LEVELS[int(level)])} of the records have "
        f"their {in_quotes(both.names[int(worst)])}: by {moments.quantile_change:.3g} standard deviations."
    )
    yield _figure("quantile_change", moments.quantile_change, text)
    correlations = moments.correlations
    if correlations.largest is not None and correlations.pair is not None:
        first, second = (in_quotes(both.names[j]) for j in correlations.pair)
        text = f"The correlation that changes most is that of {first} and {second}, by {correlations.largest:.3g}."
        yield _figure("correlation_change", correlations.largest, text)
    if (change := moments.eigenvalue_change) is not None:
        text = f"The variances of the principal components change on average by {share(change)} of what they were."
        yield _figure("eigenvalue_change", change, text)


def _prediction(both: BeforeAfter, target: Hashable, notes: list[str]) -> Iterator[Figure]:
    checkpoint(f"Predicting {target}", 0.9)
    features = [name for name in both.schema.quasi_identifiers if name != target]
    prediction = utility.prediction(both.before, both.after, target, features)
    unit = _SCORES[prediction.metric]
    if prediction.kept is None:
        notes.append(
            f"The quasi-identifiers do not predict {in_quotes(target)} better than a constant does, even with a model "
            "trained on the originals: there is no prediction to compare."
        )
        return
    text = (
        f"Of unseen originals, {share(prediction.released)} {unit} by a model of {in_quotes(target)} trained on the "
        f"release, {share(prediction.original)} by one trained on the originals, and {share(prediction.baseline)} by a "
        "constant."
    )
    n_used = prediction.n_train + prediction.n_test
    yield _figure("prediction", prediction.kept, text, attribute=target, n=n_used if n_used < both.n else None)


def risks_of_file(
    released: IntoDataFrame,
    quasi_identifiers: Sequence[Hashable],
    confidential: Sequence[Hashable] = (),
    original: IntoDataFrame | None = None,
    *,
    sampling_fraction: float | None = None,
) -> tuple[Figure, ...]:
    """Measure the disclosure risk of any file.

    Records with equal released quasi-identifiers form a class. With the originals there are also record linkage by
    distance, see :class:`microagg.metrics.risk.Known`, and interval disclosure of the quasi-identifiers that are
    numbers or dates; of more than 20,000 records, 20,000 are looked up.

    Parameters
    ----------
    released, original : DataFrame of pandas or polars, or pyarrow.Table, shape (n, columns)
        Record i of the one is record i of the other, if there is an original; that has the quasi-identifiers.
    quasi_identifiers, confidential : sequence of column names
        The columns an intruder knows, at least one; and those to be learned, where missing values do not count.
    sampling_fraction : float, optional
        The share of the population that the file is a random sample of.

    Raises
    ------
    DataError
        If a column is not there, there are no records, the originals are not as many, or numbers or dates are released
        as anything else.
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
    original_sizes = None if before is None else np.bincount(record_classes(before, quasi_identifiers))
    predicted: tuple[Predicted, ...] = ()
    if before is not None:
        predicted = predicted_linkage(before[[*quasi_identifiers]], after[[*confidential]], classes)
    figures = [*_classes_of_file(sizes, original_sizes, predicted)]
    if sampling_fraction is not None:
        figures.append(_population(sizes, sampling_fraction))
    if before is not None:
        figures += _with_originals(before, after, quasi_identifiers)
    return (*figures, *(figure for name in confidential for figure in _inferred(name, after[name], classes)))


def _classes_of_file(sizes: IntArray, old: IntArray | None, predicted: Sequence[Predicted] = ()) -> Iterator[Figure]:
    fewest, n = int(sizes.min()), int(sizes.sum())
    before: tuple[float | None, ...] = (None, None, None)
    if old is not None:
        before = max_reidentification(old.min()), len(old) / n, float(np.count_nonzero(old == 1)) / n
    highest = share(max_reidentification(fewest))
    text = (
        f"The smallest of {len(sizes):,} classes has {counted(fewest, 'record')}: an intruder who knows the released "
        f"quasi-identifiers of a person picks the right record with probability at most {highest}."
    )
    with_predictions = max_reidentification(fewest, (each.highest for each in predicted))
    yield _figure("max_reidentification", with_predictions, text, before[0])
    yield from _predicted(predicted, n)
    text = (
        f"An intruder who does so for each of the {counted(n, 'record')} is right for {share(len(sizes) / n)} of them."
    )
    yield _figure("mean_reidentification", len(sizes) / n, text, before[1])
    unique = int(np.count_nonzero(sizes == 1))
    text = f"{_are(unique)} unique in {'its' if unique == 1 else 'their'} quasi-identifiers."
    yield _figure("uniqueness", unique / n, text, before[2])


def _with_originals(before: pd.DataFrame, after: pd.DataFrame, names: Sequence[Hashable]) -> Iterator[Figure]:
    columns = pair_columns(before, after, names, matched=True)
    attributes = risk.Known.of(before, after, infer_attributes(before, names))
    linkage = attributes.linkage(sample=looked_up(len(before)))
    facts = "values of all quasi-identifiers and picks a released record nearest to them"
    yield _link_risk("record_linkage", linkage, attributes.n, facts, ", if those of both files have the same order")
    yield from _linkage_by_one(attributes, linkage)
    columns = [column for column in columns if column.numeric and column.before.std() > 0.0]
    if columns:
        X, released = (np.column_stack([getattr(c, side) for c in columns]) for side in ("before", "after"))
        intervals = risk.interval_disclosure(X, released, WIDTH, by="sd")
        yield _interval_disclosure(intervals, [column.name for column in columns], len(names))
