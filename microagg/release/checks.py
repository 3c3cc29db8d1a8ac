"""Findings: what a steward must know of a release before it leaves the house; the table of all checks."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from microagg.columns.kinds import number_categories
from microagg.columns.recodes import counted_as, doubts, meant
from microagg.columns.schema import Schema
from microagg.metrics.risk.equivalence_classes import coded, household_risk, numbered, small_classes
from microagg.release import column_checks, column_counts
from microagg.release.finding import LEVELS, RARE, File, Finding, describe_alone, undeclared
from microagg.release.guarantees import Guarantee, describe_counts
from microagg.release.predicted_linkage import Predicted
from microagg.validation import MOST_NAMED, IntArray, counted, is_whole, listing, plain, quoted

__all__ = [
    "CHECKS", "GAPS", "GUESSABLE", "LEVELS", "OUTLIERS", "RARE", "SPREAD", "Check", "Finding", "find",
    "gaps", "identifiers", "nothing_confidential", "order", "undecided", "undeclared",
]  # fmt: skip

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

#: Records share an identifier if it has at most this number of distinct values for each record. With more records for
#: each value on average, it is rather that of a region than of a household, or a column that follows from another one.
MOST_DISTINCT, MOST_RECORDS = 0.9, 10


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


def _index(file: File) -> Iterator[Finding]:
    """Stop if the index has a name, so that files get its labels, and these are not the numbers from 0."""
    index = file.released.index
    names = tuple(name for name in index.names if name is not None)
    if names and not (index.nlevels == 1 and index.equals(pd.RangeIndex(file.n))):
        text = (
            f"Files get the index {quoted(names)}, whose labels may identify records. Remove it with "
            "reset_index(drop=True), or make it a column with a role."
        )
        yield Finding("stop", "index", names, text)


def _k(file: File) -> Iterator[Finding]:
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
        text = f"{file.describe(alone)} share their {combination} with fewer than k = {k:,}: do not release this file."
        yield Finding("stop", "k", (), text)
    else:
        splitting = file.splitting(names)
        text = (
            f"An intruder who also knows {quoted(names)} finds {file.describe(together)} in classes of fewer than "
            f"k = {k:,} (otherwise each class has at least {alone.smallest:,}).{describe_alone(splitting, names)} "
            f"Leave out {quoted(names)}, or choose a role."
        )
        yield Finding("stop", "k", tuple(splitting) or names, text)


def nothing_confidential(schema: Schema) -> Iterator[Finding]:
    """Warn if no column is confidential."""
    if not schema.confidential:
        text = (
            "Attribute disclosure was not checked: no column is marked confidential. Mark the columns, such as a "
            "diagnosis or a debt, that nobody should learn."
        )
        yield Finding("warn", "homogeneity", (), text)


def _homogeneity(file: File) -> Iterator[Finding]:
    """Look for classes that reveal a confidential value.

    Warn of each confidential column that has one single value in some class, so that anyone who finds a person's class
    learns the value (Machanavajjhala, Gehrke, Kifer & Venkitasubramaniam 2006). Values that mean the same count as one,
    see :func:`microagg.columns.recodes.meant`; missing ones are not learnt, and those of a column that has one value
    only are no secret. Warn, too, if numbers look like missing-value codes, if no column is confidential, and if the
    guarantees have made one class of all records.
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


def _households(file: File) -> Iterator[Finding]:
    """Warn if records share an identifier, such as a household, and a class has fewer than k values of it."""
    for name in [name for name in file.schema.identifiers if name in file.original.columns]:
        codes = coded(file.original[name])
        present = codes >= 0
        counts = np.bincount(codes[present])
        if len(counts) < 2 or len(counts) > MOST_DISTINCT * present.sum() or counts.mean() > MOST_RECORDS:
            continue
        classes = pd.factorize(file.classes[present])[0]
        fewest = pd.Series(codes[present]).groupby(classes).nunique()
        risk = household_risk(file.classes, codes)
        values = f"values of {plain(name)!r}"
        text = (
            f"{counted(int(present.sum()), 'record')} share {len(counts):,} {values}, as persons share a household. An "
            "intruder who looks for all records of one value re-identifies at least one of them with probability up to "
            f"{100 * risk.max():.3g} %, on average {100 * risk.mean():.3g} %."
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


def _impossible(file: File) -> Iterator[Finding]:
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


def _weights(file: File) -> Iterator[Finding]:
    """Ok if the weights are left out or one value for each class; otherwise "identifying" has them."""
    names = file.schema.columns("weights")
    if not names:
        return
    if names[0] not in file.released.columns:
        yield Finding("ok", "weights", names, f"The weights {quoted(names)} are left out.")
    elif file.weights_of_classes:
        text = f"The weights {quoted(names)} are one value for each class, so they tell no record from others in it."
        yield Finding("ok", "weights", names, text)


def _outliers(file: File) -> Iterator[Finding]:
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


def _numeric_categories(file: File) -> Iterator[Finding]:
    """Warn of nominal quasi-identifiers without a taxonomy whose categories are mostly numbers."""
    for name, taxonomy in file.schema.taxonomies.items():
        if taxonomy.is_flat and (clause := number_categories(name, taxonomy.values)):
            text = (
                f"{plain(name)!r} is nominal, though {clause}: groups ignore their size, and different values become "
                "'*'. If they are quantities, make the column numeric, and declare other values as missing-value codes."
            )
            yield Finding("warn", "numeric-categories", (name,), text)


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


class Check(NamedTuple):
    """A check of a release: the ``code`` and the possible ``levels`` of its findings, and what can be done about them.

    Attributes
    ----------
    find : callable or None
        The findings on a :class:`.finding.File`; None if they are counted elsewhere, such as on the file's bytes.
    cure, page : str
        What cures it, as words of a button, and the page of the dashboard for that; empty if no page does.
    of_columns : bool
        Whether its columns can be left out, rounded or protected to cure it.
    in_parts : bool
        Whether a release in parts can have it.
    acceptable : bool
        Whether a file can be released in spite of it.
    """

    code: str
    levels: str
    find: Callable[[File], Iterable[Finding]] | None = None
    cure: str = ""
    page: str = ""
    of_columns: bool = False
    in_parts: bool = False
    acceptable: bool = True


def _identifiers(file: File) -> Iterator[Finding]:
    yield from identifiers(file.schema, file.released.columns)


def _undecided(file: File) -> Iterator[Finding]:
    yield undecided(file.undeclared)


def _gaps(file: File) -> Iterator[Finding]:
    yield from gaps(file.n, file.n_dropped)


def _order(file: File) -> Iterator[Finding]:
    yield order(file.shuffled)


_ROLES, _K = ("Change roles", "data"), ("Choose another k", "choose_k")

#: All checks by their code, in the order of their findings. Pages, reports and the shell read what they need from it.
CHECKS = {
    check.code: check
    for check in (
        Check("identifiers", "stop ok", _identifiers, in_parts=True),
        Check("undecided", "stop ok", _undecided, "Review suggestions", "data", in_parts=True),
        Check("index", "stop", _index),
        Check("k", "stop warn ok", _k, *_K),
        Check("identifying", "stop warn ok", column_checks.identifying, *_ROLES, of_columns=True),
        Check("determines", "stop ok", column_checks.determines, of_columns=True),
        Check("predicted", "stop warn ok", column_checks.predicted, of_columns=True),
        Check("homogeneity", "warn ok", _homogeneity, *_K),
        Check("households", "warn ok", _households),
        Check("impossible", "warn ok", _impossible, *_ROLES),
        Check("weights", "ok", _weights),
        Check("outliers", "warn", _outliers, "Recode values", "data"),
        Check("numeric-categories", "warn", _numeric_categories, "Change kinds", "data"),
        Check("gaps", "warn ok", _gaps, "Fill in missing values", "data", in_parts=True),
        Check("order", "warn ok", _order, in_parts=True),
        # Counted on the written bytes, with an earlier release, of a release in parts, and by limits.
        Check("bytes", "stop warn ok", in_parts=True, acceptable=False),
        Check("releases", "stop warn ok"),
        Check("unchecked", "warn", in_parts=True),
        Check("accepted", "warn"),
        Check("risk", "warn ok", None, *_K),
        Check("loss", "warn ok", None, *_K),
    )
}


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
    file = File(released, original, schema, k, classes, secrets or {}, n_dropped, shuffled, guaranteed, predicted)
    return tuple(finding for check in CHECKS.values() if check.find for finding in check.find(file))
