"""What README, CHANGELOG and other texts say of the project's own results is what is stored."""

import re
from pathlib import Path

import pandas as pd
import pytest

from microagg.optimum.bounds import gap
from microagg.studies import landscape
from tests import claims
from tests.cases import for_each
from tests.claims import PRINTED, RESULTS, best, run

_ROOT = Path(__file__).parents[1]
_README = (_ROOT / "README.md").read_text(encoding="utf-8")
_HEADLINE = [
    tuple(cell.strip() for cell in line.strip("|").split("|"))
    for line in _README.partition("<!-- headline -->")[2].strip().partition("\n\n")[0].splitlines()[2:]
]


def _stored(title: str, k: str):
    limits = landscape.limits()
    return limits[(limits["data"] == title.lower()) & (limits["seed"] == 0) & (limits["k"] == int(k))].iloc[0]


def test_the_table_of_lowest_losses_is_there():
    sets = {"Tarragona", "Census", "EIA"}
    assert {(title, k) for title, k, *_ in _HEADLINE} == {(title, k) for title in sets for k in ("3", "5", "10")}


@for_each("row", _HEADLINE)
def test_losses_and_floors_are_those_stored(row):
    title, k, mdav, printed, default, best, floor, said = row
    stored, runs = _stored(title, k), landscape.runs()
    of_mdav = runs[(runs["data"] == title.lower()) & (runs["k"] == int(k)) & (runs["method"] == "mdav")].iloc[0]
    assert float(mdav) == float(f"{of_mdav['information_loss']:.4g}")
    assert float(best) == float(f"{stored['best']:.4g}") < float(printed) <= float(mdav)
    assert float(floor) == float(f"{stored['floor']:.4g}") <= float(best) <= float(default) < float(mdav)
    assert float(default) == float(f"{run(title.lower(), 'Least loss', int(k))['information_loss']:.4g}")
    certificate = _ROOT / "benchmarks" / "results" / "certificates" / f"{title.lower()}-{k}.npz"
    assert ("proven" in said) == certificate.is_file()
    if not certificate.is_file():
        assert said == f"{100 * gap(stored['best'], stored['floor']):.2f} %"


@pytest.mark.parametrize(("title", "loss"), [("Census", "4.667936"), ("Tarragona", "14.46734")])
def test_optima_are_those_stored(title, loss):
    assert loss in _README
    assert float(loss) == pytest.approx(_stored(title, "3")["best"], abs=5e-6)


def _prose(path):
    """Return a text without programs and the tables that are written from the results, a paragraph a line."""
    text = re.sub(r"```.*?```", "", (_ROOT / path).read_text(encoding="utf-8"), flags=re.DOTALL)
    text = re.sub(r"<!-- (.+?) -->.*?<!-- end of \1 -->", "", text, flags=re.DOTALL)
    return re.sub(r"(?<!\n)\n(?!\n|- |\d+\. |#|\|)\s*", " ", text).replace("[", "").replace("](", " (")


def _every_figure(at, papers):
    numbers = {"three": 3, "four": 4, "five": 5}
    printed = pd.read_csv(_ROOT / "microagg" / "studies" / "published.csv")
    assert numbers[papers] == printed["paper"].nunique()
    assert all(best(row.data, row.k)["best"] < row.printed for row in PRINTED.itertuples())


def _proven(at, *said):
    sets = re.findall(r"[A-Z]\w+", said[0])
    assert sets == sorted(path.stem.partition("-")[0].capitalize() for path in (RESULTS / "certificates").iterdir())
    for title in sets:
        assert best(title.lower(), 3)["best"] <= best(title.lower(), 3)["floor"] * (1 + 2e-7)
        assert (RESULTS / "certificates" / f"{title.lower()}-3.npz").is_file()


def _closeness(at, cells, below_best, below_merging):
    table = pd.read_csv(RESULTS / "guarantees.csv")
    table["way"] = table["method"].replace("mdav-generic-mixed", "mdav")
    losses = table.pivot(index=["data", "confidential", "k", "t"], columns="way", values="loss")
    others = losses.drop(columns="least-loss").min(axis=1)
    assert (int(cells), losses.shape[1]) == (len(losses), 4)
    assert int(below_best) == int(100 * (1 - losses["least-loss"] / others).min())
    assert int(below_merging) == int(100 * (1 - losses["least-loss"] / losses["mdav"]).min())
    assert (table["held"] <= table["t"] + 1e-9).all()


_RULES = [
    (
        r"Information loss in percent on z-scores\. \"Lowest printed\" is the lowest figure of the (\w+) papers .*",
        _every_figure,
    ),
    (r"The columns are MDAV; the lowest standardized figure that the (\w+) papers \(.*\) print;.*", _every_figure),
    (r"The optima of (\w+ and \w+) at k = 3 are proven: .*", _proven),
    (
        r"Least loss has the lowest loss in each of the (\d+) cells: at least (\d+) % below the best of the other "
        r"three methods, and (\d+) % below merging\.",
        _closeness,
    ),
    (
        r"Optima hold to within 2 parts in ten million: Census's to one in a billion, Tarragona's to 1\.5 in ten "
        r"million\.",
        lambda at: _proven(at, "Census Tarragona"),
    ),
]

# What holds of any data, what something does, and names.
_HARMLESS = [
    r"- \*\*Least loss\*\*, the default, searches: .*",
    r"#+ How low, and how far from the optimum",
    r"- Researchers compare algorithms .*",
    r"For few numbers the optimum is computed at once:",
    r"\| (2 Choose k|Evidence) \|.*",
    r"# How lower bounds are proven",
    r"No partition into groups of at least k has an information loss below the lower bound, whatever the method\.",
    r"Their certificates \(.*\) are checked in seconds by `microagg certify FILE`, .*",
    r".*say it in words .*, and a limit that no method can keep is said to be one\.",
    r"\| `(certificates|records)\.py` \|.*",
    r"No partition has a lower loss than the lower bound, so the best known partition is at most the gap above .*",
    r"Where both meet, the optimum is proven; we know of no published optimum of these data sets\.",
    r"A certificate in `results/certificates` proves an optimum by prices, cuts and decisions\.",
    r"The bound that is proven in a minute depends on the machine, .*",
    r"All work on numeric attributes, .*, ties to the lowest record index\.",
]


def test_claims_of_texts_are_what_is_stored():
    followed = set()
    # The lecture for teachers has its figures computed anew, by tests/explain/test_lecture.py.
    manual = [f"docs/{path.name}" for path in sorted((_ROOT / "docs").glob("*.md")) if path.name != "teacher.md"]
    for path in ("README.md", "CHANGELOG.md", "benchmarks/README.md", "microagg/algorithms/README.md", *manual):
        followed |= claims.hold([_prose(path)], _RULES, _HARMLESS)
    assert followed == {rule for rule, _ in _RULES}
