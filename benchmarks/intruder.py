"""A naive intruder attacks releases drawn at random: no figure that is printed may be below what the intruder achieves.

    python benchmarks/intruder.py [--number 2000] [--first 0] [--processes 2]

Each seed releases a table with columns of all kinds by random options, and one of three further files: one with a
column that follows from the quasi-identifiers by a formula that the intruder knows; the control, where that column
stands in random order; and one that is released twice. The intruder is written from the definitions and shares no code
with ``microagg.metrics.risk``. Other programs read the files of the first release and count k and the guarantees, and a
table of at most 8 records is compared with all its partitions. The script prints means of what is printed and of what
the intruder achieves. It exits with 1 if a figure is exceeded, and prints the seed and the options of such a release.
"""

from __future__ import annotations

import argparse
import re
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache, partial
from multiprocessing import Pool
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from microagg import DataError, MicroaggError, microaggregate
from microagg.release import compare_with
from tests.naive_mixed import found_by_linkage
from tests.release import generated
from tests.release.generated import FORMULAS, KINDS, NUMBERS, SECRETS, derived, known_of, rows_of, twice

#: Figures that differ by less are the same: they are rounded.
ROUNDING = 1e-9

#: The quasi-identifiers of the table that are categories without an order.
CATEGORIES = {"region", "color", "yes"}

#: A share is too high for what is printed if chance explains it with less than this probability.
CHANCE = 1e-7


class Case(NamedTuple):
    """A file, the options of its release and of an earlier one, and the formula of its column "derived"."""

    frame: pd.DataFrame
    options: dict[str, Any]
    formula: str = ""
    earlier: dict[str, Any] | None = None


class Comparison(NamedTuple):
    """A figure as it is printed, NaN if it is not, and what the intruder achieves."""

    figure: str
    printed: float
    measured: float

    @property
    def exceeded(self) -> bool:  # noqa: D102
        return bool(self.measured > self.printed + ROUNDING)


@lru_cache(1)
def figures_of(release: Any) -> Any:
    """Return the assessment of a release."""
    return release.assess()


def printed_maximum(release: Any) -> float:
    """Return what is printed of the record at the highest risk: the least of the report, its sentence, the figure."""
    figure = figures_of(release).of("max_reidentification")[0].after
    percents = re.findall(r"at most ([\d.]+) %", release.report.risk.sentence)
    least = min(release.report.risk.max_reidentification_probability, figure)
    in_words = max(map(float, percents)) / 100  # of three digits
    return least if abs(in_words - least) < 0.005 * least else min(in_words, least)


# ---- Releases of a table with columns of all kinds -------------------------------------------------------------------


def nearest(case: Case, release: Any) -> Iterator[Comparison]:
    """Pick the released record that is nearest to the true values."""
    if case.options.get("missing") == "impute" or "scale" in case.options:
        return  # an intruder who knows what was filled in, and distances on another scale, are other questions
    names, after, by = case.options["quasi_identifiers"], release.frame, case.options.get("by")
    before = case.frame.set_index("row").loc[after["row"]]
    kinds, strata = [KINDS[name] for name in names], before[by].tolist() if by else None
    by_all = found_by_linkage(kinds, rows_of(before, names), rows_of(after, names), strata)
    printed = figures_of(release).of("record_linkage")[0].after
    yield Comparison("nearest record, average", printed, np.mean(by_all))
    yield Comparison("nearest record, maximum", printed_maximum(release), max(by_all))


def alike(case: Case, release: Any) -> Iterator[Comparison]:
    """Pick one of the released records that agree with that of the person."""
    text, names = release.frame.astype(str), known_of(case.options)
    yield Comparison("class, maximum", printed_maximum(release), 1 / text.groupby(names).size().min())
    for figure in figures_of(release).of("individual_risk"):  # one of the persons that the weights of a class stand for
        text["persons"] = case.frame.set_index("row").loc[release.frame["row"], "weight"].to_numpy()
        of_each = 1 / text.groupby(names)["persons"].transform("sum")
        yield Comparison("persons of the class, average", figure.after, of_each.mean())


def learns(case: Case, release: Any) -> Iterator[Comparison]:
    """Guess that a person has the most frequent confidential value of the class."""
    classes = list(release.frame.astype(str).groupby(known_of(case.options)).indices.values())
    printed = {(figure.measure.key, figure.attribute): figure.after for figure in figures_of(release).figures}
    for name in {name for _, name in printed} & {*SECRETS}:
        shares, far = zip(*generated.of_classes(release.frame[name], classes, SECRETS[name]), strict=True)
        sure = sum(len(rows) for rows, each in zip(classes, shares, strict=True) if len(each) == 1)
        yield Comparison("most frequent value", printed["alpha", name], max(each.max() for each in shares))
        yield Comparison("value for certain", printed["homogeneous", name], sure / len(release.frame))
        yield Comparison("distance from all records", printed["t_closeness", name], max(far))
        for each in release.report.guaranteed:
            if each.column == name and each.rule == "distinct":
                yield Comparison("one of the distinct values", 1 / each.counted, 1 / min(map(len, shares)))


def attacks_on(options: dict[str, Any]) -> dict[str, Any]:
    """Return the kinds of a release with these options, and the attack on each."""
    ranges, sets = options["statistic"] == "generalize", options["categories"] == "set"
    numbers, categories = ({*options["quasi_identifiers"]} & each for each in ({*NUMBERS, "size"}, CATEGORIES))
    attacks = {
        "means": (nearest, options["statistic"] == "mean"),
        "medians": (nearest, options["statistic"] == "median"),
        "ranges": (nearest, ranges and numbers),
        "sets": (nearest, ranges and sets and categories),
        "generalised categories": (nearest, ranges and not sets and categories),
        "dates": (nearest, options["dates"]),
        "weights": (nearest, "weights" in options),
        "strata": (nearest, "by" in options),
        "guarantees": (learns, options.get("diversity") or options.get("closeness")),
        "all": (alike, True),
    }
    return {kind: attack for kind, (attack, applies) in attacks.items() if applies}


# ---- A column that follows from the quasi-identifiers ----------------------------------------------------------------


def predicts(case: Case, release: Any) -> Iterator[Comparison]:
    """Predict the column from the true quasi-identifiers, and pick by it among the nearest released records.

    The intruder goes by the quasi-identifiers and then by the prediction, or by what the formula allows and then by the
    quasi-identifiers; the way by which more are right counts. Who has the only value of the class that the formula
    allows is found for certain.
    """
    inputs, function, step = FORMULAS[case.formula]
    prediction = np.array(function(*(case.frame[column] for column in inputs)))[:, np.newaxis]
    miss = np.abs(ends(release.frame["derived"])[0] - prediction)
    wrong = miss > (step / 2 or 0.02 * prediction) * (1 + 1e-6) + ROUNDING
    names = case.options["quasi_identifiers"]
    true = case.frame[names].to_numpy(dtype=float)[:, np.newaxis]
    low, high = (np.column_stack(each) for each in zip(*(ends(release.frame[column]) for column in names), strict=True))
    scale = true.std(axis=0)
    away = np.square(np.maximum(np.maximum(low - true, true - high), 0) / scale).sum(axis=2)
    apart = true - (low + high) / 2
    middle = np.square(apart / scale).sum(axis=2)
    ways = [(away, middle, miss), (middle, miss), (wrong, away, middle, miss), (wrong, middle, miss)]
    right = max((share_of(least(*keys)) for keys in ways), key=np.mean)
    figures, printed = figures_of(release), printed_maximum(release)
    ranks = case.frame[names].rank(pct=True).to_numpy().T
    groups = [right >= 0, (~wrong).sum(axis=1) <= 1, *(ranks <= 0.1), *(ranks > 0.9)]
    yield Comparison("named group, maximum", printed, max(beyond_chance(right[group], printed) for group in groups))
    yield Comparison("reported, share of releases", np.nan, len(release.report.risk.predicted) > 0)
    if wrong.diagonal().any():
        return  # the column does not follow: this is the control
    certain = share_of(least(away, middle) & ~wrong)
    yield Comparison("for certain, maximum", printed, certain.max())
    yield Comparison("for certain, share of persons", np.nan, (certain == 1).mean())
    # What a perfect prediction gives is printed beside a strong one that is not exact.
    shares = [each.if_known if each.nearly and not each.exact else each.share for each in release.report.risk.predicted]
    yield Comparison("nearest record, average", max([figures.of("record_linkage")[0].after, *shares]), right.mean())


def ends(column: pd.Series) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of released numbers or ranges, or the numbers that texts begin with."""
    parts = column.astype(str).str.extract(r"^\[?(-?[\d.e+-]+)(?:, (-?[\d.e+-]+)\])?").astype(float)
    return parts[0].to_numpy(), parts[1].fillna(parts[0]).to_numpy()


def beyond_chance(right: np.ndarray, printed: float) -> float:
    """Return the mean of probabilities, but no more than is printed if that explains it (Chernoff's bound)."""
    rate = right.mean() if len(right) else 0.0
    if not 0 < printed < rate:
        return rate
    exponent = rate * np.log(rate / printed) + (1 - rate) * np.log((1 - rate + 1e-99) / (1 - printed))
    return rate if len(right) * exponent > -np.log(CHANCE) else printed


def least(*keys: np.ndarray) -> np.ndarray:
    """Return which records are among the least of each person by the first key, of these by the next, and so on."""
    candidates = np.ones(keys[0].shape, dtype=bool)
    for key in keys:
        values = np.where(candidates, key, np.inf)
        candidates &= values <= values.min(axis=1, keepdims=True) + ROUNDING
    return candidates


def share_of(candidates: np.ndarray) -> np.ndarray:
    """Return with what probability each person's record is picked among the candidates."""
    return np.diag(candidates) / np.maximum(candidates.sum(axis=1), 1)


# ---- Two releases of one file ----------------------------------------------------------------------------------------


def intersects(case: Case, release: Any) -> Iterator[Comparison]:
    """Pick a record of the person's class whose confidential values occur in the class of the earlier release, too."""
    earlier, secrets = microaggregate(case.frame, **case.earlier), rows_of(case.frame, ["illness", "derived"])
    same, before = (
        pd.factorize(pd.Series(rows_of(frame, options["quasi_identifiers"])))[0]
        for frame, options in ((release.frame, case.options), (earlier.frame, case.earlier))
    )
    pairs = set(zip(before, secrets, strict=True))
    left = [sum((before[i], secrets[j]) in pairs for j in np.flatnonzero(same == same[i])) for i in range(len(same))]
    for what, source in (("recipe", earlier.recipe), ("file", earlier.frame)):
        with suppress(DataError):  # the records of a file cannot always be matched
            both = compare_with(release, source)
            printed = max(figure.after for figure in figures_of(both).of("max_reidentification"))
            yield Comparison(f"in both classes by {what}, maximum", printed, 1 / min(left))


# ---- All of them -----------------------------------------------------------------------------------------------------


#: The kinds of further files: how they are drawn, and the attack on them.
FURTHER: dict[str, Any] = {
    "derived columns": (derived, predicts),
    "control: independent columns": (partial(derived, control=True), predicts),
    "two releases": (twice, intersects),
}


def attacked(case: Case, attacks: dict[str, Any]) -> tuple[Any, list[tuple[str, Comparison]], list[str]]:
    """Return the release, each figure by kind of release, and in words what is exceeded; None if it is refused."""
    try:
        release = microaggregate(case.frame, **case.options)
    except MicroaggError:
        return None, [], []
    rows, wrong = [], []
    for attack in dict.fromkeys(attacks.values()):
        comparisons = list(attack(case, release))
        rows += [(kind, each) for kind, by in attacks.items() if by is attack for each in comparisons]
        described = f"{len(case.frame)} records, {case.formula}, {case.options}, {case.earlier}"
        wrong += [f"{each}, {described}" for each in comparisons if each.exceeded][:1]
    return release, rows, wrong


def cases(seed: int) -> Iterator[tuple[Case, dict[str, Any]]]:
    """Yield a table with columns of all kinds, and a further file, each with the attacks by kinds of release."""
    frame, k, options = generated.choices(np.random.default_rng(seed))
    yield Case(frame, options | {"k": k}), attacks_on(options)
    kind, (draw, attack) = list(FURTHER.items())[seed % 3]
    yield Case(*draw(np.random.default_rng([seed, 1]))), {kind: attack}


def attempt(seed: int) -> tuple[int, list[tuple[str, Comparison]], list[str]]:
    """Return the seed, each figure by kind of release, and in words what is wrong, files and refusals included."""
    try:
        (table, attacks), further = cases(seed)
        release, rows, wrong = attacked(table, attacks)
        if release is not None:
            wrong += generated.files_below(release, table.options["k"], table.options)
        _, more, exceeded = attacked(*further)
        return seed, rows + more, wrong + exceeded + generated.refusal(seed)[1]
    except Exception:
        return seed, [], [traceback.format_exc(limit=-3)]


def main() -> None:
    """Attack the releases, and print what is exceeded and a table of all figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, usual in (("number", 2000), ("first", 0), ("processes", 2)):
        parser.add_argument(f"--{name}", type=int, default=usual)
    arguments = parser.parse_args()
    seeds = range(arguments.first, arguments.first + arguments.number)
    rows, failed = [], 0
    with Pool(arguments.processes, warnings.simplefilter, ("ignore",)) as pool:
        for seed, comparisons, wrong in pool.imap_unordered(attempt, seeds, 10):
            rows += [(kind, *each, each.exceeded) for kind, each in comparisons]
            failed += bool(wrong)
            print("".join(f"seed {seed}: {each}\n" for each in wrong), end="", flush=True)
    table = pd.DataFrame(rows, columns=["kind", "figure", "printed", "measured", "exceeded"])
    grouped = table.groupby(["kind", "figure"])
    print(grouped.mean().round(4).assign(exceeded=grouped["exceeded"].sum(), figures=grouped.size()).to_string())
    print(f"{failed:,} of {len(seeds):,} seeds have an exceeded figure, a class below k or a guarantee, or an error.")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
