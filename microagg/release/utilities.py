"""The utility of a release, in figures and sentences: what analysts of it get right, and what they find changed."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from microagg.errors import DataError
from microagg.metrics import utility
from microagg.metrics.utility import Moments
from microagg.optimum.formatting import percent, share
from microagg.progress import checkpoint
from microagg.release.assessment import Figure, in_quotes
from microagg.release.before_after import Beside

# What a figure of prediction says of the two models.
_SCORES = {"R²": "of the variance is explained", "accuracy": "of the records are predicted rightly"}


def utilities(beside: Beside, target: Hashable | None, notes: list[str]) -> Iterator[Figure]:
    """Yield what is lost by a release, what matters most first; what cannot be measured goes to ``notes``."""
    measures, report = utility.MEASURES, beside.report
    if (common := report.generalization) is not None:
        floor = _no_less(report.k, common.lower_bound)
        name, most = max(common.attributes.items(), key=lambda own: own[1])
        yield Figure(
            "utility",
            measures["total_information_loss"],
            common.information_loss,
            f"The groups span {percent(common.information_loss)} of what records could differ by (Total-IL){floor}. "
            f"Most is lost on {in_quotes(name)}: {percent(most)}.",
        )
    if report.loss is not None:
        floor = _no_less(report.k, report.loss.lower_bound)
        what = "quasi-identifiers" if common is None else "numeric quasi-identifiers"
        most_is = "Most is" if common is None else "Of their variance most is"
        name, most = max(report.loss.attributes.items(), key=lambda own: own[1])
        yield Figure(
            "utility",
            measures["information_loss"],
            report.loss.information_loss,
            f"The release loses {percent(report.loss.information_loss)} of the variance of the {what} "
            f"(IL){floor}. {most_is} lost on {in_quotes(name)}: {percent(most)}.",
        )
    if beside.numbers:
        yield from _numbers(beside)
    yield from _distributions(beside)
    checkpoint("Telling released records from originals", 0.8)
    try:
        found = utility.propensity(*beside.frames)
        sample = f", of {found.n:,} records" if found.n < beside.n else ""
        yield Figure(
            "utility",
            measures["pmse"],
            found.pmse,
            f"A model that is to tell released records from originals{sample} has a propensity-score error of "
            f"{found.pmse:.2g}, {share(found.share)} of the largest possible: with 0 it cannot tell them at all.",
            n=found.n if found.n < beside.n else None,
        )
    except DataError as error:
        notes.append(f"No model told released records from originals: {error}")
    if target is not None:
        yield from _prediction(beside, target, notes)


def _no_less(k: int, least: float | None) -> str:
    """Return what no release in groups of at least ``k`` loses less than, in percent; empty where that is not known."""
    return "" if least is None else f"; no release in groups of at least {k:,} loses less than {percent(least)}"


def attributes(beside: Beside) -> pd.DataFrame:
    """Return :attr:`microagg.release.assessment.Assessment.attributes`."""
    lost = beside.report.lost
    table = pd.DataFrame(
        {"attribute": list(lost), "lost": list(lost.values())}, index=pd.Index(list(lost), tupleize_cols=False)
    ).astype({"attribute": object})
    if beside.numbers:
        names = list(beside.names)
        moments = beside.moments
        correlated = moments.correlations.attributes
        figures = {
            "il1s": beside.deviations.attributes,
            "mean_change": moments.means,
            "sd_ratio": np.sqrt(moments.variances),
            "quantile_change": np.abs(moments.quantiles).max(axis=1),
            "correlation_change": np.where(correlated >= 0.0, correlated, np.nan),
            "interval_disclosure": beside.intervals.attributes,
        }
        for figure, values in figures.items():
            table.loc[names, figure] = values
    for figure, found in beside.distances.items():
        table.loc[list(found.names), figure] = found.attributes
    return table.sort_values("lost", ascending=False, kind="stable", ignore_index=True)


def _numbers(beside: Beside) -> Iterator[Figure]:
    measures = utility.MEASURES
    checkpoint("Comparing means, variances and correlations", 0.6)
    deviations = beside.deviations
    yield Figure(
        "utility",
        measures["il1s"],
        deviations.value,
        f"A released number is on average {np.sqrt(2.0) * deviations.value:.2g} standard deviations from the original "
        f"(IL1s {deviations.value:.3g}), most of {_worst(beside, deviations.attributes)}.",
    )
    found = beside.moments
    shifted = np.abs(found.means)
    yield Figure(
        "utility",
        measures["mean_change"],
        found.mean_change,
        "All means are kept."
        if found.mean_change < 1e-9
        else f"The mean that changes most is that of {_worst(beside, shifted)}, by {shifted.max():.2g} standard "
        "deviations.",
    )
    ratios = np.nan_to_num(found.variances, nan=1.0)
    worst = int(np.abs(ratios - 1.0).argmax())
    way = "shrinks" if ratios[worst] < 1.0 else "grows"
    yield Figure(
        "utility",
        measures["variance_change"],
        found.variance_change,
        f"The variance that changes most is that of {in_quotes(beside.names[worst])}: it {way} by "
        f"{share(float(abs(ratios[worst] - 1.0)))}.",
    )
    yield _quantiles(beside, found)
    if found.correlations.largest is not None and found.correlations.pair is not None:
        one, other = (in_quotes(beside.names[j]) for j in found.correlations.pair)
        yield Figure(
            "utility",
            measures["correlation_change"],
            found.correlations.largest,
            f"The correlation that changes most is that of {one} and {other}, by {found.correlations.largest:.2g}.",
        )
    if found.eigenvalue_change is not None:
        yield Figure(
            "utility",
            measures["eigenvalue_change"],
            found.eigenvalue_change,
            "The variances of the principal components change by "
            f"{share(found.eigenvalue_change)} of what they were, on average.",
        )


def _quantiles(beside: Beside, found: Moments) -> Figure:
    changes = np.abs(found.quantiles)
    worst, level = np.unravel_index(int(changes.argmax()), changes.shape)
    return Figure(
        "utility",
        utility.MEASURES["quantile_change"],
        found.quantile_change,
        f"The quantile that changes most is that below which {share(utility.LEVELS[int(level)])} of the records have "
        f"their {in_quotes(beside.names[int(worst)])}: by {found.quantile_change:.2g} standard deviations.",
    )


def _distributions(beside: Beside) -> Iterator[Figure]:
    checkpoint("Comparing distributions", 0.7)
    for key, found in beside.distances.items():
        worst = int(found.attributes.argmax())
        distance = "Hellinger distance" if key == "hellinger" else "Wasserstein distance"
        yield Figure(
            "utility",
            utility.MEASURES[key],
            found.value,
            f"The {distance} of an attribute's distribution from the original one is {found.value:.2g} on average and "
            f"largest for {in_quotes(found.names[worst])}: {found.attributes[worst]:.2g}.",
        )


def _prediction(beside: Beside, target: Hashable, notes: list[str]) -> Iterator[Figure]:
    checkpoint(f"Predicting {target}", 0.9)
    features = [name for name in beside.schema.quasi_identifiers if name != target]
    found = utility.prediction(beside.before, beside.after, target, features)
    scored = _SCORES[found.metric]
    if found.kept is None:
        notes.append(
            f"From the quasi-identifiers {in_quotes(target)} is not predicted better than by always saying the same, "
            "not even by a model that has learned from the originals: no prediction was there to be kept."
        )
        return
    looked_at = found.n_train + found.n_test
    yield Figure(
        "utility",
        utility.MEASURES["prediction"],
        found.kept,
        f"Of originals that neither has seen, {share(found.released)} {scored} by a model that has learned "
        f"{in_quotes(target)} from the release, {share(found.original)} by one that has learned from the originals, "
        f"and {share(found.baseline)} by always saying the same.",
        attribute=target,
        n=looked_at if looked_at < beside.n else None,
    )


def _worst(beside: Beside, figures: Any) -> str:
    return in_quotes(beside.names[int(np.argmax(figures))])
