"""Values of k, the minimum group size, as people write them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from microagg.errors import ParameterError

# One value of k, or a range.
_WORD = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")


def read_ks(text: str, n: int, most: int) -> tuple[list[int], bool]:
    """Return the values of k in a text like ``2–10, 20``, ascending, up to ``n``; and whether larger ones are there.

    Raises
    ------
    ParameterError
        If a word is no value or range of k, or there are more than ``most`` values.
    """
    found: set[int] = set()
    beyond = False
    for word in re.sub(r"\s*[-–—−]\s*", "-", text).replace(",", " ").replace(";", " ").split():
        match = _WORD.fullmatch(word)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
        if first < 1:
            raise ParameterError(
                f"{word!r} is no value of k: write whole numbers of at least 1, or ranges like 2–20, with commas "
                "between."
            )
        if first > last:
            raise ParameterError(f"the range {word} runs backward: write the smaller k first.")
        found.update(range(first, min(last, n) + 1)[: most + 1])
        beyond = beyond or last > n
        if len(found) > most:
            raise ParameterError(f"these are more than {most} values of k, too many to compare: write fewer.")
    return sorted(found), beyond


def spread(ks: Sequence[int], first: int | None = None) -> list[int]:
    """Return ``ks``, ascending, in an order in which the first few lie far apart: both ends, the middle, the quarters.

    A curve that is computed in this order has its shape early. Of what is equally far apart the larger k comes first,
    as large groups take least time. ``first``, if it is one of them, comes first.

    >>> spread([2, 3, 4, 5, 6, 7, 8, 9, 10])
    [10, 6, 2, 8, 4, 9, 7, 5, 3]
    """
    if not ks:
        return []
    places = [*dict.fromkeys([len(ks) - 1, (len(ks) - 1) // 2, 0])]
    gaps = [((len(ks) - 1) // 2, len(ks) - 1), (0, (len(ks) - 1) // 2)]
    while gaps:
        halves = []
        for low, high in gaps:
            if high - low > 1:
                middle = (low + high) // 2
                places.append(middle)
                halves += [(middle, high), (low, middle)]
        gaps = halves
    ordered = [ks[place] for place in places]
    return sorted(ordered, key=lambda k: k != first)
