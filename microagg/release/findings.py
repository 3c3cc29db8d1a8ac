"""Findings: what a steward must know of a release before it leaves the house."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
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
from microagg.release import counting
from microagg.release.counting import Rarity, Uniform
from microagg.release.guarantees import Guarantee
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
    """Return what is to be known of a release, in a fixed order of codes.

    A class is a set of records whose released quasi-identifiers and strata are equal; a missing value counts as a value
    of its own in forming it. Columns left as they are: the confidential ones, others, weights that are not one value
    for each class, and those without a role. (Strata are no danger by themselves: classes keep within them.)

    "identifiers"
        Stop if a declared identifier is in the release.
    "undecided"
        Stop if columns without a role are.
    "index"
        Stop if the index has a name, so that files get its labels, and these are not the numbers from 0.
    "k"
        Stop if there are classes of fewer than k records, with the columns without a role counted among the
        quasi-identifiers. With k of 1 warn of records that are alone in theirs.
    "identifying"
        Of the columns left as they are, those of which at least 20 % (:data:`RARE`) of the records with a value have
        one that fewer than k records have (fewer than 2 where k is 1): warn for confidential ones, stop for all
        others. Besides, warn of other columns and weights whose combinations with the quasi-identifiers have fewer.
    "determines"
        Stop if a column left as it is determines a quasi-identifier of the original file, or puts the records in its
        order: see :func:`microagg.release.counting.determined` and :func:`microagg.release.counting.in_order`. Of a
        date that is released by the year, it is the year that counts.
    "predicted"
        If released columns can be predicted from the quasi-identifiers, so that an intruder links records on them too:
        stop where 95 % of the variance, or of the categories, are predicted, otherwise warn.
        See :func:`microagg.release.predicted_linkage.predicted_linkage`.
    "homogeneity"
        Warn of each confidential column that has one single value in some class, so that anyone who finds a person's
        class learns the value (Machanavajjhala, Gehrke, Kifer & Venkitasubramaniam 2006). Values that
        mean the same count as one, see :func:`microagg.columns.meanings.meant`; missing ones are not learnt, and those
        of a column that has one value only are no secret. Warn, too, if numbers look like codes for missing values, if
        no column is confidential, and if what is guaranteed has made one class of all records.
    "impossible"
        Warn of released combinations that can hardly be true, see :func:`microagg.release.counting.impossible`.
    "weights"
        Ok if the weights are left out or one value for each class; otherwise "identifying" has it.
    "outliers"
        Warn of numbers and dates among the quasi-identifiers with outliers (:data:`OUTLIERS`): losses, measured against
        the spread of all records, look smaller by them.
    "gaps"
        Warn if 1 % (:data:`GAPS`) or more of the records were left out.
    "order"
        Warn unless the records were shuffled, and of a seed below 2**64 (:data:`GUESSABLE`).

    ``released`` and ``original``, of shape (n, columns), have the same records, the latter in any order. ``n_dropped``
    records of the file were left out for lack of a quasi-identifier; ``shuffled`` says whether the order is a random
    one, or is its seed; ``classes``, shape (n,), are the numbers of the records' classes, from 0, where they are known
    already; ``guaranteed`` is what was counted beyond k, ``secrets`` what confidential columns are said to mean, and
    ``predicted`` the columns that follow from the quasi-identifiers.
    """
    if classes is None:
        classes = numbered(released, (*schema.quasi_identifiers, *schema.strata))
    file = _File(released, original, schema, k, classes, secrets or {})
    return (
        *identifiers(schema, released.columns),
        undecided(file.undeclared),
        *_index(file),
        *_k(file),
        *_identifying(file),
        *_determines(file),
        *_predicted(file, predicted),
        *_homogeneity(file, guaranteed),
        *_impossible(file),
        *_weights(file),
        *_outliers(file),
        *gaps(len(released), n_dropped),
        order(shuffled),
    )


@dataclass(frozen=True, eq=False)
class _File:
    """A release with what is counted of it more than once."""

    released: pd.DataFrame
    original: pd.DataFrame
    schema: Schema
    k: int
    classes: IntArray
    secrets: Mapping[Hashable, pd.Series[Any]]
    _coded: dict[Hashable, IntArray] = field(default_factory=dict)

    @property
    def n(self) -> int:
        return len(self.released)

    def codes(self, name: Hashable) -> IntArray:
        if name not in self._coded:
            self._coded[name] = coded(self.released[name])
        return self._coded[name]

    @cached_property
    def undeclared(self) -> tuple[Hashable, ...]:
        return undeclared(self.schema, self.released.columns)

    @cached_property
    def confidential(self) -> tuple[Hashable, ...]:
        return self._present(self.schema.confidential)

    @cached_property
    def others(self) -> tuple[Hashable, ...]:
        """The columns left as they are that are neither confidential nor strata."""
        weights = () if self.weights_of_classes else self.schema.columns("weights")
        return self._present((*self.schema.others, *weights))

    @cached_property
    def weights_of_classes(self) -> bool:
        """Whether each class has one weight, which then tells no more than its quasi-identifiers."""
        names = self._present(self.schema.columns("weights"))
        return len(names) > 0 and bool(combined(self.classes, *map(self.codes, names)).max() == self.classes.max())

    def below(self, *names: Hashable) -> SmallClasses:
        """Return how many records are in classes of fewer than k, if those who look for a person know ``names`` too."""
        return small_classes(combined(self.classes, *map(self.codes, names)), self.k)

    def splitting(self, names: Sequence[Hashable]) -> dict[Hashable, SmallClasses]:
        """Return those of the columns that alone, with the quasi-identifiers, put records in such classes."""
        counts = {name: self.below(name) for name in names}
        return {name: count for name, count in counts.items() if count.records}

    def rare(self, names: Sequence[Hashable]) -> dict[Hashable, Rarity]:
        """Return those of the columns that identify by themselves."""
        counts = {name: counting.rarity(self.codes(name), _rare_below(self.k)) for name in names}
        return {name: count for name, count in counts.items() if count.rare and count.share >= RARE}

    def _present(self, names: Sequence[Hashable]) -> tuple[Hashable, ...]:
        return tuple(name for name in names if name in self.released.columns)


def undeclared(schema: Schema, columns: Iterable[Hashable]) -> tuple[Hashable, ...]:
    """Return those of the ``columns`` of a release that have no role."""
    declared = {name for role in ROLES for name in schema.columns(role)}
    return tuple(name for name in columns if name not in declared)


def identifiers(schema: Schema, columns: Iterable[Hashable]) -> Iterator[Finding]:
    """Yield what is to be known of the identifiers of a release that has these ``columns``, if some are declared."""
    names = schema.identifiers
    kept = tuple(name for name in names if name in set(columns))
    if kept:
        yield Finding("stop", "identifiers", kept, f"The release has {quoted(kept)}: leave {_them(kept)} out.")
    elif names:
        yield Finding("ok", "identifiers", names, f"{quoted(names)} {'is' if len(names) == 1 else 'are'} left out.")


def undecided(names: tuple[Hashable, ...]) -> Finding:
    """Return what is to be known of the columns of a release that have no role."""
    if not names:
        return Finding("ok", "undecided", (), "It was decided about every column what it is.")
    them = "it is" if len(names) == 1 else "each of them is"
    text = f"Nothing was decided about {quoted(names)}, released as {_they(names)}: say what {them}, or leave it out."
    return Finding("stop", "undecided", names, text)


def _index(file: _File) -> Iterator[Finding]:
    index = file.released.index
    names = tuple(name for name in index.names if name is not None)
    if names and not (index.nlevels == 1 and index.equals(pd.RangeIndex(file.n))):
        yield Finding(
            "stop",
            "index",
            names,
            f"The index {quoted(names)} is written to files beside the columns, and its labels may name the records: "
            "leave it out with reset_index(drop=True), or make it a column and say what it is.",
        )


def _k(file: _File) -> Iterator[Finding]:
    names, k = file.undeclared, file.k
    alone = small_classes(file.classes, k)
    together = file.below(*names) if names else alone
    strata = " and strata" if file.schema.strata else ""
    and_with = f", with {quoted(names)} too," if names else ""
    if together.smallest == k == 1:
        text = (
            f"{together.unique:,} of {counted(file.n, 'record')} share their quasi-identifiers{strata}{and_with} with "
            "nobody, as k = 1 allows: who knows these finds the record. Choose a higher k."
        )
        yield Finding("warn", "k", names, text)
    elif not together.records:
        text = (
            f"Each combination of quasi-identifiers{strata}{and_with} is shared by at least "
            f"{counted(together.smallest, 'record')}, counted on the release (k = {k:,})."
        )
        yield Finding("ok", "k", (), text)
    elif alone.records:
        text = (
            f"{_records(alone, file)} share their quasi-identifiers{strata} with fewer than k = {k:,}: do not release "
            "this file, which is not what was asked for."
        )
        yield Finding("stop", "k", (), text)
    else:
        splitting = file.splitting(names)
        text = (
            f"Who also knows {quoted(names)} finds {_records(together, file)} in classes of fewer than k = {k:,} "
            f"(without {_them(names)} each class has at least {alone.smallest:,}).{_alone(splitting, names)} "
            f"Leave {_them(names)} out, or say what {_they(names)}."
        )
        yield Finding("stop", "k", tuple(splitting) or names, text)


def _identifying(file: _File) -> Iterator[Finding]:
    identifying = False
    rare = file.rare((*file.others, *file.undeclared))
    some = "the record" if file.k <= 2 else f"fewer than {file.k:,} records to choose from"
    few = f"who knows such a value has {some}"
    for level, found in (("stop", rare), ("warn", file.rare(file.confidential))):
        if not found:
            continue
        identifying = True
        so = f"Leave {_them(found)} out, or {_make(found)}."
        if level == "warn":
            so = (
                f"Make sure that nobody else knows {_them(found)}, for confidential values are released as they are; "
                f"otherwise round {_them(found)} or {_make(found)}."
            )
        yield Finding(level, "identifying", tuple(found), f"{_rarities(found, file.k)}: {few}. {so}")
    names = tuple(name for name in file.others if name not in rare)
    together = file.below(*names) if names else None
    if together is not None and together.records:
        identifying = True
        splitting = file.splitting(names)
        text = (
            f"Who knows {quoted(names)} besides the quasi-identifiers finds {_records(together, file)} in classes of "
            f"fewer than k = {file.k:,}.{_alone(splitting, names)} If others may know {_them(names)}, leave "
            f"{_them(names)} out or {_make(names)}."
        )
        yield Finding("warn", "identifying", tuple(splitting) or names, text)
    if not identifying:
        text = (
            f"In no column left as it is do {100 * RARE:.0f} % of the records have values that fewer than "
            f"{_rare_below(file.k):,} records share."
        )
        yield Finding("ok", "identifying", (), text)


def _determines(file: _File) -> Iterator[Finding]:
    left = (*file.confidential, *file.others, *file.undeclared)
    # Where nothing is left as it is, nothing can determine one of perhaps many quasi-identifiers.
    targets = {name: _target(file, name) for name in file.schema.quasi_identifiers} if left else {}
    codes_of = {name: coded(target) for name, target in targets.items()}
    measured = {name: values for name, target in targets.items() if (values := counting.measured(target)) is not None}
    known = False
    for name in left:
        codes = coded(file.original[name])
        found = counting.determined(codes, codes_of)
        ordered: list[Hashable] = []
        # Where no target has an order, long texts need not be read.
        if measured and (values := counting.measured(file.original[name])) is not None:
            ordered = [target for target in counting.in_order(values, measured) if target not in found]
        if found or ordered:
            known = True
            pairs = {target: _one_to_one(codes, codes_of[target]) for target in found}
            yield Finding("stop", "determines", (name, *found, *ordered), _determines_text(name, pairs, ordered))
    if not known:
        yield Finding("ok", "determines", (), "No column left as it is determines a quasi-identifier.")


def _target(file: _File, name: Hashable) -> pd.Series[Any]:
    """Return what nobody should learn of a quasi-identifier."""
    series = file.original[name]
    by_year = dates.unit(file.schema.dates.get(name, "")) == "year" and is_datetime64_any_dtype(series)
    return series.dt.year if by_year else series


def _determines_text(name: Hashable, found: Mapping[Hashable, bool], ordered: Sequence[Hashable]) -> str:
    """Return what a column says of those that it determines, one to one or not, and of those that it puts in order."""
    says = []
    if found:
        pairs = [repr(plain(target)) + (" (one to one)" if both else "") for target, both in found.items()]
        says.append(
            f"{plain(name)!r} determines {listing(pairs, MOST_NAMED)}: who knows a record's value of {plain(name)!r} "
            f"knows the original {quoted(list(found))}, whatever is released in its place."
        )
    if ordered:
        says.append(
            f"{plain(name)!r} puts the records in the order of {quoted(ordered)} (or its reverse), as one that is "
            f"computed from the other does: who knows a record's value of {plain(name)!r} can tell the original "
            f"{quoted(ordered)}, or nearly so."
        )
    return f"{' '.join(says)} Leave {plain(name)!r} out, or make it a quasi-identifier."


def _one_to_one(codes: IntArray, target: IntArray) -> bool:
    # Records without a value of the column say nothing of whether the target determines it.
    present = codes >= 0
    return bool(counting.determined(target[present], {None: codes[present]}))


def _predicted(file: _File, predicted: Sequence[Predicted] | None) -> Iterator[Finding]:
    for each in predicted or ():
        if len(each.columns) > 1 and each.share <= _best_alone(predicted or ()):
            continue
        level = "stop" if each.nearly else "warn"
        them = _them(each.columns)
        sources = quoted(each.sources)
        text = (
            f"{each} By the released quasi-identifiers alone it is {100.0 * each.by_chance:.3g} % of the persons."
            f"{each.in_words} Leave {them} out: who needs {them} computes {them} from the released {sources}. Or "
            f"{_make(each.columns)}, or release coarser values."
        )
        yield Finding(level, "predicted", each.columns, text)
    left = (*file.confidential, *file.others, *file.undeclared)
    if left and predicted is not None and not predicted:
        text = f"Predicted from the quasi-identifiers, {quoted(left)} {_tell(left)} no record from others of its class."
        yield Finding("ok", "predicted", (), text)


def _best_alone(predicted: Sequence[Predicted]) -> float:
    return max((each.share for each in predicted if len(each.columns) == 1), default=0.0)


def nothing_confidential(schema: Schema) -> Iterator[Finding]:
    """Yield what is to be known of a release of which no column is declared confidential."""
    if not schema.confidential:
        text = (
            "No column is declared confidential, so nobody looked whether those who share their quasi-identifiers "
            "share a secret, too: if a column is one, such as a diagnosis or a debt, say so."
        )
        yield Finding("warn", "homogeneity", (), text)


def beyond_k(guaranteed: Sequence[Guarantee]) -> Iterator[Finding]:
    """Yield what is guaranteed of confidential columns, if anything is."""
    if guaranteed:
        columns = tuple(dict.fromkeys(own.column for own in guaranteed))
        yield Finding("ok", "homogeneity", columns, f"Guaranteed beyond k: {'; '.join(map(str, guaranteed))}.")


def _homogeneity(file: _File, guaranteed: Sequence[Guarantee]) -> Iterator[Finding]:
    yield from nothing_confidential(file.schema)
    yield from beyond_k(guaranteed)
    if guaranteed and file.n >= 2 * file.k and file.classes.max() == 0:
        yield Finding(
            "warn",
            "homogeneity",
            (),
            "To keep what is guaranteed, all records became one class, so the quasi-identifiers say nothing any more. "
            "Merging can end so: choose Least loss, which forms groups that keep it, or polish, or ask for less.",
        )
    names, codes_of = file.confidential, {}
    for name in names:
        values = meant(file.secrets.get(name, file.released[name]))
        yield from _counted_as(file.released[name], values)
        codes_of[name] = coded(values)
    varied = [name for name, codes in codes_of.items() if codes.min() < codes.max()]
    if names and not varied:
        text = f"All records have the same {quoted(names)}, so no class says more than the file as a whole."
        yield Finding("ok", "homogeneity", names, text)
    diverse = []
    for name in varied:
        found = counting.uniform(file.classes, codes_of[name])
        if found is None:
            diverse.append(name)
        else:
            value = file.released[name].iloc[int(np.argmax(codes_of[name] == found.commonest))]
            yield Finding("warn", "homogeneity", (name,), _uniform_text(file, name, found, value))
    if diverse:
        yield Finding(
            "ok", "homogeneity", tuple(diverse), f"In no class do all records have the same {quoted(diverse)}."
        )


def _counted_as(column: pd.Series[Any], values: pd.Series[Any]) -> Iterator[Finding]:
    """Yield which values of a confidential column count as one or as none, and numbers that may be codes for none."""
    if text := counted_as(column, values):
        yield Finding("ok", "homogeneity", (column.name,), text)
    if codes := doubts(values):
        text = (
            f"In column {plain(column.name)!r}, {quoted(codes)} may stand for missing values. They count as values, "
            f"unless meanings={{{plain(column.name)!r}: {{{plain(codes[0])!r}: None}}}} says otherwise."
        )
        yield Finding("warn", "homogeneity", (), text)  # without its column, for more diversity is no remedy


def _uniform_text(file: _File, name: Hashable, found: Uniform, value: Any) -> str:
    return (
        f"In {found.classes:,} of {int(file.classes.max()) + 1:,} classes, with {counted(found.records, 'record')}, "
        f"all have the same {plain(name)!r}, most often {plain(value)!r} ({counted(found.with_commonest, 'record')}): "
        "anyone who finds a person's class learns it. A larger k makes this rarer; coarser values say less."
    )


def _impossible(file: _File) -> Iterator[Finding]:
    names = file.schema.quasi_identifiers
    pairs = counting.dependent({name: coded(file.original[name]) for name in names})
    if not pairs:
        return
    says = listing([f"{plain(one)!r} determines {plain(other)!r}" for one, other in pairs], MOST_NAMED)
    broken = {pair: rows for pair in pairs if len(rows := counting.impossible(file.original, file.released, *pair))}
    if not broken:
        text = f"In the original {says}; no released record has two of their values that do not go together there."
        yield Finding("ok", "impossible", (), text)
        return
    each = []
    for (one, other), rows in broken.items():
        values = [repr(plain(file.released[name].iloc[rows[0]])) for name in (one, other)]
        each.append(f"{plain(one)!r} with {plain(other)!r} ({len(rows):,}, such as {' with '.join(values)})")
    n = len(np.unique(np.concatenate(list(broken.values()))))
    text = (
        f"{n:,} of {counted(file.n, 'record')} can hardly be true: they have two values that never go together in the "
        f"original, where one determines the other: {listing(each, MOST_NAMED)}. Leave the column out that follows "
        "from the other, or release ranges and common categories."
    )
    yield Finding("warn", "impossible", tuple(dict.fromkeys(name for pair in broken for name in pair)), text)


def _weights(file: _File) -> Iterator[Finding]:
    names = file.schema.columns("weights")
    if not names:
        return
    if names[0] not in file.released.columns:
        yield Finding("ok", "weights", names, f"The weights {quoted(names)} are left out.")
    elif file.weights_of_classes:
        text = f"The weights {quoted(names)} are one value for each class, so they tell no record from others in it."
        yield Finding("ok", "weights", names, text)


def _outliers(file: _File) -> Iterator[Finding]:
    found = {name: counting.outliers(file.original[name], OUTLIERS, SPREAD) for name in file.schema.quasi_identifiers}
    found = {name: own for name, own in found.items() if own.records}
    if not found:
        return
    each = [
        # How much it would be exactly gives away a value.
        f"without {counted(own.records, 'record')} the range of {plain(name)!r} would be at most {100 / SPREAD:g} % of "
        "what it is"
        for name, own in found.items()
    ]
    text = (
        f"There are outliers: {listing(each, MOST_NAMED)}. What is lost is measured against the spread of all records, "
        "so it looks smaller than it is for most. If they are codes of missing values, such as 999, say so; otherwise "
        "release such values in coarser parts, as with all above a limit in one, or leave these records out."
    )
    yield Finding("warn", "outliers", tuple(found), text)


def gaps(n: int, n_dropped: int) -> Iterator[Finding]:
    """Yield what is to be known of records that were left out, if there are some."""
    if not n_dropped:
        return
    share = n_dropped / (n + n_dropped)
    lack, are = ("lacks", "is") if n_dropped == 1 else ("lack", "are")
    text = f"{counted(n_dropped, 'record')} of {n + n_dropped:,} ({100 * share:.3g} %) {lack} a quasi-identifier"
    if share < GAPS:
        yield Finding("ok", "gaps", (), f"{text} and {are} left out.")
        return
    so = "what is released may differ from the file as a whole. Fill the gaps in, or leave out columns"
    yield Finding("warn", "gaps", (), f"{text} and {are} left out: {so} that have many of them.")


def order(shuffled: Any) -> Finding:
    """Return what is to be known of the order of the records; see :func:`find`."""
    danger = "if that is known, by name or by household, it tells who is who."
    if shuffled is None or shuffled is False:
        return Finding("warn", "order", (), f"The records stand in the order of the file: {danger} Shuffle them.")
    seed = getattr(shuffled, "entropy", shuffled)
    if seed is not True and seed < GUESSABLE:
        text = (
            "The order of the records comes from a seed below 2**64. An intruder can try all seeds of this size and "
            f"restore the order of the file: {danger} Shuffle the records without a seed."
        )
        return Finding("warn", "order", (), text)
    text = "It is not recorded: a replay releases the same records in another order."
    if is_whole(shuffled):
        text = "The recipe holds its seed, which restores the order of the file: keep the recipe with the original."
    return Finding("ok", "order", (), f"The records are in a random order. {text}")


def _rare_below(k: int) -> int:
    # With k of 1 no value would be rare, but who has a value that nobody else has is found by it all the same.
    return max(k, 2)


def _rarities(found: dict[Hashable, Rarity], k: int) -> str:
    each = [
        f"{plain(name)!r} has {counted(count.distinct, 'distinct value')} in {counted(count.present, 'record')}, "
        f"{100 * count.share:.3g} % of them with one that fewer than {_rare_below(k):,} share"
        for name, count in found.items()
    ]
    return "; ".join(each[:3]) + (f"; and likewise {quoted(list(found)[3:])}" if len(each) > 3 else "")


def _alone(splitting: dict[Hashable, SmallClasses], names: Sequence[Hashable]) -> str:
    """Return what the columns do alone, as a sentence that follows others; nothing where there is only one."""
    if len(names) == 1:
        return ""
    if not splitting:
        return " None of them does so alone."
    each = [f"{plain(name)!r} {count.records:,} ({count.unique:,} unique)" for name, count in splitting.items()]
    return f" Each alone: {listing(each, MOST_NAMED)}."


def _records(count: SmallClasses, file: _File) -> str:
    return f"{count.records:,} of {counted(file.n, 'record')} ({count.unique:,} unique)"


def _they(names: Sequence[Any]) -> str:
    return "it is" if len(names) == 1 else "they are"


def _them(names: Any) -> str:
    return "it" if len(names) == 1 else "them"


def _tell(names: Sequence[Any]) -> str:
    return "tells" if len(names) == 1 else "tell"


def _make(names: Any) -> str:
    return "make it a quasi-identifier" if len(names) == 1 else "make them quasi-identifiers"
