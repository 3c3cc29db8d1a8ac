"""Values of k, the minimum group size, as people write them."""

from __future__ import annotations

import re

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
