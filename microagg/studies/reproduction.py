"""How well the printed figures are met: tables of figures, print and ours, and what to conclude from them."""

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

#: Means over random data that are at most so many standard errors apart are said to agree.
ERRORS = 3

_EXACT = "exact"


def tables() -> list[tuple[str, str, int]]:
    """Return each printed table: the paper, as in :data:`.literature.PAPERS`, what the table is called, its figures."""
    counted = Counter((literature.PAPERS[figure.paper], figure.table) for figure in literature.figures())
    return [(paper, table, count) for (paper, table), count in counted.items()]


def reproduce(paper: str, table: str = "", progress: Callable[[int, int], None] | None = None) -> pd.DataFrame:
    """Compute every figure of a paper, or of one of its tables, and return it beside the print.

    >>> from microagg.studies import reproduction
    >>> figures = reproduction.reproduce("Thaeter & Reischuk 2018", table="One-dimensional")
    >>> figures[["method", "printed", "ours"]].values.tolist()
    [['V-MDAV', '1.44', '1.44'], ['MDAV*', '0.118', '0.118']]

    Parameters
    ----------
    paper, table : str
        Parts of what :func:`tables` calls them, in lower or upper case; an empty table means all of the paper.
    progress : callable, optional
        Called as ``progress(done, total)`` before each figure and at the end.

    Returns
    -------
    DataFrame
        As :func:`comparison`; figures that nothing here computes have no value of ours.

    Raises
    ------
    ParameterError
        If no printed table is called so, or several papers are.
    DatasetUnavailableError
        If a benchmark is not on this machine.
    """
    paper, table = str(paper), str(table)
    meant = [key for key, title in literature.PAPERS.items() if paper.lower() in title.lower()]
    if len(meant) != 1:
        raise ParameterError(f"paper must name one of {', '.join(literature.PAPERS.values())}, not {paper!r}.")
    figures = [figure for figure in literature.figures() if figure.paper == meant[0]]
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
    """Return a row for each of ``figures``: what is printed and what is computed here, ``results`` by their identities.

    The columns are data, method, variant, k; printed and ours, as text with the printed digits and, after ±, the
    standard deviation; difference (ours minus printed, in percent of it), verdict, errors (the same in standard errors)
    and remark.
    """
    rows = []
    for figure in figures:
        ours = results.get(figure.identity)
        judged = literature.verdict(figure, ours)
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
                "difference": judged.difference,
                "verdict": judged.name,
                "errors": judged.standard_errors,
                "remark": figure.remark,
            }
        )
    table = pd.DataFrame(rows)
    return table.astype({"difference": float, "errors": float}) if rows else table


def conclusion(table: pd.DataFrame) -> str:
    """Describe how many figures are reproduced; ``table`` is a :func:`comparison`, and all are computed."""
    errors = table["errors"].dropna()
    if len(errors) < len(table):
        return f"{int((table['verdict'] == _EXACT).sum())} of {len(table)} figures of this table are reproduced exactly"
    near = int((errors <= ERRORS).sum())
    if near == len(errors):
        return f"All {near} figures for random data are within {errors.max():.1f} standard errors of the printed ones"
    return f"{near} of {len(errors)} figures for random data are within {ERRORS} standard errors of the printed ones"


@dataclass(frozen=True)
class Tally:
    """How many figures are printed, and how many of them are met."""

    figures: int
    exact: int  # equal to the printed digits
    near: int  # not exact, but within 1 %
    far: int  # more than 1 % from the printed figure
    random: int  # for random data
    agreeing: int  # of these, within :data:`ERRORS` standard errors
    incomparable: int
    misprints: int


def tally(figures: Sequence[Figure], results: Mapping[str, Computed]) -> Tally:
    """Count how many figures are met; see :func:`comparison`."""
    table = comparison(figures, results)
    kinds = pd.Series([figure.kind for figure in figures], index=table.index)
    exact = table["verdict"] == _EXACT
    off = table["difference"].abs()[(kinds == "exact") & ~exact]
    return Tally(
        len(table),
        int(exact.sum()),
        int((off <= 1).sum()),
        int((off > 1).sum()),
        int((kinds == "random").sum()),
        int((table["errors"] <= ERRORS).sum()),
        int((kinds == "incomparable").sum()),
        int((kinds == "misprint").sum()),
    )


def gain_over(base: str, figures: Sequence[Figure], results: Mapping[str, Computed]) -> pd.DataFrame:
    """Return by how many percent other methods lose less than ``base``, as the paper calls it, on the same data and k.

    A row for each figure of another method that is computed, as is that of ``base``, with the columns data, variant, k,
    printed and ours: 100 · (1 - figure / figure of the base).
    """
    bases = {(figure.dataset, figure.k): figure for figure in figures if figure.method == base}
    rows = []
    for figure in figures:
        other = bases.get((figure.dataset, figure.k))
        if figure.method == base or other is None or not {figure.identity, other.identity} <= set(results):
            continue
        rows.append(
            {
                "data": figure.dataset,
                "variant": figure.variant,
                "k": figure.k,
                "printed": 100 * (1 - figure.value / other.value),
                "ours": 100 * (1 - results[figure.identity].value / results[other.identity].value),
            }
        )
    return pd.DataFrame(rows)


@dataclass(frozen=True)
class Readings:
    """Information losses that tell whether P-S was printed for raw or for scaled data, in percent."""

    raw: float  # that of P-S for raw data
    scaled: float  # that of P-S for scaled data
    mdav: float  # that of MDAV, for scaled data
    floor: float  # the proven one, for scaled data


def readings(data: str, k: int) -> Readings:
    """Run P-S on raw and on scaled data of the data set ``data``, and MDAV beside it.

    :class:`~microagg.errors.DatasetUnavailableError` is raised if the benchmark is not on this machine.
    """
    scaled = Recipe(data, Method("p-s"), k)
    raw, mdav = Recipe(data, Method("p-s"), k, scaled=False), Recipe(data, Method("mdav"), k)
    floor = nearest_neighbor(literature.data_for(scaled), k).information_loss
    of_raw, of_scaled, of_mdav = (literature.compute(recipe).value for recipe in (raw, scaled, mdav))
    return Readings(of_raw, of_scaled, of_mdav, floor)
