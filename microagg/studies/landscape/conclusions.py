"""What the comparisons say, each in a sentence or two."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from microagg.algorithms.registry import algorithm
from microagg.datasets import describe
from microagg.studies.landscape.compare import ALIKE, LESS_LOSS, LESS_TIME
from microagg.studies.landscape.store import DATA, METHODS, title
from microagg.validation import listing

# A mean difference below this, in percent, is called none.
_SAME = 0.05

# Methods that lose more than this above the least, in percent, are counted.
_FAR = 20


def of_duel(table: pd.DataFrame, first: str, second: str) -> str:
    """Return who wins where, and by how much; ``table`` is that of :func:`~microagg.studies.landscape.duel`."""
    if first == second:
        return f"{title(first)} against itself: choose another method"
    means = table.groupby("data", sort=False)["less"].mean()
    if means.empty:
        return f"{title(first)} and {title(second)} were not run on the same data sets"
    won = {first: means[means >= _SAME], second: -means[means <= -_SAME]}
    if not len(won[first]) and not len(won[second]):
        return f"{title(first)} and {title(second)} lose the same on {_on(means.index)}"
    winner, loser = sorted((first, second), key=lambda name: (-len(won[name]), name != first))
    ahead, behind = won[winner], won[loser]
    says = f"{title(winner)} loses less than {title(loser)} on {_of_all(len(ahead), len(means))}: {_by(ahead)}"
    return f"{says}; {title(loser)} loses less {_by(behind)}" if len(behind) else says


def of_panel(part: pd.DataFrame, first: str, second: str) -> str:
    """Return who loses less on average over the k of one data set; ``part`` are its rows of a duel."""
    mean = float(part["less"].mean())
    if abs(mean) < _SAME:
        return "both lose the same on average"
    winner = first if mean > 0 else second
    return f"{title(winner)} loses {_figure(abs(mean))} % less"


def of_wins(part: pd.DataFrame, first: str, second: str) -> str:
    """Return at how many values of k each of two methods wins; ``part`` are rows of a duel."""
    wins = [int((part["winner"] == name).sum()) for name in (first, second)]
    return f"{title(first)} wins at {wins[0]} of {len(part)} values of k, {title(second)} at {wins[1]}"


def of_matrix(table: pd.DataFrame, above: str = "best", k: int | None = None) -> str:
    """Return which methods come near the lowest loss known, or the floor; ``table`` is that of ``matrix``."""
    where = "on average over k" if k is None else f"at k = {k}"
    what = "the lowest loss known" if above == "best" else "what is proven to be unavoidable"
    means = table["mean"].dropna()
    if means.empty:
        return f"No method was run on every data set {where}"
    quick = means[[not _searches(str(name)) for name in means.index]]
    best, passing, last = str(means.index[0]), str(quick.index[0]), str(means.index[-1])
    says = f"{_capital(where)}, {title(best)} loses {_figure(means[best])} % more than {what}"
    if passing != best:
        says += f", {title(passing)}, the best without a search, {_figure(means[passing])} %"
    far = int((means > _FAR).sum())
    return f"{says}; {far} of {len(means)} methods lose over {_FAR} % more, {title(last)} {_figure(means[last])} %"


def of_pareto(table: pd.DataFrame, k: int | None = None) -> str:
    """Return how many methods no other surpasses; ``table`` is that of :func:`~microagg.studies.landscape.pareto`."""
    front = table[table["front"]]
    where = "" if k is None else f" at k = {k}"
    if len(front) == len(table):
        return f"Each of these {len(table)} methods is worth trying{where}: what takes longer loses less"
    rest = len(table) - len(front)
    return (
        f"{len(front)} of {len(table)} methods are worth trying{where}: for each of the other {rest}, one of them is "
        f"as good in loss and time, to within {LESS_LOSS:g} % and {LESS_TIME:g} %"
    )


def _searches(name: str) -> bool:
    """Return whether a method improves a partition of another one until it finds no better one, or time is over."""
    return any(param.kind == "algorithm" for param in algorithm(METHODS[name].key).params)


def _by(less: pd.Series) -> str:
    """Return by how many percent less is lost on each data set, the clearest first."""
    ordered = less.sort_values(ascending=False)
    parts = [f"{_figure(value)} % on {describe(str(name)).title}" for name, value in ordered.items()]
    return f"by {listing(parts)}"


def _on(data: Iterable[str]) -> str:
    names = list(data)
    return "every data set" if len(names) == len(DATA) else listing([describe(name).title for name in names])


def _of_all(some: int, of: int) -> str:
    return f"all {of} data sets" if some == of else f"{some} of {of} data sets"


def _figure(value: float) -> str:
    """Return a difference in percent with two significant digits."""
    if value <= 100 * ALIKE:
        return "0"
    return f"{value:.0f}" if value >= 10 else f"{value:.{1 - int(np.floor(np.log10(value)))}f}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
