"""Cuts of the space of the records into blocks, learned on a sample: a k-d tree in which categories have a part, too.

A cut asks for the value of one attribute and divides what is on its way into two sides:

- of a numeric or an ordinal attribute, those of at most a threshold, which lies between two distinct values of the
  sample, and those above it;
- of a nominal attribute, whatever is below one node of its taxonomy, or below the first few children of one, and the
  rest.

Each side is to hold some of the blocks, with about as many records for each. Which attribute is cut, and where, see
:mod:`.learning`. Where records repeat so much that no cut divides evenly enough, the most even one is made; where all
records of the sample are equal, or they are too few, there is none.

Equal records are always in the same block, as a cut looks at nothing but values.

Source: k-d trees, Bentley 1975; the choice of the cut is our own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np

from microagg.columns.records import Attribute
from microagg.distributed import block_learning
from microagg.distributed.block_learning import Cut
from microagg.errors import DataError, ParameterError
from microagg.validation import FloatArray, IntArray, check_finite, is_whole


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
    def learn(
        cls,
        sample: FloatArray,
        attributes: Sequence[Attribute],
        n_blocks: int,
        least: int = 1,
        *,
        beside: Cuts | None = None,
    ) -> Self:
        """Return cuts of about ``n_blocks`` blocks with about as many records of the ``sample`` in each.

        Parameters
        ----------
        sample : array, shape (m, d)
            As in :class:`~microagg.columns.records.Records`, but for numbers, which are on the scale on which records
            are compared, if all are numbers; beside other kinds their scale does not matter.
        attributes : sequence of Attribute
            One for each column.
        n_blocks : int
            How many blocks are wanted. There are fewer where too many records are equal.
        least : int, default 1
            How many records of the sample a block has at least, if these suffice.
        beside : Cuts, optional
            Other cuts, in whose neighborhood none of these should be: what is at a border there should not be here.

        Raises
        ------
        DataError
            If the sample has no records, values that are not finite or no category of their attribute, or not one
            column for each attribute.
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
        return cls(
            names,
            tuple(
                block_learning.learn(sample, attributes, int(n_blocks), int(least), beside.assign if beside else None)
            ),
        )

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

        A side that no cut bounds is -inf or inf. A block has values above the lower one, and up to the upper one.

        Raises
        ------
        DataError
            If a cut is one of categories: such blocks are no boxes.
        """
        if any(cut.at_most is None for cut in self.cuts):
            raise DataError("blocks that are cut by categories are no boxes: there is no distance to their borders.")
        low = np.full((self.n_blocks, len(self.names)), -np.inf)
        high = np.full_like(low, np.inf)
        todo = [(0 if self.cuts else -1, low[0].copy(), high[0].copy())]
        while todo:
            at, below, above = todo.pop()
            if at < 0:
                low[-1 - at], high[-1 - at] = below, above
                continue
            cut = self.cuts[at]
            beyond, within = below.copy(), above.copy()
            beyond[cut.attribute] = within[cut.attribute] = cut.at_most
            todo += [(cut.inside, below, within), (cut.outside, beyond, above)]
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
