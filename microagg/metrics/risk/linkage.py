"""Record linkage: the share of original records whose nearest released record is their match.

Attributes are numbers, dates, ordinal and nominal categories, in any released form. A compiled search among all
distinct released rows only has to decide whether any is nearer than the match, so it ends at the first nearer one.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from microagg.columns.records import Attribute
from microagg.kernels import running
from microagg.kernels.compiled import borrows
from microagg.metrics.risk.equivalence_classes import combined, numbered
from microagg.metrics.utility.columns import pair_categories, released_ends
from microagg.progress import checkpoint
from microagg.validation import FloatArray, IntArray, check_pair, check_whole

# --- compiled search -------------------------------------------------------------------------------------------------


class Attributes(NamedTuple):
    """Originals and distinct released rows, attribute by attribute, in units that make distances comparable.

    The p numbers have a range for each released row; the q categories have codes, and for each pair of codes the index
    of its squared distance in the ``levels`` of :class:`Mix`: for attribute j it is ``levels[j, places[starts[j] +
    original * widths[j] + released]]``. If an attribute's width is 0, the distance of unequal codes is 1.
    """

    numbers: FloatArray  # shape (n, p)
    low: FloatArray  # shape (m, p)
    high: FloatArray  # shape (m, p)
    originals: IntArray  # shape (n, q)
    released: IntArray  # shape (m, q)
    starts: IntArray  # shape (q,)
    widths: IntArray  # shape (q,)
    places: IntArray  # of any length
    row_of: IntArray  # shape (n,): the released row of each original
    sizes: IntArray  # shape (m,): the number of records with each row
    first: IntArray  # shape (n,): the first possible row of each record
    last: IntArray  # shape (n,): the end of its possible rows


class Mix(NamedTuple):
    """Weights of the parts of a squared distance of a record from a released row."""

    within: float  # weight of the squared distance from the range
    middle: float  # weight of the squared distance from its middle
    levels: FloatArray  # shape (q, number of levels): weighted squared distances of categories


@borrows
def count_as_near_of_all(
    attributes: Attributes, mix: Mix, then: Mix, equal: float, noise: float, rows: IntArray, counts: IntArray
) -> None:
    """Write to ``counts`` the number of released records as near to each of ``rows`` as its match. 0 if any is nearer.

    ``counts[0]`` are those as near by ``mix``, and ``counts[1]`` the part of them that is also as near by ``then``. Two
    distances are equal if they differ by less than ``equal`` times the match's distance plus ``noise``.
    """
    for i in range(len(rows)):
        record = rows[i]
        lower, upper = _near_limits(attributes, mix, record, equal, noise)
        next_lower, next_upper = _near_limits(attributes, then, record, equal, noise)
        first, last = attributes.first[record], attributes.last[record]
        count = next_count = 0
        is_next = True
        # Rows are sorted, so a nearer one is likely to be close to the match.
        for step in range(last - first):
            row = attributes.row_of[record] + step
            if row >= last:
                row -= last - first
            squared = _squared(attributes, mix, record, row, upper)
            if squared < lower:
                count = next_count = 0
                break
            if squared <= upper:
                count += attributes.sizes[row]
                squared = _squared(attributes, then, record, row, next_upper)
                if squared < next_lower:
                    is_next = False
                elif squared <= next_upper:
                    next_count += attributes.sizes[row]
        counts[0, i] = count
        counts[1, i] = next_count if is_next else 0


@borrows
def _near_limits(attributes: Attributes, mix: Mix, record: int, equal: float, noise: float) -> tuple[float, float]:
    """Squared distances from a record between which a row is as near as the match."""
    distance = _squared(attributes, mix, record, attributes.row_of[record], np.inf) ** 0.5
    slack = equal * distance + noise
    return max(distance - slack, 0.0) ** 2, (distance + slack) ** 2


@borrows
def _squared(attributes: Attributes, mix: Mix, record: int, row: int, upper: float) -> float:
    """Squared distance of a record from a released row, or a part of it that is above ``upper``."""
    within, middle, levels = mix
    total = 0.0
    for j in range(attributes.numbers.shape[1]):
        x, low, high = attributes.numbers[record, j], attributes.low[row, j], attributes.high[row, j]
        difference = max(low - x, x - high, 0.0)
        total += within * difference * difference
        if middle > 0.0:
            difference = x - (0.5 * low + 0.5 * high)
            total += middle * difference * difference
        if total > upper:
            return total
    for j in range(attributes.originals.shape[1]):
        original, released, width = attributes.originals[record, j], attributes.released[row, j], attributes.widths[j]
        if width:
            total += levels[j, attributes.places[attributes.starts[j] + original * width + released]]
        elif original != released:
            total += within + middle
        if total > upper:
            return total
    return total


# --- the measure ------------------------------------------------------------------------------------------------------

# Distances with a smaller relative difference are equal.
_EQUAL = 1e-9

# The maximum error of a released value in units of the last place of its attribute's largest value: a mean is
# rounded a few times.
_UNITS = 16

# The number of records per thread between two checkpoints: they take some tenths of a second if each is compared with
# all released ones, within these limits.
_TERMS_AT_A_TIME = 200_000_000
_RECORDS_AT_A_TIME = (16, 4_000)

# Weights of the squared distance from a range and from its middle.
_RANGE, _MIDDLE = (1.0, 0.0), (0.0, 1.0)

# For mixed attributes, the maximum number of pairs of an original and a distinct released row, and the minimum of
# originals.
_MAX_PAIRS, _MIN_RECORDS = 1_000_000_000, 1_000


@dataclass(frozen=True, eq=False)
class Linkage:
    """Linkage of the ``n`` records looked up, whose positions ``rows`` are ascending, to the released records.

    ``probability``, shape (n,), is 1 / (number of nearest released records) if the match is one of them, else 0.
    ``share`` is the mean, 0 to 1: the expected share of correct links of an intruder who links each record to the
    nearest released one, at random among ties.
    """

    share: float
    probability: FloatArray
    n: int
    rows: IntArray


def record_linkage(X: ArrayLike, released: ArrayLike, *, sample: int | None = None, random_state: int = 0) -> Linkage:
    """Share of records, 0 to 1 (lower is better), whose nearest released record is their match.

    Distance-based record linkage: an intruder knows the original values and links a person to the nearest released
    record. Of t released records at the smallest distance, one of which is the match, each is picked with probability
    1/t; so with groups of k or more the share is at most 1/k.

    The result is exact for the records looked up: two distances are equal if they differ by less than a billionth, or
    by rounding of the values.

    Parameters
    ----------
    X, released : arrays, shape (n, d)
        The originals and the release, record i of the one being record i of the other. Distances depend on the units:
        scale both alike first, such as by the standard deviations of X.
    sample : int, optional
        The number of records, drawn without replacement by the seed ``random_state``, that are looked up among *all*
        released ones: the share is then an unbiased estimate. Default: all.

    Raises
    ------
    DataError, ParameterError
        If X and the release are not finite numbers of the same shape; if another parameter is out of its bounds.

    References
    ----------
    Pagliuca & Seri 1999; Domingo-Ferrer & Torra 2001.
    """
    original, masked = check_pair(X, released)
    columns = [_Numbers(x, y, y, 1.0) for x, y in zip(original.T, masked.T, strict=True)]
    return _link(columns, np.zeros(len(original), dtype=np.int64), sample, random_state)


def mixed_linkage(
    before: pd.DataFrame,
    after: pd.DataFrame,
    attributes: Sequence[Attribute],
    strata: Sequence[Hashable] = (),
    *,
    sample: int | None = None,
) -> Linkage:
    """Like :func:`record_linkage`, but for records of mixed attributes.

    The distance of an original from a released record is the root of the sum of the squares of

    - for numbers and dates, |x − y| as a share of the range of the originals, or in their standard deviations if all
      attributes are numeric; for ordinal categories, the difference of ranks as a share of the largest possible one;
    - for nominal categories, the height of the common ancestor as a share of the taxonomy's height: without a taxonomy,
      1 unless they are equal.

    The distance from a range, a set or an ancestor is the distance from the nearest value in it, so 0 if the original
    is in it; or the distance from the middle of the range, and the common ancestor with all other values; or the latter
    decides between ties of the former. The one of these three with the most linked records counts.

    Parameters
    ----------
    before, after : DataFrame
        The originals and the release, record i of the one being record i of the other. A released text that is neither
        a category, nor a range of ordinal ones, nor a node of the taxonomy represents the categories that were released
        as it.
    attributes : sequence of Attribute
        The columns that an intruder knows.
    strata : sequence of column names
        Columns that are released unchanged, so that linkage stays within their values.
    sample : int, optional
        The maximum number of records that are looked up, drawn at random; with very many distinct released rows fewer,
        but at least 1,000. Default: all.

    Raises
    ------
    DataError
        If a released value of numbers or dates is neither a number or date nor a range of these.

    References
    ----------
    Byun, Kamra, Bertino & Li 2007, Definitions 2 to 4: Total-IL consists of these distances. Domingo-Ferrer & Torra
    2001: categories without a taxonomy.
    """
    columns = [_column(before[each.name], after[each.name], each) for each in attributes]
    if all(each.kind == "numeric" for each in attributes):
        columns = [each._replace(unit=float(each.original.std())) for each in columns if isinstance(each, _Numbers)]
    stratum = numbered(after, strata) if strata else np.zeros(len(after), dtype=np.int64)
    return _link(columns, stratum, sample, max_pairs=_MAX_PAIRS)


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


def _link(
    columns: Sequence[_Numbers | _Categories],
    strata: IntArray,
    sample: int | None,
    random_state: int = 0,
    max_pairs: int | None = None,
) -> Linkage:
    """Linkage within strata: by the ranges, by their middles, or by the middles among the nearest ranges."""
    numbers = [each for each in columns if isinstance(each, _Numbers) and each.unit > 0.0]
    categories = [each for each in columns if isinstance(each, _Categories)]
    row_of, first = _distinct(numbers, categories, strata)
    if max_pairs is not None:
        most = max(_MIN_RECORDS, max_pairs // len(first))
        sample = most if sample is None else min(sample, most)
    rows = _draw_records(len(row_of), sample, random_state)
    attributes, noise = _attributes(numbers, categories, row_of, first, strata)
    by_range, by_middle = (Mix(*weights, _levels(categories, *weights)) for weights in (_RANGE, _MIDDLE))
    results = [
        _look_up(rows, attributes, mix, by_middle, noise)
        for mix in ((by_range, by_middle) if any(map(_is_wide, columns)) else (by_range,))
    ]
    probability = max(chain(*results), key=np.mean)
    return Linkage(float(probability.mean()), probability, len(rows), rows)


def _draw_records(n: int, sample: int | None, random_state: int) -> IntArray:
    """Positions of the records that are looked up, ascending."""
    if sample is not None:
        check_whole("sample", sample, 1)
        check_whole("random_state", random_state, 0)
    if sample is None or sample >= n:
        return np.arange(n)
    return np.sort(np.random.default_rng(random_state).choice(n, size=sample, replace=False))


def _look_up(rows: IntArray, attributes: Attributes, mix: Mix, then: Mix, noise: float) -> FloatArray:
    """Probability of each of the records ``rows`` to be linked correctly by ``mix``, and by ``then`` among its nearest.

    Shape (2, len(rows)). All threads take part.
    """
    counts = np.empty((2, len(rows)), dtype=np.int64)
    terms = len(attributes.sizes) * (attributes.numbers.shape[1] + attributes.originals.shape[1])
    min_records, max_records = _RECORDS_AT_A_TIME
    stretch = min(max(min_records, _TERMS_AT_A_TIME // max(terms, 1)), max_records) * running.THREADS

    def count(start: int, stop: int) -> None:
        count_as_near_of_all(attributes, mix, then, _EQUAL, noise, rows[start:stop], counts[:, start:stop])

    with ThreadPoolExecutor(running.THREADS) as executor:
        for start in range(0, len(rows), stretch):
            checkpoint("linking records", start / len(rows))
            running.in_parts(executor, count, start, min(start + stretch, len(rows)), running.THREADS)
    return np.where(counts > 0, 1.0 / np.maximum(counts, 1), 0.0)


def _column(before: pd.Series[Any], after: pd.Series[Any], attribute: Attribute) -> _Numbers | _Categories:
    if attribute.kind == "numeric":
        original, low, high = released_ends(before, after)
        # 0.4 in 32 bits differs from a released 0.4 by rounding.
        precision = np.finfo(np.float32 if str(before.dtype).lower() == "float32" else np.float64).eps
        return _Numbers(original, low, high, float(original.max() - original.min()), float(precision))
    both = pair_categories(before, after)
    codes: tuple[IntArray, IntArray] = both.before.astype(np.int64), both.after.astype(np.int64)
    if attribute.kind == "ordinal":
        return _ranks(both.categories, *codes, attribute.levels)
    return _categories(both.categories, *codes, attribute)


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
    for code, text in enumerate(texts[code] for code in codes):
        released_as = original_nodes[np.unique(original[released == code])]
        members = np.array([nodes[text]]) if text in nodes else released_as
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


def _distinct(
    numbers: Sequence[_Numbers], categories: Sequence[_Categories], strata: IntArray
) -> tuple[IntArray, IntArray]:
    """Distinct released row of each record, and the first record of each row, sorted by stratum and numbers."""
    ends = [(each.low,) if each.low is each.high else (each.low, each.high) for each in numbers]
    codes = [pd.factorize(values)[0] for values in chain(*ends)] + [each.released for each in categories]
    classes = combined(strata, *codes)
    _, first = np.unique(classes, return_index=True)
    order = np.lexsort([*(each.low[first] for each in reversed(numbers)), strata[first]])
    position = np.empty(len(order), dtype=np.int64)
    position[order] = np.arange(len(order))
    return position[classes], first[order]


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
    ), _UNITS * float(np.linalg.norm(noise))


def _stacked(columns: Sequence[NDArray[Any]], rows: int, dtype: type) -> NDArray[Any]:
    return np.column_stack([np.empty((rows, 0), dtype=dtype), *columns])


def _levels(categories: Sequence[_Categories], within: float, middle: float) -> FloatArray:
    """Squared distance for each code of ``places`` and each attribute, shape (q, number of codes)."""
    levels = np.zeros((len(categories), max(((column.height + 1) ** 2 for column in categories), default=0)))
    for row, column in zip(levels, categories, strict=True):
        squares = np.square(np.arange(column.height + 1) / column.height)
        row[: len(squares) ** 2] = np.add.outer(within * squares, middle * squares).ravel()
    return levels
