"""Taxonomies: trees of similar categories.

The leaves of a taxonomy are the values of a categorical attribute, its inner nodes their generalizations
(Sweeney 2002; Byun, Kamra, Bertino & Li, Section 3). All leaves have the same depth, so that the height of a subtree
measures the loss of a generalization to its root.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd

from microagg.errors import DataError, ParameterError
from microagg.validation import FloatArray, IntArray, factorized, quoted

#: The default name of the root.
ANYTHING = "*"

_MOST_NODES = 20_000
_MOST_LEVELS = 100


def category(value: Any) -> str:
    """A value in the form of taxonomies: text unchanged, whole numbers without a point, others as numpy prints them."""
    if isinstance(value, np.floating):
        value = float(str(value))
    if isinstance(value, float) and math.isfinite(value) and value == int(value):
        return str(int(value))
    return str(value)


def category_counts(series: pd.Series[Any]) -> dict[str, int]:
    """Number of records with each value of a column.

    Parameters
    ----------
    series : Series of shape (n,)
        Values of a column, of any type.

    Returns
    -------
    dict of str to int
        By value as taxonomies write it, in the order of the column's type, if it has one, else numbers ascending before
        text in alphabetical order; without missing values and categories without records.
    """
    positions, distinct = factorized(series)
    frequencies = np.bincount(positions + 1, minlength=len(distinct) + 1)[1:].tolist()
    levels = series.cat.categories.to_numpy() if getattr(series.dtype, "ordered", False) else ()
    counts = Counter(dict.fromkeys(map(category, levels), 0))
    pairs = zip(distinct, frequencies, strict=True)
    for value, n in sorted(pairs, key=lambda pair: (isinstance(pair[0], str), pair[0])):
        counts[category(value)] += n
    return {text: n for text, n in counts.items() if n}


@dataclass(frozen=True)
class Taxonomy:
    """A balanced tree of categories. Made by :meth:`flat`, :meth:`from_nested`, :meth:`from_text` or :meth:`read`.

    ``names`` are the names of the nodes, each before the nodes below it (preorder), ``parents`` the position of each
    node's parent, -1 for the root, which is the first. A node may have its only child's name: it fills a level that
    divides nothing.

    Raises
    ------
    DataError
        If the leaves do not all have the same depth, two nodes have one name, or ``parents`` are not a tree in that
        order.
    """

    names: tuple[str, ...]
    parents: tuple[int, ...]
    _position: dict[str, int] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        """Check the tree and number its names."""
        first, further = self.parents[:1], self.parents[1:]
        precede = all(0 <= parent < node for node, parent in enumerate(further, start=1))
        if len(self.parents) != len(self.names) or first not in {(), (-1,)} or not precede:
            raise DataError(
                "a taxonomy needs one parent for each node, which comes before it, and -1 for the first only."
            )
        if len(self.names) < 2:
            raise DataError("a taxonomy needs a root and at least one value below it.")
        if len(self.names) > _MOST_NODES:
            raise DataError(f"a taxonomy may have at most {_MOST_NODES:,} nodes, not {len(self.names):,}.")
        if max(self.depths) > _MOST_LEVELS:
            raise DataError(
                f"a taxonomy may have at most {_MOST_LEVELS} levels below its root, not {max(self.depths)}."
            )
        for node, name in enumerate(self.names):
            if not name.strip():
                raise DataError(
                    "a taxonomy has a node without a name (a value that is empty, or blanks only): give each a name."
                )
            if name in self._position and self.children[self._position[name]] != [node]:
                raise DataError(f"the taxonomy has two nodes called {name!r}: rename one of them.")
            # In a chain of nodes with one name, the name is the lowest node's; the others only fill levels.
            self._position[name] = node
        shallow = min(self.leaves, key=self.depths.__getitem__)
        deep = max(self.leaves, key=self.depths.__getitem__)
        if self.depths[shallow] != self.depths[deep]:
            raise DataError(
                f"the taxonomy is not balanced: {self.names[shallow]!r} is {self.depths[shallow]} below the root, "
                f"{self.names[deep]!r} {self.depths[deep]}; insert levels (a node may have one child of its own name) "
                "so that all values have the same depth."
            )

    @classmethod
    def flat(cls, values: Iterable[Any], root: str = ANYTHING) -> Self:
        """Taxonomy without levels between the root and the values.

        Parameters
        ----------
        values : iterable
            Values; equal ones count once.
        root : str
            Name of the root. It gets ``*`` behind it while it is one of the values.

        Raises
        ------
        DataError
            If there is no value, an empty one, or too many.
        """
        names = dict.fromkeys(category(value) for value in values)
        while root in names:
            root += "*"
        return cls((root, *names), (-1, *[0] * len(names)))

    @classmethod
    def from_nested(cls, tree: Mapping[str, Any]) -> Self:
        """Taxonomy from nested mappings: ``{"*": {"Married": ["civil", "abroad"], …}}``.

        Parameters
        ----------
        tree : mapping
            One root. Children are a mapping (names to their children), a list of leaves, or None (or empty) for a leaf.

        Raises
        ------
        DataError
            If it is no such mapping, or no valid taxonomy (see :class:`Taxonomy`).
        """
        if not isinstance(tree, Mapping) or len(tree) != 1:
            roots = f"{len(tree)} roots" if isinstance(tree, Mapping) else type(tree).__name__
            raise DataError(f"a taxonomy must be a mapping with exactly one root, not {roots}: put all below one name.")
        names: list[str] = []
        parents: list[int] = []

        def add(name: Any, below: Any, parent: int) -> None:
            if not isinstance(name, (str, int, float)) or isinstance(name, bool):
                raise DataError(f"a taxonomy's nodes must be text or numbers, not {name!r}.")
            node = len(names)
            names.append(category(name))
            parents.append(parent)
            if len(names) > _MOST_NODES:
                return
            parts = [below] if isinstance(below, Mapping) else [] if below is None else below
            if not isinstance(parts, (list, tuple)):
                raise DataError(f"below {names[node]!r} there must be a mapping, a list or nothing, not {below!r}.")
            for part in parts:
                for child, further in part.items() if isinstance(part, Mapping) else [(part, None)]:
                    add(child, further, node)

        try:
            add(*next(iter(tree.items())), -1)
        except RecursionError:
            raise DataError("the taxonomy is nested too deeply: use fewer levels.") from None
        return cls(tuple(names), tuple(parents))

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Taxonomy from indented lines, one node per line, each below the nearest line that is indented less.

        Parameters
        ----------
        text : str
            Lines indented by blanks or by tabs, not by both. Blank lines and lines that start with ``#`` do not count.
            A name in double quotes is read as JSON.

        Raises
        ------
        DataError
            If lines are indented inconsistently, have not one root, or are no valid taxonomy (see :class:`Taxonomy`).
        """
        names: list[str] = []
        parents: list[int] = []
        open_nodes: list[tuple[int, int]] = []  # (indentation, node), from the root down to the line before
        kinds = set()
        for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), start=1):
            name = line.strip()
            if not name or name.startswith("#"):
                continue
            if len(name) > 1 and name[0] == name[-1] == '"':
                with contextlib.suppress(json.JSONDecodeError):
                    name = json.loads(name)
            margin = line[: len(line) - len(line.lstrip())]
            kinds |= set(margin)
            if len(kinds) > 1:
                raise DataError(
                    f"line {number} of the taxonomy mixes blanks and tabs: indent all lines by one of them."
                )
            indent = len(margin)
            while open_nodes and open_nodes[-1][0] >= indent:
                previous = open_nodes.pop()
                if previous[0] > indent and (not open_nodes or open_nodes[-1][0] < indent):
                    raise DataError(
                        f"line {number} of the taxonomy ({name!r}) is indented by {indent}, which no line above it is: "
                        "indent it as far as the lines it stands beside."
                    )
            if names and not open_nodes:
                raise DataError(
                    f"line {number} of the taxonomy ({name!r}) is a second root beside {names[0]!r}: indent all other "
                    f"lines, or put a common root such as {ANYTHING} above them."
                )
            parents.append(open_nodes[-1][1] if open_nodes else -1)
            open_nodes.append((indent, len(names)))
            names.append(name)
        if not names:
            raise DataError("the taxonomy is empty: write its root, and below it, indented, the values.")
        return cls(tuple(names), tuple(parents))

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """Taxonomy from a file of indented lines.

        Parameters
        ----------
        path : path
            A file in UTF-8, with lines as for :meth:`from_text`.

        Raises
        ------
        DataError
            If the file cannot be read, or as :meth:`from_text`.
        """
        file = Path(path)
        try:
            return cls.from_text(file.read_text(encoding="utf-8"))
        except UnicodeDecodeError:
            raise DataError(f"the taxonomy {file.name!r} is not UTF-8 text: save it as such.") from None
        except DataError as error:
            raise DataError(f"in {file.name!r}: {error}") from None
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", error)
            raise DataError(f"the taxonomy {str(file)!r} cannot be read ({why}): check its name.") from None

    @classmethod
    def of(cls, source: Any, values: Iterable[Any] = ()) -> Self:
        """Taxonomy from any of its forms.

        Parameters
        ----------
        source : Taxonomy, path, str, mapping or None
            Text of one line is a path, other text is for :meth:`from_text`, and None means a flat taxonomy.
        values : iterable
            Values of a flat taxonomy.

        Raises
        ------
        DataError, ParameterError
            If it is no valid taxonomy; if ``source`` is anything else.
        """
        if isinstance(source, cls):
            return source
        if source is None:
            return cls.flat(values)
        if isinstance(source, Mapping):
            return cls.from_nested(source)
        if isinstance(source, os.PathLike) or (isinstance(source, str) and "\n" not in source):
            return cls.read(source)
        if isinstance(source, str):
            return cls.from_text(source)
        raise ParameterError(f"a taxonomy must be a Taxonomy, a path, text or nested mappings, not {source!r}.")

    def with_values(self, values: Iterable[Any]) -> Self:
        """Taxonomy with further ``values``, which are not names of nodes, each in a branch below its root."""
        names, parents = list(self.names), list(self.parents)
        for value in values:
            parents += [0, *range(len(names), len(names) + self.height - 1)]
            names += [category(value)] * self.height
        return type(self)(tuple(names), tuple(parents))

    @cached_property
    def children(self) -> list[list[int]]:
        """The nodes directly below each node."""
        below: list[list[int]] = [[] for _ in self.names]
        for node, parent in enumerate(self.parents):
            if parent >= 0:
                below[parent].append(node)
        return below

    @cached_property
    def depths(self) -> list[int]:
        """The depth of each node. 0 for the root."""
        depths: list[int] = []
        for parent in self.parents:
            depths.append(depths[parent] + 1 if parent >= 0 else 0)
        return depths

    @cached_property
    def leaves(self) -> tuple[int, ...]:
        """The nodes of the values, in the order of the tree."""
        return tuple(node for node, below in enumerate(self.children) if not below)

    @cached_property
    def values(self) -> tuple[str, ...]:
        """The names of the leaves, in the order of the tree."""
        return tuple(self.names[leaf] for leaf in self.leaves)

    @property
    def height(self) -> int:
        """The height H of the tree: the depth of its leaves."""
        return self.depths[self.leaves[0]]

    @property
    def is_flat(self) -> bool:
        """Whether the root is the only common ancestor of any two values."""
        return self.height == 1

    def ancestors(self, node: int) -> Iterator[int]:
        """Yield ``node`` and its ancestors, up to the root."""
        while node >= 0:
            yield node
            node = self.parents[node]

    @cached_property
    def lineages(self) -> IntArray:
        """The ancestor of each node at each depth, shape (height + 1, nodes). Below its own depth, the node itself."""
        table = np.empty((self.height + 1, len(self.names)), dtype=np.int64)
        for node, parent in enumerate(self.parents):
            if parent >= 0:
                table[:, node] = table[:, parent]
            table[self.depths[node] :, node] = node
        return table

    @cached_property
    def heights(self) -> FloatArray:
        """The height of the subtree below each node as a share of that of the tree, shape (nodes,)."""
        return (self.height - np.array(self.depths)) / self.height

    def node(self, value: Any) -> int:
        """The leaf of ``value``. DataError if it has none."""
        node = self._position.get(category(value))
        if node is None or self.children[node]:
            raise DataError(f"the taxonomy has no value {category(value)!r}: it has {quoted(self.values)}; add it.")
        return node

    def to_text(self) -> str:
        """The taxonomy as indented lines, for :meth:`from_text`."""
        lines = [f"{'  ' * depth}{_as_line(name)}" for depth, name in zip(self.depths, self.names, strict=True)]
        return "\n".join(lines) + "\n"

    def to_nested(self) -> dict[str, Any]:
        """The taxonomy as nested mappings, for :meth:`from_nested` and JSON."""

        def below(node: int) -> dict[str, Any] | None:
            return {self.names[child]: below(child) for child in self.children[node]} or None

        return {self.names[0]: below(0)}


def _as_line(name: str) -> str:
    """A name as a line of text: in quotes if it would not be read back otherwise."""
    plain = name == name.strip() and len(name.splitlines()) == 1 and name[0] not in '"#'
    return name if plain else json.dumps(name)


# --- taxonomies that fit a column -------------------------------------------------------------------------------------


def code_length(values: Iterable[Any]) -> int:
    """Number of characters of codes, 0 if ``values`` are not codes.

    Codes are texts of equally many letters and digits, at least one of them a digit, such as postal codes.
    """
    codes = list(values)
    if not all(isinstance(code, str) and code.isalnum() and any(map(str.isdigit, code)) for code in codes):
        return 0
    return len(codes[0]) if len(set(map(len, codes))) == 1 else 0


def suggest_taxonomies(series: pd.Series[Any]) -> tuple[tuple[str, Taxonomy], ...]:
    """Taxonomies for a column of categories, each with a title, the likeliest first.

    Codes are grouped by their first characters, ``01067`` below ``010**``; a flat taxonomy is last.
    """
    counts = category_counts(series)
    if not counts:
        raise DataError(f"column {series.name!r} holds no value: leave it out of the quasi-identifiers.")
    names = sorted(counts)
    proposals: list[tuple[str, Taxonomy]] = []
    if lengths := _dividing_lengths(names):
        tree = _by_prefix(names, lengths)
        levels = dict.fromkeys(tree.names[node] for node in tree.ancestors(tree.leaves[0]))
        proposals.append((f"By what codes begin with: {', '.join(levels)}", tree))
    return (*proposals, ("All side by side", Taxonomy.flat(names)))


def _by_prefix(codes: Sequence[str], lengths: Sequence[int]) -> Taxonomy:
    """Taxonomy of codes of one length by their first characters, of which ``lengths`` are left at each level."""
    tree: dict[str, Any] = {}
    for code in codes:
        below = tree
        for length in (*lengths, len(code)):
            below = below.setdefault(code[:length].ljust(len(code), ANYTHING), {})
    return Taxonomy.from_nested({ANYTHING: tree})


def _dividing_lengths(names: Sequence[str]) -> list[int]:
    """Numbers of characters of codes to leave at each level. Empty if categories are not codes.

    A common beginning of all codes divides nothing, so the first level leaves one character more.
    """
    if not (size := code_length(names)):
        return []
    groups = [len({name[:length] for name in names}) for length in range(size)]
    lengths: list[int] = []
    first = next((length for length in range(size) if groups[length] > 1), size)
    for length in range(first, size, 2):
        if groups[lengths[-1] if lengths else 0] < groups[length] < len(names):
            lengths.append(length)
    return lengths
