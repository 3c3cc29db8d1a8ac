"""What follows from a file and its roles, whatever the method and k."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from microagg import ConstantColumnWarning, DataError, ParameterError, Schema, microaggregate
from microagg.release.source import Source


@pytest.fixture
def people():
    return pd.DataFrame(
        {
            "age": ["20", "30", "?", "60"],
            "born": ["1970-01-02", "1970-01-11", "1970-01-05", None],
            "job": ["a", None, "b", "a"],
            "same": [1, 1, 1, 2],
            "region": ["n", "s", "n", "s"],
            "illness": ["flu", "none", None, None],
        },
        index=[1, 1, 2, 0],
    )


@pytest.fixture
def schema(people):
    names = ["age", "born", "job", "same"]
    return Schema.infer(
        people,
        names,
        strata="region",
        classes="illness",
        dates={"born": "year"},
        numbers="age",
        missing_codes={"age": "?"},
    )


MISSING = {"age": "impute", "born": "drop", "job": "category"}


def test_a_source_has_all_that_follows_from_it(people, schema):
    source = Source.of(people, schema, MISSING)
    assert source.kept.tolist() == [True, True, True, False]
    assert source.n_dropped == 1
    # The lower of 20 and 30, for the record with 60 is left out.
    assert source.frame["age"].tolist() == [20, 30, 20, 60]
    assert source.frame["job"].tolist() == ["a", "missing", "b", "a"]
    pd.testing.assert_series_equal(source.frame["illness"], people["illness"])
    np.testing.assert_array_equal(source.encoded[:, 0], [20, 30, np.nan, 60])
    np.testing.assert_array_equal(source.values[:, 1], [1, 10, 4, np.nan])
    assert source.schema.taxonomies["job"].values == ("a", "b", "missing")
    assert source.records.attributes == source.schema.attributes
    assert source.records.values.tolist() == [[20, 1, 1, 1], [30, 10, 3, 1], [20, 4, 2, 1]]
    assert [(part.rows.tolist(), part.values) for part in source.strata] == [([0, 2], ("n",)), ([1], ("s",))]
    assert source.constant == ("same",)
    assert [(one.column, one.value) for one in source.filled] == [("age", 20), ("job", "missing")]
    with pytest.raises(DataError, match="column 'illness' has no class in record 2"):
        _ = source.classes
    assert Source.of(people.iloc[:2], schema, MISSING).classes.tolist() == [0, 1]


def test_numbers_are_those_of_the_released_records_on_their_scale(people, schema):
    numbers = Source.of(people, schema, MISSING).numbers("minmax")
    assert (numbers.columns, numbers.names, numbers.units) == ([0, 1, 3], ["age", "born", "same"], ["", "year", ""])
    assert numbers.X.tolist() == [[20, 1, 1], [30, 10, 1], [20, 4, 1]]
    np.testing.assert_allclose(numbers.Z, [[0, 0, 0], [1, 1, 0], [0, 1 / 3, 0]])
    assert numbers.scaling.method == "minmax"
    with pytest.raises(ParameterError, match="scale must be one of"):
        Source.of(people, schema, MISSING).numbers("robust")


def test_without_numbers_there_are_no_columns(people):
    source = Source.of(people, Schema.infer(people, "region"))
    assert source.numbers("zscore").X.shape == source.numbers("zscore").Z.shape == (4, 0)
    assert source.strata[0].rows.tolist() == [0, 1, 2, 3]
    assert source.classes is None


def test_everything_is_computed_once_and_when_it_is_asked_for(people, schema, monkeypatch):
    calls = []
    encode = Schema.encode
    monkeypatch.setattr(Schema, "encode", lambda self, frame: calls.append(1) or encode(self, frame))
    source = Source.of(people, schema, MISSING)
    assert not calls
    for _ in range(2):
        assert source.records is source.records
        assert source.frame is source.frame
        assert source.numbers("zscore") is source.numbers("zscore")
    assert len(calls) == 1


def test_a_file_without_gaps_is_not_copied(people):
    schema = Schema.infer(people, ["same", "region"])
    assert Source.of(people, schema, "impute").frame is people


def test_bad_sources_are_refused_at_once(people, schema):
    with pytest.raises(DataError, match=r"must be a DataFrame of pandas or polars, .* not list"):
        Source.of([], schema)
    with pytest.raises(ParameterError, match="missing must be one of"):
        Source.of(people, schema, "ignore")
    with pytest.raises(ParameterError, match="gaps of column 'age' cannot be a category"):
        Source.of(people, schema, {"age": "category"})
    with pytest.raises(DataError, match=r"column 'job' has NaN .* record 1 .*one of 3"):
        _ = Source.of(people, schema).records


def test_a_release_is_made_from_its_source(people, schema):
    choices = {name: getattr(schema, name) for name in ("quasi_identifiers", "dates", "numbers", "missing_codes")}
    with pytest.warns(ConstantColumnWarning, match="'same'"):
        release = microaggregate(people, k=1, method="k-member", by="region", missing=MISSING, **choices)
    source = Source.of(people, schema, MISSING)
    # In groups of one record, nothing but the unit of dates is lost.
    expected = source.frame[source.kept].assign(born=1970).astype({"same": float})
    pd.testing.assert_frame_equal(release.frame, expected, check_dtype=False)
    assert release.report.filled == source.filled
