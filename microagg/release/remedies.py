"""Remedies for a high information loss: each is tried on a sample of the file."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from microagg.columns.recodes import (
    Suggestion,
    category_recodings,
    check_recodes,
    extreme_recodings,
    interval_recodings,
    recoded,
)
from microagg.columns.records import is_number
from microagg.columns.schema import Schema, column_names
from microagg.columns.taxonomy import category, category_counts
from microagg.errors import ConstantColumnWarning, ParameterError
from microagg.progress import checkpoint
from microagg.release import column_counts
from microagg.release.choices import options_by_column
from microagg.release.plan import Plan
from microagg.release.release import Release
from microagg.release.source import value_codes
from microagg.tables.frames import as_pandas
from microagg.validation import (
    FloatArray,
    IntArray,
    check_columns,
    check_enough_records,
    check_k,
    counted,
    is_whole,
    plain,
)

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
    """A change that was tried, None for the choices as they are, and the losses with and without it.

    ``loss`` is the mean loss, in percent, of the quasi-identifiers that the change does not concern; of all for the
    choices as they are, and for a change of the only one. ``unchanged`` is the loss of the same quasi-identifiers
    without the change, ``total`` the loss in the report of the changed release. ``effect`` states the losses, and
    ``scope`` the size of the sample; it is empty if all records are used.
    """

    effect: str
    change: Change | None
    loss: float
    unchanged: float
    total: float
    scope: str

    @property
    def sentence(self) -> str:
        """What was tried, its effect and the size of the sample."""
        tried = self.change.words if self.change else "as it is"
        return f"{tried} {self.effect}{', ' if self.scope else ''}{self.scope}"


def without_outliers(values: FloatArray) -> Suggestion | None:
    """The recoding that makes the outliers of the finding "outliers" missing. None if there are none.

    Parameters
    ----------
    values : array of shape (n,)
        Finite numbers.
    """
    outliers = column_counts.outliers(pd.Series(values))
    low, high = category(outliers.low), category(outliers.high)
    ends = {f"<{low}": f"below {low}"} if values.min() < outliers.low else {}
    ends |= {f">{high}": f"above {high}"} if values.max() > outliers.high else {}
    effect = counted(outliers.records, "record")
    return Suggestion(" or ".join(ends.values()), effect, dict.fromkeys(ends)) if ends else None


def try_remedies(frame: IntoDataFrame, *, k: int, sample: int = SAMPLE, **choices: Any) -> Iterator[Remedy]:
    """Yield the loss with the choices as they are, then without each quasi-identifier, then with coarser ones.

    Coarser categories are tried for codes, texts that all have the same number of letters and digits, at least one of
    them a digit, such as postal codes: with each smaller number of first characters that leaves fewer values, but more
    than one. For other categories, values of fewer than k records become one. For numbers, the k lowest and highest
    become one if ranges are released, and intervals are tried if there are categories. Categories with a taxonomy or an
    order are not changed.

    All runs use the same records, so losses are larger than on a larger file. Each change is compared with the choices
    as they are on the quasi-identifiers that it does not concern, see :class:`Remedy`: after leaving out one with a low
    loss, the loss of the others together may be higher, though each is lower. The measure is
    :attr:`microagg.release.report.report.Report.measure`. Each run can be cancelled: see :mod:`microagg.progress`.

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
        If ``sample`` is not a whole number of at least k; also as :func:`microagg.microaggregate`.
    DataError
        If the sample has too few records in each stratum; also as :func:`microagg.microaggregate`.
    """
    k = check_k(k)
    if not is_whole(sample) or sample < k:
        raise ParameterError(f"sample must be a whole number of at least k={k}, not {sample!r}.")
    frame, choices = recoded(as_pandas(frame), check_recodes(choices.pop("recode", None)), choices)
    if numbers := choices.get("numbers"):
        # Their notation, which a sample of the file may not show.
        choices["numbers"] = _schema(frame, column_names("numbers", numbers), choices).numbers
    part = _sampled(frame, k, int(sample), choices)
    scope = f"tried on {len(part):,} of {counted(len(frame), 'record')}" if len(part) < len(frame) else ""
    release = _run(part, choices, k, "as it is", 0.0)
    before = release.report.measured
    loss_now = before.information_loss
    yield Remedy(f"{loss_now:.3g} %", None, loss_now, loss_now, loss_now, scope)
    names = release.recipe["quasi_identifiers"]
    named_choices = {**choices, "quasi_identifiers": names}
    changes = list(_changes(frame, k, named_choices))
    for i, change in enumerate(changes, start=1):
        after = _run(part, change.applied(named_choices), k, change.words, i / (len(changes) + 1)).report.measured
        if others := [name for name in names if name != change.column]:
            loss, unchanged = (sum(lost.attributes[name] for name in others) / len(others) for lost in (after, before))
            effect = f"{loss:.3g} % instead of {unchanged:.3g} % on the other quasi-identifiers"
        else:
            loss, unchanged = after.information_loss, loss_now
            effect = f"{loss:.3g} % of what is left of it"
        yield Remedy(effect, change, loss, unchanged, after.information_loss, scope)


def _run(frame: pd.DataFrame, choices: Mapping[str, Any], k: int, description: str, share: float) -> Release:
    checkpoint(f"Trying the release {description}", share)
    with warnings.catch_warnings():
        # The sample, or the first characters, may hold one value only where the file does not.
        warnings.simplefilter("ignore", ConstantColumnWarning)
        return Plan.checked(k=k, **choices).run(frame)


def _schema(frame: pd.DataFrame, names: Sequence[Hashable], choices: Mapping[str, Any]) -> Schema:
    options = options_by_column(names, choices)
    options.pop("missing", None)
    return Schema.of_options(frame, {"quasi_identifiers": names, **options})


def _sampled(frame: pd.DataFrame, k: int, sample: int, choices: Mapping[str, Any]) -> pd.DataFrame:
    """The sampled records, in the order of the file."""
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
    """Positions of the records that a release will have."""
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
            suggestions = category_recodings(category_counts(series), k)
        elif attribute.kind == "numeric" and not attribute.unit and is_number(series.dtype):
            values = series.to_numpy(dtype=float)
            suggestions = extreme_recodings(values, k) if choices.get("statistic") == "generalize" else []
            suggestions += [] if schema.is_numeric else interval_recodings(values)[:1]
        for words, _, recoding in suggestions:
            yield Change(name, recoding, f"with {plain(name)!r} by {words}")
