"""Cuts of the space of the records into blocks, learned on a sample: a k-d tree in which categories have a part, too.

A cut asks for the value of one attribute and divides what is on its way into two sides, so that both are to hold as
many blocks, and about as many records for each:

- of a numeric or an ordinal attribute, those of at most a threshold, which lies between two distinct values of the
  sample, and those above it;
- of a nominal attribute, whatever is below one node of its taxonomy, or below the first few children of one, and the
  rest. Of the cuts that divide evenly it is one as near to the root as there is: what it keeps together is alike.

It is made on the attribute with the largest spread, half the mean squared difference of two records, which for numbers
is their variance. Where all attributes are numeric, numbers differ as they do on their scale; otherwise as a share of
the attribute's domain, as categories do, see :mod:`microagg.records`. An attribute whose values repeat so much that it
cannot be cut evenly is passed over for the next one; if no attribute can be, the most even cut is made, and one side
gets more blocks than the other. Where all records of the sample are equal, or they are too few, there is no cut.

Equal records are always in the same block, as a cut looks at nothing but values.

Source: Bentley 1975, Multidimensional binary search trees used for associative searching, with cuts as in Friedman,
Bentley & Finkel 1977.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from microagg.errors import DataError, ParameterError
from microagg.records import Attribute
from microagg.taxonomy import Taxonomy
from microagg.validation import FloatArray, IntArray, check_finite, is_whole

#: A cut divides evenly if neither side has more than this many times the records that its blocks are to hold.
EVEN = 1.25


@dataclass(frozen=True)
class Cut:
    """One cut, and what is on its two sides.

    Attributes
    ----------
    attribute : int
        The position of the attribute that is asked for.
    at_most : float or None
        Numbers and ranks up to this one are inside; None for a nominal attribute.
    leaves : tuple of int
        The categories that are inside, as nodes of the taxonomy; empty for others.
    inside, outside : int
        The position of the next cut, or, below 0, ``-1 - block``.
    """

    attribute: int
    at_most: float | None
    leaves: tuple[int, ...]
    inside: int
    outside: int

    def holds(self, values: FloatArray) -> NDArray[np.bool_]:
        """Return whether each record of ``values``, shape (m, d), is inside."""
        column = values[:, self.attribute]
        return np.isin(column, self.leaves) if self.at_most is None else column <= self.at_most


@dataclass(frozen=True)
class Cuts:
    """A tree of cuts, which gives every record its block.

    Attributes
    ----------
    names : tuple of str
        What the attributes are called.
    cuts : tuple of Cut
        The first is that of all records; empty for one block.
    """

    names: tuple[str, ...]
    cuts: tuple[Cut, ...]

    @classmethod
    def learn(cls, sample: FloatArray, attributes: Sequence[Attribute], n_blocks: int, least: int = 1) -> Self:
        """Return cuts of about ``n_blocks`` blocks with about as many records of the ``sample`` in each.

        Parameters
        ----------
        sample : array, shape (m, d)
            As in :class:`~microagg.records.Records`, but for numbers, which are on the scale on which records are
            compared. The order of its records does not matter.
        attributes : sequence of Attribute
            One for each column.
        n_blocks : int
            How many blocks are wanted. There are fewer where too many records are equal.
        least : int, default 1
            How many records of the sample a block has at least.

        Raises
        ------
        DataError
            If the sample has no records, values that are not finite, or not one column for each attribute.
        ParameterError
            If ``n_blocks`` or ``least`` is not a whole number of at least 1.
        """
        for name, value in (("n_blocks", n_blocks), ("least", least)):
            if not is_whole(value) or value < 1:
                raise ParameterError(f"{name} must be a whole number of at least 1, not {value!r}.")
        names = tuple(str(attribute.name) for attribute in attributes)
        sample = _checked(sample, names)
        if len(sample) == 0:
            raise DataError("there are no records to learn cuts from.")
        return cls(names, tuple(_Learning(sample, attributes, int(least)).tree(int(n_blocks))))

    @property
    def n_blocks(self) -> int:
        """How many blocks there are."""
        return len(self.cuts) + 1

    def assign(self, values: FloatArray) -> IntArray:
        """Return the block of each record, 0 to ``n_blocks`` - 1, shape (n,).

        Parameters
        ----------
        values : array, shape (n, d)
            As the sample of :meth:`learn`, on the same scale.

        Raises
        ------
        DataError
            If there are values that are not finite, or not one column for each attribute.
        """
        values = _checked(values, self.names)
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
        """Return a new number for each block, shape (n_blocks,), the same for blocks that are to be one.

        Two sides of a cut with fewer than ``least`` records together become one block. If only one of them has fewer,
        it joins the smallest of the other side, the first of several.

        Parameters
        ----------
        counts : array of int, shape (n_blocks,)
            How many records each block has.
        least : int
            How many it must have. If there are fewer in all, everything is one block.

        Returns
        -------
        array of int, shape (n_blocks,)
            From 0 to m - 1, in the order in which the m blocks begin.

        Raises
        ------
        DataError
            If there is not one count for each block.
        """
        counts = np.asarray(counts)
        if counts.shape != (self.n_blocks,):
            raise DataError(f"there must be one count for each of {self.n_blocks} blocks, not of shape {counts.shape}.")
        # What each position in the tree has become: lists of blocks, each with its number of records.
        sides: dict[int, list[tuple[int, list[int]]]] = {-1 - b: [(int(counts[b]), [b])] for b in range(self.n_blocks)}
        for at in range(len(self.cuts) - 1, -1, -1):  # a cut comes before those on its sides
            one, other = sides.pop(self.cuts[at].inside), sides.pop(self.cuts[at].outside)
            sides[at] = _together(one, other, least)
        (groups,) = sides.values()
        numbers = np.empty(self.n_blocks, dtype=np.int64)
        for number, (_, blocks) in enumerate(sorted(groups, key=lambda group: min(group[1]))):
            numbers[blocks] = number
        return numbers

    def boxes(self) -> tuple[FloatArray, FloatArray]:
        """Return between which values of each attribute a block lies, two arrays of shape (n_blocks, d).

        A side that no cut bounds is -inf or inf. A block has values above the lower one, and up to the upper one. Of
        nominal attributes nothing is said: they are unbounded.
        """
        low = np.full((self.n_blocks, len(self.names)), -np.inf)
        high = np.full_like(low, np.inf)
        todo = [(0 if self.cuts else -1, low[0].copy(), high[0].copy())]
        while todo:
            at, below, above = todo.pop()
            if at < 0:
                low[-1 - at], high[-1 - at] = below, above
                continue
            cut = self.cuts[at]
            if cut.at_most is not None:
                beyond, within = below.copy(), above.copy()
                beyond[cut.attribute] = within[cut.attribute] = cut.at_most
                todo += [(cut.inside, below, within), (cut.outside, beyond, above)]
            else:
                todo += [(cut.inside, below, above), (cut.outside, below, above)]
        return low, high

    def to_dict(self) -> dict[str, Any]:
        """Return the cuts as JSON can hold them."""
        return {"names": list(self.names), "cuts": [asdict(cut) for cut in self.cuts]}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Self:
        """Return the cuts that :meth:`to_dict` has written.

        Raises
        ------
        DataError
            If it has not written them.
        """
        try:
            cuts = tuple(Cut(**{**cut, "leaves": tuple(cut["leaves"])}) for cut in given["cuts"])
            names = tuple(map(str, given["names"]))
        except (KeyError, TypeError, ValueError):
            raise DataError("these are no cuts: they lack names or cuts, or hold something else.") from None
        ends = sorted(end for cut in cuts for end in (cut.inside, cut.outside))
        if ends != [*range(-1 - len(cuts), 0), *range(1, len(cuts))] and cuts:
            raise DataError("these are no cuts: they are no tree.")
        return cls(names, cuts)


def _together(
    one: list[tuple[int, list[int]]], other: list[tuple[int, list[int]]], least: int
) -> list[tuple[int, list[int]]]:
    """Return the blocks of both sides of a cut, none below ``least`` unless it is the only one."""
    for few, rest in ((one, other), (other, one)):
        if few[0][0] < least:  # only a single block is
            smallest = min(range(len(rest)), key=lambda i: rest[i][0])
            merged = (few[0][0] + rest[smallest][0], few[0][1] + rest[smallest][1])
            return [*rest[:smallest], merged, *rest[smallest + 1 :]]
    return one + other


def _checked(values: FloatArray, names: Sequence[str]) -> FloatArray:
    if values.ndim != 2 or values.shape[1] != len(names) or not names:
        raise DataError(
            f"cuts need one column of values for each of {len(names)} attributes (at least one), not values of shape "
            f"{values.shape}."
        )
    check_finite(values, names)
    return values


@dataclass(frozen=True)
class _Found:
    """A cut that can be made: how uneven its sides would be, and how many of the blocks are inside."""

    unevenness: float
    blocks: int
    at_most: float | None
    leaves: tuple[int, ...] = ()


class _Tree:
    """A taxonomy whose leaves are numbered so that those below a node follow each other."""

    def __init__(self, taxonomy: Taxonomy) -> None:
        order, todo = [], [0]
        while todo:
            node = todo.pop()
            todo += reversed(taxonomy.children[node])
            order += [node] if not taxonomy.children[node] else []
        nodes = len(taxonomy.names)
        self.leaves = np.array(order)
        self.number = np.zeros(nodes, dtype=np.int64)
        self.number[self.leaves] = np.arange(len(order))
        self.parents = np.array(taxonomy.parents[1:])
        self.depths, self.heights = np.array(taxonomy.depths), taxonomy.heights
        # Which leaves are below each node: from one to before another.
        self.begin, self.end = self.number.copy(), self.number + 1
        self.begin[[bool(below) for below in taxonomy.children]] = nodes
        for node in range(nodes - 1, 0, -1):
            parent = taxonomy.parents[node]
            self.begin[parent] = min(self.begin[parent], self.begin[node])
            self.end[parent] = max(self.end[parent], self.end[node])

    def before(self, column: FloatArray) -> IntArray:
        """Return how many records of ``column`` are at the leaves before each one, and at all, (leaves + 1,)."""
        at = np.bincount(self.number[column.astype(np.int64)], minlength=len(self.leaves))
        return np.concatenate([[0], np.cumsum(at)])

    def spread(self, column: FloatArray) -> float:
        """Return half the mean squared difference of two of the records."""
        before = self.before(column)
        squares = np.square((before[self.end] - before[self.begin]) / len(column))
        # Two records differ by the height of the lowest node that both are below.
        heights = np.square(self.heights)
        return float((squares * heights).sum() - (squares[1:] * heights[self.parents]).sum()) / 2

    def cut(self, column: FloatArray, wanted: int, least: int) -> _Found | None:
        """Return the cut at a node, or at the first few children of one."""
        before = self.before(column)
        # Each node by itself, and together with those children of its parent that come before it.
        begin = np.concatenate([self.begin[1:], self.begin[self.parents]])
        end, depths = np.tile(self.end[1:], 2), np.tile(self.depths[1:], 2)
        inside = before[end] - before[begin]
        kept = (inside >= least) & (inside <= len(column) - least)
        if not kept.any():
            return None
        begin, end, depths, inside = begin[kept], end[kept], depths[kept], inside[kept]
        unevenness, blocks = _shares(inside, len(column), wanted)
        even = unevenness <= EVEN
        # Of even cuts one nearest to the root, and of these what halves best; otherwise the most even.
        rank = np.where(even, depths, unevenness)
        at = int(np.lexsort((np.abs(2 * inside - len(column)), rank, ~even))[0])
        leaves = tuple(sorted(self.leaves[begin[at] : end[at]].tolist()))
        return _Found(float(unevenness[at]), int(blocks[at]), None, leaves)


def _cut_of_numbers(column: FloatArray, wanted: int, least: int) -> _Found | None:
    """Return the cut between two distinct values that is nearest to where it would be even."""
    column = np.sort(column)
    ends = np.flatnonzero(column[1:] > column[:-1]) + 1  # so many records are inside
    ends = ends[(ends >= least) & (ends <= len(column) - least)]
    if len(ends) == 0:
        return None
    aim = len(column) * ((wanted + 1) // 2) / wanted
    end = int(ends[np.argmin(np.abs(ends - aim))])
    low, high = float(column[end - 1]), float(column[end])
    middle = low + (high - low) / 2
    unevenness, blocks = _shares(np.array([end]), len(column), wanted)
    return _Found(float(unevenness[0]), int(blocks[0]), middle if middle < high else low)


def _shares(inside: IntArray, n: int, wanted: int) -> tuple[FloatArray, IntArray]:
    """Return, for numbers of the n records inside, how uneven the sides are, and how many of the blocks are inside.

    The unevenness is how many times the records that its blocks are to hold the fuller side has.
    """
    blocks = np.clip(np.rint(inside * wanted / n), 1, wanted - 1).astype(np.int64)
    fuller = np.maximum(inside / blocks, (n - inside) / (wanted - blocks))
    return fuller * (wanted / n), blocks


class _Learning:
    """The sample from which cuts are learned, and how its attributes are cut."""

    def __init__(self, sample: FloatArray, attributes: Sequence[Attribute], least: int) -> None:
        self._sample, self._least = sample, least
        self._trees = [_Tree(attribute.taxonomy) if attribute.taxonomy else None for attribute in attributes]
        self._units = np.ones(len(attributes))
        if any(attribute.kind != "numeric" for attribute in attributes):
            extent = sample.max(axis=0) - sample.min(axis=0)
            for j, attribute in enumerate(attributes):
                domain = extent[j] if attribute.kind == "numeric" else len(attribute.levels) - 1
                self._units[j] = domain if domain > 0 else 1.0

    def tree(self, n_blocks: int) -> list[Cut]:
        """Return the cuts, each before those on its sides."""
        made: list[tuple[int, _Found]] = []
        sides: list[list[int]] = []
        blocks = 0
        # The records, how many blocks are wanted of them, the cut above, and on which side of it they are.
        todo: list[tuple[IntArray, int, int, int]] = [(np.arange(len(self._sample)), n_blocks, -1, 0)]
        while todo:
            rows, wanted, above, side = todo.pop()
            best = self._best(rows, wanted)
            if above >= 0:
                sides[above][side] = len(made) if best else -1 - blocks
            if best is None:
                blocks += 1
                continue
            attribute, found = best
            inside = Cut(attribute, found.at_most, found.leaves, 0, 0).holds(self._sample[rows])
            todo.append((rows[~inside], wanted - found.blocks, len(made), 1))
            todo.append((rows[inside], found.blocks, len(made), 0))
            made.append(best)
            sides.append([0, 0])
        return [Cut(j, found.at_most, found.leaves, *ends) for (j, found), ends in zip(made, sides, strict=True)]

    def _best(self, rows: IntArray, wanted: int) -> tuple[int, _Found] | None:
        """Return the attribute to cut for so many blocks, and how; None if there is none."""
        if wanted < 2 or len(rows) < 2 * self._least:
            return None
        spreads = np.array([self._spread(rows, j) for j in range(len(self._trees))])
        best: tuple[int, _Found] | None = None
        for j in np.argsort(-spreads, kind="stable").tolist():
            tree, column = self._trees[j], self._sample[rows, j]
            cut = tree.cut if tree else _cut_of_numbers
            found = cut(column, wanted, self._least)
            if found is not None and (best is None or found.unevenness < best[1].unevenness):
                best = j, found
            if best is not None and best[1].unevenness <= EVEN:
                break
        return best

    def _spread(self, rows: IntArray, j: int) -> float:
        """Return half the mean squared difference of two of the records in an attribute."""
        tree, column = self._trees[j], self._sample[rows, j]
        return tree.spread(column) if tree else float(np.var((column - column.min()) / self._units[j]))
