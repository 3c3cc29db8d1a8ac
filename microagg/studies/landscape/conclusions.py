"""Conclusions from the stored runs: a duel, a matrix of all methods, loss against time; as tables and sentences."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import pandas as pd

from microagg.algorithms.registry import algorithm
from microagg.errors import ParameterError
from microagg.studies.landscape.store import DATA, KS, METHODS, check_stored, limits, runs, title
from microagg.validation import check_choice

#: The minimum reduction of loss, in percent, that justifies a slower method, and of time, in percent, that justifies a
#: higher loss: a smaller difference may be reversed on other data, or on another machine.
LESS_LOSS, LESS_TIME = 1.0, 20.0

#: Losses with a smaller relative difference are equal: they are the same partition, summed in another order.
ALIKE = 1e-9


def results() -> pd.DataFrame:
    """Loss of each method on each data set at each k, as means over the seeds.

    A row per data set, method and k, with the columns data, method, title (of the method), k, seeds (the number of
    runs), information_loss and information_loss_sd (percent; the standard deviation over the seeds, NaN for a single
    run), sse, above_best and above_floor (the excess of the loss over the best known loss and the lower bound of the
    same records, in percent; NaN if that is 0), seconds (of the processor), n_groups, smallest_group and largest_group
    (of all seeds).
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
    """Each run of METHODS with the limits of its records."""
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


def duel(first: str, second: str) -> pd.DataFrame:
    """Losses of two methods on each data set at each k where both were run.

    Parameters
    ----------
    first, second : str
        Names of :data:`~microagg.studies.landscape.METHODS`.

    Returns
    -------
    DataFrame
        A row per data set and k, with the columns data, k, first and second (information loss, percent), less (the
        percentage by which the better loss is lower, negative if ``second`` is better; mean over the seeds, each on the
        same records), less_sd (standard deviation over the seeds, NaN for a single one) and winner (the name, empty if
        losses are equal).

    Raises
    ------
    ParameterError
        If there is no such method.
    """
    for method in (first, second):
        check_choice("method", method, list(METHODS))
    first_runs, second_runs = (_each()[_each()["method"] == method] for method in (first, second))
    pairs = first_runs.merge(second_runs, on=["data", "of", "k"], suffixes=("_1", "_2"))
    # Runs are compared seed by seed; a single run of a deterministic algorithm is compared with each seed.
    is_single = [pairs.groupby("data")[name].transform("nunique") == 1 for name in ("seed_1", "seed_2")]
    pairs = pairs[(pairs["seed_1"] == pairs["seed_2"]) | is_single[0] | is_single[1]]
    loss_1, loss_2 = pairs["information_loss_1"], pairs["information_loss_2"]
    larger = loss_1.where(loss_1 > loss_2, loss_2)
    pairs = pairs.assign(less=(100 * (loss_2 - loss_1) / larger.where(larger > 0)).fillna(0.0))
    groups = pairs.groupby(["data", "k"])
    table = pd.DataFrame(
        {
            "first": groups["information_loss_1"].mean(),
            "second": groups["information_loss_2"].mean(),
            "less": groups["less"].mean(),
            "less_sd": groups["less"].std(ddof=1),
        }
    ).reset_index()
    alike = table["less"].abs() <= 100 * ALIKE
    table["winner"] = np.where(alike, "", np.where(table["less"] > 0, first, second))
    rank = {name: place for place, name in enumerate(DATA)}
    by = lambda column: column.map(rank) if column.name == "data" else column  # noqa: E731
    return table.sort_values(["data", "k"], key=by, ignore_index=True)


def matrix(k: int | None = None, above: str = "best") -> pd.DataFrame:
    """Percentage by which each method's loss exceeds the best known loss, or the lower bound, on each data set.

    Parameters
    ----------
    k : int, optional
        One of :data:`~microagg.studies.landscape.KS`; by default the mean over all of them, for methods that were run
        at all.
    above : {"best", "floor"}
        The reference of the comparison: the best known loss, or the lower bound.

    Returns
    -------
    DataFrame
        Rows are methods, by name, the lowest mean first; columns are data sets, and ``mean`` over them. NaN if a method
        was not run; its mean is NaN, too, and it comes last.

    Raises
    ------
    ParameterError
        If nothing is stored for such a ``k``, or ``above`` is neither of the two.
    """
    check_choice("above", above, ("best", "floor"))
    table = _at_k(k).pivot_table(index="method", columns="data", values=f"above_{above}", aggfunc="mean", sort=False)
    table = table.reindex(index=list(METHODS), columns=list(DATA))
    # Among methods that lack a data set, those with more come first.
    table = table.assign(_lacking=table.isna().sum(axis=1), _own=table.mean(axis=1)).sort_values(["_lacking", "_own"])
    table = table.drop(columns=["_lacking", "_own"])
    table["mean"] = table.mean(axis=1, skipna=False)
    table.columns.name = table.index.name = None
    return table


def pareto(data: str | None = None, k: int | None = None) -> pd.DataFrame:
    """Loss and time of each method, and the methods that no other surpasses in both.

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
        whether the method is on the Pareto front of both, without methods that are not LESS_LOSS or LESS_TIME better.

    Raises
    ------
    ParameterError
        If nothing is stored for such a data set or k.
    """
    if data is not None and data not in DATA:
        raise ParameterError(f"there are no stored results on {data!r}: there are those on {', '.join(DATA)}.")
    table = _at_k(k)
    chosen = DATA if data is None else (data,)
    table = table[table["data"].isin(chosen)]
    groups = table.groupby(["method", "data"], sort=False)
    means = pd.DataFrame({"above_best": groups["above_best"].mean(), "seconds": np.log(groups["seconds"].mean())})
    n_sets = means.groupby("method").size()
    means = means.groupby("method").mean()[n_sets == len(chosen)]
    means["seconds"] = np.exp(means["seconds"])
    means = means.reset_index().sort_values(["seconds", "above_best"], kind="stable", ignore_index=True)
    means["front"] = _front(list(100 + means["above_best"]), list(means["seconds"]))
    means.insert(1, "title", means["method"].map(title))
    return means


def _front(losses: Sequence[float], seconds: Sequence[float]) -> list[bool]:
    """Whether each method, quickest first, is on the front: one of its methods is as good in both as any other one."""
    front: list[int] = []
    for index, loss in enumerate(losses):
        if not front or loss <= losses[front[-1]] * (1 - LESS_LOSS / 100):
            front.append(index)
    refined: list[int] = []
    for index in reversed(front):
        if not refined or seconds[index] <= seconds[refined[-1]] * (1 - LESS_TIME / 100):
            refined.append(index)
    return [index in refined for index in range(len(losses))]


@cache
def incomplete() -> pd.DataFrame:
    """Methods and data sets that were not measured at every k.

    A row per method and data set, with the columns method, data and ks, the measured values of k.
    """
    run_at = {pair: tuple(sorted(part)) for pair, part in _results().groupby(["method", "data"])["k"]}
    ks = [(method, data, run_at.get((method, data), ())) for method in METHODS for data in DATA]
    return pd.DataFrame([row for row in ks if len(row[2]) < len(KS)], columns=["method", "data", "ks"])


def _at_k(k: int | None) -> pd.DataFrame:
    """Results at one k, or at all, for methods and data sets that were run at each."""
    table = _results()
    if k is not None:
        check_stored(k)
        return table[table["k"] == k]
    return table[table.groupby(["method", "data"])["k"].transform("size") == len(KS)]


# --- sentences --------------------------------------------------------------------------------------------------------

# The minimum mean difference, in percent.
_MIN_DIFFERENCE = 0.05


def describe_duel(table: pd.DataFrame, first: str, second: str) -> str:
    """Sentence on the data sets on which each of two methods wins. ``table`` is from ``duel``."""
    if first == second:
        return f"{title(first)} is compared with itself: choose another method"
    means = table.groupby("data", sort=False)["less"].mean()
    if means.empty:
        return f"{title(first)} and {title(second)} were not run on the same data sets"
    won = {first: means[means >= _MIN_DIFFERENCE], second: means[means <= -_MIN_DIFFERENCE]}
    if not len(won[first]) and not len(won[second]):
        return f"{title(first)} and {title(second)} have the same loss on every data set"
    winner, loser = sorted((first, second), key=lambda name: (-len(won[name]), name != first))
    ahead, behind = len(won[winner]), len(won[loser])
    where = f"all {ahead} data sets" if ahead == len(means) else f"{ahead} of {len(means)} data sets"
    sentence = f"{title(winner)} has lower loss than {title(loser)} on {where}"
    return f"{sentence}, and higher loss on {behind}" if behind else sentence


def describe_panel(part: pd.DataFrame, first: str, second: str) -> str:
    """Sentence on the lower mean loss over the k of one data set. ``part`` are its rows of a duel."""
    mean = float(part["less"].mean())
    if abs(mean) < _MIN_DIFFERENCE:
        return "the same on average"
    winner = first if mean > 0 else second
    return f"{_figure(abs(mean))} % lower with {title(winner)}"


def describe_wins(part: pd.DataFrame, first: str, second: str) -> str:
    """Sentence on the number of k at which each of two methods wins. ``part`` are rows of a duel."""
    wins = [int((part["winner"] == name).sum()) for name in (first, second)]
    return f"{title(first)} has the lower loss at {wins[0]} of {len(part)} values of k, {title(second)} at {wins[1]}"


def describe_matrix(table: pd.DataFrame, above: str = "best", k: int | None = None) -> str:
    """Sentence on the methods nearest to the best known loss, or the lower bound. ``table`` is from ``matrix``."""
    scope = "on average over k" if k is None else f"at k = {k}"
    reference = "the lowest known loss" if above == "best" else "the lower bound"
    means = table["mean"].dropna()
    if means.empty:
        return f"No method was run on every data set {scope}"
    # A search tries changes until none has a lower loss, or for some time.
    is_search = [algorithm(METHODS[str(name)].key).info.checked_by == "properties" for name in means.index]
    direct = means[~np.array(is_search)]
    best, best_direct = str(means.index[0]), str(direct.index[0])
    sentence = f"{scope.capitalize()}, {title(best)} is {_figure(means[best])} % above {reference}"
    if best_direct != best:
        sentence += f"; {title(best_direct)}, the best without a search, {_figure(means[best_direct])} %"
    return sentence


def describe_pareto(table: pd.DataFrame, k: int | None = None) -> str:
    """Sentence on the number of methods that no other surpasses. ``table`` is from ``pareto``."""
    front = table[table["front"]]
    scope = "" if k is None else f" at k = {k}"
    if len(front) == len(table):
        return f"Each of these {len(table)} methods is worth trying{scope}: more time gives lower loss"
    others = len(table) - len(front)
    return (
        f"{len(front)} of {len(table)} methods are worth trying{scope}: for each of the other {others}, one of them is "
        f"as good in loss and time, to within {LESS_LOSS:g} % and {LESS_TIME:g} %"
    )


def _figure(value: float) -> str:
    """A difference in percent with two significant digits."""
    if value <= 100 * ALIKE:
        return "0"
    return f"{value:.0f}" if value >= 10 else f"{value:.{1 - int(np.floor(np.log10(value)))}f}"
