"""Tables from text files: their encoding, their delimiter, and the types of their columns."""

from __future__ import annotations

import codecs
import contextlib
import csv
import io
import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from microagg.errors import DataError, ParameterError
from microagg.tables.checks import MISSING, check_cells, column_names, refuse_no_records
from microagg.tables.notices import Reading

#: The delimiters among which one is found when none is given; the comma last, as it may also be a decimal comma.
DELIMITERS = (";", "\t", "|", ",")

# Further characters that somebody may have separated fields with; never chosen, only named in an error.
_RARE_DELIMITERS = (":", "^", "~", " ")

_SPOKEN = {"\t": "tab", " ": "space"}

# How much of a text file is looked at to find its delimiter: enough for many lines, cheap for any file.
_SAMPLE_CHARACTERS = 1 << 16
_SAMPLE_LINES = 50

# Whole numbers with more digits may be rounded when they become floats.
_EXACT_DIGITS = 15


def decimal_comma_columns(frame: pd.DataFrame) -> list[str]:
    """Return the text columns that look like numbers with a decimal comma, such as ``3,14``.

    Reading the file again with ``decimal=","`` turns them into numbers. Columns in which every comma could as well
    separate thousands, such as ``1,234``, are left out.
    """
    found = []
    for position, column in enumerate(frame.columns):
        series = frame.iloc[:, position]
        if is_numeric_dtype(series):
            continue
        cells = series.dropna()
        if not all(isinstance(cell, str) for cell in cells):
            continue
        with_comma = [cell for cell in cells if "," in cell]
        if (
            with_comma
            and all(re.fullmatch(r"\s*[+-]?\d+(,\d+)?\s*", cell) for cell in cells)
            and not all(re.fullmatch(r"\s*[+-]?[1-9]\d{0,2},\d{3}\s*", cell) for cell in with_comma)
        ):
            found.append(str(column))
    return found


def read_text(
    data: bytes, label: str, delimiter: str | None, encoding: str | None, decimal: str, max_cells: int
) -> Reading:
    """Return the table of a text file; see :func:`microagg.tables.read_file`."""
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
        raise ParameterError(f"delimiter must be one character such as ',' or ';', not {delimiter!r}.")
    if decimal not in (".", ","):
        raise ParameterError(f"decimal must be '.' or ',', not {decimal!r}.")
    text = _decode(data, label, encoding)
    body = text.lstrip("\r\n")
    first_line = 1 + len(text[: len(text) - len(body)].splitlines())
    body = body.rstrip("\r\n")
    if not body.strip():
        raise DataError(f"the file {label!r} holds blank lines only: choose a file with a header and records.")
    sample = body[:_SAMPLE_CHARACTERS]
    if delimiter is None:
        delimiter = _find_delimiter(sample)
    names, n = _check_rows(body, label, delimiter, first_line, max_cells)
    if len(names) == 1 and (rival := _rival(sample, delimiter)):
        raise DataError(
            f"divided by {_spoken(delimiter)}, the file {label!r} has only one column, but {_spoken(rival)} divides "
            f"all its lines alike: choose {_spoken(rival)} as the delimiter."
        )
    if n == 0:
        refuse_no_records(label)
    frame = _parse(body, delimiter, decimal, len(names))
    if len(frame) != n:
        raise DataError(
            f"the file {label!r} has {n} records by one way of counting and {len(frame)} by another: "
            "put double quotes around cells that contain quotes, delimiters or line breaks."
        )
    frame.columns = names
    return Reading(frame)


def _decode(data: bytes, label: str, encoding: str | None) -> str:
    if encoding is None:
        # The mark of UTF-32 begins with that of UTF-16, so it comes first.
        marks = (
            (codecs.BOM_UTF32_LE, "utf-32"),
            (codecs.BOM_UTF32_BE, "utf-32"),
            (codecs.BOM_UTF16_LE, "utf-16"),
            (codecs.BOM_UTF16_BE, "utf-16"),
        )
        chosen = next((codec for mark, codec in marks if data.startswith(mark)), "utf-8")
    else:
        chosen = encoding
    try:
        text = data.decode(chosen)
    except LookupError:
        raise ParameterError(f"there is no text encoding {chosen!r}: try 'utf-8', 'cp1252' or 'latin-1'.") from None
    except UnicodeError as error:
        where = "in it"
        if isinstance(error, UnicodeDecodeError):
            where = f"at byte {error.start} (0x{data[error.start]:02x})"
        advice = "choose another encoding, or save it as UTF-8"
        if encoding is None:
            advice = "choose its encoding, which is often cp1252 (Windows) or latin-1, or save it as UTF-8"
        raise DataError(f"the file {label!r} is not valid {chosen.upper()} {where}: {advice}.") from None
    text = text.removeprefix("\ufeff")
    if (zero := text.find("\0")) >= 0:
        raise DataError(
            f"the file {label!r} holds a zero character at position {zero}, so it is no text in {chosen.upper()}: "
            "choose its encoding, which may be utf-16-le, or save it as UTF-8."
        )
    return text


def _rows(text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number and the fields of every line that is not blank, or of every line if there is one column.

    Lines count from 0, and a record over several lines has the number of its last.
    """
    # Python's own reader is strict about quotes and says where it stands; pandas is neither, but much faster.
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    single = None
    for row in reader:
        blank = not row or (len(row) == 1 and not row[0].strip())
        if single is None:
            if blank:
                continue
            single = len(row) == 1
        if single or not blank:
            yield reader.line_num - 1, row or [""]


def _widths(sample: str, delimiter: str) -> list[int]:
    """Return how many fields each of the first records has."""
    widths = []
    # What was read before a broken quote still tells the delimiter.
    with contextlib.suppress(csv.Error):
        for _, row in itertools.islice(_rows(sample, delimiter), _SAMPLE_LINES):
            widths.append(len(row))
    # The sample may end in the middle of a record.
    return widths[:-1] if len(sample) == _SAMPLE_CHARACTERS and len(widths) > 1 else widths


def _consistent(widths: Sequence[int]) -> bool:
    return len(widths) > 1 and widths[0] > 1 and len(set(widths)) == 1


def _find_delimiter(sample: str) -> str:
    """Return the delimiter by which header and records have equally many fields, several of them.

    Failing that, one that divides the header; failing that, any one, for a text with one column.
    """
    widths = {delimiter: _widths(sample, delimiter) for delimiter in DELIMITERS}
    for fits in (_consistent, lambda found: max(found[:1], default=0) > 1, lambda found: max(found, default=0) == 1):
        if candidates := [delimiter for delimiter in DELIMITERS if fits(widths[delimiter])]:
            # Among equals max takes the first, so a comma comes last: in "1,5;2,5" it may be a decimal comma.
            return max(candidates, key=lambda delimiter: widths[delimiter][0])
    return ","


def _rival(sample: str, delimiter: str) -> str | None:
    """Return another delimiter that divides every one of the first lines into equally many fields, if there is one."""
    for other in (*DELIMITERS, *_RARE_DELIMITERS):
        if other == delimiter or not _consistent(_widths(sample, other)):
            continue
        # Blanks within text do not part columns, those between numbers may.
        records = sample.splitlines()[1:_SAMPLE_LINES]
        if other != " " or all(re.fullmatch(r'[-+\d.,eE"\s]*', record) for record in records):
            return other
    return None


def _check_rows(text: str, label: str, delimiter: str, first_line: int, max_cells: int) -> tuple[list[str], int]:
    """Return the column names and the number of records, if all lines of ``text`` have equally many fields."""
    names: list[str] = []
    n, line = 0, -1
    ragged: tuple[int, int] | None = None
    widths: set[int] = set()
    try:
        for line, row in _rows(text, delimiter):
            if not names:
                names = column_names(enumerate(row, start=1), label)
                continue
            n += 1
            if len(row) != len(names) or ragged:
                ragged = ragged or (line + first_line, len(row))
                widths.add(len(row))
                # Further lines are only looked at for the advice to give, so some of them are enough.
                if len(widths) > 1 or n > _SAMPLE_LINES:
                    break
            if n * len(names) > max_cells:
                check_cells(n, len(names), max_cells, label, at_least=True)
    except csv.Error as error:
        reason = "a quote that is never closed, or a cell of unusual length"
        if "expected after" in str(error):
            reason = "characters between a closing quote and the next delimiter"
        raise DataError(
            f"the file {label!r} cannot be divided into cells after line {line + first_line}, because of {reason}: "
            "put double quotes around the whole cell, and double those within it."
        ) from None
    if ragged:
        number, width = ragged
        if rival := _rival(text[:_SAMPLE_CHARACTERS], delimiter):
            advice = f"choose {_spoken(rival)} as the delimiter, which divides all lines alike"
        elif widths == {len(names) + 1} and number == first_line + 1 and n > 1:
            advice = (
                "as the other lines have one more too, add the missing column name (often that of the row numbers) to "
                "the header, or remove the delimiter at the end of the lines"
            )
        else:
            advice = f"check the delimiter ({_spoken(delimiter)}), and put double quotes around cells that contain it"
        raise DataError(
            f"line {number} of the file {label!r} has {_fields(width)}, but the header has {_fields(len(names))}: "
            f"{advice}."
        )
    return names, n


def _fields(count: int) -> str:
    return f"{count} field{'' if count == 1 else 's'}"


def _spoken(delimiter: str) -> str:
    return _SPOKEN.get(delimiter, repr(delimiter))


def _parse(body: str, delimiter: str, decimal: str, width: int) -> pd.DataFrame:
    """Return a text that :func:`_check_rows` has passed as a frame whose columns are numbered from 0."""
    options: dict[str, Any] = {
        "sep": delimiter,
        "header": 0,
        "names": list(range(width)),
        "index_col": False,
        "decimal": decimal,
        # In place of pandas' own list, which would make text such as "None" missing.
        "na_values": ["", *MISSING],
        "keep_default_na": False,
        "skip_blank_lines": width > 1,
        "low_memory": False,
    }
    # Newer versions always read floats exactly, and warn of the option that older ones need for it.
    if tuple(int(part) for part in pd.__version__.split(".")[:2]) < (3, 1):
        options["float_precision"] = "round_trip"
    frame: pd.DataFrame = pd.read_csv(io.StringIO(body, newline=""), **options)
    if codes := _possible_codes(frame, body, delimiter):
        texts = pd.read_csv(io.StringIO(body, newline=""), usecols=codes, dtype=str, **options)
        for column in codes:
            cells = texts[column].dropna().str.strip()
            rounded = frame[column].dtype.kind == "f" and bool((cells.str.len() > _EXACT_DIGITS).any())
            if cells.str.fullmatch(r"\d+").all() and (rounded or cells.str.match(r"0\d").any()):
                frame[column] = texts[column]
    return frame


def _possible_codes(frame: pd.DataFrame, body: str, delimiter: str) -> list[int]:
    """Return the columns that came out as whole numbers, but may have been codes such as 01067 or very long ones."""
    zeros = re.search(rf'(?:^|[\r"{re.escape(delimiter)}])[ ]*0\d', body, re.MULTILINE) is not None
    found = []
    for column in range(frame.shape[1]):
        values = frame[column].dropna().to_numpy()
        if not len(values) or values.dtype.kind not in "iuf":
            continue
        rounded = values.dtype.kind == "f" and np.abs(values).max() >= 10.0**_EXACT_DIGITS
        if (zeros or rounded) and np.isfinite(values).all() and (values == np.floor(values)).all():
            found.append(column)
    return found
