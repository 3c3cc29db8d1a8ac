"""Remedies for a high information loss: each is tried on a sample of the file."""

from __future__ import annotations

import math
import warnings
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from microagg.columns.recodes import Suggestion, check_recodes, of_categories, of_extremes, of_intervals, recoded
from microagg.columns.records import is_number
from microagg.columns.schema import Schema, column_names
from microagg.columns.taxonomy import category, category_counts
from microagg.errors import ConstantColumnWarning, ParameterError
from microagg.progress import checkpoint
from microagg.release import column_counts
from microagg.release.choices import options_by_column
from microagg.release.findings import OUTLIERS, SPREAD, Finding
from microagg.release.plan import Plan
from microagg.release.release import Release
from microagg.release.report.report import Report
from microagg.release.source import value_codes
from microagg.tables.frames import as_pandas
from microagg.validation import (
    FloatArray,
    IntArray,
    check_columns,
    check_enough_records,
    check_k,
    counted,
    is_real,
    is_whole,
    plain,
    quoted,
)

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame

#: How many records remedies are tried on: enough for losses that differ by some percent, few enough for a second or so.
SAMPLE = 2000


@dataclass(frozen=True)
class Change:
    """A quasi-identifier that is left out of the release, or coarser by a ``recoding``; ``words`` say which."""

    column: Hashable
    recoding: Mapping[str, str | None] = field(default_factory=dict, hash=False)
    words: str = field(default="", compare=False)

    def applied(self, choices: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of :func:`microagg.microaggregate` after this change of ``choices``.

        These must name the quasi-identifiers, and hold no recoding.
        """
        changed = dict(choices)
        if self.recoding:
            changed["recode"] = {self.column: self.recoding}
            trees = choices.get("taxonomies") or {}
            changed["taxonomies"] = {name: None if name == self.column else tree for name, tree in trees.items()}
            return changed
        changed["quasi_identifiers"] = [name for name in choices["quasi_identifiers"] if name != self.column]
        changed["identifiers"] = [*column_names("identifiers", choices.get("identifiers")), self.column]
        return changed | options_by_column(changed["quasi_identifiers"], choices)


class Remedy(NamedTuple):
    """A change that was tried, None for the choices as they are, and the losses with it and without it.

    ``loss`` is in percent, of the quasi-identifiers that the change leaves as they are: the mean of what each of them
    loses; of all of them for the choices as they are, and for a change of the only one. ``unchanged`` is the loss of
    the same quasi-identifiers without the change, ``total`` the loss that the report of the changed release has.
    """

    sentence: str
    change: Change | None
    loss: float
    unchanged: float
    total: float


def loss_finding(report: Report, limit: float) -> Finding:
    """Return a finding of code "loss": whether the release loses more than ``limit``, in percent, by its own measure.

    It warns where the loss is above the limit, and where outliers make it look smaller than it is for most records,
    whatever the limit. A limit that is no number of at least 0 is a :class:`ParameterError`.
    """
    if not is_real(limit) or not 0 <= limit < math.inf:
        raise ParameterError(f"limit must be a percentage of at least 0, not {limit!r}.")
    lost = report.measured
    stated = f"{report.measure} is {lost.information_loss:.4g} %"
    if lost.information_loss <= limit:
        within = f"{stated}, within the limit of {limit:g} %"
        if outlying := [name for finding in report.findings if finding.code == "outliers" for name in finding.columns]:
            text = f"{within}, but outliers of {quoted(outlying)} make it look smaller than it is for most records."
            return Finding("warn", "loss", tuple(outlying), text)
        return Finding("ok", "loss", (), f"{within}.")
    columns = (max(lost.attributes, key=lambda name: lost.attributes[name]),) if len(lost.attributes) > 1 else ()
    most = f" Most is lost on {plain(columns[0])!r}." if columns else ""
    unattainable = ""
    if lost.lower_bound is not None and lost.lower_bound > limit:
        unattainable = f" No partition with k = {report.k:,} can meet it: the lower bound is {lost.lower_bound:.4g} %."
    text = (
        f"{stated}, above the limit of {limit:g} %.{most}{unattainable} A smaller k loses less; with fewer "
        "quasi-identifiers, or coarser values of one, the others lose less."
    )
    return Finding("warn", "loss", columns, text)


def without_outliers(values: FloatArray) -> Suggestion | None:
    """Return the recoding that makes the outliers of the finding "outliers" missing, if there are any.

    ``values``, shape (n,), are finite numbers.
    """
    outliers = column_counts.outliers(pd.Series(values), OUTLIERS, SPREAD)
    low, high = category(outliers.low), category(outliers.high)
    ends = {f"<{low}": f"below {low}"} if values.min() < outliers.low else {}
    ends |= {f">{high}": f"above {high}"} if values.max() > outliers.high else {}
    effect = counted(outliers.records, "record")
    return Suggestion(" or ".join(ends.values()), effect, dict.fromkeys(ends)) if ends else None


def try_remedies(frame: IntoDataFrame, *, k: int, sample: int = SAMPLE, **choices: Any) -> Iterator[Remedy]:
    """Yield the loss with the choices as they are, then without each quasi-identifier, then with coarser ones.

    A quasi-identifier is left out of the release altogether. Coarser are categories side by side: codes, which are
    texts that all have the same number of letters and digits, at least one of them a digit, such as postal codes, with
    each smaller number of their first characters that makes fewer values of them, but more than one; or else those of
    fewer than k records made one. Of numbers the k lowest and highest are made one where ranges are released, and,
    where there are categories, intervals are tried. Categories with a taxonomy or an order of their own are left as
    they are.

    All is tried on the same records, at most ``sample`` of them, drawn at random, but always the same for a file; with
    strata, those of fewer than k sampled records are not tried. On a larger file losses are smaller. Each change is
    compared with the choices as they are on the quasi-identifiers that it leaves as they are, see :class:`Remedy`: the
    loss of all that are left may be higher after leaving out one that loses little, though each loses less. The measure
    is that of :attr:`microagg.release.report.report.Report.measure`. Each run can be cancelled: see
    :mod:`microagg.progress`.

    ``choices`` are further arguments of :func:`microagg.microaggregate`, and errors are as there; also if ``sample`` is
    not a whole number of at least k, or the sample has too few records in each stratum. What they recode is recoded
    before: changes are of the new values.
    """
    k = check_k(k)
    if not is_whole(sample) or sample < k:
        raise ParameterError(f"sample must be a whole number of at least k={k}, not {sample!r}.")
    frame, choices = recoded(as_pandas(frame), check_recodes(choices.pop("recode", None)), choices)
    if numbers := choices.get("numbers"):
        # How they are written, which a sample of the file may not show.
        choices["numbers"] = _schema(frame, column_names("numbers", numbers), choices).numbers
    part = _sampled(frame, k, int(sample), choices)
    on = f", tried on {len(part):,} of {counted(len(frame), 'record')}" if len(part) < len(frame) else ""
    release = _run(part, choices, k, "as it is", 0.0)
    before = release.report.measured
    now = before.information_loss
    yield Remedy(f"as it is {now:.3g} %{on}", None, now, now, now)
    names = release.recipe["quasi_identifiers"]
    named_choices = {**choices, "quasi_identifiers": names}
    changes = list(_changes(frame, k, named_choices))
    for i, change in enumerate(changes, start=1):
        after = _run(part, change.applied(named_choices), k, change.words, i / (len(changes) + 1)).report.measured
        if others := [name for name in names if name != change.column]:
            loss, unchanged = (sum(lost.attributes[name] for name in others) / len(others) for lost in (after, before))
            words = f"{change.words} {loss:.3g} % instead of {unchanged:.3g} % on the other quasi-identifiers"
        else:
            loss, unchanged = after.information_loss, now
            words = f"{change.words} {loss:.3g} % of what is left of it"
        yield Remedy(f"{words}{on}", change, loss, unchanged, after.information_loss)


def _run(frame: pd.DataFrame, choices: Mapping[str, Any], k: int, what: str, share: float) -> Release:
    checkpoint(f"Trying the release {what}", share)
    with warnings.catch_warnings():
        # The sample, or the first characters, may hold one value only where the file does not.
        warnings.simplefilter("ignore", ConstantColumnWarning)
        return Plan.checked(k=k, **choices).run(frame)


def _schema(frame: pd.DataFrame, names: Sequence[Hashable], choices: Mapping[str, Any]) -> Schema:
    options = options_by_column(names, choices)
    options.pop("missing", None)
    return Schema.infer(frame, names, **options)


def _sampled(frame: pd.DataFrame, k: int, sample: int, choices: Mapping[str, Any]) -> pd.DataFrame:
    """Return the records to try on, in the order of the file."""
    if len(frame) <= sample:
        return frame
    usable = _complete(frame, choices)
    chosen = usable[np.sort(np.random.default_rng(0).permutation(len(usable))[:sample])]
    strata = column_names("by", choices.get("by"))
    check_columns(frame, strata)
    if strata:
        codes = value_codes(frame.iloc[chosen], strata)
        chosen = chosen[np.bincount(codes)[codes] >= k]
    check_enough_records(len(chosen), k, "the sample to try remedies on (its strata of fewer records left out)")
    return frame.iloc[chosen]


def _complete(frame: pd.DataFrame, choices: Mapping[str, Any]) -> IntArray:
    """Return the positions of the records that a release will have."""
    named = column_names("quasi_identifiers", choices.get("quasi_identifiers"))
    check_columns(frame, named)
    missing = choices.get("missing", "error")
    left_out = [name for name in named if (missing.get(name) if isinstance(missing, Mapping) else missing) == "drop"]
    if not left_out:
        return np.arange(len(frame))
    read = _schema(frame, named, choices).read(frame)
    return np.flatnonzero(read[left_out].notna().all(axis=1).to_numpy())


def _changes(frame: pd.DataFrame, k: int, choices: Mapping[str, Any]) -> Iterator[Change]:
    names = choices["quasi_identifiers"]
    if len(names) > 1:
        yield from (Change(name, words=f"without {plain(name)!r}") for name in names)
    schema = _schema(frame, names, choices)
    read = schema.read(frame)
    for attribute in schema.attributes:
        series, name = read[attribute.name].dropna(), attribute.name
        suggestions: list[Suggestion] = []
        if attribute.taxonomy is not None and attribute.taxonomy.is_flat:
            suggestions = of_categories(category_counts(series), k)
        elif attribute.kind == "numeric" and not attribute.unit and is_number(series.dtype):
            values = series.to_numpy(dtype=float)
            suggestions = of_extremes(values, k) if choices.get("statistic") == "generalize" else []
            suggestions += [] if schema.is_numeric else of_intervals(values)[:1]
        for words, _, recoding in suggestions:
            yield Change(name, recoding, f"with {plain(name)!r} by {words}")
