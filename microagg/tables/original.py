"""Tables written in the style of their original file.

Unchanged columns have the cells of that file. In the others, numbers have the same number of decimals and the same
decimal mark, and dates the same form.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import io
import re
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_datetime64_any_dtype, is_numeric_dtype

from microagg.errors import DataError
from microagg.tables.excel import cells_of_sheet
from microagg.tables.excel_cells import Code, Fault
from microagg.tables.frames import as_given
from microagg.tables.limits import check as check_columns
from microagg.tables.lossless import cells_in
from microagg.tables.notices import MISSING, Reading, Rewriting, Written
from microagg.tables.stata_spss_writer import impersonal, rewritten
from microagg.tables.text import Body, divide_into_cells, names_of
from microagg.tables.text_lines import FIXED, TextOptions, encoding_of
from microagg.tables.writing import sheet_cells, style, text_cell, workbook, written, written_ending
from microagg.validation import IntArray

# Endings of files that are written with another ending.
_LIKE = {".tsv": ".csv", ".txt": ".csv", ".zsav": ".sav"}

# Endings of files whose values can have labels.
_WITH_CODES = (".dta", ".sav", ".zsav")

#: A range of numbers or dates in a release.
RANGE = re.compile(r"\[(.+), (.+)\]")

_DATE = re.compile(r"\s*(\d+)([-/.])(\d+)\2(\d+)(.*)", re.ASCII | re.DOTALL)
# The text before a number, its digits with their separators, and the text behind it. The point of .5 and 5. is no text.
_NUMBER = re.compile(r"([+-]?(?=[.,]\d+$)|\D*)([.,]?\d(?:.*\d)?)\.?(\D*)", re.ASCII | re.DOTALL)

_SIGNS, _ZEROS = str.maketrans("", "", "()+-−–"), str.maketrans("123456789", 9 * "0")

# The number of cells that determine the style of a column.
_N_EXAMINED = 10_000


def alike(name: str, original: str) -> bool:
    """Whether a file of this name can be written in the style of the file named ``original``."""
    ending = PurePath(original).suffix.lower()
    return written_ending(name) == _LIKE.get(ending, ending)


def has_codes(name: str, original: str) -> bool:
    """Whether a file of this name, and the file named ``original``, have codes with labels."""
    return all(PurePath(file).suffix.lower() in _WITH_CODES for file in (name, original))


def write_like(
    frame: pd.DataFrame,
    name: str,
    original: Reading,
    rows: IntArray,
    changed: Collection[Hashable],
    strata: Collection[Hashable],
    measured: Mapping[Hashable, tuple[str, bool]],
    parents: Mapping[Any, Hashable] | None = None,
) -> Written:
    """Write a table made from a file as that file: of its kind (:func:`alike`) or with codes (:func:`has_codes`).

    Columns that are not ``changed`` have the cells of the original, at the positions ``rows``; those of ``strata`` only
    if it spells each value in one way, as spelling variants must not distinguish records. The changed columns that are
    ``measured`` have numbers or dates, and ranges, which are text, are written like these; it has their decimal marks,
    "" for the usual one, and whether the day is before the month. A new column has the style of its column in
    ``parents``. DataError if the style does not allow a text, as when the encoding does not have a character.
    """
    assert original.source is not None, "the file is at hand"
    frame = frame.set_axis(list(map(str, frame.columns)), axis=1)
    before = original.frame.set_axis(list(map(str, original.frame.columns)), axis=1)
    replaced = set(map(str, changed))
    origins = {name: str((parents or {}).get(name, name)) for name in map(str, frame.columns)}
    retained = [name for name in origins if name in before.columns and name not in replaced]
    unchanged = {name for name in retained if _agree(frame[name], before[name], rows)}
    marks = {str(column): of_column for column, of_column in measured.items()}
    task = Rewriting(frame, original.source, before, rows, unchanged, marks, set(map(str, strata)), origins)
    ending = written_ending(name)
    if ending == ".csv":
        return _write_text(task, name)
    is_same_kind = alike(name, original.source.name)
    check_columns({column: frame[column] for column in origins if not (is_same_kind and column in unchanged)}, ending)
    if ending == ".xlsx":
        return _write_sheet(task)
    if ending == ".parquet":
        return Written(_write_arrow(task))
    return rewritten(task, ending) or written(frame, name)


def _agree(new: pd.Series[Any], original: pd.Series[Any], rows: IntArray) -> bool:
    if len(rows) and int(rows.max()) >= len(original):
        return False
    new, old = new.reset_index(drop=True), original.iloc[rows].reset_index(drop=True)
    return bool(new.equals(old) or new.astype(object).equals(old.astype(object)))


def _spelled(task: Rewriting, column: str, cells: Sequence[str], decimal: str) -> list[str]:
    """Values of a column in the style of the ``cells`` of the original."""
    absent = frozenset(["", *task.source.options.missing, *MISSING])
    mark, day_first = task.measured.get(task.origins[column], ("", True))
    spelling = _Spelling.of_cells(cells, absent, mark or decimal, day_first)
    return spelling.column(task.frame[column], column in task.measured)


# --- text -------------------------------------------------------------------------------------------------------------


def _write_text(task: Rewriting, name: str) -> Written:
    """Write a text file in the style of the original."""
    source, origins, rows = task.source, task.origins, task.rows
    body, divided = divide_into_cells(source.data, source.name, source.options)
    form = _Form.of_file(body)
    positions = {column: position for position, column in enumerate(names_of(body, divided))}
    header_names = divided.header
    tokens = _tokens(body, header_names, divided.chunks)
    body = body._replace(text="")  # which takes much memory, as what is deleted below
    header, columns = [], []
    for column in origins:
        position_there = positions.get(origins[column])
        read = [] if position_there is None else list(cells_in(divided.chunks[position_there]))
        raw = read if position_there is None or tokens is None else [row[position_there] for row in tokens[1:]]
        if column in task.unchanged and not (column in task.strata and _is_respelled(raw, task.frame[column], rows)):
            columns.append([form.fit(raw[row]) if tokens is None else raw[row] for row in rows.tolist()])
        else:
            quoted = form.quotes_all(raw)
            cells = _spelled(task, column, read, source.options.decimal)
            fitted = {cell: form.fit(cell, quoted) for cell in dict.fromkeys(cells)}  # groups share their cells
            columns.append([fitted[cell] for cell in cells])
        if origins[column] == column and position_there is not None and header_names:
            header.append(form.fit(header_names[position_there]) if tokens is None else tokens[0][position_there])
        else:
            header.append(form.fit(column, tokens is not None and form.quotes_all(tokens[0])))
    del divided, tokens, read, raw
    if header_names:
        for column, cells in zip(header, columns, strict=True):
            cells.insert(0, column)

    def lines(begin: int, end: int) -> Iterator[str]:
        return map(form.delimiter.join, zip(*(cells[begin:end] for cells in columns), strict=True))

    # In blocks of lines, as single ones take more memory.
    starts = range(0, len(columns[0]), _N_EXAMINED)
    blocks = [form.end.join(lines(start, start + _N_EXAMINED)) for start in starts]
    declaration = f"sep={form.delimiter}{form.end}" if body.declares else ""
    text = declaration + form.end.join(blocks) + (form.end if body.ends else "")
    mark, codec = encoding_of(source.data, source.options.encoding)
    try:
        data = mark + text.encode(codec)
    except UnicodeEncodeError as error:
        raise DataError(
            f"the release holds {text[error.start]!r}, which the encoding of the original, {codec}, does not have: "
            "choose another kind of file, such as .parquet or .xlsx."
        ) from None
    options = {"skip_blanks": body.options.skip_blanks, "header": bool(header_names), "number_names": True}
    options |= {"decimal": source.options.decimal, "missing": source.options.missing}
    quotes = {"quote": form.quote, "inner_quotes": form.inner}
    reading: dict[str, Any] = {"delimiter": form.delimiter, "encoding": codec, **quotes, **options}
    head = mark + (declaration + form.end.join([*lines(0, 2), ""])).encode(codec)
    names_read = zip(origins, names_of(*divide_into_cells(head, name, type(source.options)(**reading))), strict=True)
    return Written(data, reading, {column: written for column, written in names_read if column != written})


class _Form(NamedTuple):
    delimiter: str
    quote: str
    inner: str
    end: str  # of a line

    @classmethod
    def of_file(cls, body: Body) -> _Form:
        dialect, end = body.options, re.search(r"\r\n|\n|\r", body.text)
        delimiter = "," if dialect.delimiter == FIXED else dialect.delimiter
        quote = dialect.quote if _is_plain(dialect) else '"'
        return cls(delimiter, quote, dialect.inner_quotes if _is_plain(dialect) else "doubled", end[0] if end else "\n")

    def quotes_all(self, tokens: Sequence[str]) -> bool:
        """Whether a column has all its cells in quotes, except empty and missing ones."""
        cells = [token for token in tokens[:_N_EXAMINED] if token and token not in MISSING]
        return bool(cells) and self.quote != "none" and all(token.lstrip(" ").startswith(self.quote) for token in cells)

    def fit(self, cell: str, quoted: bool = False) -> str:
        """A cell as it stands in the file, in quotes if needed or if all are."""
        if not cell and self.delimiter == " ":
            return 2 * self.quote
        if not (quoted and cell) and not any(sign in cell for sign in (self.delimiter, self.quote, "\r", "\n")):
            return cell
        if self.quote == "none":
            raise DataError(
                f"the release holds the cell {cell!r}, and the original has no quotes around cells that hold its "
                "delimiter: choose another kind of file, such as .parquet or .xlsx."
            )
        before = self.quote if self.inner == "doubled" else "\\"
        return f"{self.quote}{cell.replace(self.quote, before + self.quote)}{self.quote}"


def _is_plain(dialect: TextOptions) -> bool:
    return dialect.quote != "curly" and dialect.inner_quotes != "plain" and dialect.delimiter != FIXED


def _tokens(body: Body, names: list[str], chunks: Sequence[Sequence[str]]) -> list[list[str]] | None:
    """The header and the cells of each record as in the file, with quotes. None if their division is not plain."""
    dialect = body.options
    has_none = dialect.quote not in body.text and not dialect.skip_blanks
    if not _is_plain(dialect) or dialect.delimiter == " " or has_none:
        return None
    quote, delimiter = re.escape(dialect.quote), re.escape(dialect.delimiter)
    escaped = dialect.inner_quotes == "escaped"
    inside = rf"(?:[^{quote}\\]|\\.|{quote}{quote})*+" if escaped else rf"(?:[^{quote}]|{quote}{quote})*+"
    blanks = "[ ]*" if dialect.skip_blanks else ""
    around = "" if dialect.quote == "none" else rf"(?:{blanks}{quote}{inside}{quote})?"
    token = re.compile(rf"({around}[^{delimiter}\r\n]*)({delimiter}|\r\n|\r|\n|\Z)", re.DOTALL)
    pair = re.compile(rf"\\([\\{quote}])|{quote}({quote})" if escaped else rf"{quote}({quote})()")

    def unquote(token: str) -> str:
        cell = token.lstrip(" ") if dialect.skip_blanks else token
        is_quoted = dialect.quote != "none" and cell.startswith(dialect.quote)
        return pair.sub(r"\1\2", cell[1:].removesuffix(dialect.quote)) if is_quoted else cell

    records = list(zip(*map(cells_in, chunks), strict=True))
    expected = [tuple(names), *records] if names else records
    rows: list[list[str]] = []
    row: list[str] = []
    for match in token.finditer(body.text):
        row.append(match[1])
        if match[2] != dialect.delimiter:
            # Lines that were left out when the file was read are left out here as well.
            if len(rows) < len(expected) and tuple(map(unquote, row)) == expected[len(rows)]:
                rows.append(row)
            row = []
    if len(rows) < len(expected):
        return None
    return rows if names else [[], *rows]


def _is_respelled(raw: Sequence[str], column: pd.Series[Any], rows: IntArray) -> bool:
    """Whether the file spells one value of a column in several ways."""
    codes = pd.factorize(column, use_na_sentinel=False)[0].tolist()
    first: dict[int, str] = {}
    return any(first.setdefault(code, raw[row]) != raw[row] for code, row in zip(codes, rows.tolist(), strict=True))


class _Spelling(NamedTuple):
    """The style of the cells of a column."""

    mark: str  # of decimals
    gap: str  # between thousands
    decimals: int | None  # of each number, None if the numbers differ
    points: bool  # whether every number has a decimal mark
    before: str  # such as a currency
    behind: str
    date: Callable[[dt.date], str]
    missing_word: str

    @classmethod
    def of_cells(cls, cells: Sequence[str], absent: Collection[str], mark: str, day_first: bool) -> _Spelling:
        """The style of ``cells``, without those in ``absent``."""
        texts = [cell.strip() for cell in dict.fromkeys(cells) if cell not in absent]
        dates = [match for cell in texts if (match := _DATE.fullmatch(cell))]
        # In numbers such as 1.234.567 there are three digits between the dots.
        are_dates = len(dates) == len(texts) and all(len(match[3]) <= 2 for match in dates)
        # The style does not depend on the digits, and most columns have few forms of numbers.
        forms = () if are_dates else dict.fromkeys(cell.translate(_ZEROS) for cell in texts)
        parts = [match for form in forms if (match := _NUMBER.fullmatch(form))]
        signs = {sign for match in parts for sign in match[2]} - {mark}
        gap = next((sign for sign in ",.'’ \u00a0\u2007\u202f\u2009" if sign in signs), "")
        places = [len(match[2].rpartition(mark)[2]) if mark in match[2] else 0 for match in parts]
        decimals = places[0] if len(set(places)) == 1 else None
        # Signs, such as those in (5) €, 5- and - € 5, give way to a minus before the digits.
        outside = {(match[1].translate(_SIGNS).lstrip(), match[3].translate(_SIGNS).rstrip()) for match in parts}
        before, behind = outside.pop() if len(outside) == 1 else ("", "")
        words = Counter(cell for cell in cells if cell in absent).most_common(1)
        missing_word = words[0][0] if words else ""
        dated = _date_form(dates, day_first)
        return cls(mark, gap, decimals, bool(places) and all(places), before, behind, dated, missing_word)

    def column(self, series: pd.Series[Any], measured: bool) -> list[str]:
        """Cells of a column, equal for equal values. Texts are numbers and dates if it is ``measured``."""
        codes, distinct = pd.factorize(series)
        if isinstance(series.dtype, np.dtype) and series.dtype.kind == "M":
            texts = [self.date(day) for day in pd.DatetimeIndex(distinct)]
        elif is_numeric_dtype(series.dtype) and not is_bool_dtype(series.dtype):
            texts = [self.number(value) for value in distinct.tolist()]
        else:
            texts = [self.text(str(value)) if measured else str(value) for value in distinct]
        texts.append(self.missing_word)
        return [texts[code] for code in codes.tolist()]

    def number(self, value: float) -> str:
        """Text of a number with the decimals of the column, and more only if it has more."""
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
        """Text of a number, a date or a range of a release, in the style of the column."""
        if match := RANGE.fullmatch(text):
            ends = [self._end(match[1]), self._end(match[2])]
            if None not in ends:
                return f"[{ends[0]}{';' if ',' in f'{ends[0]}{ends[1]}' else ','} {ends[1]}]"
        return self._end(text) or text

    def _end(self, text: str) -> str | None:
        if re.fullmatch(r"-?\d+(\.\d+)?(e[-+]?\d+)?", text):
            return self.number(float(text) if "." in text or "e" in text else int(text))
        if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
            return self.date(dt.date.fromisoformat(text))
        return None


def _date_form(dates: Sequence[re.Match[str]], day_first: bool) -> Callable[[dt.date], str]:
    """Function that writes a date in the style of others, the day before the month if the year comes last."""
    if not dates:
        return lambda day: f"{day.year:04}-{day.month:02}-{day.day:02}"
    first, sign, _, last, behind = dates[0].groups()
    year_first = len(first) == 4
    short_parts = [match[group] for match in dates for group in ((3, 4) if year_first else (1, 3))]
    width = 1 if any(len(text) == 1 for text in short_parts) else 2
    # Times of a day are not released, unless all dates have the same, such as midnight.
    after = behind if len(last) in (2, 4) and len({match[5] for match in dates}) == 1 else ""

    def write(day: dt.date) -> str:
        month, date, year = f"{day.month:0{width}}", f"{day.day:0{width}}", f"{day.year:04}"
        of_year = [date, month] if day_first or sign == "." else [month, date]
        parts = [year, month, date] if year_first else [*of_year, year]
        return sign.join(parts) + after

    return write


# --- workbooks and Parquet --------------------------------------------------------------------------------------------


def _write_sheet(task: Rewriting) -> Written:
    """Write a workbook with the number formats, the column widths and, if it names nobody, the sheet name of before."""
    from openpyxl.utils.datetime import to_excel

    source, origins = task.source, task.origins
    sheet = cells_of_sheet(source.data, source.name, source.options)
    formats: dict[str, int] = {}

    def styled(code: str, *, text: bool = False) -> int:
        is_usual = code == "General" and not text
        return 0 if is_usual else style(formats.setdefault(code, len(formats)), text=text)

    def cell(value: Any, code: str) -> str:
        if value is None:
            return ""
        if isinstance(value, str) and not isinstance(value, Fault):
            return text_cell(value, styled(code, text=True))
        kind = ' t="e"' if isinstance(value, Fault) else ' t="b"' if isinstance(value, bool) else ""
        if isinstance(value, (dt.datetime, dt.time, dt.timedelta)):
            value = to_excel(value)
        plain = value.number if isinstance(value, Code) else int(value) if isinstance(value, bool) else value
        # A percentage is a subclass of float.
        return f' s="{styled(code)}"{kind}><v>{float.__repr__(plain) if isinstance(plain, float) else plain}</v>'

    bodies = []
    for column in origins:
        old_cells, codes = sheet.columns.get(origins[column], []), sheet.formats.get(origins[column], [])
        is_respelled = column in task.strata and _is_respelled(
            [*map(repr, zip(old_cells, codes, strict=True))], task.frame[column], task.rows
        )
        if column in task.unchanged and not is_respelled:
            bodies.append([cell(old_cells[row], codes[row]) for row in task.rows.tolist()])
            continue
        series, present = task.frame[column], [value for value in old_cells if value is not None]
        are_texts = bool(present) and all(isinstance(value, str) for value in present)
        if are_texts and (column in task.measured or not is_numeric_dtype(series.dtype)):
            series = pd.Series(_spelled(task, column, [value or "" for value in old_cells], "."))
        number_style = None
        # A number such as a year would be shown as a day in the format of dates, and a day as a number in another one.
        is_dated = is_datetime64_any_dtype(series.dtype)
        formats_used = Counter(
            code
            for code, value in zip(codes, old_cells, strict=True)
            if value is not None and isinstance(value, (dt.date, dt.time, dt.timedelta)) == is_dated
        )
        if formats_used and not are_texts:
            [(most_frequent_format, _)] = formats_used.most_common(1)
            number_style = styled(most_frequent_format)
        bodies.append(sheet_cells(series, number_style))
    widths = [sheet.widths.get(origins[column]) for column in origins]
    about, notices = impersonal({"label": sheet.title}, task)
    data = workbook(list(origins), bodies, about.label or "Sheet1", list(formats), widths)
    return Written(data, {"missing": source.options.missing}, notices=notices)


def _write_arrow(task: Rewriting) -> bytes:
    """Write a Parquet file with the types of the original."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = list(task.original.columns)
    before = pq.read_table(io.BytesIO(task.source.data)).rename_columns(names)
    old = [name for name in task.origins if name in names]
    table: Any = as_given(task.frame[old], before, task.rows, [name for name in old if name not in task.unchanged])
    columns = []
    for name in task.origins:
        column = table[name] if name in old else pa.array(task.frame[name], from_pandas=True)
        if task.origins[name] in names and name not in task.unchanged:
            column = _cast_exactly(column, before.schema.field(task.origins[name]).type)
        columns.append(column)
    stream = io.BytesIO()
    pq.write_table(pa.Table.from_arrays(columns, names=list(task.origins)), stream)
    return stream.getvalue()


def _cast_exactly(column: Any, kind: Any) -> Any:
    """Cast a column of pyarrow if no value changes: a mean may not be whole, and a year is no moment."""
    import pyarrow as pa

    is_number = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
    if is_number and pa.types.is_temporal(kind):
        return column
    with contextlib.suppress(pa.ArrowException):
        cast = column.cast(kind)
        # pyarrow rounds to decimals, and turns 0.4 into true. Floats of 32 bits are the precision of the original.
        if not is_number or pa.types.is_floating(kind) or cast.cast(column.type).equals(column):
            return cast
    return column
