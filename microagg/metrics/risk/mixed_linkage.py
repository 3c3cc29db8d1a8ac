"""Record linkage with mixed attributes: numbers, dates, ordinal and nominal categories, in any released form."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from microagg.columns.records import Attribute
from microagg.metrics.risk.equivalence_classes import combined, numbered
from microagg.metrics.risk.linkage import (
    EQUAL,
    UNITS,
    Attributes,
    Linkage,
    Mix,
    count_as_near_of_all,
    draw_records,
    look_up_records,
)
from microagg.metrics.utility.columns import pair_categories, released_ends
from microagg.validation import FloatArray, IntArray

# Weights of the squared distance from a range and from its middle.
_RANGE, _MIDDLE = (1.0, 0.0), (0.0, 1.0)

# The maximum number of compared pairs of an original and a distinct released row; the second number is the minimum of
# records with all their pairs.
_MAX_PAIRS, _MIN_RECORDS = 1_000_000_000, 1_000


class _Numbers(NamedTuple):
    """Numbers, days or ranks, the ends of their released ranges, and the unit for distances."""

    original: FloatArray  # shape (n,)
    low: FloatArray  # shape (n,)
    high: FloatArray  # shape (n,); the same array as ``low`` without ranges
    unit: float
    precision: float = float(np.finfo(np.float64).eps)  # relative rounding of the original


class _Categories(NamedTuple):
    """Categories as codes, and their distances."""

    original: IntArray  # shape (n,)
    released: IntArray  # shape (n,)
    height: int = 1
    # For each original and each released code, shape (u, w): (height + 1) times the height of the common ancestor with
    # the nearest released category, plus the height of the common ancestor with all of them. None if both codes are of
    # the same categories, without a taxonomy.
    places: NDArray[np.uint16] | None = None


@dataclass(frozen=True, eq=False)
class Known:
    """Knowledge of an intruder about records, and their released values. Made by :meth:`of`.

    The distance of an original from a released record is the root of the sum of the squares of

    - for numbers and dates, |x − y| as a share of the range of the originals, or in their standard deviations if all
      attributes are numeric; for ordinal categories, the difference of ranks as a share of the largest possible one;
    - for nominal categories, the height of the common ancestor as a share of the taxonomy's height: without a taxonomy,
      1 unless they are equal.

    Total-IL consists of these distances (Byun, Kamra, Bertino & Li, Definitions 2 to 4), and categories without a
    taxonomy are compared as by Domingo-Ferrer & Torra 2001. The distance from a range, a set or an ancestor is the
    distance from the nearest value in it, so 0 if the original is in it; or the distance from the middle of the range,
    and the common ancestor with all other values; or the latter decides between ties of the former. The one of these
    three with the most linked records counts.
    """

    names: tuple[Hashable, ...]  # of the attributes
    _columns: tuple[_Numbers | _Categories, ...]
    _strata: IntArray

    @classmethod
    def of(
        cls,
        before: pd.DataFrame,
        after: pd.DataFrame,
        attributes: Sequence[Attribute],
        strata: Sequence[Hashable] = (),
    ) -> Self:
        """Knowledge about the records of ``before``, with their released values ``after``, in the same order.

        A released text that is neither a category, nor a range of ordinal ones, nor a node of the taxonomy represents
        the categories that were released as it. ``strata`` are released unchanged, so linkage stays within strata.

        Raises
        ------
        DataError
            If a released value of numbers or dates is neither a number or date nor a range of these.
        """
        columns = [_column(before[each.name], after[each.name], each) for each in attributes]
        if all(each.kind == "numeric" for each in attributes):
            columns = [each._replace(unit=float(each.original.std())) for each in columns if isinstance(each, _Numbers)]
        stratum = numbered(after, strata) if strata else np.zeros(len(after), dtype=np.int64)
        return cls(tuple(each.name for each in attributes), tuple(columns), stratum)

    @property
    def n(self) -> int:
        """The number of records."""
        return len(self._strata)

    def linkage(self, *, sample: int | None = None) -> Linkage:
        """Linkage by an intruder who knows all attributes.

        The definition and precision are those of :func:`record_linkage`. At most ``sample`` records are looked up,
        drawn at random; with very many distinct released rows fewer, but at least 1,000.
        """
        columns = self._columns
        numbers = [each for each in columns if isinstance(each, _Numbers) and each.unit > 0.0]
        categories = [each for each in columns if isinstance(each, _Categories)]
        ends = [(each.low,) if each.low is each.high else (each.low, each.high) for each in numbers]
        codes = [pd.factorize(values)[0] for values in chain(*ends)] + [each.released for each in categories]
        row_of, first = _distinct(self._strata, codes)
        attributes, noise = _attributes(numbers, categories, row_of, first, self._strata)
        max_records = max(_MIN_RECORDS, _MAX_PAIRS // len(first))
        rows = draw_records(len(row_of), max_records if sample is None else min(sample, max_records), 0)
        # By the range, by its middle, or by the middle among the nearest ranges.
        by_range, by_middle = (Mix(*shares, _levels(categories, *shares)) for shares in (_RANGE, _MIDDLE))
        results: list[FloatArray] = []
        for mix in (by_range, by_middle) if any(map(_is_wide, columns)) else (by_range,):
            look_up = partial(count_as_near_of_all, attributes, mix, by_middle, EQUAL, noise)
            results += list(look_up_records(rows, len(first) * max(len(columns), 1), look_up))
        probability = max(results, key=np.mean)
        return Linkage(float(probability.mean()), probability, len(rows), rows)


def _column(before: pd.Series[Any], after: pd.Series[Any], attribute: Attribute) -> _Numbers | _Categories:
    if attribute.kind == "numeric":
        original, low, high = released_ends(before, after)
        # 0.4 in 32 bits differs from a released 0.4 by rounding.
        precision = np.finfo(np.float32 if str(before.dtype).lower() == "float32" else np.float64).eps
        return _Numbers(original, low, high, float(original.max() - original.min()), float(precision))
    both = pair_categories(before, after)
    before_codes: IntArray = both.before.astype(np.int64)
    after_codes: IntArray = both.after.astype(np.int64)
    if attribute.kind == "ordinal":
        return _ranks(both.categories, before_codes, after_codes, attribute.levels)
    return _categories(both.categories, before_codes, after_codes, attribute)


def _ranks(texts: Sequence[str], original: IntArray, released: IntArray, levels: Sequence[str]) -> _Numbers:
    rank = {level: float(position) for position, level in enumerate(levels)}
    ranks = np.array([rank.get(text, np.nan) for text in texts])[original]
    low, high = np.empty(len(texts)), np.empty(len(texts))
    for code in np.unique(released):
        ends = _ends(texts[code], rank)
        covered = ranks[released == code] if ends is None else np.array(ends)
        low[code], high[code] = covered.min(), covered.max()
    lowest, highest = low[released], high[released]
    return _Numbers(ranks, lowest, lowest if np.array_equal(lowest, highest) else highest, len(levels) - 1.0)


def _ends(text: str, rank: dict[str, float]) -> tuple[float, float] | None:
    """Ranks at the ends of a range such as ``[9th, HS-grad]``, or twice the rank of a level. None for other texts."""
    if text in rank:
        return rank[text], rank[text]
    parts = text[1:-1].split(", ") if text[:1] == "[" and text[-1:] == "]" else []
    # A level may contain a comma.
    for cut in range(1, len(parts)):
        low, high = ", ".join(parts[:cut]), ", ".join(parts[cut:])
        if low in rank and high in rank:
            return rank[low], rank[high]
    return None


def _categories(texts: Sequence[str], original: IntArray, released: IntArray, attribute: Attribute) -> _Categories:
    """The categories of a nominal attribute, with heights of common ancestors."""
    taxonomy = attribute.taxonomy
    if taxonomy is None:
        # All below a root, which is node 0.
        nodes = {texts[code]: node for node, code in enumerate(np.unique(original), start=1)}
        lineages = np.vstack([np.zeros(len(nodes) + 1, dtype=np.int64), np.arange(len(nodes) + 1)])
    else:
        # In a chain of nodes with one name the last one counts, which is the lowest.
        nodes, lineages = {name: node for node, name in enumerate(taxonomy.names)}, taxonomy.lineages
    height = len(lineages) - 1
    leaves = np.unique(original)
    codes = np.unique(released)
    if height == 1 and all(nodes.get(texts[code], 0) for code in codes):
        return _Categories(original, released)
    original_nodes = np.array([nodes[texts[code]] for code in leaves])
    places = np.empty((len(leaves), len(codes)), dtype=np.uint16)
    original, released = np.searchsorted(leaves, original), np.searchsorted(codes, released)
    pairs = np.unique(released * len(leaves) + original)
    starts = np.searchsorted(pairs, np.arange(len(codes) + 1) * len(leaves))
    for code, text in enumerate(texts[code] for code in codes):
        node = nodes.get(text)
        released_nodes = original_nodes[pairs[starts[code] : starts[code + 1]] % len(leaves)]
        members = released_nodes if node is None else np.array([node])
        # The number of common ancestors, without the root, is the depth of the lowest one.
        depths = (lineages[:, original_nodes, np.newaxis] == lineages[:, np.newaxis, members]).sum(axis=0) - 1
        inside = (lineages[:, original_nodes, np.newaxis] == members).any(axis=0)
        nearest = np.where(inside, 0, height - depths).min(axis=1)
        places[:, code] = nearest * (height + 1) + (height - depths.min(axis=1))
    return _Categories(original, released, height, places)


def _is_wide(column: _Numbers | _Categories) -> bool:
    """Whether some released values are more than a single value."""
    if isinstance(column, _Numbers):
        return column.low is not column.high
    if column.places is None:
        return False
    nearest, common = np.divmod(column.places, column.height + 1)
    return bool((nearest != common).any())


def _distinct(strata: IntArray, codes: Sequence[IntArray]) -> tuple[IntArray, IntArray]:
    """Distinct released row of each record, and the first record of each row. Rows of a stratum are contiguous."""
    numbers = combined(strata, *codes)
    _, first = np.unique(numbers, return_index=True)
    order = np.argsort(strata[first], kind="stable")
    position = np.empty(len(order), dtype=np.int64)
    position[order] = np.arange(len(order))
    return position[numbers], first[order]


def _attributes(
    numbers: Sequence[_Numbers], categories: Sequence[_Categories], row_of: IntArray, first: IntArray, strata: IntArray
) -> tuple[Attributes, float]:
    """The attributes for the search, and the possible effect of rounding on a distance."""
    units = np.array([each.unit for each in numbers])
    noise = [each.precision * max(float(np.abs(values).max()) for values in each[:3]) / each.unit for each in numbers]
    tables = [np.empty(0, dtype=np.uint16) if each.places is None else each.places.ravel() for each in categories]
    lengths = np.array([len(table) for table in tables], dtype=np.int64)
    begins = np.searchsorted(strata[first], np.unique(strata))
    stratum = np.searchsorted(np.unique(strata), strata)
    return Attributes(
        numbers=_stacked([each.original for each in numbers], len(row_of), np.float64) / units,
        low=_stacked([each.low[first] for each in numbers], len(first), np.float64) / units,
        high=_stacked([each.high[first] for each in numbers], len(first), np.float64) / units,
        originals=_stacked([each.original for each in categories], len(row_of), np.int64),
        released=_stacked([each.released[first] for each in categories], len(first), np.int64),
        starts=np.cumsum(lengths) - lengths,
        widths=np.array([0 if each.places is None else each.places.shape[1] for each in categories], dtype=np.int64),
        places=np.concatenate([*tables, np.empty(0, dtype=np.uint16)]),
        row_of=row_of,
        sizes=np.bincount(row_of),
        first=begins[stratum],
        last=np.append(begins[1:], len(first))[stratum],
    ), UNITS * float(np.linalg.norm(noise))


def _stacked(columns: Sequence[NDArray[Any]], rows: int, dtype: type) -> NDArray[Any]:
    return np.column_stack([np.empty((rows, 0), dtype=dtype), *columns])


def _levels(categories: Sequence[_Categories], within: float, middle: float) -> FloatArray:
    """Squared distance for each code of ``places`` and each attribute, shape (q, number of codes)."""
    levels = np.zeros((len(categories), max(((column.height + 1) ** 2 for column in categories), default=0)))
    for row, column in zip(levels, categories, strict=True):
        squares = np.square(np.arange(column.height + 1) / column.height)
        row[: len(squares) ** 2] = np.add.outer(within * squares, middle * squares).ravel()
    return levels
