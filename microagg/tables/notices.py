"""What all readers of files share: checks, notices, and offers of other ways to read."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path, PurePath
from typing import Any, NoReturn

import pandas as pd

from microagg.errors import DataError, ParameterError
from microagg.validation import check_unique_columns, check_whole, counted

#: The cells that count as missing in text files and workbooks, beside empty ones.
MISSING = ("NA", "N/A", "#N/A", "NaN", "nan", "null", "NULL")

# How many characters the name of a column may have.
_MAX_NAME = 1_000

# How many further columns are named where several have the same notice.
_NAMED = 8


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
    """Whether a text holds half of a pair that UTF-16 writes a character with; no file in UTF-8 can hold it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def column_names(header: Iterable[tuple[int, Any]], label: str, *, number: bool = False) -> list[str]:
    """Return the names in a header of (position from 1, cell); where a cell is empty, the position is the name.

    With ``number``, names that occur again get a number, as the second ``age`` becomes ``age (2)``.
    """
    names = [("" if cell is None else str(cell).strip()) or f"column {position}" for position, cell in header]
    if number:
        taken = set(names)
        for j, name in enumerate(names):
            if name in names[:j]:
                numbered = (f"{name} ({n})" for n in itertools.count(2))
                names[j] = next(other for other in numbered if other not in taken)
                taken.add(names[j])
    check_names(names, label)
    return names


@dataclass(frozen=True)
class Line:
    """A line of a text file, as it stands there."""

    number: int  # from 1
    text: str
    marked: bool = False  # whether it is what a sentence is about, among others
    becomes: str = ""  # the cells that were made of it, where it was mended


@dataclass(frozen=True)
class Offer:
    """Another way to read a file."""

    label: str  # what it does, as a button says it: ``Skip 2 lines``
    #: The arguments of :func:`microagg.tables.read_file` that do it, beside those the file was read with.
    reading: Mapping[str, Any] = field(hash=False)
    preview: Preview | None = field(default=None, compare=False)  # what it gives, if that was tried


@dataclass(frozen=True)
class Notice:
    """A remark on a file that the user of its table has to know."""

    code: str  # what kind of notice it is; equal for all columns that it concerns
    text: str  # one sentence, with the column, how many cells it concerns and one of them
    column: str = ""  # empty if it concerns the whole file
    count: int = 0  # how many cells, lines or records it concerns
    example: str = ""  # one of them, as the file has it
    offers: tuple[Offer, ...] = ()  # the ways to read the file otherwise
    lines: tuple[Line, ...] = ()  # those that it concerns, the first ones


@dataclass(frozen=True, eq=False)
class Source:
    """A file as it was read: what is made of its table can be written as it was."""

    data: bytes
    name: str
    options: Any = None  # how a text file or a workbook was read


@dataclass(frozen=True, eq=False)
class Reading:
    """A table and what there is to say of the file it comes from."""

    frame: pd.DataFrame  # shape (n records, number of columns), with a plain 0..n-1 index
    notices: tuple[Notice, ...] = ()  # in the order of the columns, those about the whole file first
    #: What was left out, mended or named because that was asked for; these texts hold no value of the file.
    done: tuple[Notice, ...] = ()
    source: Source | None = None


def notice_lines(notices: Sequence[Notice]) -> list[str]:
    """Summarize notices in few lines: of three columns or more, the first in full and examples of the others."""
    groups: dict[str, list[Notice]] = {}
    for notice in notices:
        groups.setdefault(notice.code, []).append(notice)
    lines = []
    for first, *others in groups.values():
        if len(others) < 2 or not all(other.column for other in others):
            lines += [notice.text for notice in (first, *others)]
        else:
            named = [f"{other.column!r} ({other.example!r})" for other in others[:_NAMED]]
            more = [f"{len(others) - _NAMED:,} more"] if len(others) > _NAMED else []
            lines.append(f"{first.text} Likewise {counted(len(others), 'more column')}: {', '.join([*named, *more])}.")
    return lines


@dataclass(frozen=True, eq=False)
class Preview:
    """What a file would give if it were read in another way, from its beginning and its end if it is long."""

    frame: pd.DataFrame  # the first records, shape (at most 3, number of columns)
    n_records: int | None  # None where the file was not tried whole
    done: tuple[Notice, ...]  # what would be left out, mended and named


class UnreadableError(DataError):
    """A file cannot be read as asked: with offers of ways that do, likeliest first, and the lines concerned.

    ``trouble`` is the message without its advice.
    """

    def __init__(
        self, message: str, offers: tuple[Offer, ...] = (), lines: tuple[Line, ...] = (), trouble: str = ""
    ) -> None:
        super().__init__(message)
        self.offers, self.lines, self.trouble = offers, lines, trouble or message


#: The kinds of notices whose first offer is likely to be right, so that several of them are offered as one.
LIKELY = frozenset(
    ("title-row", "comment-lines", "header-lines", "units-row", "last-records", "empty-columns", "decimal-comma")
)

# How many ways in a row are offered as one, and how many are offered.
_MOST_STEPS, _MOST_WAYS = 6, 6

# How many records are shown of what an offer gives.
_PREVIEWED = 3


@dataclass
class Attempt:
    """Reads a file, or the beginning and the end of a long one, with further arguments, a limited number of times."""

    read: Callable[[Mapping[str, Any]], Reading]
    whole: bool
    left: int  # how many times


def ways_on(
    offers: Sequence[Offer], attempt: Attempt, trouble: str = "", steps: int = _MOST_STEPS
) -> tuple[Offer, ...]:
    """Return the ``offers`` that read a file, with previews, each after its longer variant with further steps.

    An offer that still fails, or has a likely correction, is followed along the first offer that leads on, for at most
    ``steps`` steps; one that leaves the ``trouble`` as it is leads nowhere.
    """

    def follow(way: Offer, steps: int, trouble: str) -> list[Offer]:
        """Return ``way`` extended as far as it leads, then ``way`` itself if it reads; none if it leads nowhere."""
        if not attempt.left or not steps:
            return []
        attempt.left -= 1
        try:
            reading = attempt.read(way.reading)
            n_records = len(reading.frame) if attempt.whole else None
            read = [replace(way, preview=Preview(reading.frame.head(_PREVIEWED), n_records, reading.done))]
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
            label = f"{way.label}; {offer.label[0].lower()}{offer.label[1:]}" if way.label else offer.label
            if longer := follow(Offer(label, {**way.reading, **offer.reading}), steps - 1, trouble):
                return [longer[0], *read]
        return read

    ways: list[Offer] = []
    for offer in offers:
        read = follow(offer, steps, trouble)
        ways += [way for way in read if all(way.reading != old.reading for old in ways)]
    return tuple(ways[:_MOST_WAYS])


def with_ways(notices: Sequence[Notice], attempt: Attempt) -> tuple[Notice, ...]:
    """Return notices with previews of their offers; the first gets an offer of all likely corrections at once."""
    first = next((i for i, notice in enumerate(notices) if notice.code in LIKELY and notice.offers), None)
    together = () if first is None else ways_on(notices[first].offers[:1], attempt)[:1]
    previews = {repr(way.reading): way for way in together}
    updated = []
    for i, notice in enumerate(notices):
        offers = [*together, *notice.offers] if i == first else notice.offers
        for offer in offers if notice.code in LIKELY | {"several-tables"} else ():
            if repr(offer.reading) not in previews:
                previews |= {repr(way.reading): way for way in ways_on([offer], attempt, steps=1)}
        tried = {repr(offer.reading): previews.get(repr(offer.reading), offer) for offer in offers}
        updated.append(replace(notice, offers=tuple(tried.values())))
    return tuple(updated)


@dataclass(frozen=True, kw_only=True)
class LayoutOptions:
    """What of a file is no record, and which texts are no values; see :func:`microagg.tables.read_file`."""

    skip_lines: int = 0
    skip_last: int = 0
    units_row: bool = False
    missing: Sequence[str] = MISSING

    def __post_init__(self) -> None:
        for name in ("skip_lines", "skip_last"):
            check_whole(name, getattr(self, name), 0)
        if not isinstance(self.missing, (list, tuple)) or not all(isinstance(word, str) for word in self.missing):
            raise ParameterError(f"missing must be a list of texts such as ['NA'], not {self.missing!r}.")


# What last records are called that are totals.
_TOTALS = frozenset(
    (
        *("total", "totals", "grand total", "grand totals", "overall total", "sum total", "sum", "sums", "grand sum"),
        *("subtotal", "subtotals", "sub-total", "sub-totals", "subsum", "summe", "summen", "gesamt", "gesamtsumme"),
        *("endsumme", "zwischensumme", "insgesamt", "zusammen", "suma", "suma total", "total general", "totales"),
        *("totale", "somma", "somme", "total général", "totaux", "totaal", "итого", "всего"),
        *("合计", "合計", "总计", "計", "합계"),
    )
)


def is_total(text: str) -> bool:
    """Whether a text is what a record of totals is called, in one of several languages: ``Total:``, ``Insgesamt``."""
    return re.sub(r"\W+$", "", text.strip()).casefold() in _TOTALS


def leave_out_last(count: int, noun: str, skipped: int = 0) -> Offer:
    """Return the offer to leave out the last ``count`` records, rows or lines, beside those ``skipped`` already."""
    label = f"Leave out the last {noun if count == 1 else counted(count, noun)}"
    return Offer(label, {"skip_last": skipped + count})


#: A file may take this many times its size on disk, and :data:`BESIDE` bytes more, while it is read.
TIMES = 20

#: What reading takes whatever the size of the file, in bytes: packages that are loaded, and small files.
BESIDE = 200 * 10**6

#: One file may never take more than the machine's memory divided by this.
SHARE = 4


def allowed(size: int) -> int:
    """Return how many bytes reading a file of ``size`` bytes may take, by TIMES, BESIDE and, if it is known, SHARE."""
    most = TIMES * size + BESIDE
    machine = machine_memory()
    return most if machine is None else min(most, machine // SHARE)


def check_memory(needed: int, size: int, label: str) -> None:
    """Raise DataError if reading a file takes more memory than it may, so that no machine is brought down.

    To be called with the bytes ``needed`` at least, before they are taken; ``size`` is how many the file has on disk.
    """
    most = allowed(size)
    if needed > most:
        bound = f"{TIMES} times its size and {BESIDE // 10**6} MB"
        if most < TIMES * size + BESIDE:
            bound = "a quarter of this machine's memory"
        # A text file is as large as what it holds; others are packed.
        advice = "leave out columns, or split the file"
        if PurePath(label).suffix.lower() not in (".csv", ".tsv", ".txt"):
            advice = "leave out columns, split the file, or save the table as .csv"
        raise DataError(
            f"reading the file {label!r} ({_megabytes(size)}) would take at least {_megabytes(needed)} of memory, over "
            f"the limit of {_megabytes(most)}, which is {bound}: {advice}."
        )


@cache
def machine_memory() -> int | None:
    """Return the machine's memory in bytes, or the lower limit of the process' control group; None if nothing tells."""
    limits = list(_group_limits(Path("/proc/self/cgroup"), Path("/sys/fs/cgroup")))
    with contextlib.suppress(AttributeError, ValueError, OSError):  # Windows has no sysconf
        limits.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return min((limit for limit in limits if limit > 0), default=None)


def _group_limits(membership: Path, root: Path) -> Iterator[int]:
    """Yield the limits of the control groups of both versions that a process is in, from its own up to the root."""
    with contextlib.suppress(OSError):
        for line in membership.read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if controllers not in ("", "memory"):
                continue
            top, name = (root, "memory.max") if controllers == "" else (root / "memory", "memory.limit_in_bytes")
            # Within a container the folder may not be there by this name, but that of the container is then the top.
            parts = [part for part in path.split("/") if part]
            for depth in range(len(parts), -1, -1):
                with contextlib.suppress(OSError):
                    text = top.joinpath(*parts[:depth], name).read_text().strip()
                    if text.isdigit():  # the word max means that there is no limit
                        yield int(text)


def _megabytes(count: int) -> str:
    millions = count / 1e6
    return f"{millions:,.0f} MB" if millions >= 10 else f"{millions:.2g} MB"
