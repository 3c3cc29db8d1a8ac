"""What the stored runs say: a duel, a matrix of all methods, loss against time; and each in a sentence or two."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

import numpy as np
import pandas as pd

from microagg.algorithms.registry import algorithm
from microagg.datasets import describe
from microagg.errors import ParameterError
from microagg.studies.landscape.store import DATA, KS, METHODS, check_stored, limits, runs, title
from microagg.validation import listing

#: How much less, in percent, what takes longer must lose to be worth it, and how much less time, in percent, what loses
#: more must take: a smaller difference may turn around on other data, or on another machine.
LESS_LOSS, LESS_TIME = 1.0, 20.0

#: Losses that differ by less than this share are called equal: they are the same partition, summed in another order.
ALIKE = 1e-9


def results() -> pd.DataFrame:
    """Return what each method loses on each data set at each k, as means over the seeds.

    A row per data set, method and k, with the columns data, method, title (of the method), k, seeds (how many runs the
    means are over), information_loss and information_loss_sd (percent; the standard deviation over the seeds, NaN of a
    single run), sse, above_best and above_floor (by how many percent the loss lies above the lowest known and above the
    proven floor of the same records; NaN where that is 0), seconds (of the processor), n_groups, smallest_group and
    largest_group (of all seeds).
    """
    return _results().copy()


@cache
def _results() -> pd.DataFrame:
    by = _each().groupby(["data", "method", "k"], sort=False)
    names = ["information_loss", "sse", "above_best", "above_floor", "seconds", "n_groups"]
    table = by[names].mean()
    table.insert(0, "seeds", by.size())
    table.insert(2, "information_loss_sd", by["information_loss"].std(ddof=1))
    table = table.assign(smallest_group=by["smallest_group"].min(), largest_group=by["largest_group"].max())
    table = table.reset_index()
    table.insert(2, "title", table["method"].map(title))
    return table


@cache
def _each() -> pd.DataFrame:
    """Return each run of METHODS beside the limits of its records."""
    table = runs()
    between = limits()
    random = set(between.loc[between["seed"] > 0, "data"])
    # Several runs of a randomized algorithm on a real data set have the same limits.
    table = table.assign(of=table["seed"].where(table["data"].isin(random), 0))
    table = table.merge(between.rename(columns={"seed": "of"}), on=["data", "of", "k"], how="left")
    for name in ("best", "floor"):
        above = 100 * (table["information_loss"] / table[name].where(table[name] > 0) - 1)
        table[f"above_{name}"] = above.clip(lower=0)
    return table


def forget() -> None:
    """Forget what was concluded from the runs so far."""
    for function in (_each, _results, incomplete):
        function.cache_clear()


def duel(first: str, second: str) -> pd.DataFrame:
    """Return who loses less, method by method, on each data set at each k where both were run.

    Parameters
    ----------
    first, second : str
        Names of :data:`~microagg.studies.landscape.METHODS`.

    Returns
    -------
    DataFrame
        A row per data set and k, with the columns data, k, first and second (information loss, percent), less (by how
        many percent the better of both loses less than the other, negative where ``second`` is better; mean over the
        seeds, each on the same records), less_sd (standard deviation over the seeds, NaN of a single one) and winner
        (the name, empty where they lose the same).

    Raises
    ------
    ParameterError
        If there is no such method.
    """
    of_first, of_second = (_each()[_each()["method"] == _checked_method(name)] for name in (first, second))
    pairs = of_first.merge(of_second, on=["data", "of", "k"], suffixes=("_1", "_2"))
    # Runs are compared seed by seed, those of a randomized algorithm with the only run of one that is not.
    alone = [pairs.groupby("data")[name].transform("nunique") == 1 for name in ("seed_1", "seed_2")]
    pairs = pairs[(pairs["seed_1"] == pairs["seed_2"]) | alone[0] | alone[1]]
    one, two = pairs["information_loss_1"], pairs["information_loss_2"]
    larger = one.where(one > two, two)
    pairs = pairs.assign(less=(100 * (two - one) / larger.where(larger > 0)).fillna(0.0))
    by = pairs.groupby(["data", "k"])
    table = pd.DataFrame(
        {
            "first": by["information_loss_1"].mean(),
            "second": by["information_loss_2"].mean(),
            "less": by["less"].mean(),
            "less_sd": by["less"].std(ddof=1),
        }
    ).reset_index()
    alike = table["less"].abs() <= 100 * ALIKE
    table["winner"] = np.where(alike, "", np.where(table["less"] > 0, first, second))
    return _in_order(table)


def matrix(k: int | None = None, above: str = "best") -> pd.DataFrame:
    """Return by how many percent each method loses more than the lowest loss known, on each data set.

    Parameters
    ----------
    k : int, optional
        One of :data:`~microagg.studies.landscape.KS`; by default the mean over all of them, for methods that were run
        at all.
    above : {"best", "floor"}
        What losses are compared with: the lowest known, or the proven floor.

    Returns
    -------
    DataFrame
        Rows are methods, by name, the lowest mean first; columns are data sets, and ``mean`` over them. NaN where a
        method was not run; the mean of such a method is NaN, too, and it comes last.

    Raises
    ------
    ParameterError
        If nothing is stored for such a ``k``, or ``above`` is neither of the two.
    """
    if above not in ("best", "floor"):
        raise ParameterError(f"above must be 'best' or 'floor', not {above!r}.")
    table = _at(k).pivot_table(index="method", columns="data", values=f"above_{above}", aggfunc="mean", sort=False)
    table = table.reindex(index=list(METHODS), columns=list(DATA))
    # Of those that lack a data set, the ones that were run on more come first.
    table = table.assign(_lacking=table.isna().sum(axis=1), _own=table.mean(axis=1)).sort_values(["_lacking", "_own"])
    table = table.drop(columns=["_lacking", "_own"])
    table["mean"] = table.mean(axis=1, skipna=False)
    table.columns.name = table.index.name = None
    return table


def pareto(data: str | None = None, k: int | None = None) -> pd.DataFrame:
    """Return loss and time of each method, and which of them no other surpasses in both.

    Parameters
    ----------
    data : str, optional
        One of :data:`~microagg.studies.landscape.DATA`.
    k : int, optional
        One of :data:`~microagg.studies.landscape.KS`. By default all data sets and k, for the methods that were run at
        each.

    Returns
    -------
    DataFrame
        Ascending by seconds, with the columns method, title, above_best (percent, mean over data sets and k), seconds
        (of the processor for one partition: the mean over k, and over several data sets the geometric mean), and front:
        whether the method is on the Pareto front of both, which leaves out what is not LESS_LOSS or LESS_TIME better.

    Raises
    ------
    ParameterError
        If nothing is stored for such a data set or k.
    """
    if data is not None and data not in DATA:
        raise ParameterError(f"there are no stored results on {data!r}: there are those on {', '.join(DATA)}.")
    table = _at(k)
    chosen = DATA if data is None else (data,)
    table = table[table["data"].isin(chosen)]
    by = table.groupby(["method", "data"], sort=False)
    means = pd.DataFrame({"above_best": by["above_best"].mean(), "seconds": np.log(by["seconds"].mean())})
    whole = means.groupby("method").size()
    means = means.groupby("method").mean()[whole == len(chosen)]
    means["seconds"] = np.exp(means["seconds"])
    means = means.reset_index().sort_values(["seconds", "above_best"], kind="stable", ignore_index=True)
    means["front"] = _front(list(100 + means["above_best"]), list(means["seconds"]))
    means.insert(1, "title", means["method"].map(title))
    return means


def _front(losses: Sequence[float], seconds: Sequence[float]) -> list[bool]:
    """Return which methods, the quickest first, are on the front: one of them is as good in both as any other one."""
    front: list[int] = []
    for place, loss in enumerate(losses):
        if not front or loss <= losses[front[-1]] * (1 - LESS_LOSS / 100):
            front.append(place)
    refined: list[int] = []
    for place in reversed(front):
        if not refined or seconds[place] <= seconds[refined[-1]] * (1 - LESS_TIME / 100):
            refined.append(place)
    return [place in refined for place in range(len(losses))]


@cache
def incomplete() -> pd.DataFrame:
    """Return what was not measured at every k.

    A row per method and data set, with the columns method, data and ks, those at which it was run.
    """
    run_at = {pair: tuple(sorted(part)) for pair, part in _results().groupby(["method", "data"])["k"]}
    ks = [(method, data, run_at.get((method, data), ())) for method in METHODS for data in DATA]
    return pd.DataFrame([row for row in ks if len(row[2]) < len(KS)], columns=["method", "data", "ks"])


def _at(k: int | None) -> pd.DataFrame:
    """Return the results at one k, or at all, those of a method on a data set where it was run at each of them."""
    table = _results()
    if k is not None:
        check_stored(k)
        return table[table["k"] == k]
    return table[table.groupby(["method", "data"])["k"].transform("size") == len(KS)]


def _checked_method(method: str) -> str:
    if method not in METHODS:
        raise ParameterError(f"{method!r} is not among the methods compared: there are {', '.join(METHODS)}.")
    return method


def _in_order(table: pd.DataFrame) -> pd.DataFrame:
    return table.sort_values(
        ["data", "k"], key=lambda column: column.map(DATA.index) if column.name == "data" else column, ignore_index=True
    )


# --- in words ---------------------------------------------------------------------------------------------------------

# A mean difference below this, in percent, is called none.
_SAME = 0.05

# Methods whose loss is more than this above the reference, in percent, are counted.
_FAR = 20


def of_duel(table: pd.DataFrame, first: str, second: str) -> str:
    """Describe which of two methods has the lower loss, by the table of :func:`~microagg.studies.landscape.duel`."""
    if first == second:
        return f"{title(first)} is compared with itself: choose another method"
    means = table.groupby("data", sort=False)["less"].mean()
    if means.empty:
        return f"{title(first)} and {title(second)} were not run on the same data sets"
    won = {first: means[means >= _SAME], second: -means[means <= -_SAME]}
    if not len(won[first]) and not len(won[second]):
        return f"{title(first)} and {title(second)} have the same loss on {_on(means.index)}"
    winner, loser = sorted((first, second), key=lambda name: (-len(won[name]), name != first))
    ahead, behind = won[winner], won[loser]
    where = _of_all(len(ahead), len(means))
    sentence = f"{title(winner)} has lower loss than {title(loser)} on {where}: by {_by(ahead)}"
    return f"{sentence}; {title(loser)} has lower loss by {_by(behind)}" if len(behind) else sentence


def of_panel(part: pd.DataFrame, first: str, second: str) -> str:
    """Describe which method has the lower mean loss over the k of one data set; ``part`` are its rows of a duel."""
    mean = float(part["less"].mean())
    if abs(mean) < _SAME:
        return "the same on average"
    winner = first if mean > 0 else second
    return f"{_figure(abs(mean))} % lower with {title(winner)}"


def of_wins(part: pd.DataFrame, first: str, second: str) -> str:
    """Describe at how many values of k each of two methods has the lower loss; ``part`` are rows of a duel."""
    wins = [int((part["winner"] == name).sum()) for name in (first, second)]
    return f"{title(first)} has the lower loss at {wins[0]} of {len(part)} values of k, {title(second)} at {wins[1]}"


def of_matrix(table: pd.DataFrame, above: str = "best", k: int | None = None) -> str:
    """Describe which methods come near the lowest known loss or the lower bound; ``table`` is that of ``matrix``."""
    where = "on average over k" if k is None else f"at k = {k}"
    reference = "the lowest known loss" if above == "best" else "the lower bound"
    means = table["mean"].dropna()
    if means.empty:
        return f"No method was run on every data set {where}"
    quick = means[[not _searches(str(name)) for name in means.index]]
    best, passing, last = str(means.index[0]), str(quick.index[0]), str(means.index[-1])
    sentence = f"{where.capitalize()}, {title(best)} is {_figure(means[best])} % above {reference}"
    if passing != best:
        sentence += f", {title(passing)}, the best without a search, {_figure(means[passing])} %"
    far = int((means > _FAR).sum())
    return (
        f"{sentence}; {far} of {len(means)} methods are over {_FAR} % above it, {title(last)} {_figure(means[last])} %"
    )


def of_pareto(table: pd.DataFrame, k: int | None = None) -> str:
    """Describe how many methods are worth trying, by the table of :func:`~microagg.studies.landscape.pareto`."""
    front = table[table["front"]]
    where = "" if k is None else f" at k = {k}"
    if len(front) == len(table):
        return f"Each of these {len(table)} methods is worth trying{where}: more time gives lower loss"
    rest = len(table) - len(front)
    return (
        f"{len(front)} of {len(table)} methods are worth trying{where}: for each of the other {rest}, one of them is "
        f"as good in loss and time, to within {LESS_LOSS:g} % and {LESS_TIME:g} %"
    )


def _searches(name: str) -> bool:
    """Whether a method is a search: it tries changes until none lowers the loss, or for a while."""
    return algorithm(METHODS[name].key).info.checked_by == "properties"


def _by(less: pd.Series) -> str:
    """Differences in percent with their data sets, the largest first."""
    ordered = less.sort_values(ascending=False)
    parts = [f"{_figure(value)} % on {describe(str(name)).title}" for name, value in ordered.items()]
    return listing(parts)


def _on(data: Iterable[str]) -> str:
    names = list(data)
    return "every data set" if len(names) == len(DATA) else listing([describe(name).title for name in names])


def _of_all(some: int, of: int) -> str:
    if of == 1:
        return "one data set"
    return f"all {of} data sets" if some == of else f"{some} of {of} data sets"


def _figure(value: float) -> str:
    """Return a difference in percent with two significant digits."""
    if value <= 100 * ALIKE:
        return "0"
    return f"{value:.0f}" if value >= 10 else f"{value:.{1 - int(np.floor(np.log10(value)))}f}"
