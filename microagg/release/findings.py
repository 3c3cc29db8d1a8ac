"""Findings: what a steward must know of a release before it leaves the house."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_datetime64_any_dtype

from microagg.columns import dates
from microagg.columns.meanings import counted_as, doubts, meant
from microagg.columns.schema import ROLES, Schema
from microagg.metrics.risk.equivalence_classes import SmallClasses, coded, combined, numbered, small_classes
from microagg.release import column_counts
from microagg.release.column_counts import Rarity
from microagg.release.guarantees import Guarantee, describe_counts
from microagg.release.predicted_linkage import Predicted
from microagg.validation import MOST_NAMED, IntArray, check_choice, counted, is_whole, listing, plain, quoted

#: What a finding asks for: not to release the file as it is, to think about it, or nothing.
LEVELS = ("stop", "warn", "ok")

#: A column identifies by itself if at least this share of its records has a value that fewer than k records have: far
#: more than have rare values at the ends of a distribution, far fewer than have weights or amounts of money, which are
#: nearly unique (of the records of Adult, 72 % have a weight that fewer than k = 3 have).
RARE = 0.2

#: From this share on, records that are left out are to be thought about: less than 1 % of incomplete ones is held to be
#: trivial (Acuña & Rodriguez, The treatment of missing values and its effect on classifier accuracy, 2004).
GAPS = 0.01

#: Seeds below this can all be tried; dates, telephone numbers and the seeds of 32 or 64 bits that programs draw are
#: below it, and of seeds of 128 random bits one in 2**64.
GUESSABLE = 2**64

#: Outliers are at most 1 % of the records, without which the range of a column is at most a fifth of what it is. (Of
#: the benchmark files only Adult's capital gain has such, where 99,999 stands for all that is more; next come
#: Tarragona's fixed assets, of which the range shrinks to a quarter.)
OUTLIERS, SPREAD = 0.01, 5.0

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


def find(
    released: pd.DataFrame,
    original: pd.DataFrame,
    schema: Schema,
    k: int,
    *,
    n_dropped: int = 0,
    shuffled: Any = False,
    classes: IntArray | None = None,
    guaranteed: Sequence[Guarantee] = (),
    secrets: Mapping[Hashable, pd.Series[Any]] | None = None,
    predicted: Sequence[Predicted] | None = None,
) -> tuple[Finding, ...]:
    """Run all checks of a release, in the order of :data:`CHECKS`.

    An equivalence class is a set of records whose released quasi-identifiers and strata are equal; a missing value
    counts as a value. Columns left as they are: the confidential ones, others, weights that are not one value for each
    class, and those without a role. (Strata are no danger by themselves: classes keep within them.)

    Parameters
    ----------
    released, original : DataFrame, shape (n, columns)
        The same records in the same order.
    schema : Schema
        The roles of the columns.
    k : int
        The requested size of the smallest class.
    n_dropped : int
        Number of records left out for a missing quasi-identifier.
    shuffled : bool, int or SeedSequence
        Whether the row order is random, or its seed.
    classes : array of shape (n,), optional
        The class of each record, numbered from 0; counted by default.
    guaranteed, secrets, predicted : optional
        What was counted beyond k, what the values of confidential columns mean, and the columns that follow from the
        quasi-identifiers; None if nobody looked for them.
    """
    if classes is None:
        classes = numbered(released, (*schema.quasi_identifiers, *schema.strata))
    file = _File(released, original, schema, k, classes, secrets or {}, n_dropped, shuffled, guaranteed, predicted)
    return tuple(finding for check in CHECKS for finding in check(file))


@dataclass(frozen=True, eq=False)
class _File:
    """A release with what is counted of it more than once."""

    released: pd.DataFrame
    original: pd.DataFrame
    schema: Schema
    k: int
    classes: IntArray
    secrets: Mapping[Hashable, pd.Series[Any]]
    n_dropped: int
    shuffled: Any
    guaranteed: Sequence[Guarantee]
    predicted: Sequence[Predicted] | None
    _coded: dict[Hashable, IntArray] = field(default_factory=dict)

    @property
    def n(self) -> int:
        return len(self.released)

    def codes(self, name: Hashable) -> IntArray:
        if name not in self._coded:
            self._coded[name] = coded(self.released[name])
        return self._coded[name]

    @property
    def rare_below(self) -> int:
        """A value that fewer records have is rare; with k of 1, one that only one record has."""
        return max(self.k, 2)

    @cached_property
    def undeclared(self) -> tuple[Hashable, ...]:
        return undeclared(self.schema, self.released.columns)

    @cached_property
    def confidential(self) -> tuple[Hashable, ...]:
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

    def splitting(self, names: Sequence[Hashable]) -> dict[Hashable, SmallClasses]:
        """Return the columns each of which alone, with the quasi-identifiers, puts records in classes below k."""
        counts = {name: self.below(name) for name in names}
        return {name: count for name, count in counts.items() if count.records}

    def rare(self, names: Sequence[Hashable]) -> dict[Hashable, Rarity]:
        """Return the columns that identify by themselves."""
        counts = {name: column_counts.rarity(self.codes(name), self.rare_below) for name in names}
        return {name: count for name, count in counts.items() if count.rare and count.share >= RARE}

    def _present(self, names: Sequence[Hashable]) -> tuple[Hashable, ...]:
        return tuple(name for name in names if name in self.released.columns)


def undeclared(schema: Schema, columns: Iterable[Hashable]) -> tuple[Hashable, ...]:
    """Return the ``columns`` of a release that have no role."""
    declared = {name for role in ROLES for name in schema.columns(role)}
    return tuple(name for name in columns if name not in declared)


def identifiers(schema: Schema, columns: Iterable[Hashable]) -> Iterator[Finding]:
    """Stop if a declared identifier is among the ``columns`` of a release."""
    names = schema.identifiers
    if released := tuple(name for name in names if name in set(columns)):
        yield Finding("stop", "identifiers", released, f"The release has identifiers: leave out {quoted(released)}.")
    elif names:
        yield Finding("ok", "identifiers", names, f"Identifiers left out: {quoted(names)}.")


def undecided(names: tuple[Hashable, ...]) -> Finding:
    """Stop if columns without a role, ``names``, are released."""
    if not names:
        return Finding("ok", "undecided", (), "Every column has a role.")
    text = f"Columns without a role are released: {quoted(names)}. Choose a role, or leave the column out."
    return Finding("stop", "undecided", names, text)


def _index(file: _File) -> Iterator[Finding]:
    """Stop if the index has a name, so that files get its labels, and these are not the numbers from 0."""
    index = file.released.index
    names = tuple(name for name in index.names if name is not None)
    if names and not (index.nlevels == 1 and index.equals(pd.RangeIndex(file.n))):
        text = (
            f"Files get the index {quoted(names)}, whose labels may identify records. Remove it with "
            "reset_index(drop=True), or make it a column with a role."
        )
        yield Finding("stop", "index", names, text)


def _k(file: _File) -> Iterator[Finding]:
    """Stop if a class has fewer than k records, columns without a role counted among the quasi-identifiers.

    With k of 1, warn of records that are alone in their class.
    """
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
        text = f"{_records(alone, file)} share their {combination} with fewer than k = {k:,}: do not release this file."
        yield Finding("stop", "k", (), text)
    else:
        splitting = file.splitting(names)
        text = (
            f"An intruder who also knows {quoted(names)} finds {_records(together, file)} in classes of fewer than "
            f"k = {k:,} (otherwise each class has at least {alone.smallest:,}).{_alone(splitting, names)} Leave out "
            f"{quoted(names)}, or choose a role."
        )
        yield Finding("stop", "k", tuple(splitting) or names, text)


def _identifying(file: _File) -> list[Finding]:
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
            f"An intruder who knows {quoted(names)} besides the quasi-identifiers finds {_records(together, file)} in "
            f"classes of fewer than k = {file.k:,}.{_alone(splitting, names)} If others may know {quoted(names)}, "
            f"leave the column out or choose {_QUASI}."
        )
        findings.append(Finding("warn", "identifying", tuple(splitting) or names, text))
    if not findings:
        text = (
            f"In no column left as it is do {100 * RARE:.0f} % of the records have values that fewer than "
            f"{file.rare_below:,} records share."
        )
        findings.append(Finding("ok", "identifying", (), text))
    return findings


def _determines(file: _File) -> list[Finding]:
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


def _predicted(file: _File) -> Iterator[Finding]:
    """Look for columns that an intruder can predict from the quasi-identifiers and link records on.

    Stop where 95 % of the variance, or of the categories, are predicted, otherwise warn. See
    :func:`microagg.release.predicted_linkage.predicted_linkage`.
    """
    predicted = file.predicted or ()
    alone = [each for each in predicted if len(each.columns) == 1]
    for each in predicted:
        # Several columns together are a matter of their own only where none of them stops and they tell more.
        if each not in alone and any(one.nearly or one.share >= each.share for one in alone):
            continue
        text = (
            f"{each} By the released quasi-identifiers alone it is {100.0 * each.by_chance:.3g} % of the persons."
            f"{each.how} Leave out {quoted(each.columns)}: users can estimate the values from the released "
            f"{quoted(each.sources)}. Or choose {_QUASI}, or release coarser values."
        )
        yield Finding("stop" if each.nearly else "warn", "predicted", each.columns, text)
    if file.unchanged and file.predicted is not None and not predicted:
        text = f"Predictions of {quoted(file.unchanged)} tell no record from others of its class."
        yield Finding("ok", "predicted", (), text)


def nothing_confidential(schema: Schema) -> Iterator[Finding]:
    """Warn if no column is confidential."""
    if not schema.confidential:
        text = (
            "Attribute disclosure was not checked: no column is marked confidential. Mark the columns, such as a "
            "diagnosis or a debt, that nobody should learn."
        )
        yield Finding("warn", "homogeneity", (), text)


def beyond_k(guaranteed: Sequence[Guarantee]) -> Iterator[Finding]:
    """Yield what is guaranteed of confidential columns, if anything is."""
    if guaranteed:
        columns = tuple(dict.fromkeys(guarantee.column for guarantee in guaranteed))
        yield Finding("ok", "homogeneity", columns, describe_counts(guaranteed))


def _homogeneity(file: _File) -> Iterator[Finding]:
    """Look for classes that reveal a confidential value.

    Warn of each confidential column that has one single value in some class, so that anyone who finds a person's class
    learns the value (Machanavajjhala, Gehrke, Kifer & Venkitasubramaniam 2006). Values that mean the same count as one,
    see :func:`microagg.columns.meanings.meant`; missing ones are not learnt, and those of a column that has one value
    only are no secret. Warn, too, if numbers look like missing-value codes, if no column is confidential, and if the
    guarantees have made one class of all records.
    """
    yield from nothing_confidential(file.schema)
    yield from beyond_k(file.guaranteed)
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
        codes_of[name] = coded(values)
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


def _impossible(file: _File) -> Iterator[Finding]:
    """Warn of released combinations that never occur, see :func:`microagg.release.column_counts.impossible`."""
    names = file.schema.quasi_identifiers
    follows = column_counts.following(file.original[[*names]], records=column_counts.MANY_RECORDS, by_order=False)
    pairs = [(each.source, each.column) for each in follows]
    if not pairs:
        return
    broken = {
        pair: rows for pair in pairs if len(rows := column_counts.impossible(file.original, file.released, *pair))
    }
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


def _weights(file: _File) -> Iterator[Finding]:
    """Ok if the weights are left out or one value for each class; otherwise "identifying" has them."""
    names = file.schema.columns("weights")
    if not names:
        return
    if names[0] not in file.released.columns:
        yield Finding("ok", "weights", names, f"The weights {quoted(names)} are left out.")
    elif file.weights_of_classes:
        text = f"The weights {quoted(names)} are one value for each class, so they tell no record from others in it."
        yield Finding("ok", "weights", names, text)


def _outliers(file: _File) -> Iterator[Finding]:
    """Warn of numeric quasi-identifiers and dates with outliers (:data:`OUTLIERS`), which make losses look smaller."""
    columns = {
        name: column_counts.outliers(file.original[name], OUTLIERS, SPREAD) for name in file.schema.quasi_identifiers
    }
    columns = {name: outliers for name, outliers in columns.items() if outliers.records}
    if not columns:
        return
    each = [
        # How much it would be exactly gives away a value.
        f"without {counted(outliers.records, 'record')} the range of {plain(name)!r} would be at most "
        f"{100 / SPREAD:g} % of what it is"
        for name, outliers in columns.items()
    ]
    text = (
        f"There are outliers: {listing(each, MOST_NAMED)}. The information loss is measured against the spread of all "
        "records, so it looks smaller than it is for most. Declare missing-value codes such as 999; otherwise release "
        "the largest and smallest values as one category each, or leave these records out."
    )
    yield Finding("warn", "outliers", tuple(columns), text)


def gaps(n: int, n_dropped: int) -> Iterator[Finding]:
    """Warn if 1 % (:data:`GAPS`) or more of the records were left out for a missing quasi-identifier."""
    if not n_dropped:
        return
    share = n_dropped / (n + n_dropped)
    text = (
        f"Left out for a missing quasi-identifier: {counted(n_dropped, 'record')} of {n + n_dropped:,} "
        f"({100 * share:.3g} %)."
    )
    if share < GAPS:
        yield Finding("ok", "gaps", (), text)
    else:
        fix = "Impute missing values, or leave out columns that have many of them."
        yield Finding("warn", "gaps", (), f"{text} The release may differ from the file as a whole. {fix}")


def order(shuffled: Any) -> Finding:
    """Warn unless the records were shuffled, and of a seed below 2**64 (:data:`GUESSABLE`)."""
    if shuffled is None or shuffled is False:
        text = "The rows are in the order of the file, which can identify people. Shuffle the rows."
        return Finding("warn", "order", (), text)
    seed = getattr(shuffled, "entropy", shuffled)
    if seed is not True and seed < GUESSABLE:
        text = (
            "The random row order has a seed below 2**64: an intruder can try all of these and restore the order of "
            "the file, which can identify people. Shuffle the records without a seed."
        )
        return Finding("warn", "order", (), text)
    text = "It is not recorded: a replay releases the same records in another order."
    if is_whole(shuffled):
        text = "The recipe holds its seed, which restores the order of the file: keep the recipe with the original."
    return Finding("ok", "order", (), f"The records are in a random order. {text}")


#: The checks in the order of their findings; each is called like their code.
CHECKS: tuple[Callable[[_File], Iterable[Finding]], ...] = (
    lambda file: identifiers(file.schema, file.released.columns),
    lambda file: [undecided(file.undeclared)],
    _index,
    _k,
    _identifying,
    _determines,
    _predicted,
    _homogeneity,
    _impossible,
    _weights,
    _outliers,
    lambda file: gaps(file.n, file.n_dropped),
    lambda file: [order(file.shuffled)],
)


def _rarities(columns: Mapping[Hashable, Rarity], file: _File) -> str:
    each = [
        f"{plain(name)!r} has {counted(count.distinct, 'distinct value')} in {counted(count.present, 'record')}, "
        f"{100 * count.share:.3g} % of them with one that fewer than {file.rare_below:,} share"
        for name, count in columns.items()
    ]
    return "; ".join(each[:3]) + (f"; and likewise {quoted(list(columns)[3:])}" if len(each) > 3 else "")


def _alone(splitting: Mapping[Hashable, SmallClasses], names: Sequence[Hashable]) -> str:
    """Describe what the columns do alone, as a sentence that follows others; nothing where there is only one."""
    if len(names) == 1:
        return ""
    if not splitting:
        return " None of them does so alone."
    each = [f"{plain(name)!r} {count.records:,} ({count.unique:,} unique)" for name, count in splitting.items()]
    return f" Each alone: {listing(each, MOST_NAMED)}."


def _records(count: SmallClasses, file: _File) -> str:
    return f"{count.records:,} of {counted(file.n, 'record')} ({count.unique:,} unique)"
