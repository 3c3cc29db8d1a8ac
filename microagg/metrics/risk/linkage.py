"""Record linkage: the share of original records whose nearest released record is their match.

A compiled search among all distinct released rows only has to decide whether any is nearer than the match, so it ends
at the first nearer one.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from microagg.kernels import running
from microagg.kernels.compiled import borrows
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

#: Distances with a smaller relative difference are equal.
EQUAL = 1e-9

#: The maximum error of a released value in units of the last place of its attribute's largest value: a mean is
#: rounded a few times.
UNITS = 16

# The number of records per thread between two checkpoints: they take some tenths of a second if each is compared with
# all released ones, within these limits.
_TERMS_AT_A_TIME = 200_000_000
_RECORDS_AT_A_TIME = (16, 4_000)


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

    Distance-based record linkage (Pagliuca & Seri 1999; Domingo-Ferrer & Torra 2001): an intruder knows the original
    values and links a person to the nearest released record. Of t released records at the smallest distance, one of
    which is the match, each is picked with probability 1/t; so with groups of k or more the share is at most 1/k.

    The result is exact for the records looked up: two distances are equal if they differ by less than a billionth, or
    by rounding of the values.

    Parameters
    ----------
    X, released : arrays, shape (n, d)
        The originals and the release, record i of the one being record i of the other. Distances depend on the units:
        scale both alike first, such as by the standard deviations of X.
    sample : int, optional
        The number of records, drawn without replacement, that are looked up among *all* released ones: the share is
        then an unbiased estimate. Default: all.
    random_state : int
        The seed of the draw.

    Raises
    ------
    DataError
        If X and the release are not finite numbers of the same shape.
    ParameterError
        If another parameter is out of its bounds.
    """
    original, masked = check_pair(X, released)
    rows = draw_records(len(original), sample, random_state)
    distinct, row_of, sizes = np.unique(masked, axis=0, return_inverse=True, return_counts=True)
    (n, d), m = original.shape, len(distinct)
    no_codes = np.empty(0, dtype=np.int64)
    attributes = Attributes(
        numbers=np.ascontiguousarray(original),
        low=distinct,
        high=distinct,
        originals=no_codes.reshape(0, 0),
        released=no_codes.reshape(0, 0),
        starts=no_codes,
        widths=no_codes,
        places=np.empty(0, dtype=np.uint16),
        row_of=row_of.reshape(-1),
        sizes=sizes,
        first=np.zeros(n, dtype=np.int64),
        last=np.full(n, m),
    )
    largest = np.maximum(np.abs(original).max(axis=0), np.abs(masked).max(axis=0))
    noise = UNITS * np.finfo(np.float64).eps * float(np.linalg.norm(largest))
    mix = Mix(1.0, 0.0, np.empty((0, 0)))
    look_up = partial(count_as_near_of_all, attributes, mix, mix, EQUAL, noise)
    probability = look_up_records(rows, m * d, look_up)[0]
    return Linkage(float(probability.mean()), probability, len(rows), rows)


def draw_records(n: int, sample: int | None, random_state: int) -> IntArray:
    """Positions of the records that are looked up, ascending (see :func:`record_linkage`)."""
    if sample is not None:
        check_whole("sample", sample, 1)
        check_whole("random_state", random_state, 0)
    if sample is None or sample >= n:
        return np.arange(n)
    return np.sort(np.random.default_rng(random_state).choice(n, size=sample, replace=False))


def look_up_records(rows: IntArray, terms: int, look_up: Callable[[IntArray, IntArray], None]) -> FloatArray:
    """Probability of each of the records ``rows`` to be linked correctly, on all threads, shape (2, len(rows)).

    ``look_up(rows, counts)`` writes what :func:`count_as_near_of_all` counts; a record takes at most ``terms`` terms of
    distances.
    """
    counts = np.empty((2, len(rows)), dtype=np.int64)
    with ThreadPoolExecutor(running.THREADS) as executor:
        min_records, max_records = _RECORDS_AT_A_TIME
        stretch = min(max(min_records, _TERMS_AT_A_TIME // max(terms, 1)), max_records) * running.THREADS
        for start in range(0, len(rows), stretch):
            checkpoint("linking records", start / len(rows))
            stop = min(start + stretch, len(rows))
            running.in_parts(executor, lambda a, b: look_up(rows[a:b], counts[:, a:b]), start, stop, running.THREADS)
    return np.where(counts > 0, 1.0 / np.maximum(counts, 1), 0.0)
