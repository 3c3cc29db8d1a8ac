"""What methods are compared on: all records, or a sample of them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from microagg.columns.schema import Schema
from microagg.errors import DataError
from microagg.release import source as sources
from microagg.release.source import Compared, Source


def table(n=30):
    return pd.DataFrame(
        {
            "a": [float(i) if i else np.nan for i in range(n)],
            "b": [2.0 * (i % 7) for i in range(n)],
            "c": ["xyz"[i % 3] for i in range(n)],
            "part": ["north" if i % 2 else "south" for i in range(n)],
        },
        index=[f"r{i}" for i in range(n)],
    )


def source_of(frame, names, missing="drop", **roles):
    return Source.of(frame, Schema.infer(frame, names, **roles), missing)


def test_all_records_are_compared_that_are_released():
    frame = table()
    found = Compared.of(source_of(frame, ["a", "b"], strata="part", classes="c"), "minmax")
    assert found.is_numeric
    assert not found.is_sample
    assert (found.n, found.d, found.n_complete, found.columns) == (29, 2, 29, ("a", "b"))
    assert found.frame.index.tolist() == [f"r{i}" for i in range(1, 30)]
    assert np.allclose(found.X, np.stack([(np.arange(1, 30) - 1) / 28, np.arange(1, 30) % 7 / 6], axis=1))
    assert found.data is found.X
    assert not found.X.flags.writeable
    assert found.strata.tolist() == [0, 1] * 14 + [0]  # r1 is in the north, which is the first seen
    assert found.classes.tolist() == [(i - 1) % 3 for i in range(1, 30)]
    assert [part.tolist() for part in found.problem.parts] == [list(range(0, 29, 2)), list(range(1, 29, 2))]


def test_a_sample_is_drawn_by_its_seed():
    source = source_of(table(), ["a", "c"], strata="part")
    one, again, other = (Compared.of(source, "zscore", 9, seed) for seed in (0, 0, 1))
    assert one.is_sample
    assert (one.n, one.n_complete) == (9, 29)
    assert len(set(one.rows.tolist())) == 9
    assert one.rows.tolist() == sorted(one.rows)
    assert one.frame.index.tolist() == [f"r{row + 1}" for row in one.rows]
    assert one.records.values[:, 0].tolist() == [row + 1 for row in one.rows]
    assert one.strata.tolist() == [row % 2 for row in one.rows]
    assert one.data is one.records
    assert again.rows.tolist() == one.rows.tolist()
    assert (again.digest == one.digest, other.digest == one.digest) == (True, False)
    for size in (0, 29, 30):
        assert Compared.of(source, "zscore", size).n == 29


def test_of_many_records_with_categories_a_sample_is_usual(monkeypatch):
    monkeypatch.setattr(sources, "MOST_RECORDS", 20)
    monkeypatch.setattr(sources, "SAMPLE", 5)
    frame = table()
    assert Compared.of(source_of(frame, ["a", "c"]), "zscore").n == 5
    assert Compared.of(source_of(frame, ["a", "b"]), "zscore").n == 29
    assert Compared.of(source_of(frame.head(21), ["a", "c"]), "zscore").n == 20


def test_of_records_with_many_values_a_smaller_sample_is_usual(monkeypatch):
    wide, numeric = (source_of(table(), names) for names in (["a", "b", "c"], ["a", "b"]))  # 87 and 58 values
    assert not Compared.of(wide, "zscore").is_wide
    monkeypatch.setattr(sources, "MOST_VALUES", 86)
    monkeypatch.setattr(sources, "SAMPLED_VALUES", 20)
    monkeypatch.setattr(sources, "LEAST_SAMPLE", 4)
    assert Compared.of(wide, "zscore").n == 6  # 18 values
    assert Compared.of(wide, "zscore", 0).n == 29
    assert Compared.of(wide, "zscore").is_wide
    monkeypatch.setattr(sources, "LEAST_SAMPLE", 8)
    assert Compared.of(wide, "zscore").n == 8
    assert Compared.of(source_of(table(), ["b", "c"]), "zscore").n == 30
    monkeypatch.setattr(sources, "MOST_VALUES", 10)
    assert Compared.of(numeric, "zscore").n == 29
    assert not Compared.of(numeric, "zscore").is_wide


def test_the_digest_tells_what_has_other_results():
    frame = table()
    plain = Compared.of(source_of(frame, ["a", "b"]), "zscore").digest
    assert Compared.of(source_of(frame, ["a", "b"], confidential="c"), "zscore").digest == plain
    assert Compared.of(source_of(frame, ["a", "b"], strata="part"), "zscore").digest != plain
    assert Compared.of(source_of(frame, ["a", "b"]), "none").digest != plain
    orders = [Compared.of(source_of(frame, ["a", "c"], ordinal={"c": [*order]}), "none") for order in ("xyz", "yxz")]
    assert orders[0].digest != orders[1].digest


def test_records_without_values_cannot_be_compared():
    frame = pd.DataFrame({"a": [1.0, np.nan], "b": [np.nan, 2.0]})
    with pytest.raises(DataError, match="every record lacks a quasi-identifier: choose another treatment of the gaps"):
        Compared.of(source_of(frame, ["a", "b"]), "zscore")


def test_what_somebody_must_know_of_the_data():
    frame = table().assign(one=1.0, same="x")
    assert source_of(frame, ["b", "c"]).notes == ()
    assert source_of(frame, ["a", "b", "one"]).notes == (
        "column 'one' holds one value only: it has no part in distances.",
        "1 record of 30 (3.33 %) with gaps will be left out.",
    )
    frame.loc["r1", "a"] = np.nan
    assert source_of(frame, ["a", "one", "same"]).notes == (
        "columns 'one', 'same' hold one value only: they have no part in distances.",
        "2 records of 30 (6.67 %) with gaps will be left out.",
    )
    filled = source_of(frame, ["a"], {"a": "impute"})
    assert filled.notes == (str(filled.filled[0]),)
