"""What the README says of the project's own results is what is stored: counts, losses, floors and what is proven."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from microagg import landscape
from microagg.metrics import gap
from microagg.registry import ALGORITHMS

_ROOT = Path(__file__).parents[1]
_README = (_ROOT / "README.md").read_text(encoding="utf-8")
_HEADLINE = [
    tuple(cell.strip() for cell in line.strip("|").split("|"))
    for line in _README.partition("<!-- headline -->")[2].strip().partition("\n\n")[0].splitlines()[2:]
]


def _stored(title: str, k: str):
    limits = landscape.limits()
    return limits[(limits["data"] == title.lower()) & (limits["seed"] == 0) & (limits["k"] == int(k))].iloc[0]


def test_algorithms_are_counted_as_registered():
    counts = re.findall(r"\b(\d+) algorithms\b", _README)
    assert counts
    assert {int(count) for count in counts} == {len(ALGORITHMS)}


def test_the_table_of_lowest_losses_is_there():
    assert {(title, k) for title, k, *_ in _HEADLINE} == {
        (title, k) for title in ("Tarragona", "Census", "EIA") for k in ("3", "5", "10")
    }


@pytest.mark.parametrize("row", _HEADLINE, ids="-".join(("{0[0]}", "{0[1]}")).format)
def test_losses_and_floors_are_those_stored(row):
    title, k, mdav, printed, best, floor, said = row
    stored, runs = _stored(title, k), landscape.runs()
    of_mdav = runs[(runs["data"] == title.lower()) & (runs["k"] == int(k)) & (runs["method"] == "mdav")].iloc[0]
    assert float(mdav) == float(f"{of_mdav['information_loss']:.4g}")
    assert float(best) == float(f"{stored['best']:.4g}") < float(printed) <= float(mdav)
    assert float(floor) == float(f"{stored['floor']:.4g}") <= float(best)
    certificate = _ROOT / "benchmarks" / "results" / "certificates" / f"{title.lower()}-{k}.npz"
    assert ("proven" in said) == certificate.is_file()
    if not certificate.is_file():
        assert said == f"{100 * gap(stored['best'], stored['floor']):.2f} %"


@pytest.mark.parametrize(("title", "loss"), [("Census", "4.667936"), ("Tarragona", "14.46734")])
def test_optima_are_those_stored(title, loss):
    assert loss in _README
    assert float(loss) == pytest.approx(_stored(title, "3")["best"], abs=5e-6)
