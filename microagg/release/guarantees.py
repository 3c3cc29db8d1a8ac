"""Guarantees for confidential columns beyond k: how they are counted, whether they can be met, and words for them."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_datetime64_any_dtype, is_numeric_dtype

from microagg.columns.recodes import check_meant, counted_as, meant
from microagg.errors import ParameterError
from microagg.partition import canonical_labels
from microagg.validation import FloatArray, IntArray, listing, plain, renamed

if TYPE_CHECKING:
    from microagg.kernels.local_search.guarded import Rules

# Figures that differ by at most this are equal up to rounding.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Guarantee:
    """A requested guarantee for a confidential column, and the counted figure of the worst class."""

    column: Hashable
    rule: str  # "distinct" or "entropy": the number of values of a class; "closeness": its distance from all records
    requested: float
    counted: float

    asked = renamed("asked", "requested")

    @property
    def holds(self) -> bool:
        """Whether the counted figure meets the requested one."""
        return holds(self.rule, self.counted, self.requested)

    def __str__(self) -> str:
        """The counted and the requested figure in words."""
        name, is_distance = repr(plain(self.column)), self.rule == "closeness"
        figures = (float(f"{self.counted:.{d}g}") if is_distance else round(self.counted, d - 1) for d in range(4, 17))
        # No rounding to the other side of the bound.
        figure = next(each for each in figures if holds(self.rule, each, self.requested) == self.holds)
        if is_distance:
            text = f"the values of {name} in each class are at most" if self.holds else f"a class has values of {name}"
            return f"{text} {figure:.10g} from those of all records (t = {self.requested:g})"
        text = "each class has at least" if self.holds else "a class has only"
        kind = "distinct" if self.rule == "distinct" else "equally frequent"
        return f"{text} {figure:,.10g} {kind} values of {name} (l = {self.requested:,.10g})"


def describe_counts(guaranteed: Sequence[Guarantee]) -> str:
    """The counts of all guarantees as one sentence. Empty without any."""
    return f"Guaranteed beyond k, and counted: {'; '.join(map(str, guaranteed))}." if guaranteed else ""


def holds(rule: str, figure: float, bound: float) -> bool:
    """Whether the ``figure`` of a class is within its ``bound`` by a rule of :class:`Guarantee`."""
    return figure <= bound + _ROUNDING if rule == "closeness" else figure >= bound - _ROUNDING


def requested(
    diversity: Mapping[Any, Any] | None = None, closeness: Mapping[Any, Any] | None = None
) -> list[tuple[Any, str, float]]:
    """The requests of both options: columns, rules of :class:`Guarantee`, and bounds."""
    requests = [
        (column, *(limit if isinstance(limit, tuple) else ("distinct", limit)))
        for column, limit in (diversity or {}).items()
    ]
    return [*requests, *((column, "closeness", limit) for column, limit in (closeness or {}).items())]


def describe(requests: Sequence[tuple[Any, str, float]]) -> str:
    """The requested guarantees of :func:`requested` as text."""
    forms = {
        "distinct": "{0:,.10g} distinct values of {1!r} in each class",
        "entropy": "the diversity of {0:,.10g} equally frequent values of {1!r} in each class",
        "closeness": "values of {1!r} in each class at most {0:g} from those of all records",
    }
    return listing([forms[rule].format(bound, plain(column)) for column, rule, bound in requests])


def count(
    columns: Mapping[Any, pd.Series[Any]] | pd.DataFrame, classes: IntArray, requests: Sequence[tuple[Any, str, float]]
) -> tuple[Guarantee, ...]:
    """Count the requested guarantees in each of the ``classes``, shape (n,).

    Values count by what they mean, see :func:`microagg.columns.recodes.meant`; records without a value do not count.
    """
    return tuple(
        Guarantee(name, rule, bound, Rule.of(columns[name].rename(name), rule, bound).counted(classes))
        for name, rule, bound in requests
    )


def as_read(column: pd.Series[Any], order: Sequence[str] | bool = True, decimal: str = ".") -> pd.Series[Any]:
    """A column of a file as it is compared: text becomes numbers, with a ``decimal`` mark, or dates if all of it can.

    ``order`` lists the categories from the lowest to the highest, or is False if the values have no order. Words for
    missing values do not prevent numbers or dates.
    """
    if not isinstance(order, bool):
        text = column.astype(str)
        # A cell that spreadsheets would take for a formula begins with one more character.
        text = text.where(text.isin(list(order)), text.str.removeprefix("'"))
        return pd.Series(pd.Categorical(text, list(order), ordered=True), name=column.name)
    if order and is_datetime64_any_dtype(column):
        return pd.to_datetime(column, utc=True)
    if order and is_numeric_dtype(column):
        return column
    text = column.astype(object).where(column.notna(), "").astype(str)
    present = text[meant(text).notna()] if order else text[:0]
    for convert in (
        lambda values: pd.to_numeric(values.str.replace(decimal, ".", regex=False)),
        lambda values: pd.to_datetime(values, format="ISO8601", utc=True),
    ):
        try:
            values = pd.Series(convert(present))
        except (TypeError, ValueError):
            continue
        if len(values) and values.notna().all() and not is_bool_dtype(values):
            return values.reindex(text.index)
    return text


def order_of(column: pd.Series[Any]) -> list[str] | bool:
    """The ``order`` with which :func:`as_read` restores the values of a released column."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return [str(level) for level in column.cat.categories] if column.cat.ordered else False
    return (is_numeric_dtype(column) and not is_bool_dtype(column)) or is_datetime64_any_dtype(column)


def checked_rules(
    columns: Mapping[Any, pd.Series[Any]] | pd.DataFrame,
    requests: Sequence[tuple[Any, str, float]],
    parts: Sequence[tuple[IntArray, str]],
) -> list[Rule]:
    """Check that the requested guarantees can be met within each of the named ``parts``, and make their rules.

    ParameterError if no classes can meet them; DataError if one of the columns has a missing value, or a word for it.
    """
    rules = []
    for name, rule, bound in requests:
        column: pd.Series[Any] = columns[name].rename(name)
        check_meant(column, np.ones(len(column), dtype=bool), ", and something is guaranteed of it")
        rules.append(Rule.of(column, rule, bound))
        try:
            rules[-1].check(parts)
        except ParameterError as error:
            raise ParameterError(f"{error} {counted_as(column, meant(column))}".strip()) from None
    return rules


def rules_within(rules: Sequence[Rule], rows: IntArray) -> Rules:
    """The rules for groups of the records at ``rows``, shape (n,)."""
    from microagg.kernels.local_search import guarded  # which needs Numba

    kinds = {"distinct": guarded.DISTINCT, "entropy": guarded.ENTROPY}
    closeness = (guarded.EQUAL, guarded.ORDERED)
    return guarded.make_rules(
        [(kinds.get(rule.name, closeness[rule.ordered]), rule.bound, rule.codes[rows], rule.shares) for rule in rules]
    )


@dataclass(frozen=True, eq=False)
class Rule:
    """A guarantee for a column with values ``codes``, shape (n,), -1 for none, and their ``shares``, shape (m,)."""

    column: Hashable
    name: str
    bound: float
    codes: IntArray
    shares: FloatArray
    ordered: bool

    @classmethod
    def of(cls, column: pd.Series[Any], name: str, bound: float) -> Self:
        """The rule ``name`` of :class:`Guarantee` for a column of the released records."""
        from microagg.metrics.risk.disclosure import encode_values  # which needs SciPy and Numba

        codes, ordered = encode_values(column, len(column), None)
        counts = np.bincount(codes[codes >= 0])
        return cls(column.name, name, bound, codes, counts / counts.sum(), ordered)

    def counted(self, classes: IntArray) -> float:
        """Figure of the worst of ``classes``, shape (n,), see :class:`Guarantee`. 0 if one has no value."""
        from microagg.metrics.risk.disclosure import measure_codes  # which needs SciPy and Numba

        present = self.codes >= 0
        if not present.any() or (self.name != "closeness" and len({*classes[present]}) < len({*classes})):
            return 0.0
        homogeneity = measure_codes(canonical_labels(classes[present]), self.codes[present], self.shares, self.ordered)
        figure = {"distinct": "distinct_l", "entropy": "entropy_l", "closeness": "t_closeness"}[self.name]
        return float(getattr(homogeneity, figure))

    def figure(self, rows: IntArray) -> float:
        """Figure of the records at ``rows`` as one class, see :class:`Guarantee`."""
        from microagg.kernels.local_search import guarded  # which needs Numba

        return float(guarded.figure(rules_within([self], rows), 0, np.sort(self.codes[rows])))

    def check(self, parts: Sequence[tuple[IntArray, str]]) -> None:
        """Raise :class:`ParameterError` if no classes within the ``parts``, rows and their names, can meet the rule.

        The union of two classes that meet it also meets it, as entropy is concave and distances are convex. So if all
        records of a part together do not meet it, no classes of them do.
        """
        worst = max if self.name == "closeness" else min
        figure, part = worst(((self.figure(rows), part) for rows, part in parts), key=lambda pair: pair[0])
        if holds(self.name, figure, self.bound):
            return
        name = plain(self.column)
        if self.name == "closeness":
            raise ParameterError(
                f"closeness of {name!r} cannot be {self.bound:g}: all records of {part} together are {figure:.6g} from "
                "those of the file, and not all classes within it are nearer: ask for "
                f"{math.ceil(figure * 1e4) / 1e4:g} or more, or form groups without these strata."
            )
        kind, amount, attainable = "", f"{figure:g} distinct values", figure
        if self.name == "entropy":
            kind, amount = "entropy ", f"the diversity of {figure:.6g} equally frequent values"
            attainable = math.floor(figure * 1e4) / 1e4
        raise ParameterError(
            f"{kind}diversity of {name!r} cannot be {self.bound:g}: {part} has {amount} of it, and not all classes "
            f"within it can have more: ask for {attainable:g} or less, or leave {name!r} out of diversity."
        )
