"""Reproduction of printed figures: tables of printed and computed figures, and conclusions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from microagg.algorithms.method import Method
from microagg.errors import ParameterError
from microagg.optimum.bounds import nearest_neighbor
from microagg.studies import literature
from microagg.studies.literature import Computed, Figure, Recipe

#: Means over random data agree if they differ by at most this number of standard errors.
ERRORS = 3

_EXACT = "exact"


def tables() -> list[tuple[str, str, int]]:
    """Each printed table: the paper, see :data:`.literature.PAPERS`, the name of the table, its number of figures."""
    counts = Counter((literature.PAPERS[figure.paper], figure.table) for figure in literature.figures())
    return [(paper, table, count) for (paper, table), count in counts.items()]


def reproduce(paper: str, table: str = "", progress: Callable[[int, int], None] | None = None) -> pd.DataFrame:
    """Compute every figure of a paper, or of one of its tables, and compare it with the printed one.

    >>> from microagg.studies import reproduction
    >>> figures = reproduction.reproduce("Thaeter & Reischuk 2018", table="One-dimensional")
    >>> figures[["method", "printed", "ours"]].values.tolist()
    [['V-MDAV', '1.44', '1.44'], ['MDAV*', '0.118', '0.118']]

    Parameters
    ----------
    paper, table : str
        Parts of their names in :func:`tables`, in lower or upper case; an empty table means the whole paper.
    progress : callable, optional
        Called as ``progress(done, total)`` before each figure and at the end.

    Returns
    -------
    DataFrame
        As :func:`comparison`; figures without a recipe have no computed value.

    Raises
    ------
    ParameterError
        If no printed table matches, or several papers match.
    DatasetUnavailableError
        If a benchmark is not on this machine.
    """
    paper, table = str(paper), str(table)
    matches = [key for key, title in literature.PAPERS.items() if paper.lower() in title.lower()]
    if len(matches) != 1:
        raise ParameterError(f"paper must name one of {', '.join(literature.PAPERS.values())}, not {paper!r}.")
    figures = [figure for figure in literature.figures() if figure.paper == matches[0]]
    names = dict.fromkeys(figure.table for figure in figures)
    figures = [figure for figure in figures if table.lower() in figure.table.lower()]
    if not figures:
        raise ParameterError(f"table must name one of {'; '.join(names)}, not {table!r}.")
    computed: dict[Recipe, Computed] = {}
    for done, figure in enumerate(figures):
        if progress:
            progress(done, len(figures))
        if figure.recipe and figure.recipe not in computed:
            computed[figure.recipe] = literature.compute(figure.recipe)
    if progress:
        progress(len(figures), len(figures))
    results = {figure.identity: computed[figure.recipe] for figure in figures if figure.recipe}
    return comparison(figures, results)


def comparison(figures: Sequence[Figure], results: Mapping[str, Computed]) -> pd.DataFrame:
    """A row for each of ``figures``: the printed and the computed value, from ``results`` by their identities.

    The columns are data, method, variant, k; printed and ours, as text with the printed digits and, after ±, the
    standard deviation; difference (ours minus printed, in percent of it), verdict, errors (the same in standard errors)
    and remark.
    """
    rows = []
    for figure in figures:
        ours = results.get(figure.identity)
        verdict = literature.verdict(figure, ours)
        digits = len(figure.printed.partition(".")[2])
        value = "" if ours is None else f"{ours.value:.{digits}f}"
        rows.append(
            {
                "data": figure.dataset,
                "method": figure.method,
                "variant": figure.variant,
                "k": figure.k,
                "printed": figure.printed + (f" ± {figure.sd:g}" if figure.sd is not None else ""),
                "ours": value + (f" ± {ours.sd:.{digits}f}" if ours and ours.sd is not None else ""),
                "difference": verdict.difference,
                "verdict": verdict.name,
                "errors": verdict.standard_errors,
                "remark": figure.remark,
            }
        )
    table = pd.DataFrame(rows)
    return table.astype({"difference": float, "errors": float}) if rows else table


def conclusion(table: pd.DataFrame) -> str:
    """Describe how many figures are reproduced. ``table`` is a :func:`comparison`, and all are computed."""
    errors = table["errors"].dropna()
    if len(errors) < len(table):
        return f"{int((table['verdict'] == _EXACT).sum())} of {len(table)} figures of this table are reproduced exactly"
    near = int((errors <= ERRORS).sum())
    if near == len(errors):
        return f"All {near} figures for random data are within {errors.max():.1f} standard errors of the printed ones"
    return f"{near} of {len(errors)} figures for random data are within {ERRORS} standard errors of the printed ones"


@dataclass(frozen=True)
class Tally:
    """Numbers of printed and of reproduced figures."""

    figures: int
    exact: int  # equal to the printed digits
    near: int  # not exact, but within 1 %
    far: int  # more than 1 % from the printed figure
    random: int  # for random data
    agreeing: int  # of these, within :data:`ERRORS` standard errors
    incomparable: int
    misprints: int


def tally(figures: Sequence[Figure], results: Mapping[str, Computed]) -> Tally:
    """Count the reproduced figures (see :func:`comparison`)."""
    table = comparison(figures, results)
    kinds = pd.Series([figure.kind for figure in figures], index=table.index)
    exact = table["verdict"] == _EXACT
    off = table["difference"].abs()[(kinds == "exact") & ~exact]
    return Tally(
        figures=len(table),
        exact=int(exact.sum()),
        near=int((off <= 1).sum()),
        far=int((off > 1).sum()),
        random=int((kinds == "random").sum()),
        agreeing=int((table["errors"] <= ERRORS).sum()),
        incomparable=int((kinds == "incomparable").sum()),
        misprints=int((kinds == "misprint").sum()),
    )


def gain_over(base: str, figures: Sequence[Figure], results: Mapping[str, Computed]) -> pd.DataFrame:
    """Percentage by which losses of other methods are below the one of ``base``, on the same data and k.

    A row for each computed figure of another method with a computed base, with the columns data, variant, k, printed
    and ours: 100 · (1 - figure / figure of the base). ``base`` is the name of the method in the paper.
    """
    bases = {(figure.dataset, figure.k): figure for figure in figures if figure.method == base}
    rows = []
    for figure in figures:
        base_figure = bases.get((figure.dataset, figure.k))
        if figure.method == base or base_figure is None or not {figure.identity, base_figure.identity} <= set(results):
            continue
        rows.append(
            {
                "data": figure.dataset,
                "variant": figure.variant,
                "k": figure.k,
                "printed": 100 * (1 - figure.value / base_figure.value),
                "ours": 100 * (1 - results[figure.identity].value / results[base_figure.identity].value),
            }
        )
    return pd.DataFrame(rows)


@dataclass(frozen=True)
class Readings:
    """Information losses that show whether P-S was printed for raw or for scaled data, in percent."""

    raw: float  # of P-S for raw data
    scaled: float  # of P-S for scaled data
    mdav: float  # of MDAV for scaled data
    floor: float  # the lower bound for scaled data


def readings(data: str, k: int) -> Readings:
    """Run P-S on raw and on scaled data of the data set ``data``, and MDAV on scaled data.

    DatasetUnavailableError if the benchmark is not on this machine.
    """
    scaled = Recipe(data, Method("p-s"), k)
    raw, mdav = Recipe(data, Method("p-s"), k, scaled=False), Recipe(data, Method("mdav"), k)
    floor = nearest_neighbor(literature.data_for(scaled), k).information_loss
    raw_loss, scaled_loss, mdav_loss = (literature.compute(recipe).value for recipe in (raw, scaled, mdav))
    return Readings(raw_loss, scaled_loss, mdav_loss, floor)
