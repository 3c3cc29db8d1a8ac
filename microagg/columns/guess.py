"""A guess at the role and the kind of each column of a file, with the reasons for it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from microagg.columns.evidence import (
    CONFIDENTIAL,
    INCOME,
    NAME,
    NUMBERED,
    OF_BODIES,
    OF_PERSONS,
    OF_SAMPLES,
    PERSONAL,
    SAMPLE_WEIGHT,
    STRATUM,
    WEIGHT,
    AsNumbers,
    Column,
    parts,
)
from microagg.columns.kinds import Reading, figure, read_kind
from microagg.columns.patterns import can_determine, determinations
from microagg.tables.frames import as_pandas
from microagg.validation import FloatArray, counted

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame

#: The roles that are guessed, and what a :class:`microagg.Schema` calls the columns that have them.
ROLES: Mapping[str, str] = MappingProxyType(
    {
        "identifier": "identifiers",
        "quasi-identifier": "quasi_identifiers",
        "confidential": "confidential",
        "stratum": "strata",
        "weight": "weights",
        "other": "others",
    }
)

# The share of distinct values above which text says who a record is about, and that for columns named like an id.
_NEARLY_ALL = 0.9
_MANY_IDS = 0.2
# Names of persons and addresses have more distinct values than this; "name" may also be that of one of few regions.
_MANY_NAMES = 50
# Numbers of records in a row, and numbers of documents, are not concluded from fewer records.
_LEAST_RECORDS = 20
_DIGITS_OF_DOCUMENTS = 8
# No number of a record or a document is larger.
_NO_COUNT = 2.0**63
# Blanks per value of what people write in sentences.
_BLANKS_OF_SENTENCES = 5
# Strata must be few, with so many records at least in each.
_MOST_STRATA = 100
_LEAST_STRATUM = 10
# Columns that are compared with each other, and how many records must lack the most frequent value to tell anything.
_MOST_COMPARED = 60
_LEAST_SUPPORT = 10
# What most people weigh, in kilograms or pounds.
_BODY = (2.0, 400.0)


@dataclass(frozen=True)
class ColumnGuess:
    """What a column seems to be.

    Attributes
    ----------
    name : column name
    role : str
        One of :data:`ROLES`; an identifier is left out of a release.
    kind : {"number", "date", "ordered", "category"} or None
        What it would be as a quasi-identifier; None where it can be none.
    kinds : tuple of str
        All kinds that are possible, the likeliest first; empty where there is none.
    gaps : {"drop", "category"} or None
        What to do with records that lack a value: leave them out, or count "missing" as a category of its own. None
        where none lacks one.
    missing_codes : tuple
        The values of cells that look like codes for missing ones, as they are in the column.
    unit : {"day", "year"} or None
        The unit of dates.
    n_missing, n_distinct : int
        The number of records without a value (codes are not counted), and of distinct values.
    reasons : tuple of str
        Why, in short sentences: first why this role, then what the values are.
    n_codes : int
        The number of records that have one of the ``missing_codes``.
    doubtful : bool
        Whether these codes may well be values, so that they count as missing only if somebody says so.
    as_numbers : tuple of AsNumbers
        How text can be read as numbers, which nobody should do unasked: in one way, or in two (with a decimal point,
        and with a decimal comma) of which nothing shows which. The kind is a number only if somebody says so.
    """

    name: Hashable
    role: str
    kind: str | None
    kinds: tuple[str, ...]
    gaps: str | None
    missing_codes: tuple[Any, ...]
    unit: str | None
    n_missing: int
    n_distinct: int
    reasons: tuple[str, ...]
    n_codes: int = 0
    doubtful: bool = False
    as_numbers: tuple[AsNumbers, ...] = ()


def guess_columns(frame: IntoDataFrame, n_table: int | None = None) -> tuple[ColumnGuess, ...]:
    """Return what each column of ``frame`` seems to be, in the order of the columns.

    Nothing but the values and the names of the columns is known, so every guess needs to be confirmed. Columns are
    quasi-identifiers unless something speaks against it. Of columns that say the same in other words, one stays and the
    others are called identifiers, which are left out of a release: the first 60 columns are compared whose values
    recur in the file. Names of columns are understood in English, German, Spanish and French.

    Parameters
    ----------
    frame : DataFrame, shape (n, columns)
    n_table : int, optional
        How many records the table has of which ``frame`` is a sample, in its order.

    Raises
    ------
    DataError
        If ``frame`` is not a table of pandas, polars or Arrow with unique column names on one level.
    """
    frame = as_pandas(frame)
    columns = [Column.of(frame[name], n_table) for name in frame.columns]
    guesses = [
        _guess(column) if column is not None else _unreadable(frame[name])
        for name, column in zip(frame.columns, columns, strict=True)
    ]
    _leave_out_twins(guesses, columns)
    _keep_one_weight(guesses)
    return tuple(guesses)


def _unreadable(series: pd.Series[Any]) -> ColumnGuess:
    gaps = int(series.isna().sum())
    what = type(series.dropna().iloc[0]).__name__
    reason = f"holds neither numbers, nor dates, nor categories, but {what}"
    return ColumnGuess(series.name, "other", None, (), None, (), None, gaps, 0, (reason, *_missing(gaps, len(series))))


def _guess(column: Column) -> ColumnGuess:
    reading = read_kind(column)
    role, reason = next(found for rule in _RULES if (found := rule(column, reading)) is not None)
    gaps = None
    if reading.kind is not None and (column.n_missing or reading.missing_codes):
        gaps = "category" if reading.kind == "category" else "drop"
    said = (*([reason] if reason else []), *reading.reasons, *_missing(column.n_missing, column.n))
    return ColumnGuess(
        column.name,
        role,
        reading.kind,
        reading.kinds,
        gaps,
        reading.missing_codes,
        reading.unit,
        column.n_missing,
        column.n_distinct,
        said,
        column.n_where(column.distinct.isin(reading.missing_codes).to_numpy()) if reading.missing_codes else 0,
        reading.doubtful or is_numeric_dtype(column.dtype),
        reading.as_numbers,
    )


def _missing(count: int, n: int) -> tuple[str, ...]:
    return (f"{count:,} of {n:,} {'is' if count == 1 else 'are'} missing",) if count else ()


# --- roles: each rule returns one and the reason for it, or None where it does not apply ------------------------------


def _nothing(column: Column, reading: Reading) -> tuple[str, str] | None:
    if column.n_distinct == 0:
        return "other", "no record has a value here"
    if reading.kind is None:
        return "other", ""
    if column.n_distinct == 1:
        return "other", f"all values are {column.values(np.ones(1, dtype=np.bool_))[0]!r}: nobody is told apart by it"
    return None


def _weight(column: Column, reading: Reading) -> tuple[str, str] | None:
    sure, word = SAMPLE_WEIGHT.in_name(column.name), WEIGHT.in_name(column.name)
    if sure and reading.as_numbers:
        return (
            "other",
            f"the name says {sure!r}, but it holds text: write plain numbers in the file to use them as weights",
        )
    if reading.numbers is None or not (sure or word):
        return None
    numbers = reading.numbers[~np.isnan(reading.numbers)]
    if not len(numbers) or numbers.min() < 0 or numbers.max() <= 0:
        return None
    said = f"the name says {sure or word!r}"
    span = f"{counted(len(numbers), 'distinct value')} of {column.n_present:,}, {_span(numbers)}"
    if sure or OF_SAMPLES.in_name(column.name):
        return "weight", f"{said}: the weight of a record in a sample"
    if OF_BODIES.in_name(column.name):
        return "quasi-identifier", f"{said}, and it seems to be a body's ({span}): others may know it"
    if _of_bodies(numbers, column.n_present):
        return "quasi-identifier", f"{said}; {span}: rather a body weight than that of a record, but not for sure"
    return "weight", f"{said}; {span}: rather the weight of a record than a body's, but not for sure"


def _of_bodies(numbers: FloatArray, n: int) -> bool:
    """Whether weights are those of bodies: of their size, with a decimal at most, and unless whole, repeated."""
    if numbers.min() < _BODY[0] or numbers.max() > _BODY[1]:
        return False
    whole = bool((numbers == np.round(numbers)).all())
    return whole or (bool(np.allclose(numbers, np.round(numbers, 1), atol=1e-9)) and len(numbers) > 1)


def _span(numbers: FloatArray) -> str:
    return f"{figure(numbers.min())} to {figure(numbers.max())}"


def _share(column: Column) -> float:
    return column.n_distinct / column.n_present


def _distinct(column: Column) -> str:
    return f"{column.n_distinct:,} distinct of {column.n_present:,}"


def _named_identifier(column: Column, reading: Reading) -> tuple[str, str] | None:
    word = NUMBERED.in_name(column.name)
    if word and reading.kind != "date" and _share(column) >= _MANY_IDS:
        return "identifier", f"{_distinct(column)}, and the name says {word!r}: looks like an identifier"
    word = PERSONAL.in_name(column.name) or _name_of_person(column.name)
    told = column.n_distinct > _MANY_NAMES or _share(column) >= _NEARLY_ALL
    if word and told and reading.kind != "date" and reading.numbers is None:
        return "identifier", f"{_distinct(column)}, and the name says {word!r}: looks like names or addresses"
    return None


def _name_of_person(name: Hashable) -> str | None:
    if parts(name) in (["name"], ["names"]) or OF_PERSONS.in_name(name):
        return NAME.in_name(name)
    return None


def _telling_text(column: Column, reading: Reading) -> tuple[str, str] | None:
    """Text that is different in nearly every record, e-mail addresses, and sentences."""
    if reading.kind not in ("category", "ordered") or reading.numbers is not None or reading.is_code:
        return None
    texts = column.texts
    if sum("@" in text for text in texts) >= _NEARLY_ALL * len(texts):
        return "identifier", f"{_distinct(column)}, e-mail addresses: looks like an identifier"
    if _share(column) >= 0.5 and sum(text.count(" ") for text in texts) >= _BLANKS_OF_SENTENCES * len(texts):
        return "identifier", f"{_distinct(column)}, in sentences: free text may tell who somebody is, so leave it out"
    if _share(column) >= _NEARLY_ALL:
        unless = ", unless it is read as numbers" if reading.as_numbers else ""
        return "identifier", f"{_distinct(column)}: looks like an identifier{unless}"
    return None


def _telling_numbers(column: Column, reading: Reading) -> tuple[str, str] | None:
    """Numbers of records in a row, and long numbers as documents have them."""
    numbers = reading.numbers
    if numbers is None or np.isnan(numbers).any() or column.n_distinct < max(column.n_present, _LEAST_RECORDS):
        return None
    if not (numbers == np.floor(numbers)).all() or np.abs(numbers).max() >= _NO_COUNT:
        return None
    # Distinct values are in the order of the records.
    steps = np.diff(numbers)
    if np.ptp(numbers) == len(numbers) - 1 or ((steps > 0).all() and np.ptp(numbers) <= 2 * column.n_table):
        return "identifier", f"{_distinct(column)}, {_span(numbers)} in a row: looks like the number of a record"
    digits = {len(figure(abs(value)).replace(",", "")) for value in (numbers.min(), numbers.max())}
    if numbers.min() > 0 and len(digits) == 1 and min(digits) >= _DIGITS_OF_DOCUMENTS:
        return "identifier", f"{_distinct(column)}, of {digits.pop()} digits each: looks like an identifier"
    return None


def _confidential(column: Column, reading: Reading) -> tuple[str, str] | None:
    if word := CONFIDENTIAL.in_name(column.name):
        return "confidential", f"the name says {word!r}: what a release is about, rather than what others know"
    word = INCOME.in_name(column.name)
    if word and reading.kind in ("category", "ordered") and reading.numbers is None:
        return "confidential", f"the name says {word!r}, and it holds brackets rather than amounts"
    return None


def _stratum(column: Column, reading: Reading) -> tuple[str, str] | None:
    word = STRATUM.in_name(column.name)
    if word is None or not 2 <= column.n_distinct <= _MOST_STRATA or column.counts.min() < _LEAST_STRATUM:
        return None
    return "stratum", f"the name says {word!r}; {column.n_distinct} strata of {column.counts.min():,} records or more"


def _quasi_identifier(column: Column, reading: Reading) -> tuple[str, str]:
    if reading.kind in ("category", "ordered"):
        what = f"{column.n_distinct:,} categories in {counted(column.n_present, 'record')}"
        return "quasi-identifier", f"{what}: others may know them of a person"
    what = "dates" if reading.kind == "date" else "numbers"
    return "quasi-identifier", f"{what} that others may know of a person"


_RULES: tuple[Callable[[Column, Reading], tuple[str, str] | None], ...] = (
    _nothing,
    _weight,
    _named_identifier,
    _telling_text,
    _telling_numbers,
    _confidential,
    _stratum,
    _quasi_identifier,
)


# --- what only the columns together show ------------------------------------------------------------------------------


def _leave_out_twins(guesses: list[ColumnGuess], columns: list[Column | None]) -> None:
    """Make an identifier of every column that says the same as one that stays, of two rather the numbers."""
    compared = [i for i, column in enumerate(columns) if column is not None and _is_compared(guesses[i], column)]
    compared = compared[:_MOST_COMPARED]
    chosen = [column for i in compared if (column := columns[i]) is not None]
    table = determinations(chosen)
    stay: list[int] = []
    for j in sorted(range(len(compared)), key=lambda j: guesses[compared[j]].kind == "number"):
        twin = next((i for i in stay if table[i, j] and table[j, i]), None)
        if twin is None:
            stay.append(j)
            continue
        guess = guesses[compared[j]]
        reason = f"determines {chosen[twin].name!r} one to one: leave out"
        guesses[compared[j]] = replace(guess, role="identifier", reasons=(reason, *guess.reasons[1:]))


def _is_compared(guess: ColumnGuess, column: Column) -> bool:
    if guess.role in ("identifier", "weight", "other") or not can_determine(column):
        return False
    # Two columns that are nearly constant may agree by chance.
    return column.n_present - int(column.counts.max()) >= _LEAST_SUPPORT


def _keep_one_weight(guesses: list[ColumnGuess]) -> None:
    weights = [i for i, guess in enumerate(guesses) if guess.role == "weight"]
    for i in weights[1:]:
        reason = f"a weight too, but {guesses[weights[0]].name!r} is taken for the weight of a record"
        guesses[i] = replace(guesses[i], role="other", reasons=(reason, *guesses[i].reasons[1:]))
