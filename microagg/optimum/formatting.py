"""Texts for losses, gaps and quantities, for the dashboard, reports and the command line."""

from __future__ import annotations

import math

from microagg.optimum.bounds import gap

# Losses whose relative difference is at most this are the same, to within rounding.
_ROUNDING = 1e-6

# Smaller values are rounding, and their text is 0.
_MAX_ZERO = 5e-7


def percent(value: float, digits: int = 3) -> str:
    """Text of an information loss in percent, with ``digits`` significant digits and at most six decimals."""
    return f"{value:.{min(_decimals(value, digits), 6)}f} %"


def _decimals(value: float, significant: int) -> int:
    """Number of decimals that gives ``value`` the ``significant`` digits, at least 0."""
    if value == 0:
        return 0
    return max(significant - 1 - math.floor(math.log10(abs(float(f"{value:.{significant - 1}e}")))), 0)


def _digits(value: float, significant: int) -> str:
    """Text of a number with ``significant`` digits, never with an exponent."""
    return f"{value:,.{_decimals(value, significant)}f}"


def _round_outward(loss: float, lower_bound: float) -> tuple[str, str]:
    """Texts of an attainable loss, rounded up, and of a lower bound, rounded down, both in percent.

    They have three significant digits, or a few more if rounding would double their difference.
    """
    for digits in range(3, 8):
        decimals = _decimals(loss, digits)
        upper = math.ceil(loss * 10**decimals - 1e-6) / 10**decimals
        lower = math.floor(lower_bound * 10**decimals + 1e-6) / 10**decimals
        if upper - lower <= 2 * (loss - lower_bound):
            break
    return f"{upper:,.{decimals}f} %", f"{lower:,.{decimals}f} %"


def describe_optimum(title: str, loss: float | None, best: float, lower_bound: float) -> str:
    """Describe how much of the loss of a method is unnecessary, in a sentence without full stop.

    Parameters
    ----------
    title : str
        Title of the method.
    loss : float or None
        Its loss in percent, if there is one.
    best : float
        Loss of the best known partition, in percent, at most ``loss``.
    lower_bound : float
        Lower bound on the loss of all partitions, in percent.

    Examples
    --------
    >>> describe_optimum("MDAV*", 16.143, 14.4833, 14.4588)
    'MDAV* loses 16.1 %; 14.49 % is possible and 14.45 % is not: 10 % of it is unnecessary'
    """
    is_optimal = gap(best, lower_bound) <= _ROUNDING
    if loss is None:
        if is_optimal:
            return f"{percent(best)} is the least possible"
        possible, unattainable = _round_outward(best, lower_bound)
        return f"{possible} is possible, less than {unattainable} is not"
    if loss == 0:
        return f"{title} loses nothing"
    if is_optimal and gap(loss, best) <= _ROUNDING:
        return f"{title} loses {percent(loss)}, and no partition loses less"
    if is_optimal:
        sentence = f"{title} loses {percent(loss)}; {percent(best)} is the least possible"
        return f"{sentence}: {_rough_percent(1 - best / loss)} of it is unnecessary"
    possible, unattainable = _round_outward(best, lower_bound)
    if gap(loss, best) <= _ROUNDING and lower_bound <= 0:
        return f"{title} loses {percent(loss)}, the least that is known; how much of it is necessary is not known"
    if gap(loss, best) <= _ROUNDING:
        sentence = f"{title} loses {possible}, the least that is known; less than {unattainable} is not possible"
        return f"{sentence}, so at most {_rough_percent(1 - lower_bound / loss)} of it is unnecessary"
    sentence = f"{title} loses {percent(loss)}; {possible} is possible and {unattainable} is not"
    return f"{sentence}: {_rough_percent(1 - best / loss)} of it is unnecessary"


def describe_excess(title: str, loss: float, best: float, lower_bound: float, suffix: str = "") -> str:
    """Describe the excess loss of a method over the best known partition, in a sentence without full stop.

    Parameters are as in :func:`describe_optimum`; ``suffix`` follows the excess of the method.

    >>> describe_excess("MDAV*", 8.81, 7.28, 7.17, " at k = 5")
    'MDAV* loses 21 % more than is needed at k = 5; the best found, at most 1.5 %'
    """
    excess = gap(loss, best)
    if excess <= _ROUNDING:
        return f"{title} is the best found{suffix}, {describe_gap(best, lower_bound)}"
    remaining_gap = gap(best, lower_bound)
    # "At least" while the best known partition is far from the lower bound.
    share = f"{'at least ' if remaining_gap > 0.5 else ''}{_rough_percent(excess)}"
    sentence = f"{title} loses {share} more than is needed{suffix}"
    if remaining_gap <= _ROUNDING:
        return f"{sentence}; the best found is the optimum"
    return (
        f"{sentence}; the best found, at most {_rough_percent(remaining_gap)}" if remaining_gap < math.inf else sentence
    )


def _rough_percent(share: float) -> str:
    return f"{_digits(100 * share, 2 if share >= 0.01 else 1)} %"


def share(value: float) -> str:
    """Text of a share, 0 to 1, as a percentage."""
    return percent(100.0 * value)


def in_unit(value: float, unit: str) -> str:
    """Text of a value in a unit: "share" (0 to 1), "percent", "records", "sd" (standard deviations) or "number"."""
    if unit in ("share", "percent"):
        return share(value) if unit == "share" else percent(value)
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if unit == "records":
        return f"{value:,.0f}"
    text = number(value) if abs(value) >= 100 else f"{value:.3g}"
    text = "0" if abs(value) < _MAX_ZERO else text.replace("-", "−")
    return f"{text} sd" if unit == "sd" else text


def number(value: float) -> str:
    """Text of a quantity with about four significant digits and thousands separated."""
    if value == 0 or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def describe_gap(information_loss: float, lower_bound: float) -> str:
    """Describe the gap of a partition to the optimum, as the end of a sentence.

    ``information_loss`` and the proven ``lower_bound`` are in percent.
    """
    remaining_gap = gap(information_loss, lower_bound)
    if information_loss == 0:
        return "which is nothing"
    if remaining_gap <= _ROUNDING:
        return "which is the optimum"
    if remaining_gap == math.inf:
        return "and how far that is from the optimum is not known"
    if remaining_gap > 1:
        return f"at most {1 + remaining_gap:.3g} times the optimum"
    return f"at most {100 * remaining_gap:.2g} % above the optimum"
