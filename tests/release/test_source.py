"""What follows from a file and its roles, whatever the method and k, and what methods are compared on."""

import numpy as np
import pandas as pd
import pytest

from microagg import DataError, ParameterError, Schema
from microagg.release.source import Compared, Source


@pytest.fixture
def people():
    frame = pd.DataFrame({"age": ["20", "30", "?", "60"]}, index=[1, 1, 2, 0])
    frame["born"] = ["1970-01-02", "1970-01-11", "1970-01-05", None]
    frame["job"] = ["a", None, "b", "a"]
    return frame.assign(same=[1, 1, 1, 2], region=["n", "s", "n", "s"], illness=["flu", "none", None, None])


@pytest.fixture
def schema(people):
    kinds = {"dates": {"born": "year"}, "numbers": "age", "missing_codes": {"age": "?"}}
    return Schema.infer(people, ["age", "born", "job", "same"], strata="region", classes="illness", **kinds)


MISSING = {"age": "impute", "born": "drop", "job": "category"}


def test_a_source_has_all_that_follows_from_it(people, schema):
    source = Source.of(people, schema, MISSING)
    assert source.retained.tolist() == [True, True, True, False]
    assert source.n_dropped == 1
    # The lower of 20 and 30, for the record with 60 is left out.
    assert source.frame["age"].tolist() == [20, 30, 20, 60]
    assert source.frame["job"].tolist() == ["a", "missing", "b", "a"]
    pd.testing.assert_series_equal(source.frame["illness"], people["illness"])
    np.testing.assert_array_equal(source.encoded[:, 0], [20, 30, np.nan, 60])
    assert source.schema.taxonomies["job"].values == ("a", "b", "missing")
    assert source.records.attributes == source.schema.attributes
    assert source.records.values.tolist() == [[20, 1, 1, 1], [30, 10, 3, 1], [20, 4, 2, 1]]
    assert [(part.rows.tolist(), part.values) for part in source.strata] == [([0, 2], ("n",)), ([1], ("s",))]
    assert source.constant == ("same",)
    assert source.numbers("minmax").X.tolist() == [[20, 1, 1], [30, 10, 1], [20, 4, 1]]
    assert [(one.column, one.value) for one in source.filled] == [("age", 20), ("job", "missing")]
    with pytest.raises(DataError, match="column 'illness' has no class in record 2"):
        _ = source.classes
    assert Source.of(people.iloc[:2], schema, MISSING).classes.tolist() == [0, 1]


def test_bad_sources_are_refused_at_once(people, schema):
    for frame, missing, error, says in (
        ([], "drop", DataError, "must be a DataFrame"),
        (people, "ignore", ParameterError, "missing must be one of"),
        (people, {"age": "category"}, ParameterError, "'age' cannot be a category"),
        (people, "error", DataError, r"column 'job' has NaN .* record 1 .*one of 3"),
    ):
        with pytest.raises(error, match=says):
            Source.of(frame, schema, missing)


def table(n=30):
    a, b = [np.nan, *np.arange(1.0, n)], [2.0 * (i % 7) for i in range(n)]
    text = {"c": ["xyz"[i % 3] for i in range(n)], "part": ["north" if i % 2 else "south" for i in range(n)]}
    return pd.DataFrame({"a": a, "b": b, **text}, index=[f"r{i}" for i in range(n)])


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


def test_records_without_values_cannot_be_compared_and_gaps_and_constant_columns_are_noted():
    frame = table().assign(one=1.0, same="x", none=np.nan)
    with pytest.raises(DataError, match="every record has a missing"):
        Compared.of(source_of(frame, ["a", "none"]), "zscore")
    assert source_of(frame, ["b", "c"]).notes == ()
    constant, gaps = source_of(frame, ["a", "one", "same"]).notes
    assert "'one', 'same'" in constant
    assert "1 record of 30 (3.33 %)" in gaps
    filled = source_of(frame, ["a"], {"a": "impute"})
    assert filled.notes == (str(filled.filled[0]),)


def test_the_digest_tells_what_has_other_results():
    frame = table()
    plain = Compared.of(source_of(frame, ["a", "b"]), "zscore").digest
    assert Compared.of(source_of(frame, ["a", "b"], confidential="c"), "zscore").digest == plain
    assert Compared.of(source_of(frame, ["a", "b"], strata="part"), "zscore").digest != plain
    assert Compared.of(source_of(frame, ["a", "b"]), "none").digest != plain
    orders = [Compared.of(source_of(frame, ["a", "c"], ordinal={"c": [*order]}), "none") for order in ("xyz", "yxz")]
    assert orders[0].digest != orders[1].digest
