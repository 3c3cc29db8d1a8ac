"""The role and kind of each column: a suggestion with reasons, then a decision; and the arguments of a release."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from microagg.columns import dates
from microagg.columns.evidence import (
    NUMBERED,
    PERSONAL,
    AsNumbers,
    ColumnValues,
    Words,
    can_determine,
    determinations,
    parts,
)
from microagg.columns.kinds import CATEGORIES, REPEATED, KindAndForm, Reading, figure, holds_neither, read_kind
from microagg.columns.old_words import translated
from microagg.columns.records import KINDS
from microagg.columns.schema import ROLES as SCHEMA_ROLES
from microagg.columns.schema import Schema, as_options
from microagg.columns.taxonomy import Taxonomy, category, category_counts
from microagg.tables.frames import as_pandas
from microagg.validation import FloatArray, check_choice, counted, warn_caller

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame

#: The suggested roles, each with its name in a :class:`microagg.Schema`, which is the same.
ROLES: Mapping[str, str] = {role: role for role in SCHEMA_ROLES if role != "classes"}

#: A column with more distinct values than this is hardly a class label for prediction.
MOST_CLASSES = 50

# The share of distinct values from which text identifies records, and the one for columns named like an identifier.
_ID_SHARE = 0.9
_NAMED_ID_SHARE = 0.2
# Names of persons and addresses have more distinct values than this; "name" may also be the name of a region.
_MIN_NAMES = 50
# The minimum number of records as evidence for record numbers and numbers of documents.
_MIN_RECORDS = 20
_DIGITS_OF_DOCUMENTS = 8
# The upper limit of numbers of records and documents.
_LARGEST_ID = 2.0**63
# The minimum mean number of blanks in sentences.
_BLANKS_OF_SENTENCES = 5
# The maximum number of strata, and their minimum size.
_MOST_STRATA = 100
_MIN_STRATUM_SIZE = 10
# The maximum number of compared columns, and the minimum number of records without a column's most frequent value.
_MOST_COMPARED = 60
_MIN_SUPPORT = 10
# In files of at least the first number of records, smaller categories than the second rarely form groups alone.
_N_MANY, _MIN_SIZE = 100, 4.0
# Usual body weights, in kilograms or pounds.
_BODY_WEIGHTS = (2.0, 400.0)


@dataclass(frozen=True)
class Column:
    """Role and kind of a column: suggested or declared (:func:`guess_columns`), then decided."""

    name: Any
    role: str  # one of ROLES; identifiers are left out of a release
    #: Its kind as a quasi-identifier: numeric, ordinal or nominal, empty if it cannot be one; the form of dates
    #: (one of :data:`microagg.columns.dates.FORMS`) or of text as numbers (one of
    #: :data:`microagg.columns.numerals.NOTATIONS`), empty for others; and all possible pairs of both.
    kind: str
    form: str
    kinds: tuple[KindAndForm, ...]
    gaps: str  # one of possible_gaps: the treatment of missing values if it is a quasi-identifier
    codes: bool  # whether the possible_codes count as missing
    decided: bool  # whether a person, or the data set itself, decided; otherwise it is a suggestion
    reasons: tuple[str, ...]  # short reasons for the suggestion: first for the role, then for the kind
    #: The number of records without a value (codes are not counted), and of distinct values.
    n_empty: int
    n_distinct: int
    #: The values that look like missing-value codes unless text is read as numbers, the number of records with one, and
    #: whether they may be values, so that they count as missing only if a person decides so.
    likely_codes: tuple[Any, ...] = ()
    n_likely: int = 0
    doubtful: bool = False
    #: The possible readings of text as numbers: one, or two (with a decimal point and with a decimal comma) if it is
    #: ambiguous; then it is numeric only if a person decides so.
    offers: tuple[AsNumbers, ...] = ()
    #: The first few texts of dates whose order of day and month is unclear.
    unclear: tuple[str, ...] = ()
    #: Whether little speaks for the role that is suggested.
    unsure: bool = False

    def declared(self, schema: Schema) -> Self:
        """The column as ``schema`` declares it."""
        role = next((role for role in ROLES if self.name in schema.columns(role)), "others")
        kind, form = self.kind, self.form
        if role == "quasi_identifiers":
            kind = next(attribute.kind for attribute in schema.attributes if attribute.name == self.name)
            form = schema.dates.get(self.name) or schema.numbers.get(self.name) or ""
        # Published figures for data sets with a schema use the complete records.
        return replace(self, role=role, kind=kind, form=form, gaps="drop", codes=False, decided=True)

    def decide(self, **changes: Any) -> Self:
        """The column with another role, kind, form, treatment of missing values, or meaning of codes.

        Parameters
        ----------
        **changes : Any
            ``role``: one of :data:`ROLES`. ``kind`` and ``form``: a pair of :attr:`kinds`; without a form, the first
            one of the kind. ``gaps``: one of :attr:`possible_gaps`, "drop" if the kind does not allow it. ``codes``:
            whether missing-value codes count as missing; by default they do if text becomes numbers. An impossible kind
            or form is ignored.

        Returns
        -------
        Column
            Decided. Words of earlier versions ("stratum", "number", "category") are translated, with a
            DeprecationWarning.

        Raises
        ------
        ParameterError
            If the role or the kind is unknown.
        """
        changes = _translate_changes(changes)
        check_choice("role", changes.get("role", self.role), tuple(ROLES))
        if changes.keys() & {"kind", "form"}:
            kind, form = changes.get("kind", self.kind), changes.get("form", "")
            check_choice("kind", kind, ("", *KINDS))
            fits = [pair for pair in self.kinds if pair[0] == kind and form in ("", pair[1])]
            changes["kind"], changes["form"] = next(iter(fits), (self.kind, self.form))
        new = replace(self, **changes, decided=True)
        if new.as_numbers != self.as_numbers and "codes" not in changes:
            new = replace(new, codes=new.n_codes > 0 and (new.as_numbers is not None or not self.doubtful))
        possible = new.possible_gaps
        return replace(new, gaps=next((gaps for gaps in (new.gaps, self.gaps) if gaps in possible), "drop"))

    @property
    def needs_decision(self) -> bool:
        """Whether a person should decide: on the role, the reading of text, or missing-value codes."""
        if self.decided:
            return False
        is_used = self.role in ("quasi_identifiers", "weights")
        has_open_codes = is_used and self.n_codes > 0 and not self.codes
        return self.unsure or has_open_codes or self.may_be_numbers or self.may_be_dates

    @property
    def may_be_numbers(self) -> bool:
        """Whether it is text that may be read as numbers, and is not."""
        return bool(self.offers) and self._is_readable and not self.is_number

    @property
    def may_be_dates(self) -> bool:
        """Whether it is text that may be read as dates, and is not."""
        return bool(self.unclear) and self._is_readable and not self.is_date

    @property
    def _is_readable(self) -> bool:
        """Whether reading its text as numbers or dates makes a difference."""
        return self.role in ("quasi_identifiers", "identifiers")

    @property
    def is_quasi_identifier(self) -> bool:
        """Whether the column is a quasi-identifier."""
        return self.role == "quasi_identifiers"

    @property
    def is_number(self) -> bool:
        """Whether its values are numbers, or text that is read as numbers. Dates are not."""
        return self.kind == "numeric" and not self.is_date

    @property
    def is_categorical(self) -> bool:
        """Whether its values have an order or a taxonomy."""
        return self.kind in ("ordinal", "nominal")

    @property
    def as_numbers(self) -> AsNumbers | None:
        """The reading of its text as numbers. None for other columns and for numbers in plain notation."""
        return next((read for read in self.offers if read.notation == self.form), None)

    @property
    def is_date(self) -> bool:
        """Whether its values are dates, or text that is read as dates."""
        return self.form in dates.FORMS

    def as_dates(self, form: str) -> list[tuple[str, str]]:
        """The first :attr:`unclear` texts, each with its date if the column has this form."""
        first = dates.day_first(form)
        return [(text, str(dates.parse(text, day_first=bool(first)))) for text in self.unclear]

    @property
    def possible_gaps(self) -> tuple[str, ...]:
        """The treatments of missing values (:data:`microagg.columns.gaps.GAPS`) that its kind allows."""
        return ("drop", "category", "impute") if self.kind == "nominal" else ("drop", "impute")

    @property
    def possible_codes(self) -> tuple[Any, ...]:
        """The values that look like missing-value codes, or if text is read as numbers, all that are not numbers."""
        return self.likely_codes if self.as_numbers is None else self.as_numbers.codes

    @property
    def n_codes(self) -> int:
        """The number of records with one of the :attr:`possible_codes`."""
        return self.n_likely if self.as_numbers is None else self.as_numbers.n_codes

    @property
    def n_missing(self) -> int:
        """The number of records with a missing value, including missing-value codes if they count."""
        return self.n_empty + (self.n_codes if self.codes else 0)

    @property
    def missing_codes(self) -> tuple[str, ...]:
        """The values that count as missing, as taxonomies write them."""
        return tuple(category(value) for value in self.possible_codes) if self.codes else ()

    @property
    def can_be_class(self) -> bool:
        """Whether it can be a class label: confidential or a stratum, with 2 to MOST_CLASSES values, none missing."""
        has_few_values = 2 <= self.n_distinct <= MOST_CLASSES
        return self.role in ("confidential", "strata") and has_few_values and not self.n_empty

    def present(self, series: pd.Series[Any]) -> pd.Series[Any]:
        """The column without the cells with missing-value codes, if these count as missing."""
        return series[~series.isin(self.possible_codes)] if self.codes else series


def _translate_changes(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Translate role and kind from the words of earlier versions, with a warning."""
    earlier = (changes.get("role", ""), changes.get("kind", ""), changes.get("form", ""))
    names = ("role", "kind", "form")
    translations = dict(zip(names, translated(*earlier), strict=True))
    changed = {
        name: translations[name] for name, word in zip(names, earlier, strict=True) if translations[name] != word
    }
    if changed:
        new_words = " and ".join(f"{name}={word!r}" for name, word in changed.items())
        warn_caller(f"words of an earlier version for a column: write {new_words}.", DeprecationWarning)
    return {**changes, **changed}


def guess_columns(frame: IntoDataFrame, n_table: int | None = None, schema: Schema | None = None) -> tuple[Column, ...]:
    """Suggest role and kind of each column of ``frame``, or return the roles and kinds that a ``schema`` declares.

    Suggestions use only values and names (English, German, Spanish, French), so a person has to confirm them. Columns
    are quasi-identifiers unless there is contrary evidence. Of columns that determine each other one to one, all but
    one become identifiers, which a release leaves out (the first 60 columns whose values recur are compared).

    Parameters
    ----------
    frame : DataFrame of pandas or polars, or pyarrow.Table
        The table, or a sample of its records in their order.
    n_table : int, optional
        The number of records of the table; by default ``frame`` is the whole table.
    schema : Schema, optional
        Declared roles and kinds.

    Raises
    ------
    DataError
        If ``frame`` is not a table of pandas, polars or Arrow with unique column names on one level.
    """
    frame = as_pandas(frame)
    counted = [ColumnValues.of(frame[name], n_table) for name in frame.columns]
    columns = [
        _guess(values) if values is not None else _unreadable(frame[name])
        for name, values in zip(frame.columns, counted, strict=True)
    ]
    _drop_duplicates(columns, counted)
    _keep_one_weight(columns)
    return tuple(columns if schema is None else [column.declared(schema) for column in columns])


def _unreadable(series: pd.Series[Any]) -> Column:
    empty = int(series.isna().sum())
    reasons = (holds_neither(series.dropna()), *_missing(empty, len(series)))
    state: dict[str, Any] = {"gaps": "drop", "codes": False, "decided": False, "n_empty": empty, "n_distinct": 0}
    return Column(series.name, "others", kind="", form="", kinds=(), reasons=reasons, **state)


def _guess(values: ColumnValues) -> Column:
    """Suggest role and kind of one column, with reasons."""
    reading = read_kind(values)
    rules = (_empty_or_constant, _weight, _medical_code, _identifier, _confidential, _stratum, _quasi_identifier)
    role, reason, unsure = next(guess for rule in rules if (guess := rule(values, reading)) is not None)
    codes = reading.missing_codes
    n_codes = values.n_where(values.distinct.isin(codes).to_numpy()) if codes else 0
    # A person decides whether 99999 is a number or a missing value, unless it is frequent and far from all others;
    # "n/a" is always a missing value.
    are_repeated = bool(codes) and bool((values.counts[values.distinct.isin(codes).to_numpy()] >= REPEATED).all())
    doubtful = reading.doubtful or (is_numeric_dtype(values.dtype) and not are_repeated)
    kind, form = reading.kind
    as_numbers = bool(reading.offers) and kind == "numeric"
    return Column(
        values.name,
        role,
        kind,
        form,
        kinds=tuple(sorted(reading.kinds, key=lambda pair: KINDS.index(pair[0]))),
        gaps="category" if kind == "nominal" and (values.n_missing or codes) else "drop",
        codes=reading.offers[0].n_codes > 0 if as_numbers else n_codes > 0 and not doubtful,
        decided=False,
        reasons=(*([reason] if reason else []), *reading.reasons, *_missing(values.n_missing, values.n)),
        n_empty=values.n_missing,
        n_distinct=values.n_distinct,
        likely_codes=codes,
        n_likely=n_codes,
        doubtful=doubtful,
        offers=reading.offers,
        unclear=reading.unclear,
        unsure=unsure,
    )


def _missing(count: int, n: int) -> tuple[str, ...]:
    return (f"{count:,} of {n:,} {'is' if count == 1 else 'are'} missing",) if count else ()


# --- roles: each rule returns a role and its reason, or None if it does not apply ------------------------------------


class _Guess(NamedTuple):
    role: str
    reason: str
    unsure: bool = False


# A name of a person is a column called "name", or one whose name has also one of these words.
_NAME = Words("name")
_OF_PERSONS = Words(
    "first last full family given middle maiden person patient user customer client employee student member pupil "
    "respondent contact owner"
)

# Unambiguous words for weights of a sample.
_SAMPLE_WEIGHT = Words(
    "wgt wt fnlwgt afnlwgt pweight pwgt hweight hwgt fweight aweight iweight weighting",
    "gewichtung ponderac ponderat hochrechnung",
)
# Words for weights of samples and of bodies, and words that distinguish the two.
_WEIGHT = Words("weight gewicht poids peso")
_OF_SAMPLES = Words("hh household survey sample sampling design final person base population calibrated")
_OF_BODIES = Words("body birth kg lb pound baby newborn current height", "korper geburt corpor naissance")

# Health, beliefs and opinions.
_CONFIDENTIAL = Words(
    "hiv aids sida salud sante health party partei partido parti vote voted voting voto wahl faith score drug illness "
    "abortion cancer krebs tumor meinung avis attitude trust religion church kirche "
    # Codes of diagnoses, medicines, occupations and branches; and grades of a school.
    "icd opcs atc isco nace grade gpa zensur zeugnis note nota calificacion",
    "schulnot abiturnot zeugnisnot "
    "diagnos disease sickness religi krank erkrank befund gesundheit enfermed diagnost maladi medicat medicam medikam "
    "symptom disabil disorder behinder discapac handicap therap satisf zufrieden konfession politic politis opinion "
    "einstellung",
)

# Income of a person.
_INCOME = Words("income salary wage earning einkommen gehalt lohn ingreso salario revenu salaire reddito")

# Forms of codes: of diagnoses (ICD) and branches (NACE), some with a point, and of medicines (ATC).
_WITH_POINT = re.compile(r"[A-Z]\d{2}\.\d{1,2}[-*+!]?")
_CODES = re.compile(rf"[A-Z]\d{{2}}[-*+!]?|{_WITH_POINT.pattern}|[A-Z]\d{{2}}[A-Z]{{2}}\d{{2}}")

# The strata of a sample.
_STRATUM = Words("stratum strata strat schicht estrato strate")


def _empty_or_constant(values: ColumnValues, reading: Reading) -> _Guess | None:
    if values.n_distinct == 0:
        return _Guess("others", "no record has a value here")
    if not reading.kinds:
        return _Guess("others", "")
    if values.n_distinct == 1:
        return _Guess(
            "others", f"all values are {values.values(np.ones(1, dtype=np.bool_))[0]!r}: it distinguishes nobody"
        )
    return None


def _weight(values: ColumnValues, reading: Reading) -> _Guess | None:
    clear_word, vague_word = _SAMPLE_WEIGHT.in_name(values.name), _WEIGHT.in_name(values.name)
    if clear_word and reading.offers and (reading.numbers is None or reading.offers[0].n_codes):
        return _Guess(
            "others", f"the name says {clear_word!r}, but it holds text, of which not all is clearly a number"
        )
    if reading.numbers is None or not (clear_word or vague_word):
        return None
    numbers = reading.numbers[~np.isnan(reading.numbers)]
    if not len(numbers) or numbers.min() < 0 or numbers.max() <= 0:
        return None
    evidence = f"the name says {clear_word or vague_word!r}"
    span = f"{counted(len(numbers), 'distinct value')} of {values.n_present:,}, {_span(numbers)}"
    if clear_word or _OF_SAMPLES.in_name(values.name):
        return _Guess("weights", f"{evidence}: the weight of a record in a sample")
    if _OF_BODIES.in_name(values.name):
        return _Guess("quasi_identifiers", f"{evidence}, and it seems to be a body's ({span}): an outsider may know it")
    if _are_body_weights(numbers):
        return _Guess(
            "quasi_identifiers", f"{evidence}; {span}: perhaps a body weight, not that of a record", unsure=True
        )
    return _Guess("weights", f"{evidence}; {span}: perhaps the weight of a record, not of a body", unsure=True)


def _are_body_weights(numbers: FloatArray) -> bool:
    """Whether weights may be of bodies: of their size, with at most one decimal, and unless whole, repeated."""
    if numbers.min() < _BODY_WEIGHTS[0] or numbers.max() > _BODY_WEIGHTS[1]:
        return False
    whole = bool((numbers == np.round(numbers)).all())
    return whole or (bool(np.allclose(numbers, np.round(numbers, 1), atol=1e-9)) and len(numbers) > 1)


def _span(numbers: FloatArray) -> str:
    return f"{figure(numbers.min())} to {figure(numbers.max())}"


def _identifier(values: ColumnValues, reading: Reading) -> _Guess | None:
    for rule in (_named_identifier, _identifying_text, _identifying_numbers):
        if reason := rule(values, reading):
            return _Guess("identifiers", f"{values.n_distinct:,} distinct of {values.n_present:,}{reason}")
    return None


def _named_identifier(values: ColumnValues, reading: Reading) -> str | None:
    share = values.n_distinct / values.n_present
    word = NUMBERED.in_name(values.name)
    if word and not reading.is_date and share >= _NAMED_ID_SHARE:
        return f", and the name says {word!r}: looks like an identifier"
    word = PERSONAL.in_name(values.name)
    if not word and (parts(values.name) in (["name"], ["names"]) or _OF_PERSONS.in_name(values.name)):
        word = _NAME.in_name(values.name)
    is_identifying = values.n_distinct > _MIN_NAMES or share >= _ID_SHARE
    if word and is_identifying and not reading.is_date and reading.numbers is None:
        return f", and the name says {word!r}: looks like names or addresses"
    return None


def _identifying_text(values: ColumnValues, reading: Reading) -> str | None:
    """Text that differs in nearly every record, e-mail addresses, and sentences."""
    if reading.kind not in CATEGORIES or reading.numbers is not None or reading.is_code:
        return None
    texts, share = values.texts, values.n_distinct / values.n_present
    if sum("@" in text for text in texts) >= _ID_SHARE * len(texts):
        return ", e-mail addresses: looks like an identifier"
    if share >= 0.5 and sum(text.count(" ") for text in texts) >= _BLANKS_OF_SENTENCES * len(texts):
        return ", in sentences: free text may tell who somebody is, so leave it out"
    reading_name = "numbers" if reading.offers else "dates" if reading.unclear else ""
    exception = f", unless it is read as {reading_name}" if reading_name else ""
    return f": looks like an identifier{exception}" if share >= _ID_SHARE else None


def _identifying_numbers(values: ColumnValues, reading: Reading) -> str | None:
    """Consecutive numbers of records, and long numbers of documents."""
    numbers = reading.numbers
    if numbers is None or np.isnan(numbers).any() or values.n_distinct < max(values.n_present, _MIN_RECORDS):
        return None
    if not (numbers == np.floor(numbers)).all() or np.abs(numbers).max() >= _LARGEST_ID:
        return None
    # Distinct values are in the order of the records.
    steps = np.diff(numbers)
    if np.ptp(numbers) == len(numbers) - 1 or ((steps > 0).all() and np.ptp(numbers) <= 2 * values.n_table):
        return f", {_span(numbers)} in a row: looks like the number of a record"
    digits = {len(figure(abs(value)).replace(",", "")) for value in (numbers.min(), numbers.max())}
    if numbers.min() > 0 and len(digits) == 1 and min(digits) >= _DIGITS_OF_DOCUMENTS:
        return f", of {digits.pop()} digits each: looks like an identifier"
    return None


def _medical_code(values: ColumnValues, reading: Reading) -> _Guess | None:
    """Text with codes of diagnoses, branches or medicines, with any number of distinct values."""
    if reading.kind not in CATEGORIES or reading.numbers is not None or values.n_distinct < 2:
        return None
    fits = np.array([_CODES.fullmatch(text) is not None for text in values.texts], dtype=np.bool_)
    long_codes = [text for text in values.texts[fits] if len(text) > len("A00-")]
    if not long_codes or values.n_where(fits) < _ID_SHARE * values.n_present:
        return None
    example = long_codes[0]
    return _Guess("confidential", f"codes such as {example!r}, as of diagnoses, branches or medicines (ICD, NACE, ATC)")


def _confidential(values: ColumnValues, reading: Reading) -> _Guess | None:
    if word := _CONFIDENTIAL.in_name(values.name):
        return _Guess("confidential", f"the name says {word!r}: probably the subject of the study")
    if word := _INCOME.in_name(values.name):
        reason = f"the name says {word!r}: probably the subject of the study; an outsider may know some values"
        return _Guess("confidential", reason, unsure=True)
    return None


def _stratum(values: ColumnValues, reading: Reading) -> _Guess | None:
    word = _STRATUM.in_name(values.name)
    if word is None or not 2 <= values.n_distinct <= _MOST_STRATA or values.counts.min() < _MIN_STRATUM_SIZE:
        return None
    return _Guess(
        "strata", f"the name says {word!r}; {values.n_distinct} strata of {values.counts.min():,} records or more"
    )


def _quasi_identifier(values: ColumnValues, reading: Reading) -> _Guess:
    if reading.kind in CATEGORIES:
        noun = f"{values.n_distinct:,} categories in {counted(values.n_present, 'record')}"
        return _Guess("quasi_identifiers", f"{noun}: an outsider may know the category of a person")
    return _Guess("quasi_identifiers", f"an outsider may know this {'date' if reading.is_date else 'number'}")


# --- evidence from several columns ------------------------------------------------------------------------------------


def _drop_duplicates(columns: list[Column], counted: list[ColumnValues | None]) -> None:
    """Make identifiers of columns that another one determines one to one, rather of numbers than of text."""
    pairs = [(i, values) for i, values in enumerate(counted) if values is not None and _is_compared(columns[i], values)]
    pairs = pairs[:_MOST_COMPARED]
    table = determinations([values for _, values in pairs])
    remaining: list[int] = []
    for j in sorted(range(len(pairs)), key=lambda j: columns[pairs[j][0]].is_number):
        twin = next((i for i in remaining if table[i, j] and table[j, i]), None)
        if twin is None:
            remaining.append(j)
            continue
        reason = f"follows from {pairs[twin][1].name!r} one to one: leave it out"
        _set_role(columns, pairs[j][0], "identifiers", reason)


def _is_compared(column: Column, values: ColumnValues) -> bool:
    if column.role in ("identifiers", "weights", "others") or not can_determine(values):
        return False
    # Two columns that are nearly constant may agree by chance.
    return values.n_present - int(values.counts.max()) >= _MIN_SUPPORT


def _keep_one_weight(columns: list[Column]) -> None:
    first, *further = [i for i, column in enumerate(columns) if column.role == "weights"] or [0]
    for i in further:
        _set_role(
            columns, i, "others", f"a weight too, but {columns[first].name!r} is taken for the weight of a record"
        )


def _set_role(columns: list[Column], i: int, role: str, reason: str) -> None:
    columns[i] = replace(columns[i], role=role, reasons=(reason, *columns[i].reasons[1:]), unsure=True)


def would_be_lost(column: Column, n: int, *, flat: bool = True) -> str:
    """Reason why a release would lose a whole column that a person may want. Empty if it would not.

    Parameters
    ----------
    column : Column
        The column with its role and kind.
    n : int
        The number of records of the release.
    flat : bool
        Whether its taxonomy has no level between the values and the root.
    """
    if column.role == "identifiers" and column.offers and not column.offers[0].is_like_code:
        offer = column.offers[0]
        return f"it would be left out, though it can be read as numbers, such as {offer.example!r} for {offer.number}"
    if column.role == "identifiers" and column.unclear:
        return f"it would be left out, though it can be read as dates, such as {column.unclear[0]!r}"
    size = (n - column.n_empty) / max(column.n_distinct, 1)
    if column.is_quasi_identifier and column.kind == "nominal" and flat and n >= _N_MANY and size < _MIN_SIZE:
        text = f"it has {column.n_distinct:,} categories in {n - column.n_empty:,} records"
        return f"{text}, so nearly every group would hold several, and be released as “*”"
    return ""


def arguments(
    frame: IntoDataFrame,
    columns: Iterable[Column],
    *,
    taxonomies: Mapping[Any, Taxonomy] | None = None,
    ordinal: Mapping[Any, Sequence[str]] | None = None,
    classes: Any = None,
) -> dict[str, Any]:
    """Arguments of :func:`microagg.microaggregate` for ``columns`` of ``frame``, without empty ones.

    Of several columns of weights the first counts; the others are released unchanged.

    Parameters
    ----------
    frame : DataFrame of pandas or polars, or pyarrow.Table
        The table.
    columns : iterable of Column
        Its columns with their roles and kinds.
    taxonomies, ordinal : mapping, optional
        Taxonomies of nominal columns, by default flat, and orders of ordinal ones, by default ascending; entries for
        columns of other kinds are ignored.
    classes : column name, optional
        The class label.
    """
    frame, columns = as_pandas(frame), list(columns)
    roles: dict[str, Any] = {role: tuple(column.name for column in columns if column.role == role) for role in ROLES}
    chosen = [column for column in columns if column.is_quasi_identifier and column.kind]
    first, further = roles["weights"][:1], roles["weights"][1:]
    roles["quasi_identifiers"] = tuple(column.name for column in chosen)
    roles["weights"], roles["others"] = next(iter(first), None), (*roles["others"], *further)
    trees, orders, days, numbers = {}, {}, {}, {}
    for column in chosen:
        name, series = column.name, frame[column.name]
        if column.kind == "nominal":
            trees[name] = (taxonomies or {}).get(name) or Taxonomy.flat(category_counts(column.present(series)))
        elif column.kind == "ordinal":
            orders[name] = (ordinal or {}).get(name) or tuple(category_counts(column.present(series)))
        elif column.is_date:
            days[name] = column.form
        elif not is_numeric_dtype(series.dtype):
            numbers[name] = column.form or None
    numbers |= {column.name: column.form for column in columns if column.name in first and column.as_numbers}
    declared = roles | {
        "classes": classes,
        "taxonomies": trees,
        "ordinal": orders,
        "dates": days,
        "numbers": numbers,
        "missing_codes": {column.name: column.missing_codes for column in chosen if column.missing_codes},
    }
    options = as_options(declared) | {"missing": {column.name: column.gaps for column in chosen if column.n_missing}}
    return {option: value for option, value in options.items() if value not in (None, (), {})}
