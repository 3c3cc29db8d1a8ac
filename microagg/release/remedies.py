"""Remedies for a high information loss: each is tried on a sample of the file."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from microagg.columns.recodes import Suggestion, category_recodings, extreme_recodings, interval_recodings
from microagg.columns.records import is_number
from microagg.columns.schema import column_names
from microagg.columns.taxonomy import category, category_counts
from microagg.errors import ConstantColumnWarning, ParameterError
from microagg.progress import checkpoint
from microagg.release import column_counts
from microagg.release import recipe as recipes
from microagg.release.choices import options_by_column
from microagg.release.plan import Plan
from microagg.release.prepare import prepare
from microagg.release.release import Release
from microagg.release.source import Source, value_codes
from microagg.tables.frames import as_pandas
from microagg.validation import FloatArray, check_enough_records, check_k, counted, is_whole, plain

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame

#: Size of the sample: enough for losses that differ by a few percent, few enough for about one second.
SAMPLE = 2000


@dataclass(frozen=True)
class Change:
    """A quasi-identifier that is left out of the release, or coarser by a ``recoding``. ``words`` describe it."""

    column: Hashable
    recoding: Mapping[str, str | None] = field(default_factory=dict, hash=False)
    words: str = field(default="", compare=False)

    def applied(self, choices: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments of :func:`microagg.microaggregate` after this change of ``choices``.

        ``choices`` must name the quasi-identifiers, and contain no recoding.
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
    """A change that was tried, and the losses with and without it in percent."""

    effect: str  # the losses in words
    change: Change | None  # None for the choices as they are
    # The mean loss of the quasi-identifiers that the change does not concern; of all if it concerns the only one.
    loss: float
    unchanged: float  # the loss of the same quasi-identifiers without the change
    total: float  # the loss in the report of the changed release
    scope: str  # the size of the sample; empty if all records are used

    @property
    def sentence(self) -> str:
        """What was tried, its effect and the size of the sample."""
        tried = self.change.words if self.change else "as it is"
        return f"{tried} {self.effect}{', ' if self.scope else ''}{self.scope}"


def without_outliers(values: FloatArray) -> Suggestion | None:
    """Recoding that makes the outliers of the finding "outliers" missing.

    Parameters
    ----------
    values : array of shape (n,)
        Finite numbers.

    Returns
    -------
    Suggestion or None
        None if there are no outliers.
    """
    outliers = column_counts.outliers(pd.Series(values))
    low, high = category(outliers.low), category(outliers.high)
    ends = {f"<{low}": f"below {low}"} if values.min() < outliers.low else {}
    ends |= {f">{high}": f"above {high}"} if values.max() > outliers.high else {}
    effect = counted(outliers.records, "record")
    return Suggestion(" or ".join(ends.values()), effect, dict.fromkeys(ends)) if ends else None


def try_remedies(frame: IntoDataFrame, *, k: int, sample: int = SAMPLE, **choices: Any) -> Iterator[Remedy]:
    """Measure the loss with the choices as they are, then without each quasi-identifier, then with coarser ones.

    Codes, texts of equally many letters and digits such as postal codes, are cut to fewer characters; other categories
    of fewer than k records become one; of numbers, the k lowest and highest become one if ranges are released, and
    intervals are tried if there are categories. Categories with a taxonomy or an order are not changed. All runs use
    the same records, and form their groups anew, also those of ``labels``; losses of a sample are larger than those of
    the file.

    Parameters
    ----------
    frame : DataFrame of pandas or polars, or pyarrow.Table
        The file.
    k : int
        The minimum group size.
    sample : int
        The maximum number of records, drawn at random, always the same for a file; strata of fewer than k sampled
        records are left out.
    **choices
        Further arguments of :func:`microagg.microaggregate`. Recodings are applied first: changes concern the new
        values.

    Raises
    ------
    ParameterError
        As :func:`microagg.microaggregate`; or if ``sample`` is not a whole number of at least k.
    DataError
        As :func:`microagg.microaggregate`; or if fewer than k sampled records are left.
    Cancelled
        If the run is watched, see :mod:`microagg.progress`, and cancelled.
    """
    k = check_k(k)
    if not is_whole(sample) or sample < k:
        raise ParameterError(f"sample must be a whole number of at least k={k}, not {sample!r}.")
    prepared = prepare(as_pandas(frame), Plan.checked(k=k, **choices))
    # All kinds of columns are named, as a sample may not show them. Values are recoded already.
    options = recipes.choices(recipes.chosen(prepared)) | {"recode": None, "labels": None}
    source, names = prepared.source, options["quasi_identifiers"]
    part, n = _sampled(source, k, int(sample)), len(source.table)
    scope = f"tried on {len(part):,} of {counted(n, 'record')}" if len(part) < n else ""
    before = _run(part, options, "as it is", 0.0).report.measured
    loss_now = before.information_loss
    yield Remedy(f"{loss_now:.3g} %", None, loss_now, loss_now, loss_now, scope)
    changes = list(_changes(source, options))
    for i, change in enumerate(changes, start=1):
        after = _run(part, change.applied(options), change.words, i / (len(changes) + 1)).report.measured
        if others := [name for name in names if name != change.column]:
            loss, unchanged = (sum(lost.attributes[name] for name in others) / len(others) for lost in (after, before))
            effect = f"{loss:.3g} % instead of {unchanged:.3g} % on the other quasi-identifiers"
        else:
            loss, unchanged = after.information_loss, loss_now
            effect = f"{loss:.3g} % of what is left of it"
        yield Remedy(effect, change, loss, unchanged, after.information_loss, scope)


def _run(frame: pd.DataFrame, options: Mapping[str, Any], description: str, share: float) -> Release:
    checkpoint(f"Trying the release {description}", share)
    with warnings.catch_warnings():
        # The sample, or the first characters, may hold one value only where the file does not.
        warnings.simplefilter("ignore", ConstantColumnWarning)
        return Plan.checked(**options).run(frame)


def _sampled(source: Source, k: int, sample: int) -> pd.DataFrame:
    """Sampled records that will be released, in the order of the file; all records of a small file."""
    frame, strata = source.table, source.schema.strata
    if len(frame) <= sample:
        return frame
    rows = source.rows()
    rows = rows[np.sort(np.random.default_rng(0).permutation(len(rows))[:sample])]
    if strata:
        codes = value_codes(frame.iloc[rows], strata)
        rows = rows[np.bincount(codes)[codes] >= k]
    check_enough_records(len(rows), k, "the sample to try remedies on (its strata of fewer records left out)")
    return frame.iloc[rows]


def _changes(source: Source, options: Mapping[str, Any]) -> Iterator[Change]:
    names, schema = options["quasi_identifiers"], source.declared
    if len(names) > 1:
        yield from (Change(name, words=f"without {plain(name)!r}") for name in names)
    read = schema.read(source.table)
    for attribute in schema.attributes:
        series, name = read[attribute.name].dropna(), attribute.name
        suggestions: list[Suggestion] = []
        if attribute.taxonomy is not None and attribute.taxonomy.is_flat:
            suggestions = category_recodings(category_counts(series), options["k"])
        elif attribute.kind == "numeric" and not attribute.unit and is_number(series.dtype):
            values = series.to_numpy(dtype=float)
            suggestions = extreme_recodings(values, options["k"]) if options["statistic"] == "generalize" else []
            suggestions += [] if schema.is_numeric else interval_recodings(values)[:1]
        for words, _, recoding in suggestions:
            yield Change(name, recoding, f"with {plain(name)!r} by {words}")
