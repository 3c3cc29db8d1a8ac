"""Records put in the order of a line through them, and cut into groups as well as that order allows.

Written to be read; the order of the sums is that of the compiled kernels in :mod:`microagg.kernels.paths`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from microagg.explain.run import total

Row = Sequence[float]

# Rounding: what is found later must be farther, or a cut better, by more than this.
_ROUNDING = 1e-12


def along_line(rows: Sequence[Row]) -> list[int]:
    """Return the places of ``rows`` in the order of their projections on a line, ties by place.

    It runs from the record farthest from the centroid to the one farthest from that.
    """
    center = [total(value / len(rows) for value in column) for column in zip(*rows, strict=True)]
    start = _farthest(rows, center)
    end = _farthest(rows, start)
    along = [q - p for p, q in zip(end, start, strict=True)]

    def projection(row: Row) -> float:
        return total((value - p) * step for value, p, step in zip(row, end, along, strict=True))

    return sorted(range(len(rows)), key=lambda place: projection(rows[place]))


def _farthest(rows: Sequence[Row], point: Row) -> Row:
    farthest, most = rows[0], -1.0
    for row in rows:
        distance = total((value - other) * (value - other) for value, other in zip(row, point, strict=True))
        if distance > most * (1.0 + _ROUNDING):
            farthest, most = row, distance
    return farthest


def cut(rows: Sequence[Row], k: int) -> list[tuple[int, int]]:
    """Cut ``rows``, in their order, into groups of k to 2k - 1 of least SSE; return where each begins and ends.

    By dynamic programming: the best cut of the first j rows ends with a group that begins at some i, and before i it is
    the best cut of the first i rows (Hansen & Mukherjee 2003).
    """
    n = len(rows)
    best = [0.0] + [math.inf] * n
    begin = [0] * (n + 1)
    for i in range(n - k + 1):
        if math.isinf(best[i]):
            continue
        sse, center = 0.0, list(rows[i])
        for size in range(1, min(2 * k - 1, n - i) + 1):
            row = rows[i + size - 1]
            # A further record adds (size - 1) / size times its squared distance to the centroid of those before it.
            differences = [value - mean for value, mean in zip(row, center, strict=True)]
            sse += (size - 1) / size * total(difference * difference for difference in differences)
            center = [mean + difference / size for mean, difference in zip(center, differences, strict=True)]
            if size >= k and best[i] + sse < best[i + size] * (1.0 - _ROUNDING):
                best[i + size], begin[i + size] = best[i] + sse, i
    pieces = []
    stop = n
    while stop > 0:
        pieces.append((begin[stop], stop))
        stop = begin[stop]
    return pieces
