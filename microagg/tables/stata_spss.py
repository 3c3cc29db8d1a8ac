"""Tables from SPSS and Stata files: labelled codes are categories, date formats set the dates.

pyreadstat parses both in a separate process (:mod:`microagg.tables.stata_spss_process`), which answers with the stored
numbers and texts. This module interprets them by the format of each variable, and has the rules on labels of single
values and on kinds of missing values; :mod:`microagg.tables.stata_spss_writer` writes them.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zipfile
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_integer_dtype, is_numeric_dtype

from microagg.errors import DataError
from microagg.tables import lossless
from microagg.tables.lossless import Filled
from microagg.tables.notices import (
    Notice,
    Offer,
    Reading,
    allowed,
    check_cells,
    check_memory,
    check_names,
    refuse_no_records,
)
from microagg.tables.stata_spss_process import parse_answer
from microagg.validation import IntArray, counted, listing, optional_import

# Beginnings of SPSS formats for dates and for times.
_DATES = ("DATE", "ADATE", "EDATE", "JDATE", "SDATE", "MOYR", "QYR", "WKYR", "DATETIME", "YMDHMS")
_TIMES = ("TIME", "DTIME", "MTIME")

#: The origin of SPSS times, in seconds: the first day of the Gregorian calendar.
DAY_ZERO = np.datetime64("1582-10-14", "ms")

# The seconds from then to the first day of the year 10000, which Python cannot print.
_BEYOND = 265_621_680_000.0

# Units of Stata's formats, counted from 1960 (except years): a unit of numpy, and its number.
_PERIODS = {"c": ("ms", 1), "d": ("D", 1), "m": ("M", 1), "q": ("M", 3), "h": ("M", 6), "y": ("Y", 1), "w": ("D", 7)}

#: In a table of labels of Stata, codes from here on are the missing values ., .a to .z.
MISSING_CODES = 2_147_483_621

#: The category of missing values without a kind.
GAP = "missing"

# A declared range of more codes has no kinds of missing values.
_MOST_KINDS = 1_000

#: The program that reads a file in a separate process.
READER = Path(__file__).with_name("stata_spss_process.py")


def read_statistics(data: bytes, label: str, labels: bool | None, max_cells: int) -> Reading:
    """Read the table of an SPSS or Stata file (see :func:`microagg.tables.read_file`)."""
    from_stata = is_stata(data)
    parsed = parse_file(data, label, max_cells)
    columns: dict[str, pd.Series[Any]] = {}
    labels_of_values: dict[str, dict[Any, str]] = {}
    missing_codes: dict[str, tuple[pd.Series[Any], dict[Any, str]]] = {}
    notices: list[Notice] = []
    if parsed.get("recoded"):
        text = f"the file {label!r} holds texts that are not in its encoding: these are read as Latin-1, check them."
        notices.append(Notice("encoding", text))
    for name in parsed["names"]:
        form, stored = str(parsed["formats"].get(name, "")), parsed["types"][name]
        names, measure = parsed["labels"].get(name, {}), parsed["measures"].get(name)
        missing = [(interval["lo"], interval["hi"]) for interval in parsed["missing"].get(name, [])]
        cells, codes = _divide(parsed["columns"].pop(), stored, missing)
        if codes is not None:
            missing_codes[name] = codes, {code: names.get(code, "") for code in codes.dropna().unique()}
        if from_stata:
            # Codes .a to .z are letters.
            names = {int(code): text for code, text in names.items() if isinstance(code, (int, float))}
            names = {code: text for code, text in names.items() if code < MISSING_CODES}
            period = re.match(r"%?-?(?:t([cdwmqhy])|(d))", form)
            kind = (period[1] or period[2]) if period else ""
            column, further = _from_stata(cells, stored, kind, name)
            is_coded = not kind and stored != "string"
        else:
            names = {code: text for code, text in names.items() if not any(lo <= code <= hi for lo, hi in missing)}
            column, further = _from_spss(cells, form, name)
            if stored != "string" and not is_numeric_dtype(column):  # dates and times are no codes
                if of_dates := [text for code, text in names.items() if code in cells]:
                    text = f"column {name!r} holds dates or times, of which some have labels: {listing(of_dates, 4)}."
                    notices.append(Notice("labels-of-dates", text, column=name, example=of_dates[0]))
                names = {}
            is_coded = measure != "scale" or bool(column.dropna().isin(list(names)).all())
        notices += further
        if labels is None and names and is_numeric_dtype(column):
            values = column.dropna().unique().tolist()
            if not is_coded or (measure != "ordinal" and _are_numbers(values, names, nominal=measure == "nominal")):
                labels_of_values[name], is_coded = names, False
                if present := {code: text for code, text in names.items() if code in values}:
                    notices.append(_labels_notice(name, len(values), present))
        if labels is not False and names and is_coded:
            column = _label(column, names, measure == "ordinal", name, label)
        columns[name] = column
    titles = {name: str(title).strip() for name in columns if (title := parsed["titles"].get(name))}
    frame = pd.DataFrame(columns, copy=False)
    for name, (codes, texts) in missing_codes.items():
        if len(texts) <= _MOST_KINDS:
            kinds = _names_of_kinds(texts, frame[name], "." if from_stata else "")
            _add_kinds(frame, name, list(kinds.values()), pd.Index(kinds).get_indexer(pd.Index(codes)))
    return Reading(frame, tuple(notices), variable_labels=titles, value_labels=labels_of_values)


def _divide(cells: Any, stored: str, missing: Sequence[tuple[Any, Any]]) -> tuple[Any, pd.Series[Any] | None]:
    """Cells without those that the file declares missing, by ranges or as letters, and these codes by record."""
    if stored != "string" and not isinstance(cells, np.ndarray):
        is_code = np.array([isinstance(cell, str) for cell in cells])
    elif not missing or isinstance(cells, np.ndarray) == (stored == "string"):  # there may be no texts
        return cells, None
    else:
        column = pd.Series(cells)
        is_code = np.logical_or.reduce([column.between(*ends).to_numpy(dtype=np.bool_) for ends in missing])
    if not is_code.any():
        return cells, None
    codes = pd.Series(cells, dtype=object).where(is_code)
    rest = [None if is_missing else cell for cell, is_missing in zip(cells, is_code, strict=True)]
    return rest if stored == "string" else np.array(rest, dtype=np.float64), codes


def _names_of_kinds(labels: Mapping[Any, str], column: pd.Series[Any], point: str) -> dict[Any, str]:
    """Names of the codes of missing values, ascending: their ``labels``, with the code where another has that name."""
    texts = {code: f"{point}{code_text(code)}" for code in sorted(labels)}
    values = column.cat.categories if lossless.is_category(column) else column.dropna().unique()
    titles = [labels[code] or text for code, text in texts.items()]
    names = _distinct(titles, texts.values(), [*map(code_text, values), GAP])
    return dict(zip(texts, names, strict=True))


def _distinct(names: Sequence[str], codes: Iterable[str], others: Iterable[str] = ()) -> list[str]:
    """Names with their codes in brackets where several are equal, or equal to one of the ``others``."""
    counts = Counter([*names, *others])
    return [f"{name} ({code})" if counts[name] > 1 else name for name, code in zip(names, codes, strict=True)]


def is_stata(data: bytes) -> bool:
    """Whether a file of Stata or SPSS is one of Stata."""
    return not data.startswith((b"$FL2", b"$FL3"))


def parse_file(data: bytes, label: str, max_cells: int) -> dict[str, Any]:
    """Parse a file in a separate process, with its columns in reverse order.

    The caller pops them one by one, so that each is freed once it is in the table.
    """
    optional_import("pyreadstat", "statistics", f"reading {label!r}", "save the table as .csv")
    parsed = in_own_process(data, max_cells)
    if "needed" in parsed:
        # Twice: the answer of the other process, and the table.
        check_memory(2 * int(parsed["needed"]), len(data), label)
    if parsed.get("error") == "MemoryError":
        # The size is unknown, but above the limit: this always raises.
        check_memory(allowed(len(data)) + 1, len(data), label)
    if "error" in parsed:
        kind, ending = ("Stata file, or of an unknown version", ".dta") if is_stata(data) else ("SPSS file", ".sav")
        raise DataError(f"the file {label!r} is a damaged {kind} ({parsed['error']}): save it as {ending} again.")
    parsed["names"] = [str(name) for name in parsed["names"]]
    check_names(parsed["names"], label)
    check_cells(parsed["records"], len(parsed["names"]), max_cells, label)
    # A file need not declare its number of records.
    records = len(parsed["columns"][0]) if parsed["names"] else 0
    check_cells(records, len(parsed["names"]), max_cells, label, at_least=True)
    if records == 0:
        refuse_no_records(label)
    parsed["columns"].reverse()
    return parsed


def in_own_process(data: bytes, max_cells: int) -> dict[str, Any]:
    """Run the program :data:`READER` and return its answer, or an error if it is killed."""
    # -P keeps the program's folder off the path, where our text.py would replace another module.
    command = [sys.executable, "-P", str(READER), str(max_cells), str(allowed(len(data)))]
    process = subprocess.run(command, input=data, capture_output=True, check=False)
    if process.returncode != 0:
        return {"error": f"exit code {process.returncode}"}
    try:
        return parse_answer(process.stdout)
    except (ValueError, LookupError, TypeError, AttributeError, EOFError, zipfile.BadZipFile) as error:
        return {"error": f"an answer that cannot be read ({type(error).__name__})"}


def _from_spss(cells: Any, form: str, name: str) -> Filled:
    """Cells of a column as text, dates or whole numbers, by the SPSS format ``form``."""
    kind = form.rstrip("0123456789.").upper()
    if not isinstance(cells, np.ndarray) or kind == "A":
        return lossless.texts([cell if isinstance(cell, str) and cell else None for cell in cells]), []
    column = pd.Series(cells)
    if kind in _DATES:
        beyond = cells[~np.isnan(cells) & ~((cells >= 0) & (cells < _BEYOND))]
        if len(beyond):
            return column, [_out_of_calendar(name, beyond, "the years 1582 to 9999", "seconds after 1582-10-14")]
        # Floats are exact to about a microsecond here, and dates to a millisecond.
        milliseconds = (column * 1000).round().astype("Int64")
        return pd.Series(DAY_ZERO + milliseconds.to_numpy(dtype="m8[ms]", na_value=np.timedelta64("NaT"))), []
    if kind in _TIMES:
        return lossless.texts([None if np.isnan(seconds) else lossless.clock(seconds) for seconds in cells]), []
    fits = (column == np.floor(column)) & (column.abs() <= lossless.EXACT_WHOLE)
    return (column.astype(np.int64) if re.fullmatch(r"[FN]\d+(\.0)?", form) and fits.all() else column), []


def _from_stata(cells: Any, stored: str, kind: str, name: str) -> Filled:
    """Cells of a column with the type ``stored``. ``kind`` is the letter of a date format, or ""."""
    if stored == "string":
        return lossless.texts([None if cell != cell else cell or None for cell in cells]), []
    present = cells[~np.isnan(cells)]
    if kind:
        beyond = present[np.abs(present) > (lossless.EXACT_WHOLE if kind == "c" else 10**9)]
        if len(beyond):
            unit = "as Stata counts them" if kind == "y" else f"in Stata's format %t{kind}, counted from 1960"
            return pd.Series(cells), [_out_of_calendar(name, beyond, "what a calendar has", unit)]
        return lossless.printable_dates(pd.Series(_stata_dates(cells, kind)), name)
    if stored.startswith("int") and len(present) == len(cells):
        return pd.Series(cells.astype(np.int64)), []
    return pd.Series(cells.astype(np.float32) if stored == "float" else cells), []


def _stata_dates(values: NDArray[np.float64], kind: str) -> NDArray[np.datetime64]:
    """First days or milliseconds of the periods of a Stata format, NaT if the number is NaN."""
    absent = np.isnan(values)
    counts = np.floor(np.where(absent, 0, values)).astype(np.int64)
    unit, step = _PERIODS[kind]
    zero: Any = np.datetime64(0 if kind == "y" else "1960", "Y")
    if kind == "y":
        moments: Any = zero + (counts - 1970)
    elif kind == "w":  # a year has 52 weeks; the last one has 8 or 9 days
        moments = (zero + counts // 52).astype("M8[D]") + 7 * (counts % 52)
    else:
        moments = zero.astype(f"M8[{unit}]") + step * counts
    moments = moments.astype("M8[ms]" if kind == "c" else "M8[s]")
    moments[absent] = np.datetime64("NaT")
    return np.asarray(moments)


def _out_of_calendar(name: str, beyond: NDArray[np.float64], ends: str, unit: str) -> Notice:
    text = (
        f"column {name!r} holds {counted(len(beyond), 'date')} beyond {ends}, such as {beyond[0]:g} {unit}: the whole "
        "column is kept as such numbers."
    )
    return Notice("kept-as-number", text, column=name, example=f"{beyond[0]:g}")


def _label(cells: pd.Series[Any], labels: Mapping[Any, str], ordered: bool, column: str, label: str) -> pd.Series[Any]:
    """Codes as categories named by their labels, or else by the code, in the order of the codes.

    If several codes would have the same name, each gets its code in brackets, as they may differ in meaning.
    """
    codes = sorted({*labels, *cells.dropna().unique().tolist()})
    names = [labels.get(code) or code_text(code) for code in codes]
    names = _distinct(names, map(code_text, codes))
    if len(set(names)) < len(names):
        name = next(name for name, count in Counter(names).items() if count > 1)
        raise DataError(
            f"in column {column!r} of the file {label!r} several codes have the label {name!r}: "
            "give every code a label of its own."
        )
    # A missing code has the position -1, which categories use for missing values.
    positions = pd.Index(codes).get_indexer(pd.Index(cells)).astype(np.int64)
    return pd.Series(pd.Categorical.from_codes(positions, categories=pd.Index(names), ordered=ordered))


def code_text(code: Any) -> str:
    """A code as text, without a decimal point if it is whole."""
    return str(int(code)) if isinstance(code, float) and code.is_integer() else str(code)


# --- labels of single values ------------------------------------------------------------------------------------------

# Words of labels for no value, in English, German, Spanish and French.
_NO_VALUE = re.compile(
    r"do(n['’]?t| not) know|\b(dk|nk|niu|nap|ns/?nr|nsp|k\.? ?a\.?|n\.?/?a\.?)(?!\w)|\brefus|\bno answer"
    r"|no(n-?| )response|no data|\bnot (answer|applic|in universe|stated|asked|avail|ascert|report|record|determ)"
    r"|inapplicable|\bunknown|\bmissing|legitimate skip|\bskipped|wei(ß|ss) nicht|keine? (angabe|antwort)"
    r"|trifft nicht zu|verweigert|\bno (sabe|responde|contesta|aplica)|ne sait pas|(sans|non) r[ée]ponse|sans objet",
    re.IGNORECASE,
)

# A column has numbers if at least the first number of its values have no label, and the labels of values are at their
# ends, or at most the share of all values, of which at least the second number have no label.
_FEWEST, _MANY, _SHARE = 3, 10, 0.2


def means_no_value(label: str) -> bool:
    """Whether a label says that a value is missing, such as "don't know"."""
    return _NO_VALUE.search(label) is not None


def _are_numbers(values: Sequence[float], labels: Mapping[Any, str], *, nominal: bool = False) -> bool:
    """Whether the distinct ``values`` of a column are numbers, of which few have ``labels``.

    Labels of missing values, or that repeat the number, do not count; those at the ends do not if it is ``nominal``.
    """
    labelled = {code for code, text in labels.items() if not (means_no_value(text) or text.strip() == f"{code:g}")}
    free = [value for value in values if value not in labelled and not means_no_value(labels.get(value, ""))]
    if len(free) < _FEWEST:
        return False
    low, high = min(free), max(free)
    at_ends = len(labelled) <= len(free) and all(code < low or code > high for code in labelled)
    is_small_share = len(free) >= _MANY and len(labelled) <= _SHARE * (len(labelled) + len(free))
    return is_small_share or (at_ends and not nominal)


def _labels_notice(name: str, n_values: int, labels: Mapping[Any, str]) -> Notice:
    """Notice that a column with these ``labels`` of values of the file is read as numbers."""
    texts = {code: f"{code:g} {text!r}" for code, text in sorted(labels.items())}
    missing = [texts[code] for code in texts if means_no_value(labels[code])]
    values = [text for text in texts.values() if text not in missing]
    clauses = [f"{listing(values, 4)} count{'s' if len(values) == 1 else ''} as numbers"] if values else []
    clauses += [f"declare {listing(missing, 4)} as missing-value code{'s' * (len(missing) > 1)}"] if missing else []
    text = (
        f"column {name!r} has labels for {len(texts)} of {n_values:,} values, so it is read as numbers: "
        f"{', and '.join(clauses)}. A release as .dta or .sav keeps the labels of values that it has."
    )
    offer = Offer("Take values with labels as categories", {"labels": True})
    return Notice("value-labels", text, column=name, example=next(iter(texts.values())), offers=(offer,))


def left_out(frame: pd.DataFrame, name: str, original: Reading) -> list[Notice]:
    """Notice of the labels of values, and kinds of missing values, of the ``original`` that a file ``name`` has not."""
    lost = []
    for column, series in frame.items():
        of_codes = sorted(original.value_labels.get(str(column), {}).items())
        labels = [f"{code:g} {text!r}" for code, text in of_codes if (series == code).any()]
        has_gaps = series.isna().any() and column in original.frame
        if labels or (has_gaps and kinds_of_missing(original.frame, column).any()):
            lost.append(f"{column!r} ({listing(labels or ['missing'], 2)})")
    text = f"the file {name!r} has no labels of values or of missing values: lost are those of {listing(lost, 8)}."
    return [Notice("labels-left-out", f"{text[:-1]}; .dta and .sav keep them.")] if lost else []


# --- kinds of missing values ------------------------------------------------------------------------------------------

# The entry of ``attrs``: for each column JSON with the names of its kinds, and a text with a character for each record.
_KINDS = "kinds of missing values"
# The character of a record without a kind; the first kind has the next one.
_NO_KIND = ord("0")


def _add_kinds(frame: pd.DataFrame, column: str, names: Sequence[str], positions: IntArray) -> None:
    """Note the kinds ``names`` of missing values of a column; ``positions``, one for each record, are -1 for others."""
    text = "".join(map(chr, (positions + 1 + _NO_KIND).tolist()))
    # One text, so that copies of the table share it.
    frame.attrs.setdefault(_KINDS, {})[column] = json.dumps([list(names), text])


def kinds_of_missing(frame: pd.DataFrame, column: Hashable) -> NDArray[np.object_]:
    """Kind of the missing value of each record of a column, "" for others, if the file of ``frame`` had kinds."""
    names, text = json.loads(frame.attrs.get(_KINDS, {}).get(str(column), '[[], ""]'))
    kinds, index = np.full(len(frame), "", dtype=object), frame.index
    if not (names and len(index) and is_integer_dtype(index) and index.min() >= 0 and index.max() < len(text)):
        return kinds
    places = np.frombuffer(text.encode("utf-32-le"), "<u4").astype(np.int64)[index] - _NO_KIND
    # Records in another order have values where a missing value is noted.
    if frame[column].isna().to_numpy()[places > 0].all():
        kinds[:] = np.array(["", *names], dtype=object)[places]
    return kinds


def with_kinds(frame: pd.DataFrame, column: Hashable) -> pd.Series[Any]:
    """A column with the kinds of missing values in their places, as objects if there are any."""
    kinds = kinds_of_missing(frame, column)
    return frame[column].astype(object).mask(kinds != "", kinds) if (kinds != "").any() else frame[column]
