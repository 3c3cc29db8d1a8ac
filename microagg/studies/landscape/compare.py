"""What the stored runs say: a duel of two methods, a matrix of all, and loss against time."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import pandas as pd

from microagg.errors import ParameterError
from microagg.studies.landscape.store import DATA, KS, METHODS, limits, runs, title

#: How much less, in percent, what takes longer must lose to be worth it, and how much less time, in percent, what loses
#: more must take: a smaller difference may turn around on other data, or on another machine.
LESS_LOSS, LESS_TIME = 1.0, 20.0

#: Losses that differ by less than this share are called equal: they are the same partition, summed in another order.
ALIKE = 1e-9


def results() -> pd.DataFrame:
    """Return what each method loses on each data set at each k, as means over the seeds.

    Returns
    -------
    DataFrame
        A row per data set, method and k, with the columns data, method, title (of the method), k, seeds (how many runs
        the means are over), information_loss and information_loss_sd (percent; the standard deviation over the seeds,
        NaN of a single run), sse, above_best and above_floor (by how many percent the loss lies above the lowest known
        and above the proven floor of the same records; NaN where that is 0), seconds (of the processor), n_groups,
        smallest_group and largest_group (of all seeds).
    """
    return _results().copy()


@cache
def _results() -> pd.DataFrame:
    own = _each()
    by = own.groupby(["data", "method", "k"], sort=False)
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
        many percent ``first`` loses less than ``second``; negative where it loses more; mean over the seeds, each on
        the same records), less_sd (standard deviation over the seeds, NaN of a single one) and winner (the name, empty
        where they lose the same).

    Raises
    ------
    ParameterError
        If a method is not among those compared.
    """
    own = _each()
    pairs = own[own["method"] == _known(first)].merge(
        own[own["method"] == _known(second)], on=["data", "of", "k"], suffixes=("_1", "_2")
    )
    # Runs are compared seed by seed, those of a randomized algorithm with the only run of one that is not.
    alone = [pairs.groupby("data")[name].transform("nunique") == 1 for name in ("seed_1", "seed_2")]
    pairs = pairs[(pairs["seed_1"] == pairs["seed_2"]) | alone[0] | alone[1]]
    share = pairs["information_loss_1"] / pairs["information_loss_2"].where(pairs["information_loss_2"] > 0)
    pairs = pairs.assign(less=100 * (1 - share.fillna(1.0)))
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
        If nothing is stored for this k, or ``above`` is neither.
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
        One of :data:`~microagg.studies.landscape.DATA`; by default all of them, for the methods that were run on each.
    k : int, optional
        One of :data:`~microagg.studies.landscape.KS`; by default all of them, for the methods that were run at each.

    Returns
    -------
    DataFrame
        Ascending by seconds, with the columns method, title, above_best (percent, mean over data sets and k), seconds
        (of the processor for one partition: the mean over k, and over several data sets the geometric mean), and front:
        whether the method is on the Pareto front of both, which leaves out what is not LESS_LOSS or LESS_TIME better.

    Raises
    ------
    ParameterError
        If there is no such data set, or nothing is stored for this k.
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
    kept: list[int] = []
    for place in reversed(front):
        if not kept or seconds[place] <= seconds[kept[-1]] * (1 - LESS_TIME / 100):
            kept.append(place)
    return [place in kept for place in range(len(losses))]


@cache
def incomplete() -> pd.DataFrame:
    """Return what was not measured at every k.

    Returns
    -------
    DataFrame
        A row per method and data set, with the columns method, data and ks, those at which it was run.
    """
    table = _results()
    rows = []
    for method in METHODS:
        for data in DATA:
            ks = tuple(sorted(table.loc[(table["method"] == method) & (table["data"] == data), "k"]))
            if len(ks) < len(KS):
                rows.append({"method": method, "data": data, "ks": ks})
    return pd.DataFrame(rows, columns=["method", "data", "ks"])


def _at(k: int | None) -> pd.DataFrame:
    """Return the results at one k, or at all, those of a method on a data set where it was run at each of them."""
    table = _results()
    if k is not None:
        if k not in KS:
            raise ParameterError(f"nothing is stored for k = {k!r}: there is k = 2 to 20, 25, 50 and 100.")
        return table[table["k"] == k]
    return table[table.groupby(["method", "data"])["k"].transform("size") == len(KS)]


def _known(method: str) -> str:
    if method not in METHODS:
        raise ParameterError(f"{method!r} is not among the methods compared: there are {', '.join(METHODS)}.")
    return method


def _in_order(table: pd.DataFrame) -> pd.DataFrame:
    return table.sort_values(
        ["data", "k"], key=lambda column: column.map(DATA.index) if column.name == "data" else column, ignore_index=True
    )
