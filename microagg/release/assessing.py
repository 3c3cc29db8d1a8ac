"""A release measured beside its originals: who can be found in it, and what analysts of it find changed."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from microagg.errors import DataError, ParameterError
from microagg.metrics import utility
from microagg.optimum.formatting import percent, share
from microagg.progress import checkpoint
from microagg.release.before_after import BeforeAfter
from microagg.release.prepare import Prepared
from microagg.release.released import Assessment, Figure, Released, in_quotes
from microagg.release.risks import MOST_COLUMNS, outliers, risks
from microagg.validation import is_real, quoted

# What a figure of prediction says of the two models.
_SCORES = {"R²": "of the variance is explained", "accuracy": "of the records are predicted rightly"}


def assess(
    release: Released, prepared: Prepared, *, target: Hashable | None = None, sampling_fraction: float | None = None
) -> Assessment:
    """Return risk and utility of ``release``, made from what was ``prepared``; see :meth:`microagg.Release.assess`."""
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
        notes.append(f"Of {len(confidential):,} confidential columns the first {MOST_COLUMNS} were looked into.")
    figures = (*risks(both, sampling_fraction), *_utility(both, target, notes))
    checkpoint("Comparing attribute by attribute", 0.9)
    listed, without = outliers(both)
    return Assessment(figures, _attributes(both), listed, without, both.n, tuple(notes))


def _figure(key: str, after: float, sentence: str, attribute: Hashable | None = None, n: int | None = None) -> Figure:
    return Figure("utility", utility.MEASURES[key], after, sentence, attribute=attribute, n=n)


def _utility(both: BeforeAfter, target: Hashable | None, notes: list[str]) -> Iterator[Figure]:
    """Yield what is lost by a release, what matters most first; what cannot be measured goes to ``notes``."""
    report = both.report
    if (common := report.generalization) is not None:
        name, most = max(common.attributes.items(), key=lambda item: item[1])
        yield _figure(
            "total_information_loss",
            common.information_loss,
            f"The groups span {percent(common.information_loss)} of what records could differ by (Total-IL)"
            f"{_no_less(report.k, common.lower_bound)}. Most is lost on {in_quotes(name)}: {percent(most)}.",
        )
    if (lost := report.loss) is not None:
        what = "quasi-identifiers" if common is None else "numeric quasi-identifiers"
        most_is = "Most is" if common is None else "Of their variance most is"
        name, most = max(lost.attributes.items(), key=lambda item: item[1])
        yield _figure(
            "information_loss",
            lost.information_loss,
            f"The release loses {percent(lost.information_loss)} of the variance of the {what} "
            f"(IL){_no_less(report.k, lost.lower_bound)}. {most_is} lost on {in_quotes(name)}: {percent(most)}.",
        )
    if both.numbers:
        yield from _numbers(both)
    yield from _distributions(both)
    checkpoint("Telling released records from originals", 0.8)
    try:
        propensity = utility.propensity(*both.frames)
        some = propensity.n if propensity.n < both.n else None
        yield _figure(
            "pmse",
            propensity.pmse,
            f"A model that tells released records from originals{'' if some is None else f', of {some:,} records,'} "
            f"has a propensity-score error of {propensity.pmse:.2g}, {share(propensity.share)} of the largest possible "
            "(0: indistinguishable).",
            n=some,
        )
    except DataError as error:
        notes.append(f"No model told released records from originals: {error}")
    if target is not None:
        yield from _prediction(both, target, notes)


def _no_less(k: int, least: float | None) -> str:
    """Return what no release in groups of at least ``k`` loses less than, in percent; empty where that is not known."""
    return "" if least is None else f"; no release in groups of at least {k:,} loses less than {percent(least)}"


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


def _numbers(both: BeforeAfter) -> Iterator[Figure]:
    checkpoint("Comparing means, variances and correlations", 0.6)
    deviations, moments = both.deviations, both.moments

    def named(figures: Any) -> str:
        return in_quotes(both.names[int(np.argmax(figures))])

    yield _figure(
        "il1s",
        deviations.value,
        f"A released number is on average {np.sqrt(2.0) * deviations.value:.2g} standard deviations from the original "
        f"(IL1s {deviations.value:.3g}), most of {named(deviations.attributes)}.",
    )
    shifted = np.abs(moments.means)
    yield _figure(
        "mean_change",
        moments.mean_change,
        "All means are kept."
        if moments.mean_change < 1e-9
        else f"The mean that changes most is that of {named(shifted)}, by {shifted.max():.2g} standard deviations.",
    )
    changed = np.nan_to_num(moments.variances, nan=1.0) - 1.0
    largest = changed[np.abs(changed).argmax()]
    yield _figure(
        "variance_change",
        moments.variance_change,
        f"The variance that changes most is that of {named(np.abs(changed))}: it "
        f"{'shrinks' if largest < 0.0 else 'grows'} by {share(float(abs(largest)))}.",
    )
    changes = np.abs(moments.quantiles)
    worst, level = np.unravel_index(int(changes.argmax()), changes.shape)
    yield _figure(
        "quantile_change",
        moments.quantile_change,
        f"The quantile that changes most is that below which {share(utility.LEVELS[int(level)])} of the records have "
        f"their {in_quotes(both.names[int(worst)])}: by {moments.quantile_change:.2g} standard deviations.",
    )
    if moments.correlations.largest is not None and moments.correlations.pair is not None:
        one, other = (in_quotes(both.names[j]) for j in moments.correlations.pair)
        yield _figure(
            "correlation_change",
            moments.correlations.largest,
            f"The correlation that changes most is that of {one} and {other}, by {moments.correlations.largest:.2g}.",
        )
    if moments.eigenvalue_change is not None:
        yield _figure(
            "eigenvalue_change",
            moments.eigenvalue_change,
            "The variances of the principal components change on average by "
            f"{share(moments.eigenvalue_change)} of what they were.",
        )


def _distributions(both: BeforeAfter) -> Iterator[Figure]:
    checkpoint("Comparing distributions", 0.7)
    for key, distances in both.distances.items():
        worst = int(distances.attributes.argmax())
        yield _figure(
            key,
            distances.value,
            f"The {key.capitalize()} distance of an attribute's distribution from the original one is "
            f"{distances.value:.2g} on average and largest for {in_quotes(distances.names[worst])}: "
            f"{distances.attributes[worst]:.2g}.",
        )


def _prediction(both: BeforeAfter, target: Hashable, notes: list[str]) -> Iterator[Figure]:
    checkpoint(f"Predicting {target}", 0.9)
    features = [name for name in both.schema.quasi_identifiers if name != target]
    prediction = utility.prediction(both.before, both.after, target, features)
    scored = _SCORES[prediction.metric]
    if prediction.kept is None:
        notes.append(
            f"From the quasi-identifiers {in_quotes(target)} is not predicted better than by always saying the same, "
            "not even by a model that has learned from the originals: no prediction was there to be kept."
        )
        return
    looked_at = prediction.n_train + prediction.n_test
    yield _figure(
        "prediction",
        prediction.kept,
        f"Of originals that neither has seen, {share(prediction.released)} {scored} by a model that has learned "
        f"{in_quotes(target)} from the release, {share(prediction.original)} by one that has learned from the "
        f"originals, and {share(prediction.baseline)} by always saying the same.",
        target,
        looked_at if looked_at < both.n else None,
    )
