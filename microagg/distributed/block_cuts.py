"""Cuts of the records into blocks, learned on a sample: a k-d tree that also cuts categories.

A cut is by one attribute and has two sides:

- numeric or ordinal: the values up to a threshold between two distinct values of the sample, and those above it;
- nominal: what is below one node of the taxonomy, or below the first few children of one, and the rest.

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
from typing import Self

import numpy as np
from numpy.typing import NDArray

from microagg.columns.records import Attribute, Records
from microagg.columns.taxonomy import Taxonomy
from microagg.kernels.mixed import make_pool, measure_from
from microagg.kernels.neighbors import brute_force
from microagg.kernels.neighbors.neighbor_lists import neighbors_by_passes
from microagg.validation import FloatArray, IntArray

#: Maximum number of distinct records of a sample with a search for neighbors.
RECORDS = 2_000

#: Number of neighbors of each: one in _ONE_OF records, and at most NEIGHBORS.
NEIGHBORS = 10
_ONE_OF = 200

#: A cut divides evenly enough if the blocks on each side get between 1 / EVEN and EVEN times the records of an average
#: block. So no block of the sample has more, unless records repeat.
EVEN = 1.5

# With fewer distinct values among the records with neighbors, cuts are between values of the sample.
_FEW = 100


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

    d: int  # the number of attributes
    cuts: tuple[Cut, ...]  # the first is that of all records; empty for one block

    @classmethod
    def learn(cls, sample: FloatArray, attributes: Sequence[Attribute], n_blocks: int) -> Self:
        """Learn about ``n_blocks`` blocks with about as many records of the ``sample`` in each.

        The sample, shape (m, d) with m > 0, is encoded as in :class:`~microagg.columns.records.Records`; if all
        attributes are numeric, on the scale on which records are compared. There are fewer blocks where too many
        records are equal.
        """
        some = np.unique(sample[np.linspace(0, len(sample) - 1, min(len(sample), RECORDS)).astype(np.int64)], axis=0)
        trees = [_Tree(attribute.taxonomy) if attribute.taxonomy else None for attribute in attributes]
        nearest = _nearest(Records(tuple(attributes), some))
        cuts: list[Cut] = []
        ends: list[list[int]] = []
        blocks, average = 0, len(sample) / n_blocks
        # Pieces to cut, their numbers of blocks, the cuts above, and the sides of these.
        todo = [(_Piece(sample, some, nearest), n_blocks, -1, 0)]
        while todo:
            piece, count, above, side = todo.pop()
            best = _best(piece, trees, count, average)
            if above >= 0:
                ends[above][side] = len(cuts) if best else -1 - blocks
            if best is None:
                blocks += 1
                continue
            todo.append((piece.part(best.cut, False), count - best.blocks, len(cuts), 1))
            todo.append((piece.part(best.cut, True), best.blocks, len(cuts), 0))
            cuts.append(best.cut)
            ends.append([0, 0])
        linked = [
            replace(cut, inside=inside, outside=outside) for cut, (inside, outside) in zip(cuts, ends, strict=True)
        ]
        return cls(len(attributes), tuple(linked))

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
        block. Numbers are 0 to m - 1, in the order in which the m blocks begin. ``counts``, shape (n_blocks,), has the
        number of records of each block.
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


def _nearest(records: Records) -> IntArray:
    """Return the positions of the nearest of each of n records, shape (n, count), nearest first.

    Numbers are compared by squared distance if all attributes are numbers, and all by shares of their domains if not.
    """
    n = records.n
    count = min(NEIGHBORS, 1 + n // _ONE_OF, n - 1)
    neighbors = np.empty((n, count), dtype=np.int64)
    if count and all(attribute.kind == "numeric" for attribute in records.attributes):
        neighbors_by_passes(np.array(records.values.T, order="C"), neighbors, 0, n)
    elif count:
        pool = make_pool(records)
        for i in range(n):
            measure_from(pool, pool.points[i])
            pool.sums[i] = np.nan
            neighbors[i] = brute_force.nearest(pool.sums, n, count)
    return neighbors


@dataclass(frozen=True)
class _Piece:
    """Records on one side of all cuts so far."""

    sample: FloatArray  # shape (m, d)
    some: FloatArray  # the distinct records with neighbors, shape (p, d)
    nearest: IntArray  # positions of their neighbors among them, shape (p, count), -1 once separated by a cut

    def part(self, cut: Cut, inside: bool) -> _Piece:
        """Return the piece on one side of a cut."""
        rows = cut.holds(self.some) == inside
        # With one more, which position -1 finds.
        numbers = np.append(np.where(rows, np.cumsum(rows) - 1, -1), -1)
        return _Piece(self.sample[cut.holds(self.sample) == inside], self.some[rows], numbers[self.nearest[rows]])


def _costs_of_losing(count: int) -> FloatArray:
    """Costs of a record with m instead of M of its neighbors, for M, m = 0 … count, in row M and column m."""
    alone = (count + 1) / np.arange(1, count + 2)
    return np.asarray(alone - alone[:, np.newaxis])


@dataclass(frozen=True)
class _Candidate:
    """A possible cut: its unevenness, its cost per bit, and its number of blocks inside."""

    unevenness: float
    cost: float
    blocks: int
    cut: Cut


def _best(piece: _Piece, trees: Sequence[_Tree | None], n_blocks: int, average: float) -> _Candidate | None:
    """Best cut for this number of blocks, or None without a possible cut."""
    shares = _Shares(len(piece.sample), n_blocks, average)
    candidates = [
        (tree.cut if tree else _cut_of_numbers)(j, piece.sample[:, j], piece.some[:, j], piece.nearest, shares)
        for j, tree in enumerate(trees if n_blocks > 1 else ())
    ]
    possible = [candidate for candidate in candidates if candidate is not None]
    return min(possible, key=lambda candidate: (candidate.unevenness, candidate.cost), default=None)


@dataclass(frozen=True)
class _Shares:
    """The division of ``n`` records into ``n_blocks`` blocks of about ``average`` records."""

    n: int
    n_blocks: int
    average: float

    def allow(self, inside: IntArray) -> NDArray[np.bool_]:
        """Mask of the numbers of records inside that leave records on both sides."""
        return (inside > 0) & (inside < self.n)

    def choose(self, inside: IntArray, costs: FloatArray) -> tuple[int, float, float, int]:
        """Return the best cut's position, unevenness (0 if even enough), cost for each bit, and blocks inside."""
        blocks = np.clip(np.rint(inside * (self.n_blocks / self.n)), 1, self.n_blocks - 1)
        fill = np.stack([inside / blocks, (self.n - inside) / (self.n_blocks - blocks)]) / self.average
        unevenness = np.maximum(fill, 1 / fill).max(axis=0)
        # Repeated records may prevent an even cut.
        unevenness[unevenness <= EVEN] = 0.0
        share = inside / self.n
        bits = -share * np.log2(share) - (1 - share) * np.log2(1 - share)
        # Plus one, so that of cuts without cost the one with the most bits is best.
        costs = (costs + 1.0) / bits
        at = int(np.lexsort((costs, unevenness))[0])
        return at, float(unevenness[at]), float(costs[at]), int(blocks[at])


def _cut_of_numbers(
    attribute: int, column: FloatArray, some: FloatArray, nearest: IntArray, shares: _Shares
) -> _Candidate | None:
    """Best cut halfway between two distinct values, or None.

    They are values of ``some`` if these are many, so that a cut without cost is as far as possible from both sides.
    """
    values = np.unique(some)
    if len(values) < _FEW:
        values = np.unique(column)
    low, high = values[:-1], values[1:]
    middle = low + (high - low) / 2
    at_most = np.where(middle < high, middle, low)
    inside = np.searchsorted(np.sort(column), at_most, "right")
    allowed = shares.allow(inside)
    if not allowed.any():
        return None
    at_most = at_most[allowed]
    at, unevenness, cost, blocks = shares.choose(inside[allowed], _costs_at(at_most, some, nearest))
    return _Candidate(unevenness, cost, blocks, Cut(attribute, float(at_most[at])))


def _costs_at(at_most: FloatArray, values: FloatArray, nearest: IntArray) -> FloatArray:
    """Costs of cuts, shape (cuts,), from the values of the records with neighbors.

    As a cut moves upward past the values of a record and its neighbors, the cost of that record changes: the cut
    separates more of the neighbors below until it passes the record, and then fewer of those above.
    """
    count = nearest.shape[1]
    costs = _costs_of_losing(count)
    present = nearest >= 0
    whole = present.sum(axis=1)
    others = np.sort(np.where(present, values[nearest], np.inf), axis=1)
    below = (others < values[:, np.newaxis]).sum(axis=1)
    above = ((others > values[:, np.newaxis]) & np.isfinite(others)).sum(axis=1)
    rank = np.arange(count)
    left = whole[:, np.newaxis] - rank  # of the M neighbors, with those before separated
    total = whole[:, np.newaxis]
    more = costs[total, np.maximum(left - 1, 0)] - costs[total, np.maximum(left, 0)]
    fewer = costs[total, np.minimum(rank + 1, total)] - costs[total, np.minimum(rank, total)]
    changes = np.where(rank < below[:, np.newaxis], more, np.where(rank >= (whole - above)[:, np.newaxis], fewer, 0.0))
    changes[~np.isfinite(others)] = 0.0
    at_own = costs[whole, whole - above] - costs[whole, whole - below]
    positions = np.concatenate([values, others.ravel()])
    order = np.argsort(positions, kind="stable")
    through = np.concatenate([[0.0], np.cumsum(np.concatenate([at_own, changes.ravel()])[order])])
    return np.maximum(through[np.searchsorted(positions[order], at_most, "right")], 0.0)


class _Tree:
    """A taxonomy whose leaves are numbered so that those below a node follow each other."""

    def __init__(self, taxonomy: Taxonomy) -> None:
        order, todo = [], [0]
        while todo:
            node = todo.pop()
            todo += reversed(taxonomy.children[node])
            order += [node] if not taxonomy.children[node] else []
        nodes = len(taxonomy.names)
        self._leaves = np.array(order)
        self._number = np.zeros(nodes, dtype=np.int64)
        self._number[self._leaves] = np.arange(len(order))
        # The leaves below each node: the first, and the one after the last.
        begin, end = self._number.copy(), self._number + 1
        begin[[bool(below) for below in taxonomy.children]] = nodes
        for node in range(nodes - 1, 0, -1):
            parent = taxonomy.parents[node]
            begin[parent], end[parent] = min(begin[parent], begin[node]), max(end[parent], end[node])
        # Each node by itself, and together with those children of its parent that come before it.
        self._begin = np.concatenate([begin[1:], begin[list(taxonomy.parents[1:])]])
        self._end = np.tile(end[1:], 2)

    def cut(
        self, attribute: int, column: FloatArray, some: FloatArray, nearest: IntArray, shares: _Shares
    ) -> _Candidate | None:
        """Best cut at a node, or at the first few children of one, or None."""
        at = np.bincount(self._numbers(column), minlength=len(self._leaves))
        before = np.concatenate([[0], np.cumsum(at)])
        inside = before[self._end] - before[self._begin]
        allowed = shares.allow(inside)
        if not allowed.any():
            return None
        begin, end = self._begin[allowed], self._end[allowed]
        costs = self._costs(self._numbers(some), nearest, begin, end)
        i, unevenness, cost, blocks = shares.choose(inside[allowed], costs)
        leaves = tuple(sorted(self._leaves[begin[i] : end[i]].tolist()))
        return _Candidate(unevenness, cost, blocks, Cut(attribute, None, leaves))

    def _numbers(self, column: FloatArray) -> IntArray:
        return self._number[column.astype(np.int64)]

    def _costs(self, leaves: IntArray, nearest: IntArray, begin: IntArray, end: IntArray) -> FloatArray:
        """Costs of cuts, shape (cuts,), from the leaves of the records with neighbors."""
        present = nearest >= 0
        whole, table = present.sum(axis=1), _costs_of_losing(nearest.shape[1])
        others = leaves[nearest]
        costs = np.empty(len(begin))
        for i in range(len(begin)):
            here, there = (begin[i] <= leaves) & (leaves < end[i]), (begin[i] <= others) & (others < end[i])
            left = ((there == here[:, np.newaxis]) & present).sum(axis=1)
            costs[i] = table[whole, left].sum()
        return costs
