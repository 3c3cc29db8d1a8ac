"""The best partitions known: that each is what is said of it, and what becomes of one that is offered."""

import shutil

import numpy as np
import pandas as pd
import pytest

from benchmarks import records
from benchmarks.landscape import FOLDER
from microagg import DataError, ParameterError, datasets, make
from microagg.studies import landscape
from tests.conftest import load_benchmark


@pytest.fixture
def library(tmp_path):
    """Return a copy of what is stored, which may be changed."""
    for name in (records.TABLE, records.LABELS):
        shutil.copy(FOLDER / name, tmp_path)
    return records.Library(tmp_path)


@pytest.mark.parametrize("name", records.KS)
def test_what_is_stored_is_what_the_partitions_lose(name):
    if datasets.describe(name).kind == "benchmark":
        load_benchmark(name)
    table = landscape.limits().query("data == @name")
    for seed, k, loss in zip(table["seed"], table["k"], table["best"], strict=True):
        known = landscape.best(name, k, seed)
        assert known.partition.sizes.min() >= k == known.k
        assert records.lost(records.data_of(name, seed), known.partition.labels) == pytest.approx(loss, rel=1e-9)
        assert known.bound.information_loss <= known.information_loss == loss
        assert known.optimal == (loss <= known.bound.information_loss * (1 + 2e-7))


def test_what_is_not_stored_is_refused():
    with pytest.raises(ParameterError, match="no stored partitions on 'toy' with seed 0: there are those on census"):
        landscape.best("toy", 3)
    with pytest.raises(ParameterError, match="with seed 7"):
        landscape.best("simc", 3, seed=7)
    with pytest.raises(ParameterError, match="for k up to 100, not for k=101"):
        landscape.best("wine", 101)


def test_a_better_partition_serves_smaller_k_and_a_higher_floor_larger_ones(library):
    labels = make("mdav-star", 5).fit(records.data_of("wine", 0)).labels_
    before = {k: dict(library.cells["wine", 0, k]) for k in landscape.KS}
    assert not library.offer(("wine", 0, 5), labels, before[5]["best"], "nobody")
    loss = before[4]["best"] * 0.99
    assert library.offer(("wine", 0, 5), labels, loss, "somebody")
    assert [library.cells["wine", 0, k]["best"] == loss for k in (3, 4, 5, 6)] == [False, True, True, False]
    assert library.cells["wine", 0, 4]["best_by"] == "somebody"
    assert (library.start(("wine", 0, 4)) == library.labels["wine", 0, 5]).all()
    assert ("wine", 0, 4) not in library.labels
    floor = before[7]["floor"] * (1 + 1e-6)
    assert library.prove(("wine", 0, 5), floor, "somebody's program")
    assert [library.cells["wine", 0, k]["floor_by"] == "somebody's program" for k in (4, 5, 6, 7, 20)] == [
        False, True, True, True, False,
    ]  # fmt: skip
    assert not library.prove(("wine", 0, 5), before[5]["floor"], "nobody")


def test_an_offer_is_judged_by_the_records_alone(library, tmp_path):
    cell, data = ("wine", 0, 5), records.data_of("wine", 0)
    known = library.start(cell)
    path = tmp_path / "groups.csv"
    # The same partition under other names loses no less.
    pd.DataFrame({"record": range(len(known)), "group": [f"g{-label}" for label in known]}).to_csv(path, index=False)
    assert "no less than" in records.offer(library, cell, path, "somebody")
    library.cells[cell]["best"] *= 1.01
    assert "it is stored as found by somebody" in records.offer(library, cell, path, "somebody")
    again = records.Library(tmp_path)
    assert again.cells[cell]["best_by"] == "somebody"
    assert again.cells[cell]["best"] == pytest.approx(records.lost(data, known), rel=1e-11)
    assert np.array_equal(again.labels[cell], known)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("group\n" + "1\n" * 177, "groups for 177 records, but wine has 178"),
        ("group\n" + "1\n" * 177 + "2\n", "group 1 has 1 record, fewer than k=5"),
        ("group,x\n1,\n,\n", r"record 1 of .* \(from 0\) has no group"),
        ("a,b\n1,2\n", "has the columns a, b: name that of the groups 'group'"),
    ],
)
def test_an_offer_that_is_no_partition_is_refused(library, tmp_path, text, says):
    path = tmp_path / "groups.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=says):
        records.offer(library, ("wine", 0, 5), path, "somebody")


def test_a_turn_never_loses_what_is_known(library):
    cell = ("wine", 0, 20)
    before = dict(library.cells[cell])
    assert "wine-0 k=20" in records.turn(library, cell, 0.5)
    assert library.cells[cell]["best"] <= before["best"]
    assert library.cells[cell]["floor"] >= before["floor"]
