"""Common parts of all readers of files: checks, notices, and offers of other options."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path, PurePath
from typing import Any, NamedTuple, NoReturn

import pandas as pd

from microagg.errors import DataError, ParameterError
from microagg.validation import IntArray, check_unique_columns, check_whole, counted

#: The cells that count as missing in text files and workbooks, beside empty ones.
MISSING = ("NA", "N/A", "#N/A", "NaN", "nan", "null", "NULL")

# The maximum length of a column name.
_MAX_NAME = 1_000

# The number of further columns named if several have the same notice.
_N_NAMED = 8


def check_cells(records: int, columns: int, max_cells: int, label: str, *, at_least: bool = False) -> None:
    """Raise DataError if a table has more than ``max_cells``."""
    if records * columns > max_cells:
        raise DataError(
            f"the file {label!r} has {'at least ' if at_least else ''}{records:,} records with {columns:,} columns, "
            f"over the limit of {max_cells:,} cells: leave out columns, or split the file."
        )


def refuse_no_records(label: str) -> NoReturn:
    """Raise DataError for a table without records."""
    raise DataError(f"the file {label!r} has a header but no records: choose a file with at least one record.")


def check_names(names: Sequence[str], label: str) -> None:
    """Raise DataError if a column name occurs more than once, is too long, or holds half a character."""
    for name in names:
        if len(name) > _MAX_NAME:
            raise DataError(
                f"in the file {label!r}, the column name that begins with {name[:20]!r} has {len(name):,} characters: "
                f"shorten it to at most {_MAX_NAME:,}."
            )
        if has_surrogates(name):
            raise DataError(
                f"in the file {label!r}, the column name {name!r} holds half a character (a lone surrogate): "
                "rename the column, or check the encoding."
            )
    try:
        check_unique_columns(names)
    except DataError as error:
        raise DataError(f"in the file {label!r}, {error}") from None


def has_surrogates(text: str) -> bool:
    """Whether a text has half of a surrogate pair of UTF-16, which no file in UTF-8 can contain."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def column_names(header: Iterable[tuple[int, Any]], label: str, *, number: bool = False) -> list[str]:
    """Names in a header of (position from 1, cell): an empty cell gets its position, and, with ``number``, the second
    ``age`` becomes ``age (2)``.
    """
    names = [("" if cell is None else str(cell).strip()) or f"column {position}" for position, cell in header]
    if number:
        taken = set(names)
        for j, name in enumerate(names):
            if name in names[:j]:
                numbered = (f"{name} ({n})" for n in itertools.count(2))
                names[j] = next(candidate for candidate in numbered if candidate not in taken)
                taken.add(names[j])
    check_names(names, label)
    return names


@dataclass(frozen=True)
class Line:
    """A line of a text file."""

    number: int  # from 1
    text: str
    marked: bool = False  # whether a sentence is about this line
    becomes: str = ""  # its cells, if it was mended


@dataclass(frozen=True)
class Offer:
    """Other options to read a file."""

    label: str  # the text of a button: ``Skip 2 lines``
    #: The arguments of :func:`microagg.tables.read_file`, in addition to those of the reading.
    reading: Mapping[str, Any] = field(hash=False)
    preview: Preview | None = field(default=None, compare=False)  # its result, if it was tried
    advice: str = field(default="", compare=False)  # the end of the message of an error that it solves


@dataclass(frozen=True)
class Notice:
    """A remark on a file for the user of its table."""

    code: str  # the kind of notice; equal for all columns that it concerns
    text: str  # one sentence, with the column, the number of cells and one of them
    column: str = ""  # empty if it concerns the whole file
    example: str = ""  # one of the cells that it concerns, as in the file
    offers: tuple[Offer, ...] = ()  # other options to read the file
    lines: tuple[Line, ...] = ()  # the first ones that it concerns


@dataclass(frozen=True, eq=False)
class Source:
    """A file that was read, so that a table made from it can be written in its style."""

    data: bytes
    name: str
    options: Any = None  # the options of a text file or a workbook


@dataclass(frozen=True, eq=False)
class Reading:
    """A table and notices on its file."""

    frame: pd.DataFrame  # shape (n records, number of columns), with a plain 0..n-1 index
    notices: tuple[Notice, ...] = ()  # in the order of the columns, those about the whole file first
    #: Omissions, repairs and names by the chosen options; these texts have no value of the file.
    done: tuple[Notice, ...] = ()
    source: Source | None = None
    #: What a file of Stata or SPSS says of its columns, by their names ("woman's age in years").
    variable_labels: Mapping[str, str] = field(default_factory=dict)
    #: The labels of single values, by code, of the columns of such a file that are read as numbers.
    value_labels: Mapping[str, Mapping[Any, str]] = field(default_factory=dict)


class Written(NamedTuple):
    """A written file, and what is needed to read it again, so that checks can count its bytes."""

    data: bytes
    reading: Mapping[str, Any] = {}  # arguments of :func:`microagg.tables.read_file`
    renamed: Mapping[str, str] = {}  # new names in the file of columns whose names it cannot contain
    notices: Sequence[Notice] = ()  # what is not in the file as it was


class Rewriting(NamedTuple):
    """A table made from a file, to be written in the style of that file. Names of columns are texts."""

    frame: pd.DataFrame
    source: Source
    original: pd.DataFrame  # the table of the source
    rows: IntArray  # the positions of the records in it
    unchanged: Collection[str]  # columns whose cells are those of the original
    # Replaced numbers and dates: their decimal mark, "" for the usual one, and whether the day is before the month.
    measured: Mapping[str, tuple[str, bool]]
    strata: Collection[str]
    origins: Mapping[str, str]  # for each column, the one of the original whose style it has


def notice_lines(notices: Sequence[Notice]) -> list[str]:
    """Summarize notices in few lines.

    Parameters
    ----------
    notices : sequence of Notice
        As :func:`microagg.tables.read_file` returns them.

    Returns
    -------
    list of str
        Sentences. For three columns or more, the first notice in full and examples of the others.
    """
    groups: dict[str, list[Notice]] = {}
    for notice in notices:
        groups.setdefault(notice.code, []).append(notice)
    lines = []
    for first, *others in groups.values():
        if len(others) < 2 or not all(other.column for other in others):
            lines += [notice.text for notice in (first, *others)]
        else:
            parts = [f"{other.column!r} ({other.example!r})" for other in others[:_N_NAMED]]
            rest = [f"{len(others) - _N_NAMED:,} more"] if len(others) > _N_NAMED else []
            lines.append(f"{first.text} Likewise {counted(len(others), 'more column')}: {', '.join([*parts, *rest])}.")
    return lines


@dataclass(frozen=True, eq=False)
class Preview:
    """The result of other options for a file, from its beginning and its end if it is long."""

    frame: pd.DataFrame  # the first records, shape (at most 3, number of columns)
    n_records: int | None  # None if only a part of the file was tried
    done: tuple[Notice, ...]  # omissions, repairs and names


class UnreadableError(DataError):
    """A file cannot be read with the chosen options: offers of others, likeliest first, and the lines concerned.

    ``seen`` is the message without its advice, if that is the one of the first offer; ``extent`` changes if an offer
    makes the trouble smaller.
    """

    def __init__(
        self,
        message: str,
        offers: tuple[Offer, ...] = (),
        lines: tuple[Line, ...] = (),
        *,
        seen: str = "",
        extent: object = None,
    ) -> None:
        super().__init__(message)
        self.offers, self.lines, self.seen = offers, lines, seen
        self.trouble = (seen or message, extent)


#: The kinds of notices whose first offer is likely to be right, so that their offers can be combined.
LIKELY = frozenset(
    ("title-row", "comment-lines", "header-lines", "units-row", "last-records", "empty-columns", "decimal-comma")
)

# The maximum numbers of combined steps and of offers.
_MAX_STEPS, _MAX_OFFERS = 6, 6

# The number of records in a preview.
_N_PREVIEWED = 3


@dataclass
class Attempt:
    """Reads a file, or the beginning and the end of a long one, with further arguments, a limited number of times."""

    read: Callable[[Mapping[str, Any]], Reading]
    whole: bool
    left: int  # the number of further readings


def ways_on(offers: Sequence[Offer], attempt: Attempt, trouble: object = None) -> tuple[Offer, ...]:
    """The ``offers`` that read a file, with previews, each after its longer variant with further steps.

    An offer that still fails, or has a likely correction, is followed along the first offer that helps; one that does
    not change the ``trouble`` is dropped.
    """

    def follow(way: Offer, steps: int, trouble: object) -> list[Offer]:
        """``way`` extended as far as it helps, then ``way`` itself if it reads. Empty if it does not help."""
        if not attempt.left or not steps:
            return []
        attempt.left -= 1
        try:
            reading = attempt.read(way.reading)
            n_records = len(reading.frame) if attempt.whole else None
            read = [replace(way, preview=Preview(reading.frame.head(_N_PREVIEWED), n_records, reading.done))]
            further = [notice.offers[0] for notice in reading.notices if notice.code in LIKELY and notice.offers]
        except UnreadableError as error:
            if error.trouble == trouble:
                return []
            read, further, trouble = [], list(error.offers), error.trouble
        except (DataError, ParameterError):
            return []
        for offer in further:
            if {**way.reading, **offer.reading} == way.reading:
                continue
            label = f"{way.label}; {offer.label[0].lower()}{offer.label[1:]}"
            longer = follow(replace(way, label=label, reading={**way.reading, **offer.reading}), steps - 1, trouble)
            if longer:
                return [longer[0], *read]
        return read

    ways: list[Offer] = []
    for offer in offers:
        read = follow(offer, _MAX_STEPS, trouble)
        ways += [way for way in read if all(way.reading != other.reading for other in ways)]
    return tuple(ways[:_MAX_OFFERS])


def with_ways(notices: Sequence[Notice], attempt: Attempt) -> tuple[Notice, ...]:
    """The notices, the first likely one beginning with an offer of all likely corrections together, with a preview."""
    updated = list(notices)
    likely = [i for i, notice in enumerate(notices) if notice.code in LIKELY and notice.offers]
    for i in likely[:1]:
        combined = ways_on(notices[i].offers[:1], attempt)[:1]
        others = [offer for offer in notices[i].offers if all(offer.reading != way.reading for way in combined)]
        updated[i] = replace(notices[i], offers=(*combined, *others))
    return tuple(updated)


@dataclass(frozen=True, kw_only=True)
class LayoutOptions:
    """Rows of a file that are not records, and texts for missing values (see :func:`microagg.tables.read_file`)."""

    skip_lines: int = 0
    skip_last: int = 0
    units_row: bool = False
    missing: Sequence[str] = MISSING

    def __post_init__(self) -> None:
        for name in ("skip_lines", "skip_last"):
            check_whole(name, getattr(self, name), 0)
        if not isinstance(self.missing, (list, tuple)) or not all(isinstance(word, str) for word in self.missing):
            raise ParameterError(f"missing must be a list of texts such as ['NA'], not {self.missing!r}.")


# Names of totals and averages at the end.
_TOTALS = frozenset(
    (
        *("total", "totals", "grand total", "grand totals", "overall total", "sum total", "sum", "sums", "grand sum"),
        *("subtotal", "subtotals", "sub-total", "sub-totals", "subsum", "summe", "summen", "gesamt", "gesamtsumme"),
        *("endsumme", "zwischensumme", "insgesamt", "zusammen", "suma", "suma total", "total general", "totales"),
        *("totale", "somma", "somme", "total général", "totaux", "totaal", "итого", "всего"),
        *("合计", "合計", "总计", "計", "합계"),
        *("mean", "average", "mittelwert", "durchschnitt", "moyenne", "promedio", "gemiddelde"),
    )
)


def is_total(text: str) -> bool:
    """Whether a text is a name of totals or averages, in one of several languages: ``Total:``, ``Insgesamt``."""
    return re.sub(r"\W+$", "", text.strip()).casefold() in _TOTALS


def leave_out_last(count: int, noun: str, skipped: int = 0) -> Offer:
    """Offer to leave out the last ``count`` records, rows or lines, besides those ``skipped`` already."""
    label = f"Leave out the last {noun if count == 1 else counted(count, noun)}"
    return Offer(label, {"skip_last": skipped + count})


#: Reading a file may take this many times its size on disk, and :data:`FIXED_MEMORY` bytes more.
MEMORY_PER_BYTE = 20

#: The memory of reading that does not depend on the size of the file, in bytes: loaded packages, and small files.
FIXED_MEMORY = 200 * 10**6

#: One file may never take more than the machine's memory divided by this.
SHARE = 4


def allowed(size: int) -> int:
    """Memory limit for reading a file of ``size`` bytes, by the constants above and, if it is known, SHARE."""
    limit = MEMORY_PER_BYTE * size + FIXED_MEMORY
    memory = machine_memory()
    return limit if memory is None else min(limit, memory // SHARE)


def check_memory(needed: int, size: int, label: str) -> None:
    """Raise DataError if reading a file of ``size`` bytes takes ``needed`` bytes or more, over its limit."""
    limit = allowed(size)
    if needed <= limit:
        return
    rule = f"{MEMORY_PER_BYTE} times its size and {FIXED_MEMORY // 10**6} MB"
    if limit < MEMORY_PER_BYTE * size + FIXED_MEMORY:
        rule = "a quarter of this machine's memory"
    advice = "leave out columns, or split the file"
    if PurePath(label).suffix.lower() not in (".csv", ".tsv", ".txt"):
        # The limit grows with the size on disk. Text files are not compressed, so the same table has a higher limit.
        advice = "leave out columns, split the file, or save the table as .csv"
    raise DataError(
        f"reading the file {label!r} ({_megabytes(size)}) would take at least {_megabytes(needed)} of memory, over "
        f"the limit of {_megabytes(limit)}, which is {rule}: {advice}."
    )


@cache
def machine_memory() -> int | None:
    """Memory of the machine in bytes, or the lower limit of its container. None if unknown."""
    limits = []
    with contextlib.suppress(ValueError, OSError):  # "max" is no limit
        limits.append(int(Path("/sys/fs/cgroup/memory.max").read_text()))
    with contextlib.suppress(AttributeError, ValueError, OSError):  # Windows has no sysconf
        limits.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return min(limits, default=None)


def _megabytes(count: int) -> str:
    millions = count / 1e6
    return f"{millions:,.0f} MB" if millions >= 10 else f"{millions:.2g} MB"
