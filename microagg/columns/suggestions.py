"""Proposals for a column of categories: values that may be one and the same, and taxonomies for it."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from microagg.columns.evidence import ColumnValues, folded
from microagg.columns.taxonomy import ANYTHING, Taxonomy, category
from microagg.errors import DataError, ParameterError
from microagg.validation import is_whole

#: The node below which :func:`merge_rare` puts rare categories.
RARE = "rare"

# A value is a typing error of another if it is long, occurs in at most this share of the records, and the other in
# more, and so many times as often.
_LONG = 6
_TOO_LONG = 200
_RARE_SHARE = 0.01
_TIMES_RARER = 5

# What a taxonomy of rare categories is proposed for: those in fewer records than this, or than this share of them.
_LEAST_RECORDS = 5
_LEAST_SHARE = 0.01


# --- values that may be the same --------------------------------------------------------------------------------------


def near_duplicates(series: pd.Series[Any]) -> tuple[tuple[str, ...], ...]:
    """Return the sets of categories that may be spellings of one and the same.

    They differ only by small and capital letters, blanks, accents, or punctuation between or after letters; or, of 6 to
    200 letters, by one letter (left out, added, changed or swapped with the next), where one of the two spellings
    is in at most 1 % of the records and the other in more, and at least 5 times as often.

    Returns
    -------
    tuple of tuples of str
        The values as they are in the column, in each set the most frequent first (of equals, the first in the order of
        the alphabet), and the sets by their first values. Empty where the column holds no text.
    """
    column = ColumnValues.of(series)
    if column is None:
        return ()
    pairs = zip(column.distinct, column.counts.tolist(), strict=True)
    counts = {value: n for value, n in pairs if isinstance(value, str)}
    sets: dict[str, list[str]] = {}
    for value in counts:
        sets.setdefault(_essence(value), []).append(value)
    totals = {key: sum(counts[value] for value in values) for key, values in sets.items()}
    for typo, right in _typing_errors(totals).items():
        sets[right] += sets.pop(typo)
    several = (values for values in sets.values() if len(values) > 1)
    return tuple(sorted(tuple(sorted(values, key=lambda value: (-counts[value], value))) for values in several))


def _essence(value: str) -> str:
    """Return what is left of a value without capitals, accents, and blanks and punctuation that mean nothing."""
    plain = " ".join(folded(value).split())
    if not any(letter.isalpha() for letter in plain):
        return plain  # 1.5 and 15, or 1-2 and 12, are not the same
    # Blood groups A+ and A- are not the same either: signs count unless they are between letters.
    plain = re.sub(r"(?<=[^\W\d]) ?[-_/] ?(?=[^\W\d])", " ", plain)
    # Dots and commas in numbers stay.
    plain = re.sub(r"(?<!\d)[.,;:!?'\"`´’]|[.,;:!?'\"`´’](?!\d)", "", plain)
    return " ".join(plain.split())


def _typing_errors(counts: Mapping[str, int]) -> dict[str, str]:
    """Return for each rare spelling the frequent one that it differs from by one letter, of several the commonest."""
    bound = max(1, _RARE_SHARE * sum(counts.values()))
    # Time and memory grow with the square of a text's length, and sentences are no categories.
    counts = {key: n for key, n in counts.items() if _LONG <= len(key) <= _TOO_LONG}
    frequent = sorted((key for key, n in counts.items() if n > bound), key=lambda key: -counts[key])
    near: dict[str, list[str]] = {}
    for key in frequent:
        for shorter in _with_one_less(key):
            near.setdefault(shorter, []).append(key)
    corrections = {}
    for key, n in counts.items():
        if n > bound:
            continue
        # Two texts that differ by one letter are equal after leaving out one of each at most.
        candidates = {other: None for shorter in _with_one_less(key) for other in near.get(shorter, [])}
        likely = [
            other
            for other in candidates
            if other != key and counts[other] >= _TIMES_RARER * n and _is_one_off(key, other)
        ]
        if likely:
            corrections[key] = max(likely, key=lambda other: (counts[other], other))
    return corrections


def _with_one_less(text: str) -> Iterator[str]:
    yield text
    for i in range(len(text)):
        yield text[:i] + text[i + 1 :]


def _is_one_off(one: str, other: str) -> bool:
    """Whether two texts differ by one letter left out, added, changed or swapped with the next, not by other signs."""
    i = 0
    while i < min(len(one), len(other)) and one[i] == other[i]:
        i += 1
    first, second = one[i:], other[i:]
    ways = (
        (first[1:] == second, first[:1]),
        (first == second[1:], second[:1]),
        (first[1:] == second[1:], first[:1] + second[:1]),
        (first[:2] == second[1::-1] and first[2:] == second[2:], first[:2]),
    )
    return any(fits and letters.isalpha() for fits, letters in ways)


# --- taxonomies -------------------------------------------------------------------------------------------------------


def by_prefix(values: Iterable[Any], lengths: Sequence[int] | None = None) -> Taxonomy:
    """Return the taxonomy of codes by what they begin with: ``01067`` below ``010**``, below ``0****``, below ``*``.

    Parameters
    ----------
    values : iterable
        Codes of equal length.
    lengths : sequence of int, optional
        How many characters are left at each level, from the root down. By default 1, 3, 5, and so on.

    Raises
    ------
    DataError
        If the values have different lengths, or hold an asterisk, or are too many for a taxonomy.
    ParameterError
        If ``lengths`` are not whole numbers that ascend from 1 or more and are less than the length of the codes.
    """
    codes = sorted({category(value) for value in values})
    size = _common_length(codes)
    if lengths is None:
        lengths = range(1, size, 2)
    steps = [0, *lengths, size]
    if not all(is_whole(step) for step in steps) or any(low >= high for low, high in itertools.pairwise(steps)):
        raise ParameterError(
            f"lengths must ascend from 1 or more and be less than {size}, the length of the codes, not {list(lengths)}."
        )
    names, parents = [ANYTHING], [-1]
    position = {"": 0}
    # Sorted codes of equal length come in the order of a tree.
    for code in codes:
        above = ""
        for step in steps[1:]:
            part = code[:step]
            if part not in position:
                position[part] = len(names)
                parents.append(position[above])
                names.append(part.ljust(size, ANYTHING))
            above = part
    return Taxonomy(tuple(names), tuple(parents))


def code_length(values: Iterable[Any]) -> int:
    """Return how many characters codes have, 0 where ``values`` are none.

    Codes are texts that all have the same number of letters and digits, at least one of them a digit, such as postal
    codes.
    """
    lengths = set()
    for value in values:
        if not isinstance(value, str) or not value.isalnum() or not any(map(str.isdigit, value)):
            return 0
        lengths.add(len(value))
    return lengths.pop() if len(lengths) == 1 else 0


def _common_length(codes: Sequence[str]) -> int:
    if not codes:
        raise DataError("there are no codes: a taxonomy needs at least one.")
    if marked := next((code for code in codes if ANYTHING in code), None):
        raise DataError(f"the code {marked!r} holds an asterisk, which stands for what is left out: rename it.")
    other = next((code for code in codes if len(code) != len(codes[0])), None)
    if other is not None:
        raise DataError(
            f"the codes {codes[0]!r} and {other!r} have different lengths ({len(codes[0])} and {len(other)} "
            "characters): only codes of equal length are alike by what they begin with."
        )
    return len(codes[0])


def merge_rare(counts: Mapping[Any, int] | pd.Series[Any], least: int) -> Taxonomy:
    """Return the taxonomy in which the categories in fewer than ``least`` records are below one node, ``rare``.

    The others stand side by side, each below a node of its own name. Where fewer than two categories are rare, or all
    are, all stand side by side.

    Parameters
    ----------
    counts : mapping or Series
        The number of records with each category, as ``Series.value_counts`` returns it.
    least : int

    Raises
    ------
    DataError
        If there is no category.
    ParameterError
        If ``least`` is not a whole number of at least 1.
    """
    if not is_whole(least) or least < 1:
        raise ParameterError(f"least must be a whole number of at least 1, not {least!r}.")
    totals: dict[str, int] = {}
    for value, n in counts.items():
        totals[category(value)] = totals.get(category(value), 0) + int(n)
    rare = sorted(name for name, n in totals.items() if n < least)
    others = sorted(name for name, n in totals.items() if n >= least)
    if len(rare) < 2 or not others:
        return Taxonomy.flat(sorted(totals))
    root, common = _unused(ANYTHING, totals), _unused(RARE, totals)
    return Taxonomy.from_nested({root: {**{name: [name] for name in others}, common: rare}})


def _unused(name: str, names: Mapping[str, Any]) -> str:
    while name in names:
        name += ANYTHING
    return name


def suggest_taxonomies(series: pd.Series[Any]) -> tuple[tuple[str, Taxonomy], ...]:
    """Return taxonomies that fit a column of categories, each with a title, the likeliest first.

    Codes are grouped by what they begin with, categories in few records are put below one node, and in any case all
    can stand side by side.

    Raises
    ------
    DataError
        If the column holds no value, or too many for a taxonomy.
    """
    counts = {value: int(n) for value, n in series.value_counts(sort=False).items() if n}
    if not counts:
        raise DataError(f"column {series.name!r} holds no value: leave it out of the quasi-identifiers.")
    names = sorted({category(value) for value in counts})
    proposals: list[tuple[str, Taxonomy]] = []
    if lengths := _telling_lengths(names):
        tree = by_prefix(names, lengths)
        levels = dict.fromkeys(tree.names[node] for node in tree.ancestors(tree.leaves[0]))
        proposals.append((f"By what codes begin with: {', '.join(levels)}", tree))
    least = max(_LEAST_RECORDS, int(_LEAST_SHARE * sum(counts.values())))
    tree = merge_rare(counts, least)
    if not tree.is_flat:
        rare = sum(n < least for n in counts.values())
        proposals.append((f"The {rare} categories in fewer than {least} records together", tree))
    return (*proposals, ("All side by side", Taxonomy.flat(names)))


def _telling_lengths(names: Sequence[str]) -> list[int]:
    """Return how many characters to leave of codes at each level; none where categories are no codes.

    What all codes begin with divides nothing, so the first level leaves one character more.
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
