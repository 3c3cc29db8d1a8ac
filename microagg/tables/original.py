"""Tables written as the file that they were made from: a release goes out as its original came in.

Columns that were not changed have the cells of that file, as they stand there. Of the others, numbers have the decimals
and the decimal mark that they had, and dates are written in the same way.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import io
import itertools
import re
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from microagg.errors import DataError
from microagg.tables.excel import cells_of_sheet
from microagg.tables.excel_cells import Code, Fault
from microagg.tables.frames import as_given
from microagg.tables.notices import MISSING, Reading, Source
from microagg.tables.statistics import rewritten
from microagg.tables.text import Cells, cells_of
from microagg.tables.text_lines import FIXED, Dialect, encoding_of
from microagg.tables.writing import (
    renamed_columns,
    sheet_cells,
    style,
    text_cell,
    workbook,
    write_table,
    written_ending,
)
from microagg.validation import IntArray

# The ending of the file that is written as one with another ending was.
_LIKE = {".tsv": ".csv", ".txt": ".csv", ".zsav": ".sav"}

#: A range of numbers or dates, as a release has it.
RANGE = re.compile(r"\[(.+), (.+)\]")

_DATE = re.compile(r"\s*(\d+)([-/.])(\d+)\2(\d+)(.*)", re.ASCII | re.DOTALL)
# What stands before a number, its digits with what groups them, and what stands behind it.
_NUMBER = re.compile(r"(\D*)(\d(?:.*\d)?)(\D*)", re.ASCII | re.DOTALL)

# So many cells show how the cells of a column are written.
_SHOWING = 10_000


class Written(NamedTuple):
    """A file as it was written, and how it is read again, so that what its very bytes say can be counted."""

    data: bytes
    reading: dict[str, Any]  # arguments of :func:`microagg.tables.read_file`
    renamed: dict[str, str]  # what the file calls columns that it does not call by their own name


def alike(name: str, original: str) -> bool:
    """Whether a file of this name can be written as the ``original`` was, by the name of that."""
    ending = PurePath(original).suffix.lower()
    return written_ending(name) == _LIKE.get(ending, ending)


def write_like(
    frame: pd.DataFrame,
    name: str,
    like: Reading,
    rows: IntArray,
    changed: Mapping[Hashable, bool],
    apart: Collection[Hashable],
    parents: Mapping[str, Hashable] | None = None,
    month_first: Collection[Hashable] = (),
) -> Written:
    """Return ``frame``, shape (m, some columns), made from ``like.frame``, as a file written as that one was.

    ``rows``, shape (m,), are the positions of its records in ``like.frame``. Cells of columns that are neither
    ``changed`` nor hold other values than there are those of the file. Those of ``apart`` are so only if they spell
    each value in one way, as it must not tell records apart how their values are spelled. Of columns that are
    ``changed`` it is said whether they are numbers or dates: their ranges, which are text, are written like these. What
    is no column of that file is written like the one of it that ``parents`` names. In columns that are ``month_first``
    the month stands before the day where the year is at the end; in others if a cell shows that.

    Raises DataError if what was made cannot be written like this, such as a character that the encoding does not have.
    """
    given = like.frame.set_axis([str(column) for column in like.frame.columns], axis=1)
    replaced = set(map(str, changed))
    same = [
        column
        for column in map(str, frame.columns)
        if column in given.columns and column not in replaced and _agree(frame, given, rows, column)
    ]
    measured = {str(column): column in month_first for column, is_measured in changed.items() if is_measured}
    of = {column: str((parents or {}).get(column, column)) for column in map(str, frame.columns)}
    assert like.source is not None, "the file is at hand"
    ending = written_ending(name)
    if ending == ".csv":
        return _write_text(frame, name, like.source, rows, same, measured, set(map(str, apart)), of)
    if ending == ".xlsx":
        return Written(_write_sheet(frame, like.source, rows, same, measured, of), {}, {})
    if ending == ".parquet":
        return Written(_write_arrow(frame, like, rows, same, of), {}, {})
    named = frame.set_axis(list(map(str, frame.columns)), axis=1)
    data = rewritten(named, like.source, given, rows, same, of)
    return (
        Written(write_table(frame, name), {}, renamed_columns(frame, ending)) if data is None else Written(data, {}, {})
    )


def _agree(frame: pd.DataFrame, given: pd.DataFrame, rows: IntArray, column: str) -> bool:
    now = frame.iloc[:, list(map(str, frame.columns)).index(column)].reset_index(drop=True)
    if len(rows) and int(rows.max()) >= len(given):
        return False
    before = given[column].iloc[rows].reset_index(drop=True)
    return bool(now.equals(before) or now.astype(object).equals(before.astype(object)))


# --- text -------------------------------------------------------------------------------------------------------------


def _write_text(
    frame: pd.DataFrame,
    name: str,
    source: Source,
    rows: IntArray,
    same: Collection[str],
    measured: Mapping[str, bool],  # numbers and dates; of these, whether the month is said to come first
    apart: Collection[str],
    of: Mapping[str, str],
) -> Written:
    cells = cells_of(source.data, source.name, source.options)
    form, at = _Form.of(cells), {column: place for place, column in enumerate(cells.names)}
    all_parsed = [cells.column(place) for place in range(len(cells.names))]
    tokens = _tokens(cells, all_parsed)
    header, columns = [], []
    for place, column in enumerate(map(str, frame.columns)):
        there = at.get(of[column])
        parsed = [] if there is None else all_parsed[there]
        stand = [] if there is None else parsed if tokens is None else [row[there] for row in tokens[1:]]
        quoted = form.quotes_all(stand)
        if column in same and not (column in apart and _is_respelled(stand, frame.iloc[:, place], rows)):
            columns.append([form.fit(stand[row]) if tokens is None else stand[row] for row in rows.tolist()])
        else:
            absent = frozenset(["", *source.options.missing, *MISSING])
            spell = _Spelling.of(parsed, absent, source.options.decimal, measured.get(of[column], False))
            columns.append([form.fit(cell, quoted) for cell in spell.column(frame.iloc[:, place], column in measured)])
        if of[column] != column:
            header.append(form.fit(column, tokens is not None and form.quotes_all(tokens[0])))
        elif tokens is not None and there is not None and cells.divided.header:
            header.append(tokens[0][there])
        else:
            header.append(
                form.fit(cells.divided.header[there] if there is not None and cells.divided.header else column)
            )
    has_header = bool(cells.divided.header)
    rows_of_cells = itertools.chain([header] if has_header else [], zip(*columns, strict=True))
    lines = [form.delimiter.join(row) for row in rows_of_cells]
    above = f"sep={form.delimiter}{form.end}" if cells.declared else ""
    text = above + form.end.join(lines) + (form.end if cells.ends else "")
    mark, codec = encoding_of(source.data, source.options.encoding)
    try:
        data = mark + text.encode(codec)
    except UnicodeEncodeError as error:
        raise DataError(
            f"the release holds {text[error.start]!r}, which the encoding of the original, {codec}, does not have: "
            "have it written as the standard, in UTF-8."
        ) from None
    reading: dict[str, Any] = {
        "delimiter": form.delimiter,
        "encoding": codec,
        "quote": form.quote,
        "inner_quotes": form.inner,
    }
    reading |= {"skip_blanks": cells.dialect.skip_blanks, "header": has_header, "number_names": True}
    head = mark + (above + form.end.join([*lines[:2], ""])).encode(codec)
    again = cells_of(head, name, type(source.options)(**reading)).names
    called = zip(map(str, frame.columns), again, strict=True)
    return Written(data, reading, {column: written for column, written in called if column != written})


class _Form(NamedTuple):
    """What stands between cells and around them."""

    delimiter: str
    quote: str
    inner: str
    end: str  # of a line

    @classmethod
    def of(cls, cells: Cells) -> _Form:
        dialect, end = cells.dialect, re.search(r"\r\n|\n|\r", cells.body)
        delimiter = "," if dialect.delimiter == FIXED else dialect.delimiter
        quote = dialect.quote if _is_plain(dialect) else '"'
        return cls(delimiter, quote, dialect.inner if _is_plain(dialect) else "doubled", end[0] if end else "\n")

    def quotes_all(self, tokens: Sequence[str]) -> bool:
        """Whether a column has all its cells in quotes, but for empty ones and those without a value."""
        some = [token for token in tokens[:_SHOWING] if token and token not in MISSING]
        return bool(some) and self.quote != "none" and all(token.lstrip(" ").startswith(self.quote) for token in some)

    def fit(self, cell: str, quoted: bool = False) -> str:
        """Return a cell as it stands in the file, in quotes if it must or all are."""
        if not cell and self.delimiter == " ":
            return 2 * self.quote
        if not (quoted and cell) and not any(sign in cell for sign in (self.delimiter, self.quote, "\r", "\n")):
            return cell
        if self.quote == "none":
            raise DataError(
                f"the release holds the cell {cell!r}, and the original has no quotes around cells that hold its "
                "delimiter: have it written as the standard."
            )
        before = self.quote if self.inner == "doubled" else "\\"
        return f"{self.quote}{cell.replace(self.quote, before + self.quote)}{self.quote}"


def _is_plain(dialect: Dialect) -> bool:
    """Whether cells can be written as they stand in the file."""
    return dialect.quote != "curly" and dialect.inner != "plain" and dialect.delimiter != FIXED


def _tokens(cells: Cells, columns: Sequence[Sequence[str]]) -> list[list[str]] | None:
    """Return the header and the cells of each record as they stand there, in quotes; None if that is not plain.

    ``columns`` are the cells of each column, without quotes.
    """
    dialect, divided = cells.dialect, cells.divided
    quote, delimiter = re.escape(dialect.quote), re.escape(dialect.delimiter)
    no_quotes = dialect.quote == "none" or dialect.quote not in cells.body
    if not _is_plain(dialect) or dialect.delimiter == " " or (no_quotes and not dialect.skip_blanks):
        return None
    inside = (
        rf"(?:[^{quote}\\]|\\.|{quote}{quote})*+" if dialect.inner == "escaped" else rf"(?:[^{quote}]|{quote}{quote})*+"
    )
    blanks = "[ ]*" if dialect.skip_blanks else ""
    around = "" if dialect.quote == "none" else rf"(?:{blanks}{quote}{inside}{quote})?"
    token = re.compile(rf"({around}[^{delimiter}\r\n]*)({delimiter}|\r\n|\r|\n|\Z)", re.DOTALL)

    def rows() -> Iterator[list[str]]:
        row: list[str] = []
        for found in token.finditer(cells.body):
            row.append(found[1])
            if found[2] != dialect.delimiter:
                yield row
                row = []

    def says(token: str) -> str:
        cell = token.lstrip(" ") if dialect.skip_blanks else token
        if dialect.quote == "none" or not cell.startswith(dialect.quote):
            return cell
        cell = cell[1:].removesuffix(dialect.quote)
        if dialect.inner == "escaped":
            return re.sub(
                rf"\\([\\{quote}])|{quote}({quote})", lambda pair: dialect.quote if pair[2] else pair[1], cell
            )
        return cell.replace(2 * dialect.quote, dialect.quote)

    kept: list[list[str]] = []
    wanted = itertools.chain([tuple(divided.header)], zip(*columns, strict=True))
    want = next(wanted, None)
    if not divided.header:
        kept.append([])
        want = next(wanted, None)
    # Lines that were left out when the file was read are left out here as well.
    for row in rows():
        if want is not None and tuple(map(says, row)) == want:
            kept.append(row)
            want = next(wanted, None)
    return kept if want is None else None


def _is_respelled(stand: Sequence[str], column: pd.Series[Any], rows: IntArray) -> bool:
    """Whether a column of the file spells one value in several ways."""
    codes = pd.factorize(column, use_na_sentinel=False)[0].tolist()
    first: dict[int, str] = {}
    return any(first.setdefault(code, stand[row]) != stand[row] for code, row in zip(codes, rows.tolist(), strict=True))


class _Spelling(NamedTuple):
    """How the cells of a column are written."""

    mark: str  # of decimals
    gap: str  # between thousands
    decimals: int | None  # of each number, None if these differ
    points: bool  # whether every number has a decimal mark
    before: str  # such as a currency
    behind: str
    date: Callable[[dt.date], str]
    absent: str

    @classmethod
    def of(cls, cells: Sequence[str], absent: Collection[str], decimal: str, month_first: bool) -> _Spelling:
        """Return how cells are written, of which those in ``absent`` are no value; ``month_first`` if that was said."""
        shown = [cell.strip() for cell in dict.fromkeys(cells) if cell not in absent]
        parts = [found for cell in shown if (found := _NUMBER.fullmatch(cell))]
        mark, gap = _marks([found[2] for found in parts], decimal)
        places = [len(found[2].rpartition(mark)[2]) if mark in found[2] else 0 for found in parts]
        decimals = places[0] if len(set(places)) == 1 else None
        outside = {(found[1].rstrip("+-"), found[3]) for found in parts}
        before, behind = outside.pop() if len(outside) == 1 else ("", "")
        words = Counter(cell for cell in cells if cell in absent).most_common(1)
        dated = _date_form([found for cell in shown if (found := _DATE.fullmatch(cell))], month_first)
        return cls(
            mark, gap, decimals, bool(places) and all(places), before, behind, dated, words[0][0] if words else ""
        )

    def column(self, series: pd.Series[Any], measured: bool) -> list[str]:
        """Return the cells of a column, equal for equal values; text is of ``measured`` numbers and dates, or not."""
        codes, distinct = pd.factorize(series)
        if isinstance(series.dtype, np.dtype) and series.dtype.kind == "M":
            texts = [self.date(day) for day in pd.DatetimeIndex(distinct)]
        elif is_numeric_dtype(series.dtype) and not is_bool_dtype(series.dtype):
            texts = [self.number(value) for value in distinct.tolist()]
        else:
            texts = [self.text(str(value)) if measured else str(value) for value in distinct]
        texts.append(self.absent)
        return [texts[code] for code in codes.tolist()]

    def number(self, value: float) -> str:
        """Return a number with the decimals that the column has, and more only if it has more itself."""
        text = str(int(value)) if isinstance(value, int) or (value.is_integer() and abs(value) < 1e15) else repr(value)
        if "e" in text or "n" in text:
            return text.replace(".", self.mark)
        whole, _, rest = text.lstrip("-").partition(".")
        if self.decimals is not None:
            rest = rest.ljust(self.decimals, "0")
        rest = rest or ("0" if self.points and self.decimals is None else "")
        whole = f"{int(whole):,}".replace(",", self.gap)
        return f"{self.before}{'-' * text.startswith('-')}{whole}{self.mark * bool(rest)}{rest}{self.behind}"

    def text(self, text: str) -> str:
        """Return a number, a date or a range of either, as a release has it, as such are written here."""
        if found := RANGE.fullmatch(text):
            ends = [self._end(found[1]), self._end(found[2])]
            if None not in ends:
                return f"[{ends[0]}{';' if ',' in f'{ends[0]}{ends[1]}' else ','} {ends[1]}]"
        return self._end(text) or text

    def _end(self, text: str) -> str | None:
        if re.fullmatch(r"-?\d+(\.\d+)?(e[-+]?\d+)?", text):
            return self.number(float(text) if "." in text or "e" in text else int(text))
        if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
            return self.date(dt.date.fromisoformat(text))
        return None


def _marks(numbers: Sequence[str], decimal: str) -> tuple[str, str]:
    """Return the decimal mark of numbers, and what stands between their thousands."""
    inner = Counter(sign for text in numbers for sign in set(re.sub(r"\d", "", text)))
    for sign, other in ((",", "."), (".", ",")):
        # The mark stands once, behind what groups thousands.
        if (
            inner[sign]
            and inner[other]
            and all(text.rfind(sign) > text.rfind(other) for text in numbers if sign in text)
        ):
            return sign, other
    if decimal == "." and inner[","] and all(re.fullmatch(r"\d{1,3}(,\d{3})*", text) for text in numbers):
        return ".", ","
    gap = next((sign for sign in "'’ \u00a0\u202f\u2009" if inner[sign]), "")
    mark = next((sign for sign in (decimal, ",", ".") if inner[sign]), decimal)
    return mark, gap


def _date_form(dates: Sequence[re.Match[str]], month_first: bool) -> Callable[[dt.date], str]:
    """Return what writes a date as others are written, with the ``month_first`` if that was said."""
    if not dates:
        return lambda day: f"{day.year:04}-{day.month:02}-{day.day:02}"
    first, sign, _, last, behind = dates[0].groups()
    year_first = len(first) == 4
    small = [found[group] for found in dates for group in ((3, 4) if year_first else (1, 3))]
    width = 1 if any(len(text) == 1 for text in small) else 2
    month_first = not year_first and sign != "." and (month_first or max(int(found[3]) for found in dates) > 12)
    # Times of a day are not released, but for one that all have, such as midnight.
    after = behind if len(last) in (2, 4) and len({found[5] for found in dates}) == 1 else ""

    def write(day: dt.date) -> str:
        month, date, year = f"{day.month:0{width}}", f"{day.day:0{width}}", f"{day.year:04}"
        parts = [year, month, date] if year_first else [month, date, year] if month_first else [date, month, year]
        return sign.join(parts) + after

    return write


# --- workbooks and Parquet --------------------------------------------------------------------------------------------


def _write_sheet(
    frame: pd.DataFrame,
    source: Source,
    rows: IntArray,
    same: Collection[str],
    measured: Mapping[str, bool],  # numbers and dates; of these, whether the month is said to come first
    of: Mapping[str, str],
) -> bytes:
    """Return a workbook whose sheet has the name, the number formats and the widths of columns of the original one."""
    sheet = cells_of_sheet(source.data, source.name, source.options)
    formats: dict[str, int] = {}

    def styled(code: str, *, text: bool = False) -> int:
        is_usual = code == "General" and not text
        return 0 if is_usual else style(formats.setdefault(code, len(formats)), text=text)

    def cell(value: Any, code: str) -> str:
        if value is None:
            return ""
        if isinstance(value, Fault):
            return f' s="{styled(code)}" t="e"><v>{value}</v>'
        if isinstance(value, str):
            return text_cell(value, styled(code, text=True))
        if isinstance(value, bool):
            return f' s="{styled(code)}" t="b"><v>{int(value)}</v>'
        if isinstance(value, (dt.datetime, dt.time, dt.timedelta)):
            value = to_excel(value)
        number = value.number if isinstance(value, Code) else value
        # A percentage is a float that says so.
        return f' s="{styled(code)}"><v>{float.__repr__(number) if isinstance(number, float) else number}</v>'

    from openpyxl.utils.datetime import to_excel

    bodies = []
    for place, column in enumerate(map(str, frame.columns)):
        there, codes = sheet.columns.get(of[column], []), sheet.formats.get(of[column], [])
        if column in same:
            bodies.append([cell(there[row], codes[row]) for row in rows.tolist()])
            continue
        series, present = frame.iloc[:, place], [value for value in there if value is not None]
        are_texts = bool(present) and all(isinstance(value, str) for value in present)
        if are_texts and (column in measured or not is_numeric_dtype(series.dtype)):
            absent = frozenset(["", *source.options.missing, *MISSING])
            spell = _Spelling.of([value or "" for value in there], absent, ".", measured.get(of[column], False))
            texts = spell.column(series, column in measured)
            series = pd.Series(texts)
        cells = sheet_cells(column, series)
        usual = Counter(code for code, value in zip(codes, there, strict=True) if value is not None).most_common(1)
        number = f' s="{styled(usual[0][0])}"><v>' if usual and not are_texts else "><v>"
        bodies.append([re.sub(r'^( s="[12]")?><v>', number, each) for each in cells])
    names = list(map(str, frame.columns))
    return workbook(names, bodies, sheet.title, list(formats), [sheet.widths.get(of[name]) for name in names])


def _write_arrow(
    frame: pd.DataFrame, like: Reading, rows: IntArray, same: Collection[str], of: Mapping[str, str]
) -> bytes:
    """Return a Parquet file with the types of the original one."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    assert like.source is not None, "the file is at hand"
    before = pq.read_table(io.BytesIO(like.source.data)).rename_columns(list(map(str, like.frame.columns)))
    named = frame.set_axis(list(map(str, frame.columns)), axis=1)
    known = [name for name in named.columns if name in before.column_names]
    table: Any = as_given(named[known], before, rows, [name for name in known if name not in same])
    columns = []
    for name in named.columns:
        column = table[name] if name in known else pa.array(named[name], from_pandas=True)
        if of[name] in before.column_names and name not in same:
            with contextlib.suppress(pa.ArrowException):  # a mean may not be whole
                column = column.cast(before.schema.field(of[name]).type)
        columns.append(column)
    stream = io.BytesIO()
    pq.write_table(pa.Table.from_arrays(columns, names=list(named.columns)), stream)
    return stream.getvalue()
