"""Checks of the columns that are released as they are: which identify records or reveal quasi-identifiers."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd
from pandas.api.types import is_datetime64_any_dtype

from microagg.columns import dates
from microagg.metrics.risk.equivalence_classes import coded
from microagg.release import column_counts
from microagg.release.column_counts import Rarity
from microagg.release.finding import RARE, File, Finding, describe_alone
from microagg.validation import MOST_NAMED, IntArray, counted, listing, plain, quoted

_QUASI = "the role quasi-identifier"


def identifying(file: File) -> list[Finding]:
    """Look for columns left as they are that identify records.

    These are columns of which at least 20 % (:data:`RARE`) of the records with a value have one that fewer than k
    records have (fewer than 2 where k is 1): warn of confidential ones, stop for all others. Besides, warn of other
    columns and weights whose combinations with the quasi-identifiers fewer than k records have.
    """
    findings = []
    rare = file.rare((*file.others, *file.undeclared))
    candidates = "one record" if file.k <= 2 else f"fewer than {file.k:,} records to choose from"
    for level, columns in (("stop", rare), ("warn", file.rare(file.confidential))):
        if columns:
            fix = f"Leave out {quoted(columns)}, or choose {_QUASI}."
            if level == "warn":
                fix = f"Make sure that nobody knows {quoted(columns)}; otherwise round the values or choose {_QUASI}."
            text = f"{_rarities(columns, file)}: an intruder who knows such a value has {candidates}. {fix}"
            findings.append(Finding(level, "identifying", tuple(columns), text))
    names = tuple(name for name in file.others if name not in rare)
    together = file.below(*names) if names else None
    if together is not None and together.records:
        splitting = file.splitting(names)
        text = (
            f"An intruder who knows {quoted(names)} besides the quasi-identifiers finds {file.describe(together)} in "
            f"classes of fewer than k = {file.k:,}.{describe_alone(splitting, names)} If others may know "
            f"{quoted(names)}, leave the column out or choose {_QUASI}."
        )
        findings.append(Finding("warn", "identifying", tuple(splitting) or names, text))
    if not findings:
        text = (
            f"In no column left as it is do {100 * RARE:.0f} % of the records have values that fewer than "
            f"{file.rare_below:,} records share."
        )
        findings.append(Finding("ok", "identifying", (), text))
    return findings


def determines(file: File) -> list[Finding]:
    """Stop if a column left as it is determines an original quasi-identifier, or puts the records in its order.

    See ``determined`` and ``in_order`` in :mod:`microagg.release.column_counts`. For a date that is released as a year,
    the year counts.
    """
    targets: dict[Hashable, pd.Series[Any]] = {}
    # Where nothing is left as it is, nothing can determine one of perhaps many quasi-identifiers.
    for name in file.schema.quasi_identifiers if file.unchanged else ():
        series = file.original[name]
        by_year = dates.unit(file.schema.dates.get(name, "")) == "year" and is_datetime64_any_dtype(series)
        targets[name] = series.dt.year if by_year else series
    codes_of = {name: coded(target) for name, target in targets.items()}
    measured = {
        name: values for name, target in targets.items() if (values := column_counts.measured(target)) is not None
    }
    findings = []
    for name in file.unchanged:
        codes = coded(file.original[name])
        determined = column_counts.determined(codes, codes_of)
        ordered: list[Hashable] = []
        # Where no target has an order, long texts need not be read.
        if measured and (values := column_counts.measured(file.original[name])) is not None:
            ordered = [target for target in column_counts.in_order(values, measured) if target not in determined]
        if determined or ordered:
            pairs = {target: _one_to_one(codes, codes_of[target]) for target in determined}
            columns = (name, *determined, *ordered)
            text = _determines_text(repr(plain(name)), pairs, ordered)
            findings.append(Finding("stop", "determines", columns, text))
    return findings or [Finding("ok", "determines", (), "No column left as it is determines a quasi-identifier.")]


def _determines_text(name: str, determined: Mapping[Hashable, bool], ordered: Sequence[Hashable]) -> str:
    """Describe which columns a column determines, one to one or not, and which it puts in order."""
    sentences = []
    if determined:
        pairs = [repr(plain(target)) + (" (one to one)" if both else "") for target, both in determined.items()]
        sentences.append(
            f"{name} determines {listing(pairs, MOST_NAMED)}: an intruder who knows the value of {name} of a record "
            f"knows the original {quoted(determined)}, whatever is released in its place."
        )
    if ordered:
        sentences.append(
            f"{name} puts the records in the order of {quoted(ordered)} (or its reverse), as a computed column does: "
            f"an intruder who knows the value of {name} of a record knows the original {quoted(ordered)} nearly."
        )
    return f"{' '.join(sentences)} Leave out {name}, or choose {_QUASI}."


def _one_to_one(codes: IntArray, target: IntArray) -> bool:
    # Records without a value of the column say nothing of whether the target determines it.
    present = codes >= 0
    return bool(column_counts.determined(target[present], {None: codes[present]}))


def predicted(file: File) -> Iterator[Finding]:
    """Look for columns that an intruder can predict from the quasi-identifiers and link records on.

    Stop where 95 % of the variance, or of the categories, are predicted, otherwise warn. See
    :func:`microagg.release.predicted_linkage.predicted_linkage`.
    """
    all_predicted = file.predicted or ()
    alone = [each for each in all_predicted if len(each.columns) == 1]
    for each in all_predicted:
        # Several columns together are a matter of their own only where none of them stops and they tell more.
        if each not in alone and any(one.nearly or one.share >= each.share for one in alone):
            continue
        text = (
            f"{each} By the released quasi-identifiers alone it is {100.0 * each.by_chance:.3g} % of the persons."
            f" Leave out {quoted(each.columns)}: users can estimate the values from the released "
            f"{quoted(each.sources)}. Or choose {_QUASI}, or release coarser values."
        )
        yield Finding("stop" if each.nearly else "warn", "predicted", each.columns, text)
    if file.unchanged and file.predicted is not None and not all_predicted:
        text = f"Predictions of {quoted(file.unchanged)} tell no record from others of its class."
        yield Finding("ok", "predicted", (), text)


def _rarities(columns: Mapping[Hashable, Rarity], file: File) -> str:
    each = [
        f"{plain(name)!r} has {counted(count.distinct, 'distinct value')} in {counted(count.present, 'record')}, "
        f"{100 * count.share:.3g} % of them with one that fewer than {file.rare_below:,} share"
        for name, count in columns.items()
    ]
    return "; ".join(each[:3]) + (f"; and likewise {quoted(list(columns)[3:])}" if len(each) > 3 else "")
