"""The table of all checks of a release, and the checks that need only counts, which releases in parts share."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, NamedTuple

from microagg.columns.schema import Schema
from microagg.release import findings
from microagg.release.findings import File, Finding
from microagg.validation import counted, is_whole, quoted

#: From this share on, records that are left out are to be thought about: less than 1 % of incomplete ones is held to be
#: trivial (Acuña & Rodriguez, The treatment of missing values and its effect on classifier accuracy, 2004).
GAPS = 0.01

#: Seeds below this can all be tried; dates, telephone numbers and the seeds of 32 or 64 bits that programs draw are
#: below it, and of seeds of 128 random bits one in 2**64.
GUESSABLE = 2**64


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
    """A check of a release, and what can be done about its findings."""

    code: str
    levels: str  # of its findings
    find: Callable[[File], Iterable[Finding]] | None = (
        None  # None if they are counted elsewhere, as on the file's bytes
    )
    cure: str = ""  # what cures it, as words of a button
    page: str = ""  # the page of the dashboard for that
    of_columns: bool = False  # whether its columns can be left out, rounded or protected to cure it
    in_parts: bool = False  # whether a release in parts can have it
    acceptable: bool = True  # whether a file can be released in spite of it


_ROLES, _K = ("Change roles", "data"), ("Choose another k", "choose_k")
_REVIEW, _FILL = ("Review suggestions", "data"), ("Fill in missing values", "data")

#: All checks by their code, in the order of their findings. Pages, reports and the shell read what they need from it.
CHECKS = {
    check.code: check
    for check in (
        Check("identifiers", "stop ok", lambda file: identifiers(file.schema, file.released.columns), in_parts=True),
        Check("undecided", "stop ok", lambda file: [undecided(file.undeclared)], *_REVIEW, in_parts=True),
        Check("index", "stop", findings.index),
        Check("k", "stop warn ok", findings.k, *_K),
        Check("identifying", "stop warn ok", findings.identifying, *_ROLES, of_columns=True),
        Check("determines", "stop ok", findings.determines, of_columns=True),
        Check("predicted", "stop warn ok", findings.predicted, of_columns=True),
        Check("homogeneity", "warn ok", findings.homogeneity, *_K),
        Check("households", "warn ok", findings.households),
        Check("impossible", "warn ok", findings.impossible, *_ROLES),
        Check("one-value", "warn", findings.one_value, *_ROLES),
        Check("weights", "ok", findings.weights),
        Check("outliers", "warn", findings.outliers, "Recode values", "data"),
        Check("numeric-categories", "warn", findings.numeric_categories, "Change kinds", "data"),
        Check("gaps", "warn ok", lambda file: gaps(file.n, file.n_dropped), *_FILL, in_parts=True),
        Check("order", "warn ok", lambda file: [order(file.shuffled)], in_parts=True),
        # Counted on the written bytes, with an earlier release, of a release in parts, and by limits.
        Check("bytes", "stop warn ok", in_parts=True, acceptable=False),
        Check("releases", "stop warn ok"),
        Check("unchecked", "warn", in_parts=True),
        Check("accepted", "warn"),
        Check("risk", "warn ok", None, *_K, of_columns=True),
        Check("loss", "warn ok", None, *_K),
    )
}


def find(file: File) -> tuple[Finding, ...]:
    """Run all checks of a release, in the order of :data:`CHECKS`."""
    return tuple(finding for check in CHECKS.values() if check.find for finding in check.find(file))
