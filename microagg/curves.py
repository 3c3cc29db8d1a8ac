"""What a curve of information loss against k tells: the largest k within a limit, and where the curve bends."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike


def largest_k_within(ks: ArrayLike, losses: ArrayLike, limit: float) -> int | None:
    """Return the largest of ``ks`` whose loss is at most ``limit``, or None if there is none.

    A larger k may lose less than a smaller one, as heuristics are not monotone; its partition serves both.
    """
    within = np.asarray(ks)[np.asarray(losses) <= limit]
    return int(within.max()) if len(within) else None


@dataclass(frozen=True)
class Knee:
    """The bend of a loss curve.

    Attributes
    ----------
    k : int
        Where the curve is farthest from the straight line between its ends.
    flattens : bool
        True if the curve lies above that line there: the loss rises faster than average before the knee and more
        slowly after. False: it rises more slowly before and faster after.
    distance : float
        The vertical distance to the line, as a share of the curve's rise.
    """

    k: int
    flattens: bool
    distance: float


def knee(ks: ArrayLike, losses: ArrayLike) -> Knee | None:
    """Return the knee of a loss curve, or None if it has fewer than three points, does not rise, or is straight.

    The point of greatest distance from the chord, after Satopää, Albrecht, Irwin & Raghavan 2011 ("Kneedle"), without
    smoothing. A curve that departs from the chord by less than 2 % of its rise counts as straight.
    """
    order = np.argsort(ks)
    x = np.asarray(ks, dtype=np.float64)[order]
    y = np.asarray(losses, dtype=np.float64)[order]
    if len(x) < 3 or y[-1] <= y[0]:
        return None
    above = (y - y[0]) / (y[-1] - y[0]) - (x - x[0]) / (x[-1] - x[0])
    at = int(np.abs(above).argmax())
    distance = float(above[at])
    return Knee(int(x[at]), distance > 0, abs(distance)) if abs(distance) >= 0.02 else None
