"""Losses, quantities and lists in words, as the dashboard writes them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from microagg.metrics.bounds import gap


def percent(value: float, digits: int = 3) -> str:
    """Return an information loss, in percent, with three significant digits, or as many as ``digits`` says."""
    rounded = float(f"{value:.{digits}g}")
    if rounded == 0:
        return "0 %"
    # Beyond some decimals nobody reads on.
    decimals = min(max(digits - 1 - math.floor(math.log10(abs(rounded))), 0), 6)
    return f"{rounded:.{decimals}f} %"


def number(value: float) -> str:
    """Return a quantity with about four significant digits and thousands separated."""
    if value == 0 or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def listing(words: Sequence[str]) -> str:
    """Return ``a``, ``a and b``, ``a, b and c``."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else ""


def gap_in_words(information_loss: float, floor: float) -> str:
    """Return how far a partition can be from the optimum, as the end of a sentence.

    ``information_loss`` and the proven ``floor`` are in percent.
    """
    share = gap(information_loss, floor)
    if information_loss == 0:
        return "which is nothing"
    if share <= 1e-6:
        return "which is the optimum"
    if share == math.inf:
        return "and how far that is from the optimum is not known"
    if share > 1:
        return f"at most {1 + share:.3g} times the optimum"
    return f"at most {100 * share:.2g} % above the optimum"
