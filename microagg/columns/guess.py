"""The role and kind of each column: a suggestion with reasons, then a decision; and the arguments of a release."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from microagg.columns import dates
from microagg.columns.kinds import (
    CATEGORIES,
    NUMERIC,
    REPEATED,
    KindAndForm,
    are_marks,
    holds_neither,
    number_categories,
    read_kind,
)
from microagg.columns.names import known_names
from microagg.columns.numerals import AsNumbers
from microagg.columns.records import KINDS
from microagg.columns.schema import ROLES as SCHEMA_ROLES
from microagg.columns.schema import Schema, as_options
from microagg.columns.suggested_roles import UNREADABLE, Evidence, Suggestion, adjust, kind_of_codes, suggest_role
from microagg.columns.taxonomy import Taxonomy, category, category_counts
from microagg.columns.values import ColumnValues
from microagg.errors import ParameterError, brief
from microagg.tables.frames import as_pandas
from microagg.validation import check_choice, quoted

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame

#: The roles that are suggested.
ROLES = tuple(role for role in SCHEMA_ROLES if role != "classes")

#: A column with more distinct values than this is hardly a class label for prediction.
MOST_CLASSES = 50

# In files of at least the first number of records, smaller categories than the second rarely form groups alone.
_N_MANY, _MIN_SIZE = 100, 4.0


@dataclass(frozen=True)
class Column:
    """Role and kind of a column: suggested or declared (:func:`guess_columns`), then decided."""

    name: Any
    role: str  # one of ROLES; identifiers are left out of a release
    #: Its kind as a quasi-identifier: numeric, ordinal or nominal, empty if it cannot be one; its form, as in
    #: :data:`microagg.columns.kinds.KindAndForm`; and all possible pairs of both.
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
    #: What its values show, as in :class:`microagg.columns.kinds.Reading`; the number of records with a likely code.
    likely_codes: tuple[Any, ...] = ()
    n_likely: int = 0
    doubtful: bool = False
    offers: tuple[AsNumbers, ...] = ()
    unclear: tuple[str, ...] = ()
    #: Whether little speaks for the role that is suggested.
    unsure: bool = False

    def _declared(self, schema: Schema) -> Self:
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
            one of the kind; an impossible pair is ignored. ``gaps``: one of :attr:`possible_gaps`; if the kind does not
            allow it, the treatment so far, or else "drop". ``codes``: whether missing-value codes count as missing; by
            default they do if text becomes numbers.

        Returns
        -------
        Column
            Decided.

        Raises
        ------
        ParameterError
            If the role or the kind is unknown.
        """
        check_choice("role", changes.get("role", self.role), ROLES)
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
        # A suppressed cell has a value, though nobody may know it.
        has_marks = self.kind == "numeric" and are_marks(self.possible_codes)
        has_open_codes = is_used and self.n_codes > 0 and (has_marks or not self.codes)
        return self.unsure or has_open_codes or self.may_be_numbers or self.may_be_dates

    @property
    def may_be_numbers(self) -> bool:
        """Whether it is text that may be read as numbers, and is not; where that makes a difference."""
        is_readable = self.role in ("quasi_identifiers", "identifiers")
        return bool(self.offers) and is_readable and (self.kind != "numeric" or self.is_date)

    @property
    def may_be_dates(self) -> bool:
        """Whether it is text that may be read as dates, and is not; where that makes a difference."""
        return bool(self.unclear) and self.role in ("quasi_identifiers", "identifiers") and not self.is_date

    @property
    def is_quasi_identifier(self) -> bool:
        """Whether the column is a quasi-identifier."""
        return self.role == "quasi_identifiers"

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
        """The treatments of missing values (:data:`microagg.columns.records.GAPS`) that its kind allows."""
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


def guess_columns(
    frame: IntoDataFrame,
    schema: Schema | None = None,
    variable_labels: Mapping[str, str] | None = None,
    value_labels: Mapping[str, Mapping[Any, str]] | None = None,
) -> tuple[Column, ...]:
    """Suggest role and kind of each column of ``frame``, or return the roles and kinds that a ``schema`` declares.

    A person has to confirm suggestions. Their evidence: the labels of variables; names of large surveys, which
    ``survey_names.csv`` lists; values, such as numbers in a row; words of names (English, German, Spanish, French).
    Columns are quasi-identifiers unless there is contrary evidence. Identifiers, values that cannot be grouped, such as
    times with a time zone, replicate weights and all weights but one are left out of a release.

    Parameters
    ----------
    frame : DataFrame of pandas or polars, or pyarrow.Table
        The table.
    schema : Schema, optional
        Declared roles and kinds.
    variable_labels : mapping of column name to str, optional
        What a file of Stata or SPSS says of its columns.
    value_labels : mapping of column name to mapping of number to str, optional
        What it says of single values of columns of numbers: :attr:`microagg.tables.Reading.value_labels`. Those that
        say that there is no value ("don't know") are suggested as missing-value codes.

    Returns
    -------
    tuple of Column
        In the order of the columns of ``frame``.

    Raises
    ------
    DataError
        If ``frame`` is not a table of pandas, polars or Arrow with unique column names on one level.
    ParameterError
        If labels are not such mappings, or of a column that is not in ``frame``.
    """
    frame = as_pandas(frame)
    _check_labels(frame, variable_labels or {}, value_labels or {})
    survey_names = known_names(frame.columns)
    evidence: list[Evidence] = []
    for name in frame.columns:
        if (values := ColumnValues.of(frame[name])) is not None:
            label = str((variable_labels or {}).get(name) or "")
            reading = read_kind(values, (value_labels or {}).get(str(name)))
            evidence.append(Evidence(values, reading, label, survey_names.get(name)))
    suggestions = [suggest_role(column) for column in evidence]
    adjust(suggestions, evidence)
    suggested = {each.values.name: _column(each, role) for each, role in zip(evidence, suggestions, strict=True)}
    columns = [suggested.get(name) or _unreadable(frame[name]) for name in frame.columns]
    return tuple(columns if schema is None else [column._declared(schema) for column in columns])


def _check_labels(frame: pd.DataFrame, variables: Any, values: Any) -> None:
    """Raise ParameterError unless labels of columns and of values are those of the table's columns."""
    names = set(map(str, frame.columns))
    for what, labels in (("variable_labels", variables), ("value_labels", values)):
        if not isinstance(labels, Mapping):
            raise ParameterError(f"{what} must map column names to labels, not be {brief(labels)}.")
        if unknown := [name for name in labels if name not in names]:
            raise ParameterError(f"{what} names {quoted(unknown)}, which the table does not have: leave it out.")
    for name, of_codes in values.items():
        pairs = of_codes.items() if isinstance(of_codes, Mapping) else [("", of_codes)]
        if any(isinstance(code, str) or not isinstance(text, str) for code, text in pairs):
            raise ParameterError(f"the value_labels of {name!r} must map numbers to texts, not be {brief(of_codes)}.")


def _unreadable(series: pd.Series[Any]) -> Column:
    """A column of values that cannot be compared, such as lists."""
    n_empty = int(series.isna().sum())
    reasons = (UNREADABLE.reason, holds_neither(series.dropna()), *_missing(n_empty, len(series)))
    return Column(series.name, UNREADABLE.role, "", "", (), "drop", False, False, reasons, n_empty, 0, unsure=True)


def _column(evidence: Evidence, suggestion: Suggestion) -> Column:
    """A column with the role and kind that are suggested, with reasons."""
    values, reading = evidence.values, evidence.reading
    codes = reading.missing_codes
    counts_of_codes = values.counts[values.distinct.isin(codes)] if codes else np.zeros(0)
    # A person decides whether 99999 is a number or a missing value, unless it is frequent and far from all others;
    # "n/a" is always a missing value.
    are_clear = reading.labelled or (bool(codes) and bool((counts_of_codes >= REPEATED).all()))
    doubtful = reading.doubtful or (is_numeric_dtype(values.dtype) and not are_clear)
    kind_of_integers, kind_reason = kind_of_codes(evidence)
    kind_of_integers = suggestion.kind or kind_of_integers
    kind, form, kinds = *reading.kind, reading.kinds
    if kind_of_integers and reading.kind == NUMERIC:
        kind, form, kinds = kind_of_integers, "", tuple(dict.fromkeys((*kinds, *CATEGORIES)))
    is_open = kind == "nominal" and not (kind_of_integers or reading.is_code or reading.offers)
    numbers = number_categories(values.name, values.texts.tolist()) if is_open else ""
    doubt = f"{numbers}: if they are quantities, make the column numeric" if numbers else ""
    reasons = (suggestion.reason, kind_reason, doubt, *reading.reasons, *_missing(values.n_missing, values.n))
    as_numbers = reading.offers[0] if reading.offers and kind == "numeric" else None
    n_likely = int(counts_of_codes.sum())
    return Column(
        values.name,
        suggestion.role,
        kind,
        form,
        kinds=tuple(sorted(kinds, key=lambda pair: KINDS.index(pair[0]))),
        gaps="category" if kind == "nominal" and (values.n_missing or codes) else "drop",
        codes=n_likely > 0 and not doubtful if as_numbers is None else as_numbers.n_codes > 0,
        decided=False,
        reasons=tuple(filter(None, reasons)),
        n_empty=values.n_missing,
        n_distinct=values.n_distinct,
        likely_codes=codes,
        n_likely=n_likely,
        doubtful=doubtful,
        offers=reading.offers,
        unclear=reading.unclear,
        unsure=suggestion.unsure or (bool(doubt) and suggestion.role == "quasi_identifiers"),
    )


def _missing(count: int, n: int) -> tuple[str, ...]:
    return (f"{count:,} of {n:,} {'is' if count == 1 else 'are'} missing",) if count else ()


def would_be_lost(column: Column, n: int, *, flat: bool = True) -> str:
    """Reason why a release would lose a whole column that a person may want.

    Parameters
    ----------
    column : Column
        The column with its role and kind.
    n : int
        The number of records of the release.
    flat : bool
        Whether its taxonomy has no level between the values and the root.

    Returns
    -------
    str
        Part of a sentence; empty if the column is not lost.
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
    """Arguments of :func:`microagg.microaggregate` for ``columns`` of ``frame``.

    Parameters
    ----------
    frame : DataFrame of pandas or polars, or pyarrow.Table
        The table.
    columns : iterable of Column
        Its columns with their roles and kinds. Of several columns of weights the first counts; the others are released
        unchanged.
    taxonomies, ordinal : mapping, optional
        Taxonomies of nominal columns, by default flat, and orders of ordinal ones, by default ascending; entries for
        columns of other kinds are ignored.
    classes : column name, optional
        The class label.

    Returns
    -------
    dict of str to Any
        Keywords, without empty ones.

    Raises
    ------
    DataError
        If ``frame`` is not a table with unique column names.
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
