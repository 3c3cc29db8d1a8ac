"""Texts for losses, gaps and quantities, for the dashboard, reports and the command line."""

from __future__ import annotations

import math

# Losses whose relative difference is at most this are the same, to within rounding.
_ROUNDING = 1e-6

# Smaller values are rounding, and their text is 0.
_MAX_ZERO = 5e-7


def percent(value: float, digits: int = 3) -> str:
    """Text of an information loss in percent, with ``digits`` significant digits and at most six decimals."""
    return f"{value:,.{min(_decimals(value, digits), 6)}f} %"


def _decimals(value: float, significant: int) -> int:
    """Number of decimals that gives ``value`` the ``significant`` digits, at least 0."""
    if value == 0:
        return 0
    return max(significant - 1 - math.floor(math.log10(abs(float(f"{value:.{significant - 1}e}")))), 0)


def share(value: float) -> str:
    """Text of a share, 0 to 1, as a percentage; a round one, such as 1 / 5, without zeros: 20 %."""
    text = f"{100.0 * value:.3g}"
    return f"{text} %" if float(text) == float(f"{100.0 * value:.12g}") else percent(100.0 * value)


def in_unit(value: float, unit: str) -> str:
    """Text of a value in a unit: "share" (0 to 1), "percent", "records", "sd" (standard deviations) or "number"."""
    if unit in ("share", "percent"):
        return share(value) if unit == "share" else percent(value)
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if unit == "records":
        return f"{value:,.0f}"
    digits = "3g" if abs(value) >= 1e-4 else f"{_decimals(value, 3)}f"  # 3g writes 2.72e-05
    text = number(value) if abs(value) >= 100 else f"{value:.{digits}}"
    text = "0" if abs(value) < _MAX_ZERO else text.replace("-", "−")
    return f"{text} sd" if unit == "sd" else text


def number(value: float) -> str:
    """Text of a quantity with about four significant digits and thousands separated."""
    if value == 0 or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def describe_released(of_means: float, released: float, measure: str) -> str:
    """Return how the loss of released values differs from that of a partition, in percent; empty if no digit does.

    >>> describe_released(24.2, 25.7, "IL")
    'Methods are compared by exact group means, here with a loss of 24.2 %; the released values have IL 25.7 %.'
    """
    means, values = percent(of_means), percent(released)
    text = f"Methods are compared by exact group means, here with a loss of {means}"
    return "" if means == values else f"{text}; the released values have {measure} {values}."


def describe_gap(information_loss: float, lower_bound: float) -> str:
    """Return the gap between a loss and a lower bound of it, both in percent, as the end of a sentence.

    >>> describe_gap(8.81, 7.235)
    'gap 21.8 %'
    """
    from microagg.optimum.bounds import gap  # which needs Numba

    share = gap(information_loss, lower_bound)
    if share <= _ROUNDING:
        return "proven optimal"
    return "gap unknown" if share == math.inf else f"gap {percent(100 * share)}"
