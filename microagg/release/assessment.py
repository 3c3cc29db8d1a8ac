"""The disclosure risk and the utility of a release, in figures and sentences."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pandas as pd

from microagg.columns.recodes import meanings_of
from microagg.columns.schema import Schema
from microagg.errors import DataError
from microagg.metrics import risk, utility
from microagg.metrics.risk.disclosure import encode_values, measure_codes
from microagg.metrics.risk.equivalence_classes import max_reidentification, numbered
from microagg.metrics.risk.measures import Measure
from microagg.metrics.utility.columns import (
    Column,
    CorrelationChanges,
    correlation_changes,
    means_and_deviations,
    pair_column,
)
from microagg.optimum.formatting import in_unit, number, share
from microagg.partition import canonical_labels
from microagg.progress import checkpoint
from microagg.release.prepare import Prepared
from microagg.release.report.report import Report
from microagg.validation import FloatArray, IntArray, counted, plain, quoted

#: The maximum number of confidential columns with figures.
MOST_COLUMNS = 50

#: The maximum number of compared quasi-identifiers: the ones with the highest loss.
MOST_COMPARED = 300

#: The maximum number of records that are looked up among all released ones, drawn at random.
LOOKED_UP = 20_000

#: How far the interval of interval disclosure reaches on each side, in standard deviations of the original.
WIDTH = 0.05


@dataclass(frozen=True)
class Figure:
    """One measure of a release.

    Attributes
    ----------
    part : {"risk", "utility"}
    measure : Measure
        What it is, and which direction is good.
    after, before : float
        Its value for the release, in the unit of ``measure``, and for the originals, were they released as they are;
        None where that is of no interest.
    sentence : str
        The figure in words.
    attribute : hashable, optional
        The column that it concerns.
    n : int, optional
        The number of records that were used, where not all were.
    """

    part: Literal["risk", "utility"]
    measure: Measure
    after: float
    sentence: str
    before: float | None = None
    attribute: Hashable | None = None
    n: int | None = None


@dataclass(frozen=True, eq=False)
class Assessment:
    """The disclosure risk and the utility of a release (see :meth:`microagg.Release.assess`).

    Attributes
    ----------
    figures : tuple of Figure
        Those that matter most first, risks before utility.
    attributes : DataFrame
        A row for each quasi-identifier, highest loss first: ``attribute``, ``lost`` (percent), and for numbers
        that are released as numbers or ranges ``sd_ratio``, ``correlation_change`` and ``interval_disclosure``, for all
        ``hellinger``; NaN where a measure does not apply. For the steward's eyes where
        :attr:`microagg.release.Report.dominated` names an attribute.
    n_records : int
    notes : tuple of str
        What could not be measured, and why; sentences.
    """

    figures: tuple[Figure, ...]
    attributes: pd.DataFrame
    n_records: int
    notes: tuple[str, ...] = ()

    def of(self, key: str) -> tuple[Figure, ...]:
        """Figures of the measure ``key``: one for each column that it concerns. Empty if it was not measured."""
        return tuple(figure for figure in self.figures if figure.measure.key == key)

    def part(self, part: str) -> tuple[Figure, ...]:
        """Figures of ``part``, "risk" or "utility"."""
        return tuple(figure for figure in self.figures if figure.part == part)

    def to_dict(self) -> dict[str, Any]:
        """All figures and the table of attributes, for JSON. None if a value does not apply."""
        figures = [
            {
                "part": figure.part,
                "measure": figure.measure.key,
                "title": figure.measure.title,
                "attribute": "" if figure.attribute is None else figure.attribute,
                "before": figure.before,
                "after": figure.after,
                "unit": figure.measure.unit,
                "better": figure.measure.better,
                "n": self.n_records if figure.n is None else figure.n,
                "sentence": figure.sentence,
                "source": figure.measure.source,
            }
            for figure in self.figures
        ]
        attributes = self.attributes.astype(object).where(self.attributes.notna(), None).to_dict("records")
        return plain(
            {"n_records": self.n_records, "figures": figures, "attributes": attributes, "notes": list(self.notes)}
        )

    def summary(self) -> str:
        """Sentences of the figures, one per line."""
        return "\n".join(figure.sentence for figure in self.figures)


@dataclass(frozen=True, eq=False)
class _Comparison:
    """A release and its originals. Properties are computed once, when they are first needed."""

    before: pd.DataFrame  # missing values filled, shape (n, columns)
    after: pd.DataFrame  # without the identifiers, in the same order
    schema: Schema
    report: Report
    # The quasi-identifiers for record linkage, highest loss first, at most MOST_COMPARED.
    linked_by: Sequence[Hashable]
    columns: Sequence[Column]  # the comparable ones of them; a released range of numbers counts as its middle
    weights: FloatArray | None  # shape (n,)
    secrets: Mapping[Hashable, pd.Series[Any]]  # the released confidential columns, or their meanings

    @property
    def n(self) -> int:
        """The number of records."""
        return len(self.after)

    @cached_property
    def numbers(self) -> list[Column]:
        """The numeric ``columns`` that vary in the originals, by more than numbers whose squares are 0."""
        varying = (column for column in self.columns if column.numeric and column.before.min() < column.before.max())
        return [column for column in varying if column.before.std() > 0.0]

    @cached_property
    def pair(self) -> tuple[FloatArray, FloatArray]:
        """The numbers before and after, each of shape (n, d), in their own units."""
        before, after = ([getattr(column, side) for column in self.numbers] for side in ("before", "after"))
        return np.column_stack(before), np.column_stack(after)

    @cached_property
    def correlations(self) -> CorrelationChanges:
        """Changes of the correlations of the numbers."""
        return correlation_changes(*self.pair, self.weights)

    @cached_property
    def distances(self) -> utility.Distances:
        """Hellinger distances of the distributions from the original ones."""
        return utility.hellinger(*self.frames)

    @property
    def frames(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """The columns compared, before and after."""
        names = [column.name for column in self.columns]
        return self.before[names], self.after[names]

    @cached_property
    def attributes(self) -> pd.DataFrame:
        """The table of attributes: see :attr:`Assessment.attributes`."""
        checkpoint("Comparing attribute by attribute", 0.35)
        lost = self.report.lost
        table = pd.DataFrame(
            {"attribute": list(lost), "lost": list(lost.values())}, index=pd.Index(list(lost), tupleize_cols=False)
        ).astype({"attribute": object})
        if self.numbers:
            names = [column.name for column in self.numbers]
            sd, sd_after = (means_and_deviations(X, self.weights)[1] for X in self.pair)
            table.loc[names, "sd_ratio"] = sd_after / sd
            table.loc[names, "correlation_change"] = self.correlations.attributes
            table.loc[names, "interval_disclosure"] = risk.interval_disclosure(*self.pair, WIDTH)
        if self.columns:
            table.loc[list(self.distances.names), "hellinger"] = self.distances.attributes
        return table.sort_values("lost", ascending=False, kind="stable", ignore_index=True)

    def largest(self, values: pd.Series[Any]) -> tuple[str, float]:
        """The quoted name and the figure of the attribute with the largest of ``values``, a row for each attribute."""
        row = int(values.argmax())
        return quoted([self.attributes["attribute"][row]]), float(values[row])


def assess(prepared: Prepared, released: pd.DataFrame, report: Report) -> Assessment:
    """Measure the risk and utility of ``released``, made from ``prepared`` (see :meth:`microagg.Release.assess`)."""
    source, order, schema = prepared.source, prepared.order, prepared.source.schema
    before, columns, notes = source.originals(order), [], []
    names = sorted(schema.quasi_identifiers, key=report.lost.__getitem__, reverse=True)
    linked_by = names[:MOST_COMPARED]
    if len(names) > MOST_COMPARED:
        notes.append(
            f"Of {len(names):,} quasi-identifiers the {MOST_COMPARED} with the highest loss were compared one by one, "
            "and records looked for by these."
        )
    for name in linked_by:
        try:
            columns.append(pair_column(before[name], released[name]))
        except DataError as error:
            notes.append(f"Not compared as numbers: {error}")
    if len(schema.confidential) > MOST_COLUMNS:
        notes.append(f"Of {len(schema.confidential):,} confidential columns the first {MOST_COLUMNS} were measured.")
    weights = source.weights if source.weights is None or order is None else source.weights[order]
    secrets = meanings_of(released, schema.confidential, prepared.choices.meanings)
    both = _Comparison(before, released, schema, report, linked_by, columns, weights, secrets)
    figures = (*_risks(both), *_utility(both, notes))
    return Assessment(figures, both.attributes, both.n, tuple(notes))


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


def _risks(both: _Comparison) -> Iterator[Figure]:
    """Yield the risk figures of a release, most important first."""
    schema = both.schema
    names = (*schema.quasi_identifiers, *schema.strata)
    checkpoint("Counting who is alone", 0.0)
    classes = numbered(both.before, names)
    yield from _classes(both, np.bincount(classes))
    if both.weights is not None and both.weights.min() >= 1.0:
        yield _individual_risk(both, names, both.weights)
    yield _linkage(both, numbered(both.before, (*both.linked_by, *schema.strata)))
    if both.numbers:
        yield _interval_disclosure(both)
    confidential = [name for name in schema.confidential[:MOST_COLUMNS] if name in both.after.columns]
    after = numbered(both.after, names) if confidential else classes
    for name in confidential:
        checkpoint(f"What classes say of {name}", 0.4)
        yield from _inferred(name, both.secrets[name], after, classes)


def _classes(both: _Comparison, before: IntArray) -> Iterator[Figure]:
    """Yield the re-identification risk and uniqueness of a release. ``before`` are the class sizes of the original."""
    risk, n = both.report.risk, both.n
    columns = "quasi-identifiers and strata" if both.schema.strata else "quasi-identifiers"
    in_original = max_reidentification(before.min())
    text = f"{risk.sentence} In the original file, it is up to {share(in_original)}."
    yield _figure("max_reidentification", risk.max_reidentification_probability, text, in_original)
    for gain in risk.predicted:
        name = gain.columns[0] if len(gain.columns) == 1 else None
        yield _figure("predicted_linkage", gain.share, str(gain), attribute=name, n=gain.n if gain.n < n else None)
    if (joint := both.report.joint) is not None:
        yield _figure("max_reidentification", joint.of_classes, both.report.of_releases)
    was_unique, unique = int(np.count_nonzero(before == 1)), n - both.report.risk.n_shared
    subject = f"{counted(unique, 'record')} {'is' if unique == 1 else 'are'}" if unique else "No record is"
    subject += f" unique in {'its' if unique <= 1 else 'their'} {columns}"
    text = f"{subject}; in the original file, {share(was_unique / n)} of the records are."
    yield _figure("uniqueness", unique / n, text, was_unique / n)


def _individual_risk(both: _Comparison, names: tuple[Hashable, ...], weights: FloatArray) -> Figure:
    old, new = (risk.individual_risk(frame, names, weights).share for frame in (both.before, both.after))
    text = (
        "If a weight is the number of persons that a record represents, an intruder who knows the true "
        f"quasi-identifiers of all of them finds a record with probability {share(new)} on average; in the original "
        f"file, {share(old)}."
    )
    return _figure("individual_risk", new, text, old)


def _linkage(both: _Comparison, classes: IntArray) -> Figure:
    checkpoint("Looking for the nearest released records", 0.1)
    schema, n = both.schema, both.n
    attributes = {attribute.name: attribute for attribute in schema.attributes}
    known, sample = [attributes[name] for name in both.linked_by], LOOKED_UP if n > LOOKED_UP else None
    linkage = risk.mixed_linkage(both.before, both.after, known, schema.strata, sample=sample)
    d, used = len(schema.quasi_identifiers), len(both.linked_by)
    names = "all quasi-identifiers" if d > 1 else quoted([schema.quasi_identifiers[0]])
    if used < d:
        names = f"the {used:,} quasi-identifiers with the highest loss"
    n_sampled = linkage.n if linkage.n < n else None
    sampled = "" if n_sampled is None else f", looked up for {n_sampled:,} of them"
    of_report = both.report.risk
    text = (
        f"An intruder who knows the true values of {names}{' and the strata' if schema.strata else ''} and picks a "
        f"released record nearest to them is right for {share(linkage.share)} of the records{sampled}; groups of "
        f"{of_report.realized_k:,} allow at most {share(of_report.of_classes)}."
    )
    # Were the originals released, each would be nearest to itself, and to those that equal it.
    return _figure("record_linkage", linkage.share, text, (int(classes.max()) + 1) / n, n=n_sampled)


def _interval_disclosure(both: _Comparison) -> Figure:
    checkpoint("Comparing released values with their originals", 0.35)
    shares, used, d = both.attributes["interval_disclosure"], len(both.numbers), len(both.schema.quasi_identifiers)
    worst, highest = both.largest(shares)
    middles = ", each range taken by its middle," if both.report.statistic == "generalize" else ""
    scope = "" if used == d else f", those of {used:,} of {d:,} quasi-identifiers{'' if middles else ','}"
    text = (
        f"{share(shares.mean())} of the released numbers{scope}{middles} are within {WIDTH:g} standard deviations of "
        f"the original, most of {worst}: {share(highest)}."
    )
    return _figure("interval_disclosure", float(shares.mean()), text, 1.0)


def _inferred(name: Hashable, values: pd.Series, classes: IntArray, before: IntArray) -> Iterator[Figure]:
    """Yield the knowledge of an intruder who identifies a class about a confidential attribute."""
    codes, ordered = encode_values(values, len(values), None)
    present = codes >= 0
    if not present.any() or int(codes.max()) == 0:
        return  # one value only is no secret
    codes, n, column = codes[present], int(np.count_nonzero(present)), quoted([name])
    shares = np.bincount(codes) / n
    old, new = (measure_codes(canonical_labels(of[present]), codes, shares, ordered) for of in (before, classes))
    n_certain = round(new.homogeneous * n)
    texts = {
        "homogeneous": f"Finding a person's class reveals {column} with certainty for "
        f"{n_certain:,} of {counted(n, 'record')}{'' if present.all() else ' with a value'} "
        f"({share(new.homogeneous)}); in the original file, for {share(old.homogeneous)}.",
        "t_closeness": f"In the class that differs most, the distance of {column} from all records is "
        f"{in_unit(new.t_closeness, 'number')} on a scale from 0 to 1 (t-closeness); in the original file, "
        f"{in_unit(old.t_closeness, 'number')}.",
        "alpha": f"One value of {column} has at most {share(new.alpha)} of a class (α), and each class has at least "
        f"{counted(new.distinct_l, 'distinct value')} (l), as diverse as {number(new.entropy_l)} that are equally "
        "frequent (entropy l).",
    }
    for key, sentence in texts.items():
        yield _figure(key, getattr(new, key), sentence, getattr(old, key), name)


def _utility(both: _Comparison, notes: list[str]) -> Iterator[Figure]:
    """Yield the utility figures of a release, most important first. Add failed measurements to ``notes``."""
    report = both.report
    losses = {"total_information_loss": report.generalization, "information_loss": report.loss}
    for key, loss in losses.items():
        if loss is not None:
            yield _figure(key, loss.information_loss, report.loss_sentence(loss))
    if both.numbers:
        yield from _number_changes(both)
    checkpoint("Comparing distributions", 0.7)
    if both.columns:
        mean, (worst, farthest) = both.distances.value, both.largest(both.attributes["hellinger"])
        text = (
            f"The Hellinger distance of an attribute's distribution from the original one is {mean:.3g} on average and "
            f"largest for {worst}: {farthest:.3g}."
        )
        yield _figure("hellinger", mean, text)
    checkpoint("Telling released records from originals", 0.8)
    try:
        propensity = utility.propensity(*both.frames)
    except DataError as error:
        notes.append(f"The propensity-score error pMSE was not computed: {error}")
    else:
        used = propensity.n if propensity.n < both.n else None
        text = (
            f"A model that distinguishes released records from originals{'' if used is None else f', of {used:,},'} "
            f"has a propensity-score error of {in_unit(propensity.pmse, 'number')}, {share(propensity.share)} of the "
            "largest possible (0: indistinguishable)."
        )
        yield _figure("pmse", propensity.pmse, text, n=used)


def _number_changes(both: _Comparison) -> Iterator[Figure]:
    """Yield the changes of variances and correlations of the numbers."""
    checkpoint("Comparing variances and correlations", 0.6)
    changed = np.square(both.attributes["sd_ratio"]) - 1.0
    name, largest = both.largest(changed.abs())
    verb = "shrinks" if changed[changed.abs().argmax()] < 0.0 else "grows"
    text = f"The variance that changes most is that of {name}: it {verb} by {share(largest)}."
    yield _figure("variance_change", largest, text)
    correlations = both.correlations
    if correlations.largest is not None and correlations.pair is not None:
        first, second = (quoted([both.numbers[j].name]) for j in correlations.pair)
        text = f"The correlation that changes most is that of {first} and {second}, by {correlations.largest:.3g}."
        yield _figure("correlation_change", correlations.largest, text)
