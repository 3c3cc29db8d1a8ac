"""Cuts of the records into blocks, learned on a sample: a k-d tree that also cuts categories.

A cut is by one attribute and has two sides:

- numeric or ordinal: the values up to a threshold between two distinct values of the sample, and those above it;
- nominal: the categories below one node of the taxonomy, or below the first few children of one, and the rest.

Each side has some of the blocks, with about as many records for each. If records repeat so much that no cut divides
evenly enough, the most even one is taken. A sample of equal or too few records is not cut. Equal records are always in
the same block.

Records near to each other should stay in one block, as groups do not reach across blocks. A record of which m of the C
nearest are still on its side is (C + 1) / (m + 1) times as far from the records around it; a cut costs by how much it
raises the sum of that over some thousand distinct records of the sample. So a record that loses all of its nearest
counts more than several that lose some.

Of the cuts that divide evenly enough, the one with the lowest cost per bit is taken, the bits being the entropy of the
shares of its two sides. All cuts together need the same number of bits, so a cut in the middle may cost more than one
that takes off a small part. Cuts pass between clusters, and halve the longest side where records are spread evenly.

Source: k-d trees, Bentley 1975; the choice of the cut is new.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from microagg.columns.records import Attribute, Records
from microagg.columns.taxonomy import Taxonomy
from microagg.kernels.mixed import make_pool, measure_from
from microagg.kernels.neighbors import brute_force
from microagg.kernels.neighbors.neighbor_lists import neighbors_by_passes
from microagg.validation import FloatArray, IntArray

# Maximum number of distinct records of a sample with a search for neighbors, and the number of neighbors of each: one
# in _ONE_OF records, and at most _NEIGHBORS.
_RECORDS, _ONE_OF, _NEIGHBORS = 2_000, 200, 10

#: A cut divides evenly enough if the blocks on each side get between 1 / EVEN and EVEN times the records of an average
#: block. So no block of the sample has more, unless records repeat.
EVEN = 1.5

# With fewer distinct values among the records with neighbors, cuts are between values of the sample.
_FEW = 100

# Number of cuts whose costs are computed together.
_AT_ONCE = 500


@dataclass(frozen=True)
class Cut:
    """One cut with its two sides."""

    attribute: int  # index of the attribute
    at_most: float | None  # numbers and ranks up to this one are inside; None for a nominal attribute
    leaves: tuple[int, ...] = ()  # the categories that are inside, as nodes of the taxonomy; empty for others
    # The position of the next cut, or, below 0, -1 - block.
    inside: int = 0
    outside: int = 0

    def holds(self, values: FloatArray) -> NDArray[np.bool_]:
        """Mask of the records of ``values``, shape (m, d), that are inside."""
        column = values[:, self.attribute]
        return np.isin(column, self.leaves) if self.at_most is None else column <= self.at_most


@dataclass(frozen=True)
class Cuts:
    """A tree of cuts, which gives every record its block."""

    cuts: tuple[Cut, ...] = ()  # the first is that of all records; empty for one block

    @classmethod
    def learn(cls, sample: FloatArray, attributes: Sequence[Attribute], n_blocks: int) -> Self:
        """Learn about ``n_blocks`` blocks with about as many records of the ``sample`` in each.

        The sample, shape (m, d) with m > 0, is encoded as in :class:`~microagg.columns.records.Records`; if all
        attributes are numeric, on the scale on which records are compared. There are fewer blocks where too many
        records are equal.
        """
        some = np.unique(sample[np.linspace(0, len(sample) - 1, min(len(sample), _RECORDS)).astype(np.int64)], axis=0)
        trees = [_Tree(attribute.taxonomy) if attribute.taxonomy else None for attribute in attributes]
        cuts: list[Cut] = []
        ends: list[list[int]] = []
        blocks, average = 0, len(sample) / n_blocks
        # Pieces to cut, their numbers of blocks, the cuts above, and the sides of these.
        todo = [(_first_piece(sample, some, attributes), n_blocks, -1, 0)]
        while todo:
            piece, count, above, side = todo.pop()
            best = piece.best_cut(trees, count, average) if count > 1 else None
            if above >= 0:
                ends[above][side] = len(cuts) if best else -1 - blocks
            if best is None:
                blocks += 1
                continue
            cut, blocks_inside = best
            todo.append((piece.part(cut, False), count - blocks_inside, len(cuts), 1))
            todo.append((piece.part(cut, True), blocks_inside, len(cuts), 0))
            cuts.append(cut)
            ends.append([0, 0])
        return cls(tuple(replace(cut, inside=one, outside=other) for cut, (one, other) in zip(cuts, ends, strict=True)))

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return len(self.cuts) + 1

    def assign(self, values: FloatArray) -> IntArray:
        """Return the block of each record, 0 to ``n_blocks`` - 1, shape (n,).

        ``values``, shape (n, d), are as the sample of :meth:`learn`, on the same scale.
        """
        blocks = np.zeros(len(values), dtype=np.int64)
        todo = [(0 if self.cuts else -1, np.arange(len(values)))]
        while todo:
            at, rows = todo.pop()
            if at < 0:
                blocks[rows] = -1 - at
                continue
            cut = self.cuts[at]
            inside = cut.holds(values[rows])
            todo += [(cut.inside, rows[inside]), (cut.outside, rows[~inside])]
        return blocks

    def joined(self, counts: IntArray, least: int) -> IntArray:
        """Return a new number for each block, shape (n_blocks,), with the same number for joined blocks.

        Two sides of a cut with fewer than ``least`` records together become one block. If only one of them has fewer,
        it joins the smallest of the other side, the first of several; if there are fewer in all, everything is one
        block. Numbers are 0 to m - 1, in the order in which the m blocks begin. ``counts``, shape (n_blocks,), are the
        numbers of records of the blocks.
        """
        # The blocks at each position in the tree, as lists of old blocks with their number of records.
        sides: dict[int, list[tuple[int, list[int]]]] = {-1 - b: [(int(counts[b]), [b])] for b in range(self.n_blocks)}
        for at in range(len(self.cuts) - 1, -1, -1):  # a cut comes before those on its sides
            one, other = sides.pop(self.cuts[at].inside), sides.pop(self.cuts[at].outside)
            sides[at] = _merged_sides(one, other, least)
        (groups,) = sides.values()
        numbers = np.empty(self.n_blocks, dtype=np.int64)
        for number, (_, blocks) in enumerate(sorted(groups, key=lambda group: min(group[1]))):
            numbers[blocks] = number
        return numbers


def _merged_sides(
    one: list[tuple[int, list[int]]], other: list[tuple[int, list[int]]], least: int
) -> list[tuple[int, list[int]]]:
    """Blocks of both sides of a cut, each of at least ``least`` records unless it is the only one."""
    for few, rest in ((one, other), (other, one)):
        if few[0][0] < least:  # only a single block is
            smallest = min(range(len(rest)), key=lambda i: rest[i][0])
            merged = (few[0][0] + rest[smallest][0], few[0][1] + rest[smallest][1])
            return [*rest[:smallest], merged, *rest[smallest + 1 :]]
    return one + other


@dataclass(frozen=True)
class _Piece:
    """Records on one side of all cuts so far."""

    sample: FloatArray  # shape (m, d)
    some: FloatArray  # the distinct records with neighbors, shape (p, d)
    neighbors: Any  # which of them are neighbors of each, as a sparse matrix, shape (p, p)
    distances: FloatArray  # to the records around one with 0 … C of its neighbors on its side, shape (C + 1,)

    def part(self, cut: Cut, inside: bool) -> _Piece:
        """Return the piece on one side of a cut."""
        rows = np.flatnonzero(cut.holds(self.some) == inside)
        sample = self.sample[cut.holds(self.sample) == inside]
        return replace(self, sample=sample, some=self.some[rows], neighbors=self.neighbors[rows][:, rows])

    def best_cut(self, trees: Sequence[_Tree | None], n_blocks: int, average: float) -> tuple[Cut, int] | None:
        """Return the best cut and its number of blocks inside; None without a possible cut."""
        best, n = None, len(self.sample)
        lowest = (np.inf, np.inf)  # unevenness, 0 if even enough, and cost per bit
        for attribute, tree in enumerate(trees):
            column, some = self.sample[:, attribute], self.some[:, attribute]
            if tree is not None:
                column, some = tree.numbers[column.astype(np.int64)], tree.numbers[some.astype(np.int64)]
            low, high = _thresholds(column, some) if tree is None else (tree.low, tree.high)
            ordered = np.sort(column)
            inside = np.searchsorted(ordered, high, "right") - np.searchsorted(ordered, low)
            possible = (inside > 0) & (inside < n)
            if not possible.any():
                continue
            low, high, inside = low[possible], high[possible], inside[possible]
            blocks = np.clip(np.rint(inside * (n_blocks / n)), 1, n_blocks - 1)
            fill = np.stack([inside / blocks, (n - inside) / (n_blocks - blocks)]) / average
            unevenness = np.maximum(fill, 1 / fill).max(axis=0)
            unevenness[unevenness <= EVEN] = 0.0
            evenest = np.flatnonzero(unevenness == unevenness.min())
            share = inside[evenest] / n
            bits = -share * np.log2(share) - (1 - share) * np.log2(1 - share)
            # Plus one, so that of cuts without cost the one with the most bits is best.
            costs = (self._costs(some, low[evenest], high[evenest]) + 1.0) / bits
            i = evenest[np.argmin(costs)]
            if (unevenness[i], costs.min()) < lowest:
                lowest = (unevenness[i], costs.min())
                cut = Cut(attribute, float(high[i])) if tree is None else tree.cut(attribute, low[i], high[i])
                best = cut, int(blocks[i])
        return best

    def _costs(self, positions: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
        """Return the costs of cuts between whose ends, inclusive, the positions of the records inside are."""
        whole = self.neighbors.sum(axis=1)[:, np.newaxis]
        costs = np.empty(len(low))
        for start in range(0, len(low), _AT_ONCE):
            cuts = slice(start, start + _AT_ONCE)
            inside = (low[cuts] <= positions[:, np.newaxis]) & (positions[:, np.newaxis] <= high[cuts])
            near = self.neighbors @ inside.astype(np.int64)
            left = np.where(inside, near, whole - near)  # of the neighbors of each, those on its side
            costs[cuts] = (self.distances[left] - self.distances[whole]).sum(axis=0)
        return costs


def _first_piece(sample: FloatArray, some: FloatArray, attributes: Sequence[Attribute]) -> _Piece:
    """Return all records, with the neighbors of ``some``.

    Numbers are compared by squared distance if all attributes are numbers, and all by shares of their domains if not.
    """
    n = len(some)
    count = min(_NEIGHBORS, 1 + n // _ONE_OF, n - 1)
    nearest = np.empty((n, count), dtype=np.int64)
    if count and all(attribute.kind == "numeric" for attribute in attributes):
        neighbors_by_passes(np.array(some.T, order="C"), nearest, 0, n)
    elif count:
        pool = make_pool(Records(tuple(attributes), some))
        for i in range(n):
            measure_from(pool, pool.points[i])
            pool.sums[i] = np.nan
            nearest[i] = brute_force.nearest(pool.sums, n, count)
    ones, starts = np.ones(n * count, dtype=np.int64), np.arange(n + 1) * count
    neighbors = csr_array((ones, nearest.ravel(), starts), shape=(n, n))
    return _Piece(sample, some, neighbors, (count + 1) / np.arange(1, count + 2))


def _thresholds(column: FloatArray, some: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return cuts halfway between two distinct values, as their ends.

    They are values of ``some`` if these are many, so that a cut without cost is as far as possible from both sides.
    """
    values = np.unique(some)
    if len(values) < _FEW:
        values = np.unique(column)
    low, high = values[:-1], values[1:]
    middle = low + (high - low) / 2
    return np.full(len(middle), -np.inf), np.where(middle < high, middle, low)


class _Tree:
    """A taxonomy whose leaves are numbered so that those below a node follow each other.

    ``low`` and ``high`` are the first and last numbers of each possible cut: the leaves below a node, and those
    together with the leaves below the children of its parent that come before it.
    """

    def __init__(self, taxonomy: Taxonomy) -> None:
        leaves = np.array(taxonomy.leaves)
        order = np.lexsort(taxonomy.lineages[::-1, leaves])
        self._leaves, nodes = leaves[order], len(taxonomy.names)
        self.numbers = np.zeros(nodes)
        self.numbers[self._leaves] = np.arange(len(leaves))
        first, last = np.empty((2, nodes))
        for at_depth in taxonomy.lineages[:, self._leaves]:
            below, starts, counts = np.unique(at_depth, return_index=True, return_counts=True)
            first[below], last[below] = starts, starts + counts - 1
        self.low = np.concatenate([first[1:], first[list(taxonomy.parents[1:])]])
        self.high = np.tile(last[1:], 2)

    def cut(self, attribute: int, low: float, high: float) -> Cut:
        """Return the cut between two numbers of leaves."""
        return Cut(attribute, None, tuple(sorted(self._leaves[int(low) : int(high) + 1].tolist())))
