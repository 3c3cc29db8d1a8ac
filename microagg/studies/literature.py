"""The printed figures of four papers, their computation, and how near it comes.

``published.csv`` has every printed figure and its :class:`Recipe`: data set, scaling, algorithm and parameters.
:func:`compute` runs a recipe, :func:`verdict` compares the result with the printed figure, and :func:`reproduce` does
both for a whole paper.
"""

from __future__ import annotations

import csv
import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from microagg import datasets
from microagg.columns.scaling import standardize
from microagg.errors import ParameterError
from microagg.optimum.bounds import nearest_neighbor
from microagg.studies.experiment import Method, Problem, Result, run_one
from microagg.validation import FloatArray

#: The number of random data sets for a mean.
SETS = 25

#: Means over random data agree if they differ by at most this number of standard errors.
ERRORS = 3

_EXACT = "exact"

#: What a figure is, by its unit in ``published.csv``: information loss, SSE, or the γ with the lowest loss.
UNITS = {"IL_percent": "IL (%)", "SSE_standardised": "SSE", "gamma": "γ"}

PAPERS = {
    "thaeter-reischuk": "Thaeter & Reischuk 2018",
    "mortazavi-2013": "Mortazavi, Jalili & Gohargazi 2013",
    "kabir-2010": "Kabir, Wang & Zhang 2010",
    "domingo-ferrer-2006": "Domingo-Ferrer, Solanas & Martínez-Ballesté 2006",
}


@dataclass(frozen=True)
class Recipe:
    """The computation of a printed figure: data set, method and k."""

    data: str  # the name of a data set
    method: Method
    k: int
    # The number of generated data sets, or runs of a randomized algorithm, for the mean, with the seeds 0, 1, …
    sets: int = 1
    scaled: bool = True  # whether attributes have mean 0 and variance 1
    without: tuple[str, ...] = ()  # quasi-identifiers left out
    unit: str = "IL (%)"  # of the figure, see UNITS


@dataclass(frozen=True)
class Figure:
    """One printed figure. ``paper``, ``dataset`` and ``method`` are those of ``published.csv``."""

    paper: str
    dataset: str
    method: str
    k: int
    printed: str  # with all its digits
    sd: float | None  # the standard deviation printed with it
    variant: str  # distinguishes figures of the same method, such as ``NPB=4``
    table: str  # its place in the paper
    unit: str  # one of UNITS
    recipe: Recipe | None = None  # None if it cannot be computed here
    remark: str = ""  # remark on the comparison: why it is impossible, or the correct digits
    kind: Literal["exact", "random", "incomparable", "misprint"] = "exact"

    @property
    def value(self) -> float:
        """The printed figure as a number."""
        return float(self.printed)

    @property
    def printed_sets(self) -> int:
        """The number of random data sets, or runs, of the printed figure."""
        return self.recipe.sets if self.recipe and self.paper != "domingo-ferrer-2006" else 1

    @property
    def identity(self) -> str:
        """A unique name."""
        return "/".join((self.paper, self.dataset, self.method, str(self.k), self.variant))

    @property
    def tolerance(self) -> float:
        """Half a unit in the last printed digit. A whole one if the paper truncates instead of rounding."""
        unit = 10.0 ** int(Decimal(self.printed).as_tuple().exponent)
        return unit if self.paper == "domingo-ferrer-2006" and self.dataset == "EIA" else 0.5 * unit


@cache
def figures() -> tuple[Figure, ...]:
    """Every printed figure, in the order of the file."""
    with (Path(__file__).with_name("published.csv")).open(encoding="utf-8", newline="") as file:
        return tuple(_figure(row) for row in csv.DictReader(file))


def lowest_printed() -> pd.DataFrame:
    """Lowest loss that the papers print for z-scores of all attributes of Census, Tarragona and EIA.

    Returns
    -------
    DataFrame
        A row for each data set and k: data, k, printed (information loss in percent; a printed SSE as a share of n·d,
        the SST of z-scores) and printed_by (the method). Figures that cannot be compared are left out.
    """
    rows = []
    for figure in figures():
        name, recipe = figure.dataset.lower(), figure.recipe
        if name not in ("census", "tarragona", "eia") or figure.kind in {"incomparable", "misprint"}:
            continue
        if figure.unit == "γ" or (recipe and (recipe.without or not recipe.scaled)):
            continue
        size = math.prod(filter(None, datasets.describe(name).shape))
        share = 100.0 / size if figure.unit == "SSE" else 1.0
        rows.append((name, figure.k, figure.value * share, figure.method))
    table = pd.DataFrame(rows, columns=["data", "k", "printed", "printed_by"]).sort_values("printed", kind="stable")
    return table.groupby(["data", "k"], as_index=False).first()


def _figure(row: dict[str, Any]) -> Figure:
    recipe, k, unit = None, int(row["k"]), UNITS[row["unit"]]
    if row["algorithm"]:
        recipe = Recipe(
            data=row["data"],
            method=Method(row["algorithm"], json.loads(row["params"] or "{}")),
            k=k,
            sets=int(row["sets"]),
            scaled=row["scaled"] == "1",
            without=tuple(row["without"].split()),
            unit=unit,
        )
    names = ("paper", "dataset", "method", "variant", "table", "remark", "kind")
    sd = float(row["sd"]) if row["sd"] else None
    return Figure(**{name: row[name] for name in names}, k=k, printed=row["value"], sd=sd, unit=unit, recipe=recipe)


@dataclass(frozen=True)
class Computed:
    """The result of a recipe."""

    value: float  # the figure, or the mean over several sets
    sd: float | None  # the standard deviation over several sets
    sets: int  # the number of sets
    seconds: float  # of the algorithm itself, in total


def data_for(recipe: Recipe, seed: int | None = None) -> FloatArray:
    """The array of a recipe, shape (n, d). ``seed`` is for a generated data set.

    DatasetUnavailableError if the benchmark is not on this machine.
    """
    return _data(recipe.data, seed, recipe.scaled, recipe.without)


@cache
def _data(name: str, seed: int | None, scaled: bool, without: tuple[str, ...]) -> FloatArray:
    loaded = datasets.load(name, seed=seed, download=False)
    columns = [column for column in loaded.quasi_identifiers if column not in without]
    X = loaded.frame[columns].to_numpy(dtype=np.float64)
    return standardize(X) if scaled else X


def compute(recipe: Recipe, done: Callable[[Result], None] | None = None) -> Computed:
    """Run a recipe on all its data sets or seeds, and call ``done``, if set, with the result of each run.

    DatasetUnavailableError if the benchmark is not on this machine.
    """
    results = []
    generated = datasets.describe(recipe.data).kind == "synthetic"
    for seed in range(recipe.sets):
        X = data_for(recipe, seed if generated else None)
        method = recipe.method
        if not generated and recipe.sets > 1:
            method = Method(method.key, {**method.params, "random_state": seed})
        results.append(run_one(Problem.of(X), method, recipe.k))
        if done:
            done(results[-1])
    values = np.array([_value(result, recipe.unit) for result in results])
    sd = float(values.std(ddof=1)) if len(values) > 1 else None
    return Computed(float(values.mean()), sd, len(values), sum(result.seconds for result in results))


def _value(result: Result, unit: str) -> float:
    if unit == "γ":
        return float(result.params["gamma"])
    return result.sse if unit == "SSE" else result.information_loss


@dataclass(frozen=True)
class Verdict:
    """The comparison of a computed figure with the printed one."""

    # ``exact``, ``within x %``, ``x standard errors``, ``not comparable``, ``misprint`` or ``not run``
    name: str
    exact: bool  # whether every printed digit is equal, or the corrected digit of a misprint
    difference: float | None  # ours minus printed, in percent of the printed figure
    standard_errors: float | None = None  # the same in standard errors, of means over random data


def verdict(figure: Figure, ours: Computed | None) -> Verdict:
    """Compare a computed figure, None if it was not computed, with the printed one."""
    if ours is None:
        return Verdict("not comparable" if figure.kind == "incomparable" else "not run", False, None)
    difference = 100.0 * (ours.value - figure.value) / (figure.value or 1.0)  # a γ may be 0
    # The factor allows a 5 after the last digit to be rounded in both directions.
    exact = abs(ours.value - figure.value) <= figure.tolerance * (1 + 1e-9)
    if figure.kind in {"misprint", "incomparable"}:
        return Verdict("misprint" if figure.kind == "misprint" else "not comparable", False, difference)
    if figure.kind == "random" and ours.sd is not None:
        # Both figures have the standard error of a mean, by the printed standard deviation if there is one.
        spread = figure.sd if figure.sd is not None else ours.sd
        error = float(np.hypot(ours.sd / ours.sets**0.5, spread / figure.printed_sets**0.5))
        off = abs(ours.value - figure.value) / error if error > 0 else 0.0
        return Verdict(f"{off:.1f} standard errors", False, difference, off)
    if exact:
        return Verdict("exact", True, difference)
    return Verdict(f"within {_ceiling(abs(difference))} %", False, difference)


def _ceiling(percent: float) -> str:
    """Next of 0.01, 0.02, 0.05, 0.1, … that is at least ``percent``."""
    for step in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100):
        if percent <= step:
            return f"{step:g}"
    return f"{percent:.0f}"


@dataclass
class Stored:
    """Results stored by ``benchmarks/published.py``."""

    date: str = ""  # the date of computation; empty if nothing is stored
    version: str = ""  # the version of the package; empty if nothing is stored
    results: dict[str, Computed] = field(default_factory=dict)  # by the identities of the figures
    digests: dict[str, str] = field(default_factory=dict)  # of the code that was run, by the key of the algorithm

    @classmethod
    def read(cls, folder: Path) -> Stored:
        """Read the results in ``folder``. Empty if there are none."""
        index, table = folder / "published.json", folder / "published.csv"
        if not (index.is_file() and table.is_file()):
            return cls()
        metadata = json.loads(index.read_text(encoding="utf-8"))
        with table.open(encoding="utf-8", newline="") as file:
            results = {
                row["figure"]: Computed(
                    float(row["ours"]), float(row["sd"]) if row["sd"] else None, int(row["sets"]), float(row["seconds"])
                )
                for row in csv.DictReader(file)
            }
        return cls(metadata["date"], metadata["version"], results, metadata["digests"])


# --- comparison with the printed figures ------------------------------------------------------------------------------


def tables() -> list[tuple[str, str, int]]:
    """Each printed table: the paper, see :data:`PAPERS`, the name of the table, its number of figures."""
    counts = Counter((PAPERS[figure.paper], figure.table) for figure in figures())
    return [(paper, table, count) for (paper, table), count in counts.items()]


def reproduce(paper: str, table: str = "", progress: Callable[[int, int], None] | None = None) -> pd.DataFrame:
    """Compute every figure of a paper, or of one of its tables, and compare it with the printed one.

    >>> from microagg.studies import literature
    >>> figures = literature.reproduce("Thaeter & Reischuk 2018", table="One-dimensional")
    >>> figures[["method", "printed", "ours"]].values.tolist()
    [['V-MDAV', '1.44', '1.44'], ['MDAV*', '0.118', '0.118']]

    Parameters
    ----------
    paper, table : str
        Parts of their names in :func:`tables`, in lower or upper case; an empty table means the whole paper.
    progress : callable, optional
        Called with the number done and the total, before each figure and at the end.

    Returns
    -------
    DataFrame
        That of :func:`comparison`. Figures without a recipe have no computed value.

    Raises
    ------
    ParameterError, DatasetUnavailableError
        If no printed table matches, or several papers match; if a benchmark is not on this machine.
    """
    paper, table = str(paper), str(table)
    matches = [key for key, title in PAPERS.items() if paper.lower() in title.lower()]
    if len(matches) != 1:
        raise ParameterError(f"paper must name one of {', '.join(PAPERS.values())}, not {paper!r}.")
    of_paper = [figure for figure in figures() if figure.paper == matches[0]]
    names = dict.fromkeys(figure.table for figure in of_paper)
    chosen = [figure for figure in of_paper if table.lower() in figure.table.lower()]
    if not chosen:
        raise ParameterError(f"table must name one of {'; '.join(names)}, not {table!r}.")
    computed: dict[Recipe, Computed] = {}
    for done, figure in enumerate(chosen):
        if progress:
            progress(done, len(chosen))
        if figure.recipe and figure.recipe not in computed:
            computed[figure.recipe] = compute(figure.recipe)
    if progress:
        progress(len(chosen), len(chosen))
    results = {figure.identity: computed[figure.recipe] for figure in chosen if figure.recipe}
    return comparison(chosen, results)


def comparison(figures: Sequence[Figure], results: Mapping[str, Computed]) -> pd.DataFrame:
    """A row for each of ``figures``: the printed and the computed value, from ``results`` by their identities.

    The columns are data, method, variant, k; printed and ours, as text with the printed digits and, after ±, the
    standard deviation; difference (ours minus printed, in percent of the printed value), verdict, errors (the
    difference in standard errors) and remark. Without figures the frame has these columns and no rows.
    """
    computed = [results.get(figure.identity) for figure in figures]
    figure_verdicts = [verdict(figure, ours) for figure, ours in zip(figures, computed, strict=True)]
    return pd.DataFrame(
        {
            "data": [figure.dataset for figure in figures],
            "method": [figure.method for figure in figures],
            "variant": [figure.variant for figure in figures],
            "k": [figure.k for figure in figures],
            "printed": [figure.printed + ("" if figure.sd is None else f" ± {figure.sd:g}") for figure in figures],
            "ours": [_computed_text(figure, ours) for figure, ours in zip(figures, computed, strict=True)],
            "difference": np.array([each.difference for each in figure_verdicts], dtype=float),
            "verdict": [each.name for each in figure_verdicts],
            "errors": np.array([each.standard_errors for each in figure_verdicts], dtype=float),
            "remark": [figure.remark for figure in figures],
        }
    )


def _computed_text(figure: Figure, ours: Computed | None) -> str:
    """The computed value with the digits of the printed one, empty if there is none."""
    if ours is None:
        return ""
    n_digits = len(figure.printed.partition(".")[2])
    return f"{ours.value:.{n_digits}f}" + ("" if ours.sd is None else f" ± {ours.sd:.{n_digits}f}")


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


def coverage(results: Mapping[str, Computed]) -> pd.DataFrame:
    """Every table, figure, algorithm and claim of the papers, and whether it is reproduced.

    >>> from microagg.studies import literature
    >>> items = literature.coverage({})
    >>> items.loc[items["paper"] == "byun-2007", "verdict"].tolist()
    ['explained', 'not comparable']

    Parameters
    ----------
    results : mapping of str to Computed
        Computed figures by their identities, such as ``Stored.read(folder).results``.

    Returns
    -------
    DataFrame
        A row for each item with the columns paper (its key), item, content, verdict, reason, table and counts. The
        verdict is "reproduced", "explained" or "not comparable". For an item with printed figures, those of its table
        or of the algorithm that it names, it follows from the counts: "explained" if a figure differs or was not
        computed; empty if no figure was computed.
    """
    with (Path(__file__).with_name("coverage.csv")).open(encoding="utf-8", newline="") as file:
        items = list(csv.DictReader(file))
    for item in items:
        item["counts"] = ""
        if not item["verdict"]:
            table, method = item["table"], item["item"].removeprefix("Algorithm: ")
            of_paper = [figure for figure in figures() if figure.paper == item["paper"]]
            chosen = [figure for figure in of_paper if (figure.table == table if table else figure.method == method)]
            item["verdict"], item["counts"] = _judge(tally(chosen, results))
    return pd.DataFrame(items)


def _judge(counted: Tally) -> tuple[str, str]:
    """Verdict on an item and its counts in words."""
    fixed = counted.figures - counted.random - counted.incomparable - counted.misprints
    numbers = {
        f"{counted.exact} of {counted.figures - counted.random} reproduced exactly": fixed,
        f"{counted.near} more within 1 %": counted.near,
        f"{counted.far} differ by more": counted.far,
        f"{counted.agreeing} of {counted.random} for random data within {ERRORS} standard errors": counted.random,
        f"{counted.incomparable} not comparable": counted.incomparable,
        f"{counted.misprints} misprint": counted.misprints,
    }
    counts = ", ".join(text for text, number in numbers.items() if number)
    if counted.incomparable == counted.figures:
        return "not comparable", counts
    if not counted.exact + counted.near + counted.far + counted.agreeing:
        return "", counts
    agree = counted.exact + counted.agreeing == counted.figures
    return "reproduced" if agree else "explained", counts


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
    floor = nearest_neighbor(data_for(scaled), k).information_loss
    raw_loss, scaled_loss, mdav_loss = (compute(recipe).value for recipe in (raw, scaled, mdav))
    return Readings(raw_loss, scaled_loss, mdav_loss, floor)
