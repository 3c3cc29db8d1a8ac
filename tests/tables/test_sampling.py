"""Records drawn from Parquet files that are too large to be read whole."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from microagg import DataError, ParameterError
from microagg.tables import parquet, parquet_files, sample_parquet


@pytest.fixture
def table():
    n = 1_000
    return pd.DataFrame({"record": np.arange(n), "town": [f"town {i % 7}" for i in range(n)]})


def test_draws_each_record_once_in_the_order_of_the_table(tmp_path, table):
    table.to_parquet(tmp_path / "a.parquet", row_group_size=90)
    drawn = sample_parquet(tmp_path / "a.parquet", 200, seed=1)
    rows = drawn.frame["record"].to_numpy()
    assert drawn.n_records == 1_000
    assert (drawn.n_parts, drawn.parts) == (12, 12)
    assert len(rows) == 200
    assert (np.diff(rows) > 0).all()
    pd.testing.assert_frame_equal(drawn.frame, table.iloc[rows].reset_index(drop=True))
    # From all over the table: of ten tenths none is missed by 200 records.
    assert set(rows // 100) == set(range(10))


def test_the_seed_decides(tmp_path, table):
    table.to_parquet(tmp_path / "a.parquet", row_group_size=90)
    once, again, other = (sample_parquet(tmp_path / "a.parquet", 50, seed=seed).frame for seed in (3, 3, 4))
    pd.testing.assert_frame_equal(once, again)
    assert not once.equals(other)


def test_a_small_table_is_there_whole(tmp_path, table):
    table.to_parquet(tmp_path / "a.parquet")
    pd.testing.assert_frame_equal(sample_parquet(tmp_path / "a.parquet", 5_000).frame, table)


def test_few_of_many_parts_are_read(tmp_path, table):
    table.to_parquet(tmp_path / "a.parquet", row_group_size=10)
    drawn = sample_parquet(tmp_path / "a.parquet", 100)
    assert (drawn.n_parts, drawn.parts) == (parquet.MOST_PARTS, 100)
    assert len(drawn.frame) == 100
    assert drawn.frame["record"].floordiv(10).nunique() == parquet.MOST_PARTS


def test_a_folder_is_one_table(tmp_path, table):
    table.iloc[:400].to_parquet(tmp_path / "part-0.parquet")
    table.iloc[400:].to_parquet(tmp_path / "part-1.parquet")
    (tmp_path / "_metadata").write_text("not a part")
    (tmp_path / ".hidden.parquet").write_text("not a part either")
    assert [file.name for file in parquet_files(tmp_path)] == ["part-0.parquet", "part-1.parquet"]
    pd.testing.assert_frame_equal(sample_parquet(tmp_path, 1_000).frame, table)


def test_numbers_beside_gaps_and_categories_stay_what_they_are(tmp_path):
    frame = pd.DataFrame({"id": pd.array([2**53 + 1, None, 3], dtype="Int64"), "kind": pd.Categorical(["b", "a", "b"])})
    frame.iloc[:2].to_parquet(tmp_path / "0.parquet")
    frame.iloc[2:].to_parquet(tmp_path / "1.parquet")
    drawn = sample_parquet(tmp_path, 3).frame
    assert drawn["id"].tolist()[0] == 2**53 + 1
    assert pd.isna(drawn["id"][1])
    assert drawn["kind"].tolist() == ["b", "a", "b"]


def test_errors_say_what_to_do(tmp_path, table):
    with pytest.raises(DataError, match=r"there is no file .*nowhere.*: check its name"):
        sample_parquet(tmp_path / "nowhere", 3)
    with pytest.raises(DataError, match="has no Parquet files"):
        sample_parquet(tmp_path, 3)
    (tmp_path / "a.csv").write_text("x")
    with pytest.raises(ParameterError, match=r"'a.csv' is no Parquet file"):
        sample_parquet(tmp_path / "a.csv", 3)
    (tmp_path / "a.csv").unlink()
    (tmp_path / "in it").mkdir()
    with pytest.raises(DataError, match=r"has folders in it \('in it'\)"):
        sample_parquet(tmp_path, 3)
    (tmp_path / "in it").rmdir()
    (tmp_path / "a.parquet").write_bytes(b"PAR1 and nothing more")
    with pytest.raises(DataError, match="is no Parquet file, or a damaged one"):
        sample_parquet(tmp_path, 3)
    table.to_parquet(tmp_path / "a.parquet")
    table.rename(columns={"town": "city"}).to_parquet(tmp_path / "b.parquet")
    with pytest.raises(DataError, match=r"'b.parquet' has other columns than 'a.parquet'"):
        sample_parquet(tmp_path, 3)
    pd.DataFrame({"x": [[1], [2]]}).to_parquet(tmp_path / "lists.parquet")
    with pytest.raises(DataError, match=r"column 'x' of the file 'lists\.parquet' holds lists"):
        sample_parquet(tmp_path / "lists.parquet", 3)
    table.iloc[:0].to_parquet(tmp_path / "empty.parquet")
    with pytest.raises(DataError, match="no records"):
        sample_parquet(tmp_path / "empty.parquet", 3)


@pytest.mark.parametrize("given", [{"n": 0}, {"n": -3}, {"n": "x"}, {"n": 3, "seed": -1}])
def test_numbers_out_of_their_bounds_are_named(tmp_path, table, given):
    table.to_parquet(tmp_path / "a.parquet")
    with pytest.raises(ParameterError, match="must be a whole number of at least"):
        sample_parquet(tmp_path / "a.parquet", **given)
