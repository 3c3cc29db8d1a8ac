"""Findings on a release: what each check counts, and the sentences that say so."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_datetime64_any_dtype

from microagg.columns import dates
from microagg.columns.kinds import number_categories
from microagg.columns.recodes import counted_as, doubts, meant
from microagg.columns.schema import ROLES, Schema
from microagg.metrics.risk.equivalence_classes import (
    SmallClasses,
    coded,
    combined,
    household_risk,
    numbered,
    small_classes,
)
from microagg.release import column_counts
from microagg.release.column_counts import Rarity
from microagg.release.guarantees import Guarantee, describe_counts
from microagg.release.predicted_linkage import Predicted
from microagg.tables.stata_spss import with_kinds
from microagg.validation import MOST_NAMED, IntArray, check_choice, counted, listing, plain, quoted

#: What a finding asks for: not to release the file as it is, to think about it, or nothing.
LEVELS = ("stop", "warn", "ok")

#: A column identifies by itself if at least this share of its records has a value that fewer than k records have: far
#: more than have rare values at the ends of a distribution, far fewer than have weights or amounts of money, which are
#: nearly unique (of the records of Adult, 72 % have a weight that fewer than k = 3 have).
RARE = 0.2

#: Records share an identifier if it has at most this number of distinct values for each record; with more, two persons
#: may have one name. With more records for each value on average, it is rather that of a region than of a household, or
#: a column that follows from another one, unless the records of a value agree in several quasi-identifiers.
MOST_DISTINCT, MOST_RECORDS = 0.9, 10

_QUASI = "the role quasi-identifier"


@dataclass(frozen=True)
class Finding:
    """One matter that a steward must know of before releasing a file.

    Attributes
    ----------
    level : {"stop", "warn", "ok"}
        "stop": do not release the file like this. "warn": think about it, also where nobody could look. "ok": counted,
        and nothing is wrong. Another one is a :class:`ParameterError`.
    code : str
        The matter in one word, such as "identifying"; it does not change between versions.
    columns : tuple of column names
        Those that it concerns; empty where it concerns the whole file.
    text : str
        The reason in numbers, and what to do about it.
    """

    level: str
    code: str
    columns: tuple[Hashable, ...]
    text: str

    def __post_init__(self) -> None:
        check_choice("level", self.level, LEVELS)


@dataclass(frozen=True, eq=False)
class File:
    """A release with what is counted of it more than once."""

    released: pd.DataFrame
    original: pd.DataFrame  # the same records in the same order
    schema: Schema
    k: int
    classes: IntArray  # shape (n,): records with equal quasi-identifiers and strata; a missing value counts as a value
    n_dropped: int = 0
    shuffled: Any = False  # whether the row order is random, or its seed
    guaranteed: Sequence[Guarantee] = ()
    secrets: Mapping[Hashable, pd.Series[Any]] = field(default_factory=dict)  # what confidential values mean
    predicted: Sequence[Predicted] | None = None  # None if nobody looked for columns that follow
    _coded: dict[Hashable, IntArray] = field(default_factory=dict)

    @property
    def n(self) -> int:
        """The number of released records."""
        return len(self.released)

    def codes(self, name: Hashable) -> IntArray:
        """Codes of the released values of a column, shape (n,)."""
        if name not in self._coded:
            # Of columns left as they are, files of Stata and SPSS also have the kinds of missing values.
            frame = self.released if name == self.schema.weights else self.original
            self._coded[name] = coded(with_kinds(frame, name))
        return self._coded[name]

    @property
    def rare_below(self) -> int:
        """A value that fewer records have is rare; with k of 1, one that only one record has."""
        return max(self.k, 2)

    @cached_property
    def undeclared(self) -> tuple[Hashable, ...]:
        """The released columns that have no role."""
        return undeclared(self.schema, self.released.columns)

    @cached_property
    def confidential(self) -> tuple[Hashable, ...]:
        """The confidential columns that are released."""
        return self._present(self.schema.confidential)

    @cached_property
    def others(self) -> tuple[Hashable, ...]:
        """The columns left as they are that have a role other than confidential."""
        weights = () if self.weights_of_classes else self.schema.columns("weights")
        return self._present((*self.schema.others, *weights))

    @property
    def unchanged(self) -> tuple[Hashable, ...]:
        """The columns left as they are."""
        return (*self.confidential, *self.others, *self.undeclared)

    @cached_property
    def weights_of_classes(self) -> bool:
        """Whether each class has one weight, which then tells no more than its quasi-identifiers."""
        names = self._present(self.schema.columns("weights"))
        return len(names) > 0 and bool(combined(self.classes, *map(self.codes, names)).max() == self.classes.max())

    def below(self, *names: Hashable) -> SmallClasses:
        """Count the records in classes of fewer than k for an intruder who also knows ``names``."""
        return small_classes(combined(self.classes, *map(self.codes, names)), self.k)

    def splitting(self, names: Sequence[Hashable]) -> tuple[Hashable, ...]:
        """Return the columns each of which alone, with the quasi-identifiers, puts records in classes below k."""
        return tuple(name for name in names if self.below(name).records)

    def rare(self, names: Sequence[Hashable]) -> dict[Hashable, Rarity]:
        """Return the columns that identify by themselves."""
        counts = {name: column_counts.rarity(self.codes(name), self.rare_below) for name in names}
        return {name: count for name, count in counts.items() if count.rare and count.share >= RARE}

    def describe(self, count: SmallClasses) -> str:
        """Describe records in small classes, of all records."""
        return f"{count.records:,} of {counted(self.n, 'record')} ({count.unique:,} unique)"

    def _present(self, names: Sequence[Hashable]) -> tuple[Hashable, ...]:
        return tuple(name for name in names if name in self.released.columns)


def undeclared(schema: Schema, columns: Iterable[Hashable]) -> tuple[Hashable, ...]:
    """Return the ``columns`` of a release that have no role."""
    declared = {name for role in ROLES for name in schema.columns(role)}
    return tuple(name for name in columns if name not in declared)


def index(file: File) -> Iterator[Finding]:
    """Stop if the index has a name, so that files get its labels, and these are not the numbers from 0."""
    index = file.released.index
    names = tuple(name for name in index.names if name is not None)
    is_numbered = index.nlevels == 1 and index.equals(pd.RangeIndex(file.n))
    # In a random order the records get a new index.
    if names and not is_numbered and (file.shuffled is None or file.shuffled is False):
        text = (
            f"Files get the index {quoted(names)}, whose labels may identify records. Remove it with "
            "reset_index(drop=True), or make it a column with a role."
        )
        yield Finding("stop", "index", names, text)


def k(file: File) -> Iterator[Finding]:
    """Stop if a class has fewer than k records, columns without a role counted among the quasi-identifiers."""
    names, k = file.undeclared, file.k
    alone = small_classes(file.classes, k)
    together = file.below(*names) if names else alone
    combination = f"quasi-identifiers{' and strata' if file.schema.strata else ''}"
    and_with = f", with {quoted(names)} too," if names else ""
    if together.smallest == k == 1:
        text = (
            f"{together.unique:,} of {counted(file.n, 'record')} are unique in their {combination}{and_with} as k = 1 "
            "allows: an intruder who knows these identifies the record. Choose a higher k."
        )
        yield Finding("warn", "k", names, text)
    elif not together.records:
        text = (
            f"Each combination of {combination}{and_with} is shared by at least "
            f"{counted(together.smallest, 'record')}, counted on the release (k = {k:,})."
        )
        yield Finding("ok", "k", (), text)
    elif alone.records:
        text = f"{file.describe(alone)} share their {combination} with fewer than k = {k:,}: do not release this file."
        yield Finding("stop", "k", (), text)
    else:
        text = (
            f"An intruder who also knows {quoted(names)} finds {file.describe(together)} in classes of fewer than "
            f"k = {k:,} (otherwise each class has at least {alone.smallest:,}). "
            f"Leave out {quoted(names)}, or choose a role."
        )
        yield Finding("stop", "k", file.splitting(names) or names, text)


def nothing_confidential(schema: Schema) -> Iterator[Finding]:
    """Warn if no column is confidential."""
    if not schema.confidential:
        text = (
            "Attribute disclosure was not checked: no column is marked confidential. Mark the columns, such as a "
            "diagnosis or a debt, that nobody should learn."
        )
        yield Finding("warn", "homogeneity", (), text)


def homogeneity(file: File) -> Iterator[Finding]:
    """Warn of each confidential column that has one single value in some class, which reveals it.

    (Machanavajjhala, Gehrke, Kifer & Venkitasubramaniam 2006.) Values that mean the same count as one; missing ones are
    not learnt, and those of a column that has one value only are no secret.
    """
    yield from nothing_confidential(file.schema)
    if file.guaranteed:
        columns = tuple(dict.fromkeys(guarantee.column for guarantee in file.guaranteed))
        yield Finding("ok", "homogeneity", columns, describe_counts(file.guaranteed))
    if file.guaranteed and file.n >= 2 * file.k and file.classes.max() == 0:
        text = (
            "To keep the guarantees, all records became one class, so the quasi-identifiers have no information left. "
            "Choose Least loss, which forms groups that keep the guarantees, or polish, or ask for less."
        )
        yield Finding("warn", "homogeneity", (), text)
    names, codes_of = file.confidential, {}
    for name in names:
        values = meant(file.secrets.get(name, file.released[name]))
        yield from _counted_as(file.released[name], values)
        codes_of[name] = pd.factorize(values)[0]  # one code for 0.0 and -0.0
    varied = [name for name, codes in codes_of.items() if codes.min() < codes.max()]
    if names and not varied:
        text = f"All records have the same {quoted(names)}: no class reveals more than the whole file."
        yield Finding("ok", "homogeneity", names, text)
    diverse = []
    for name in varied:
        uniform = column_counts.uniform(file.classes, codes_of[name])
        if uniform is None:
            diverse.append(name)
        else:
            value = file.released[name].iloc[int(np.argmax(codes_of[name] == uniform.commonest))]
            text = (
                f"{plain(name)!r} is the same for everyone in {uniform.classes:,} of {int(file.classes.max()) + 1:,} "
                f"classes ({counted(uniform.records, 'record')}), most often {plain(value)!r} "
                f"({counted(uniform.with_commonest, 'record')}): finding a person's class reveals it. A larger k makes "
                "this rarer; coarser values reveal less."
            )
            yield Finding("warn", "homogeneity", (name,), text)
    if diverse:
        text = f"In no class do all records have the same {quoted(diverse)}."
        yield Finding("ok", "homogeneity", tuple(diverse), text)


def _counted_as(column: pd.Series[Any], values: pd.Series[Any]) -> Iterator[Finding]:
    """Yield which values of a confidential column count as one or as missing, and possible missing-value codes."""
    if text := counted_as(column, values):
        yield Finding("ok", "homogeneity", (column.name,), text)
    if codes := doubts(values):
        text = (
            f"In column {plain(column.name)!r}, {quoted(codes)} may stand for missing values. They count as values, "
            f"unless meanings={{{plain(column.name)!r}: {{{plain(codes[0])!r}: None}}}} says otherwise."
        )
        yield Finding("warn", "homogeneity", (), text)  # without its column, for more diversity is no remedy


def households(file: File) -> Iterator[Finding]:
    """Warn if records share an identifier, such as a household, and a class has fewer than k values of it."""
    for name in [name for name in file.schema.identifiers if name in file.original.columns]:
        codes = coded(file.original[name])
        present = codes >= 0
        counts = np.bincount(codes[present])
        if len(counts) < 2:
            continue
        in_classes = pd.Series(codes[present]).groupby(pd.factorize(file.classes[present])[0])
        fewest, known = in_classes.nunique(), [name, *file.schema.quasi_identifiers]
        if len(counts) > MOST_DISTINCT * present.sum():
            is_shared = ((fewest == 1) & (in_classes.size() > 1)).any()
        else:
            of_persons = len(known) > 2 and MOST_DISTINCT * numbered(file.original[present], known).max() < len(counts)
            is_shared = of_persons or counts.mean() <= MOST_RECORDS
        if not is_shared:
            continue
        risk = household_risk(file.classes, codes)
        values = f"values of {plain(name)!r}"
        text = (
            f"{counted(int(present.sum()), 'record')} share {len(counts):,} {values}, like persons of one household. "
            "An intruder who looks for all records of one value re-identifies at least one of them with probability up "
            f"to {100 * risk.max():.3g} %, on average {100 * risk.mean():.3g} %."
        )
        if fewest.min() >= file.k:
            text = f"Each class has records of at least {fewest.min():,} {values}. {text}"
            yield Finding("ok", "households", (name,), text)
        else:
            text += (
                f" {int((fewest < file.k).sum()):,} of {len(fewest):,} classes have records of fewer than k = "
                f"{file.k:,} {values}, at worst of {fewest.min():,}. Form groups with at least {file.k:,}."
            )
            yield Finding("warn", "households", (name,), text)


def impossible(file: File) -> Iterator[Finding]:
    """Warn of released combinations that never occur, see :func:`microagg.release.column_counts.impossible`."""
    names = file.schema.quasi_identifiers
    follows = column_counts.following(file.original[[*names]], records=column_counts.MANY_RECORDS, by_order=False)
    pairs = [(each.source, each.column) for each in follows]
    if not pairs:
        return
    rows_of = {pair: column_counts.impossible(file.original, file.released, *pair) for pair in pairs}
    broken = {pair: rows for pair, rows in rows_of.items() if len(rows)}
    if not broken:
        dependent = listing([f"{plain(one)!r} determines {plain(other)!r}" for one, other in pairs], MOST_NAMED)
        text = f"In the original {dependent}; no released record has two of their values that never occur together."
        yield Finding("ok", "impossible", (), text)
        return
    examples = []
    for (one, other), rows in broken.items():
        values = [repr(plain(file.released[name].iloc[rows[0]])) for name in (one, other)]
        examples.append(f"{plain(one)!r} with {plain(other)!r} ({len(rows):,}, such as {' with '.join(values)})")
    n = len(np.unique(np.concatenate(list(broken.values()))))
    text = (
        f"{n:,} of {counted(file.n, 'record')} have two values that never occur together in the original, where one "
        f"determines the other: {listing(examples, MOST_NAMED)}. Leave out the column that depends on the other, or "
        "release ranges and common categories."
    )
    yield Finding("warn", "impossible", tuple(dict.fromkeys(name for pair in broken for name in pair)), text)


def one_value(file: File) -> Iterator[Finding]:
    """Warn of quasi-identifiers of which all records have the same released value, such as ``*``."""
    schema, kept = file.schema, file.released.columns
    constant = [name for name in schema.quasi_identifiers if name in kept and file.released[name].nunique() == 1]
    if names := tuple(name for name in constant if file.original[name].nunique() > 1):
        text = (
            f"All records have the same released value of {quoted(names)}, which tells users nothing. Leave out such a "
            "column, choose a smaller k, or declare a taxonomy."
        )
        yield Finding("warn", "one-value", names, text)


def weights(file: File) -> Iterator[Finding]:
    """Ok if the weights are left out or one value for each class; otherwise "identifying" has them."""
    names = file.schema.columns("weights")
    if not names:
        return
    if names[0] not in file.released.columns:
        yield Finding("ok", "weights", names, f"The weights {quoted(names)} are left out.")
    elif file.weights_of_classes:
        text = f"The weights {quoted(names)} are one value for each class, so they tell no record from others in it."
        yield Finding("ok", "weights", names, text)


def outliers(file: File) -> Iterator[Finding]:
    """Warn of numeric quasi-identifiers and dates with outliers, which make losses look smaller."""
    columns = {name: column_counts.outliers(file.original[name]) for name in file.schema.quasi_identifiers}
    columns = {name: outliers for name, outliers in columns.items() if outliers.records}
    if not columns:
        return
    each = [
        # How much it would be exactly gives away a value.
        f"without {counted(outliers.records, 'record')} the range of {plain(name)!r} would be at most "
        f"{100 / column_counts.SPREAD:g} % of what it is"
        for name, outliers in columns.items()
    ]
    text = (
        f"There are outliers: {listing(each, MOST_NAMED)}. The information loss is measured against the spread of all "
        "records, so it looks smaller than it is for most. Declare missing-value codes such as 999; otherwise release "
        "the largest and smallest values as one category each, or leave these records out."
    )
    yield Finding("warn", "outliers", tuple(columns), text)


def numeric_categories(file: File) -> Iterator[Finding]:
    """Warn of nominal quasi-identifiers without a taxonomy whose categories are mostly numbers."""
    for name, taxonomy in file.schema.taxonomies.items():
        if taxonomy.is_flat and (clause := number_categories(name, taxonomy.values)):
            text = (
                f"{plain(name)!r} is nominal, though {clause}: groups ignore their size, and different values become "
                "'*'. If they are quantities, make the column numeric, and declare other values as missing-value codes."
            )
            yield Finding("warn", "numeric-categories", (name,), text)


def identifying(file: File) -> list[Finding]:
    """Stop for columns left as they are that identify records (:data:`RARE`); warn of confidential ones.

    Warn, too, of other columns and weights whose combinations with the quasi-identifiers fewer than k records have.
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
        text = (
            f"An intruder who knows {quoted(names)} besides the quasi-identifiers finds {file.describe(together)} in "
            f"classes of fewer than k = {file.k:,}. If others may know "
            f"{quoted(names)}, leave the {'columns' if names[1:] else 'column'} out or choose {_QUASI}."
        )
        findings.append(Finding("warn", "identifying", file.splitting(names) or names, text))
    if not findings:
        text = (
            f"In each column left as it is, fewer than {100 * RARE:.0f} % of the records have values that fewer than "
            f"{file.rare_below:,} records share."
        )
        findings.append(Finding("ok", "identifying", (), text))
    return findings


def determines(file: File) -> list[Finding]:
    """Stop if a column left as it is determines an original quasi-identifier, or puts the records in its order."""
    targets: dict[Hashable, pd.Series[Any]] = {}
    # Where nothing is left as it is, nothing can determine one of perhaps many quasi-identifiers.
    for name in file.schema.quasi_identifiers if file.unchanged else ():
        series = file.original[name]
        # For a date that is released as a year, the year counts.
        by_year = dates.unit(file.schema.dates.get(name, "")) == "year" and is_datetime64_any_dtype(series)
        targets[name] = series.dt.year if by_year else series
    codes_of = {name: coded(target) for name, target in targets.items()}
    values_of = {name: column_counts.measured(target) for name, target in targets.items()}
    measured = {name: values for name, values in values_of.items() if values is not None}
    findings = []
    for name in file.unchanged:
        codes = coded(file.original[name])
        determined = column_counts.determined(codes, codes_of)
        ordered: list[Hashable] = []
        # Where no target has an order, long texts need not be read.
        if measured and (values := column_counts.measured(file.original[name])) is not None:
            ordered = [target for target in column_counts.in_order(values, measured) if target not in determined]
        text = ""
        for names, verb, how in (
            (determined, "determines", "exactly"),
            (ordered, "puts the records in the order, or its reverse, of", "nearly"),
        ):
            if names:
                text += (
                    f"{plain(name)!r} {verb} {quoted(names)}: an intruder who knows the value of {plain(name)!r} of a "
                    f"record knows the original {quoted(names)} {how}, whatever is released in its place. "
                )
        if text:
            text += f"Leave out {plain(name)!r}, or choose {_QUASI}."
            findings.append(Finding("stop", "determines", (name, *determined, *ordered), text))
    return findings or [Finding("ok", "determines", (), "No column left as it is determines a quasi-identifier.")]


def predicted(file: File) -> Iterator[Finding]:
    """Stop for columns that an intruder can predict nearly from the quasi-identifiers and link records on, or warn."""
    all_predicted = file.predicted or ()
    alone = [each for each in all_predicted if len(each.columns) == 1]
    for each in all_predicted:
        # Several columns together are reported only if none of them stops alone and they link more records together.
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
        f"{plain(name)!r} has {counted(count.distinct, 'distinct value')} in {counted(count.present, 'record')} "
        f"({100 * count.share:.3g} % of the records have one that fewer than {file.rare_below:,} share)"
        for name, count in columns.items()
    ]
    return listing(each, 3)
