"""What the columns of a file are: their roles, the kinds of the quasi-identifiers, and how these are encoded."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_numeric_dtype

from microagg.columns import dates, numerals
from microagg.columns.dates import FORMS, holds_dates
from microagg.columns.kinds import are_marks, read_kind
from microagg.columns.numerals import NOTATIONS
from microagg.columns.records import (
    Attribute,
    Filling,
    Records,
    categories,
    class_codes,
    encode,
    fill,
    is_category,
    is_number,
    without_codes,
)
from microagg.columns.taxonomy import Taxonomy, category
from microagg.columns.values import ColumnValues
from microagg.errors import DataError, ParameterError, brief
from microagg.tables.frames import as_pandas
from microagg.validation import (
    FloatArray,
    IntArray,
    check_choice,
    check_columns,
    check_present,
    is_name,
    quoted,
    warn_caller,
)

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame

#: The roles that columns can have, and what messages call them. A column has one role, except that the classes are
#: confidential attributes or strata too.
ROLES: Mapping[str, str] = {
    "quasi_identifiers": "quasi-identifiers",
    "confidential": "confidential attributes",
    "identifiers": "identifiers",
    "strata": "strata",
    "classes": "classes",
    "weights": "weights",
    "others": "other columns",
}

# Recipes, programs and shells have called the strata "by" from the beginning.
_ROLE_OF_OPTION = {"by": "strata"}

# The unit of dates, and the notation of numbers, of columns that are only named.
_DEFAULTS = {"dates": "day", "numbers": None}


@dataclass(frozen=True)
class Schema:
    """The roles of a file's columns, and the kinds of its quasi-identifiers.

    Attributes
    ----------
    quasi_identifiers : tuple
        The columns that could be linked to other files; these are microaggregated, and all others but identifiers are
        released as they are.
    confidential : tuple
        The columns that the release is about (confidential attributes).
    identifiers : tuple
        The columns that name a record (names, numbers of documents); they are left out of a release.
    strata : tuple
        The columns within whose values groups must stay.
    taxonomies : mapping of column name to Taxonomy
        The quasi-identifiers that are nominal, i.e. hold categories without an order.
    ordinal : mapping of column name to tuple of str
        The quasi-identifiers that are ordinal, with their categories from the lowest to the highest.
    classes : column name or None
        The class of each record, such as an income bracket; counted among the confidential attributes unless it is one
        of the strata.
    weights : column name or None
        The weight of each record, such as the number of persons that it stands for in a sample survey.
    others : tuple
        The columns about which it was decided that they have none of these roles.
    dates : mapping of column name to one of :data:`microagg.columns.dates.FORMS`
        The quasi-identifiers that are dates, with the unit of their release, and whether the day or the month comes
        first where the column does not show it. May be given as a collection of names: by the day.
    numbers : mapping of column name to {"1,234.5", "1.234,5"} or None
        The quasi-identifiers, and the weights, that are numbers though a file may hold them as text, with a decimal
        point or a decimal comma, or, with None or only named, as the column shows by itself.
    missing_codes : mapping of column name to tuple of str
        The values of quasi-identifiers that stand for a missing one (``n/a``, ``-999``), as
        :func:`microagg.columns.taxonomy.category` writes them.

    Roles are given as one column name or as a collection of them. (A tuple is a collection.) Quasi-identifiers that are
    neither nominal nor ordinal are numeric.

    Raises
    ------
    ParameterError
        If a column is named twice or has two kinds, there is no quasi-identifier, the classes are a quasi-identifier or
        an identifier, or a taxonomy, an order, a unit of dates or a missing code is that of another column.
    DataError
        If a taxonomy is not valid, or an order is empty or has a category twice.
    """

    quasi_identifiers: tuple[Hashable, ...]
    confidential: tuple[Hashable, ...] = ()
    identifiers: tuple[Hashable, ...] = ()
    strata: tuple[Hashable, ...] = ()
    taxonomies: Mapping[Hashable, Taxonomy] = field(default_factory=dict, hash=False)
    ordinal: Mapping[Hashable, tuple[str, ...]] = field(default_factory=dict, hash=False)
    classes: Hashable = None
    weights: Hashable = None
    others: tuple[Hashable, ...] = ()
    dates: Mapping[Hashable, str] = field(default_factory=dict, hash=False)
    numbers: Mapping[Hashable, str | None] = field(default_factory=dict, hash=False)
    missing_codes: Mapping[Hashable, tuple[str, ...]] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        self._check_roles()
        for part, (noun, check) in _PARTS.items():
            of_columns = _by_column(part, getattr(self, part))
            # Weights may be numbers written as text, too.
            possible = (*self.quasi_identifiers, self.weights if part == "numbers" else None)
            for name in of_columns:
                if name not in possible:
                    raise ParameterError(
                        f"there is {noun} for {name!r}, which is not among the quasi-identifiers: leave it out, or "
                        "name the column a quasi-identifier."
                    )
            object.__setattr__(self, part, {name: check(name, value) for name, value in of_columns.items()})
        kinds = [(noun, getattr(self, part)) for part, (noun, _) in _PARTS.items() if part != "missing_codes"]
        for name in self.quasi_identifiers:
            several = [noun for noun, of_columns in kinds if name in of_columns]
            if len(several) > 1:
                raise ParameterError(f"column {name!r} has {several[0]} and {several[1]}: give one of them.")

    def _check_roles(self) -> None:
        for role in ("classes", "weights"):
            named = getattr(self, role)
            if not (named is None or (is_name(named) and column_names(role, named))):
                raise ParameterError(f"{role} must be the name of one column, not {named!r}.")
        role_of: dict[Hashable, str] = {}
        for role in ("quasi_identifiers", "confidential", "identifiers", "strata", "others", "weights"):
            names = column_names(role, getattr(self, role))
            if role != "weights":
                object.__setattr__(self, role, names)
            for name in names:
                if role_of.get(name) == role:
                    raise ParameterError(f"column {name!r} is named twice {_as(role)}: name it once.")
                if name in role_of:
                    raise ParameterError(
                        f"column {name!r} is named {_as(role_of[name])} and {_as(role)}: a column has one role."
                    )
                role_of[name] = role
        if not self.quasi_identifiers:
            raise ParameterError("quasi_identifiers names no column: name at least one to be microaggregated.")
        if self.classes is None:
            return
        other = role_of.get(self.classes)
        if other in ("quasi_identifiers", "identifiers", "others", "weights"):
            raise ParameterError(
                f"column {self.classes!r} is named as the classes and {_as(other)}: classes are confidential and "
                f"released as they are, so leave it out of the {ROLES[other]}."
            )
        if other is None:
            object.__setattr__(self, "confidential", (*self.confidential, self.classes))

    def columns(self, role: str) -> tuple[Hashable, ...]:
        """Names of the columns with a role.

        Parameters
        ----------
        role : str
            One of :data:`ROLES`.

        Returns
        -------
        tuple of column names
        """
        return column_names(role, getattr(self, check_choice("role", role, list(ROLES))))

    def arguments(self) -> dict[str, Any]:
        """The schema as keyword arguments of :func:`microagg.microaggregate`."""
        return as_options({role: getattr(self, role) for role in ROLES}) | {
            "taxonomies": {name: taxonomy.to_nested() for name, taxonomy in self.taxonomies.items()},
            "ordinal": {name: list(levels) for name, levels in self.ordinal.items()},
            **{part: dict(getattr(self, part)) for part in ("dates", "numbers", "missing_codes")},
        }

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """The quasi-identifiers with their kinds."""
        return tuple(self._attribute(name) for name in self.quasi_identifiers)

    @property
    def is_numeric(self) -> bool:
        """Whether all quasi-identifiers are numeric, as dates are too."""
        return not self.taxonomies and not self.ordinal

    @property
    def categorical(self) -> tuple[Hashable, ...]:
        """The quasi-identifiers that hold categories."""
        return tuple(attribute.name for attribute in self.attributes if attribute.kind != "numeric")

    def _attribute(self, name: Hashable) -> Attribute:
        if name in self.taxonomies:
            return Attribute(name, "nominal", taxonomy=self.taxonomies[name])
        if name in self.ordinal:
            return Attribute(name, "ordinal", levels=self.ordinal[name])
        return Attribute(name, unit=dates.unit(self.dates.get(name, "")))

    @classmethod
    def infer(
        cls,
        frame: IntoDataFrame,
        quasi_identifiers: Any = None,
        confidential: Any = None,
        identifiers: Any = None,
        strata: Any = None,
        *,
        taxonomies: Mapping[Any, Any] | None = None,
        ordinal: Mapping[Any, Sequence[Any]] | None = None,
        classes: Any = None,
        weights: Any = None,
        others: Any = None,
        dates: Any = None,
        numbers: Any = None,
        missing_codes: Mapping[Any, Any] | None = None,
    ) -> Self:
        """Infer the kinds of the columns of ``frame``, and check their roles against it.

        Of quasi-identifiers without a taxonomy or an order, ordered categories of pandas are ordinal; text and other
        categories nominal, with the flat taxonomy of their values; numbers and booleans numeric; dates, but not text
        that says one, dates by the day. A warning names each column without a declared kind or another role that would
        hold numbers but for marks of suppressed cells, such as ``*``.

        Parameters
        ----------
        frame : DataFrame of pandas or polars, or pyarrow.Table, shape (n, number of columns)
        quasi_identifiers : column name or names, optional
            By default all columns without another role that are numeric (not booleans), or have a taxonomy, an order, a
            unit of dates, a notation of numbers or missing codes.
        taxonomies : mapping, optional
            By column, anything that :meth:`microagg.columns.taxonomy.Taxonomy.of` takes, None for a flat one.
        confidential, identifiers, strata, ordinal, classes, weights, others, dates, numbers, missing_codes : optional
            As the class has them.

        Raises
        ------
        DataError
            If ``frame`` is not a table with unique column names, lacks a column or has no quasi-identifier, or a
            quasi-identifier does not fit its kind, taxonomy or order.
        ParameterError
            As the class says.
        """
        frame = as_pandas(frame)
        roles = {"quasi_identifiers": quasi_identifiers, "confidential": confidential, "identifiers": identifiers}
        roles |= {"strata": strata, "classes": classes, "weights": weights, "others": others}
        kinds = dict(zip(_PARTS, (taxonomies, ordinal, dates, numbers, missing_codes), strict=True))
        schema = cls.of_options(frame, roles | kinds)
        schema.encode(frame)
        declared = {name for part, names in kinds.items() for name in _by_column(part, names or {})}
        other = {name for role in ROLES if role != "quasi_identifiers" for name in schema.columns(role)}
        for name in frame.columns:
            if name not in declared | other:
                _warn_of_suppressed(frame[name])
        return schema

    @classmethod
    def of_options(cls, frame: pd.DataFrame, options: Mapping[str, Any]) -> Self:
        """Infer the schema from the options of a release, like :meth:`infer`, but do not check values of numbers."""
        described = {_ROLE_OF_OPTION.get(name, name): value for name, value in options.items() if value is not None}
        of_several = ("confidential", "identifiers", "strata", "others")
        declared: dict[str, Any] = {role: column_names(role, described.get(role)) for role in of_several}
        declared |= {role: described.get(role) for role in ("classes", "weights")}
        by_part: dict[str, Any] = {part: dict(_by_column(part, described.get(part, {}))) for part in _PARTS}
        trees, orders = by_part.pop("taxonomies"), by_part.pop("ordinal")
        if "quasi_identifiers" in described:
            names = column_names("quasi_identifiers", described["quasi_identifiers"])
        else:
            names = _candidates(frame, declared, set().union(trees, orders, *by_part.values()))
        # Refuses columns with two roles before columns that are not there.
        schema = cls(names, **declared, **by_part)
        for role, columns in {"quasi_identifiers": names, **declared}.items():
            check_columns(frame, column_names(role, columns), f" (named {_as(role)})")
        schema = replace(schema, numbers=schema._notations(frame))
        return replace(schema, **schema._kinds(schema.read(frame), trees, orders))

    def _notations(self, frame: pd.DataFrame) -> dict[Hashable, str | None]:
        """The notation of each column of numbers: the declared one, or the one that its texts show."""
        return {
            name: notation or numerals.notation_of(without_codes(frame[name], self.missing_codes.get(name, ())))
            for name, notation in self.numbers.items()
        }

    def _kinds(self, read: pd.DataFrame, trees: dict[Hashable, Any], orders: dict[Hashable, Any]) -> dict[str, Any]:
        """Taxonomies, orders and dates, also of those quasi-identifiers of a read frame that have none."""
        days = dict(self.dates)
        for name in self.quasi_identifiers:
            series = read[name]
            if name in orders or trees.get(name) is not None:
                continue
            if name in trees or (is_category(series) and not getattr(series.dtype, "ordered", False)):
                trees[name] = _taxonomy(name, None, categories(series))
            elif is_category(series):
                orders[name] = [category(value) for value in series.cat.categories.to_numpy()]
            elif not is_number(series.dtype) and holds_dates(series):
                days.setdefault(name, "day")
        return {"taxonomies": trees, "ordinal": orders, "dates": days}

    def records(self, frame: IntoDataFrame, missing: str | Mapping[Any, str] = "error") -> Records:
        """Encode the quasi-identifiers as records.

        Parameters
        ----------
        frame, missing
            As for :meth:`fill`.

        Returns
        -------
        Records
            The retained records, attributes in the order of the schema.

        Raises
        ------
        DataError, ParameterError
            As :meth:`fill`.
        """
        filling = self.fill(frame, missing)
        return Records(replace(self, taxonomies=filling.taxonomies).attributes, filling.values[filling.retained])

    def fill(self, frame: IntoDataFrame, missing: str | Mapping[Any, str] = "error") -> Filling:
        """Encode the quasi-identifiers, and treat missing values.

        Parameters
        ----------
        frame : DataFrame of pandas or polars, or pyarrow.Table, shape (n, number of columns)
        missing : str or mapping of column name to str
            One of :data:`microagg.columns.records.GAPS`.

        Raises
        ------
        DataError, ParameterError
            As :meth:`encode`; or if a value is missing and this is an error; if ``missing`` is another text, or does
            not fit a column.
        """
        read = self.read(frame)
        return fill(read, self.attributes, encode(read, self.attributes), missing)

    def read(self, frame: IntoDataFrame) -> pd.DataFrame:
        """Read missing codes as missing, and texts as numbers or dates.

        Missing codes are compared with values before and after these are read, so that -999 also matches "-999.0".

        Parameters
        ----------
        frame : DataFrame of pandas or polars, or pyarrow.Table, shape (n, number of columns)

        Returns
        -------
        DataFrame of shape (n, number of columns)
            With numbers as float64 and dates as datetime64[s]. Unchanged columns are not copied; if all are unchanged,
            it is ``frame`` itself.

        Raises
        ------
        DataError
            If ``frame`` lacks a quasi-identifier, or a text is not a number or date of the declared form.
        """
        frame = as_pandas(frame)
        check_columns(frame, self.quasi_identifiers)
        result = frame
        sparse = [name for name in self.quasi_identifiers if isinstance(frame[name].dtype, pd.SparseDtype)]
        for name in dict.fromkeys([*self.missing_codes, *self.numbers, *self.dates, *sparse]):
            series, write = frame[name], _day if name in self.dates else category
            codes = {write(code) for code in self.missing_codes.get(name, ())}
            if name in self.numbers or is_number(series.dtype):  # -999.0 is -999
                codes |= {category(numerals.parse(code)) for code in codes if numerals.is_plain(code)}
            read = without_codes(series, codes, write)
            if name in self.dates:
                read = without_codes(dates.read(read, self.dates[name]), codes, write)
            elif name in self.numbers:
                read = without_codes(numerals.read(read, self.numbers[name]), codes)
            if isinstance(read.dtype, pd.SparseDtype):
                read = read.astype(read.dtype.subtype)
            if read is not series:
                result = frame.copy(deep=False) if result is frame else result
                result[name] = read
        return result

    def encode(self, frame: IntoDataFrame) -> FloatArray:
        """Encode the quasi-identifiers as numbers, days, ranks and nodes of taxonomies.

        Parameters
        ----------
        frame : DataFrame of pandas or polars, or pyarrow.Table, shape (n, number of columns)

        Returns
        -------
        array of float, shape (n, d)
            NaN where a value is missing.

        Raises
        ------
        DataError
            As :meth:`read`; or if a value does not fit the kind, taxonomy or order of its column.
        """
        return encode(self.read(frame), self.attributes)

    def class_codes(self, frame: pd.DataFrame, retained: NDArray[np.bool_]) -> IntArray | None:
        """Classes of ``retained`` records, shape (n,), as numbers from 0; None if the schema has none."""
        if self.classes is None:
            return None
        column = frame[self.classes]
        check_present(column, retained, "no class")
        return class_codes(column[retained], int(np.count_nonzero(retained)), self.classes)


def _warn_of_suppressed(series: pd.Series[Any]) -> None:
    """Warn of a column that would hold numbers but for marks of suppressed cells, such as ``*``."""
    values = None if is_numeric_dtype(series) else ColumnValues.of(series)
    if values is not None and are_marks(marks := read_kind(values).missing_codes):
        warn_caller(
            f"column {series.name!r} would hold numbers but for {quoted(marks)}, perhaps suppressed cells: name it "
            "among the numbers and these among its missing_codes, or name it among the taxonomies.",
            UserWarning,
        )


def as_options(of_schema: Mapping[str, Any]) -> dict[str, Any]:
    """Parts of a schema by the names of the options of a release."""
    options = {role: option for option, role in _ROLE_OF_OPTION.items()}
    return {options.get(part, part): value for part, value in of_schema.items()}


def _as(role: str) -> str:
    return f"as the {role}" if role in ("classes", "weights") else f"among the {ROLES[role]}"


def _candidates(frame: pd.DataFrame, declared: Mapping[str, Any], described: set[Hashable]) -> tuple[Hashable, ...]:
    """The columns that may be quasi-identifiers: without another role, and numeric or ``described``."""
    taken = {name for role, names in declared.items() for name in column_names(role, names)}
    free = [name for name in frame.columns if name not in taken]
    names = tuple(name for name in free if is_number(frame[name].dtype) or name in described)
    if not names:
        raise DataError(
            "there is no numeric column to serve as quasi-identifier: turn columns into numbers first, "
            "or name fewer columns in other roles."
        )
    return names


def _taxonomy(name: Hashable, source: Any, values: Iterable[str] = ()) -> Taxonomy:
    try:
        return Taxonomy.of(source, values)
    except (DataError, ParameterError) as error:
        raise type(error)(f"the taxonomy of column {name!r}: {error}") from None


def check_levels(name: Hashable, order: Any) -> tuple[str, ...]:
    """The categories of an ordinal column as texts, lowest first."""
    if isinstance(order, str) or not isinstance(order, Iterable):
        raise ParameterError(f"the order of column {name!r} must be its categories from the lowest up, not {order!r}.")
    levels = tuple(category(value) for value in order)
    if not levels:
        raise DataError(f"the order of column {name!r} is empty: name its categories from the lowest up.")
    if len(set(levels)) < len(levels):
        twice = next(level for level in levels if levels.count(level) > 1)
        raise DataError(f"the order of column {name!r} has the category {twice!r} twice: name it once.")
    return levels


def _by_column(part: str, values: Any) -> Mapping[Hashable, Any]:
    """Values by column; columns of dates and numbers may be only named."""
    if isinstance(values, Mapping):
        return values
    if part in _DEFAULTS:
        return dict.fromkeys(column_names(part, values), _DEFAULTS[part])
    what = {"ordinal": "orders", "missing_codes": "codes"}.get(part, part)
    raise ParameterError(f"{part} must map column names to {what}, not be {values!r}: write {{'column': ...}}.")


def _unit(name: Hashable, unit: Any) -> str:
    return check_choice(f"the unit of the dates of {name!r}", unit, FORMS)


def _notation(name: Hashable, notation: Any) -> str | None:
    return None if notation is None else check_choice(f"how the numbers of {name!r} are written", notation, NOTATIONS)


def _missing_codes(name: Hashable, values: Any) -> tuple[str, ...]:
    codes = (values,) if isinstance(values, str) or not isinstance(values, Iterable) else tuple(values)
    if any(code is None or code is pd.NA or code != code for code in codes):
        raise ParameterError(
            f"the missing codes of column {name!r} hold a missing value: name the values that stand for one only."
        )
    return tuple(dict.fromkeys(category(code) for code in codes))


def column_names(role: str, columns: Any) -> tuple[Hashable, ...]:
    """The columns of a role, named as none, one or several."""
    if columns is None:
        return ()
    try:
        names = (columns,) if isinstance(columns, (str, bytes)) else tuple(columns)
    except TypeError:  # no collection
        names = (columns,)
    for name in names:
        if not is_name(name):
            raise ParameterError(f"{role} must hold column names, not {brief(name)}: name a column that has none.")
    return names


def _day(value: Any) -> str:
    """A date as missing codes are written: without a time at midnight."""
    return category(value).removesuffix(" 00:00:00")


# What describes columns: in messages, and the function that checks it.
_PARTS: Mapping[str, tuple[str, Callable[[Hashable, Any], Any]]] = {
    "taxonomies": ("a taxonomy", _taxonomy),
    "ordinal": ("an order", check_levels),
    "dates": ("a unit of dates", _unit),
    "numbers": ("an entry among the numbers", _notation),
    "missing_codes": ("a code for missing values", _missing_codes),
}
