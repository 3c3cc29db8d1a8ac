"""Losses, gaps and quantities in words, for the dashboard, reports and the command line."""

from __future__ import annotations

import math

from microagg.optimum.bounds import gap

# Losses whose relative difference is at most this are the same, to within rounding.
_ROUNDING = 1e-6

# What is below is written as 0: it is what rounding leaves.
_NOTHING = 5e-7


def percent(value: float, digits: int = 3) -> str:
    """Return an information loss, in percent, with three significant digits, or as many as ``digits`` says."""
    # Beyond some decimals nobody reads on.
    return f"{value:.{min(_decimals(value, digits), 6)}f} %"


def _decimals(value: float, significant: int) -> int:
    """Return how many decimals give a number so many significant digits, none below 0."""
    if value == 0:
        return 0
    return max(significant - 1 - math.floor(math.log10(abs(float(f"{value:.{significant - 1}e}")))), 0)


def _digits(value: float, significant: int) -> str:
    """Return a number with so many significant digits, never in powers of ten."""
    return f"{value:,.{_decimals(value, significant)}f}"


def _rounded_outward(possible: float, floor: float) -> tuple[str, str]:
    """Return a loss that is possible, rounded up, and one that is not, rounded down, both in percent.

    They have three significant digits, or the few more without which rounding would double what lies between them.
    """
    for digits in range(3, 8):
        decimals = _decimals(possible, digits)
        above = math.ceil(possible * 10**decimals - 1e-6) / 10**decimals
        below = math.floor(floor * 10**decimals + 1e-6) / 10**decimals
        if above - below <= 2 * (possible - floor):
            break
    return f"{above:,.{decimals}f} %", f"{below:,.{decimals}f} %"


def optimum_in_words(title: str, loss: float | None, best: float, floor: float) -> str:
    """Return how much of what a method loses is unnecessary, as a sentence without its end.

    Parameters
    ----------
    title : str
        The method's.
    loss : float or None
        What it loses, in percent; None if that is not known.
    best : float
        The lowest loss that is known of any partition, in percent, at most ``loss``.
    floor : float
        What no partition can lose less than, in percent.

    Examples
    --------
    >>> optimum_in_words("MDAV*", 16.143, 14.4833, 14.4588)
    'MDAV* loses 16.1 %; 14.49 % is possible and 14.45 % is not: 10 % of it is unnecessary'
    """
    optimal = gap(best, floor) <= _ROUNDING
    if loss is None:
        possible, least = _rounded_outward(best, floor)
        return (
            f"{percent(best)} is the least possible" if optimal else f"{possible} is possible, less than {least} is not"
        )
    if loss == 0:
        return f"{title} loses nothing"
    if optimal and gap(loss, best) <= _ROUNDING:
        return f"{title} loses {percent(loss)}, and no partition loses less"
    if optimal:
        says = f"{title} loses {percent(loss)}; {percent(best)} is the least possible"
        return f"{says}: {_roughly(1 - best / loss)} of it is unnecessary"
    possible, least = _rounded_outward(best, floor)
    if gap(loss, best) <= _ROUNDING and floor <= 0:
        return f"{title} loses {percent(loss)}, the least that is known; how much of it is necessary is not known"
    if gap(loss, best) <= _ROUNDING:
        says = f"{title} loses {possible}, the least that is known; less than {least} is not possible"
        return f"{says}, so at most {_roughly(1 - floor / loss)} of it is unnecessary"
    says = f"{title} loses {percent(loss)}; {possible} is possible and {least} is not"
    return f"{says}: {_roughly(1 - best / loss)} of it is unnecessary"


def excess_in_words(title: str, loss: float, best: float, floor: float, where: str = "") -> str:
    """Return how much more a method loses than is needed, and the best partition found, as a sentence without its end.

    Parameters are as in :func:`optimum_in_words`; ``where`` follows what the method loses.

    >>> excess_in_words("MDAV*", 8.81, 7.28, 7.17, " at k = 5")
    'MDAV* loses 21 % more than is needed at k = 5; the best found, at most 1.5 %'
    """
    more = gap(loss, best)
    if more <= _ROUNDING:
        return f"{title} is the best found{where}, {gap_in_words(best, floor)}"
    share = gap(best, floor)
    # Less may be needed than the best found loses: as long as that is far from the floor, it is said.
    says = f"{title} loses {'at least ' if share > 0.5 else ''}{_roughly(more)} more than is needed{where}"
    if share <= _ROUNDING:
        return f"{says}; the best found is the optimum"
    return f"{says}; the best found, at most {_roughly(share)}" if share < math.inf else says


def _roughly(share: float) -> str:
    return f"{_digits(100 * share, 2 if share >= 0.01 else 1)} %"


def share(value: float) -> str:
    """Return a share, 0 to 1, as a percentage."""
    return percent(100.0 * value)


def in_unit(value: float, unit: str) -> str:
    """Return a figure in its unit: "share" (0 to 1), "percent", "records", "sd" (standard deviations) or "number"."""
    if unit in ("share", "percent"):
        return share(value) if unit == "share" else percent(value)
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if unit == "records":
        return f"{value:,.0f}"
    written = "0" if abs(value) < _NOTHING else number(value) if abs(value) >= 100 else f"{value:.3g}"
    written = written.replace("-", "−")
    return f"{written} sd" if unit == "sd" else written


def number(value: float) -> str:
    """Return a quantity with about four significant digits and thousands separated."""
    if value == 0 or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def gap_in_words(information_loss: float, floor: float) -> str:
    """Return how far a partition can be from the optimum, as the end of a sentence.

    ``information_loss`` and the proven ``floor`` are in percent.
    """
    share = gap(information_loss, floor)
    if information_loss == 0:
        return "which is nothing"
    if share <= _ROUNDING:
        return "which is the optimum"
    if share == math.inf:
        return "and how far that is from the optimum is not known"
    if share > 1:
        return f"at most {1 + share:.3g} times the optimum"
    return f"at most {100 * share:.2g} % above the optimum"
