"""Tables of pandas, polars and Arrow: what each holds is worked on alike, and comes back as it was."""

import datetime as dt
import pickle
import sys
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from microagg import ConvertedColumnWarning, DataError, Schema, metrics, microaggregate, replay, standardize
from microagg.columns import guess_columns, summary
from microagg.errors import ParameterError
from microagg.release import try_remedies
from microagg.tables import digest_array, to_csv, write_table
from microagg.tables.frames import as_pandas
from tests.cases import for_each

N = 48
# Each of the last whole number that a float has, and the first that it has not.
BEYOND = 2**53 + 1
ROLES = {"quasi_identifiers": ["age", "height", "born"], "confidential": "illness", "identifiers": "name", "k": 4}


def people() -> pd.DataFrame:
    """Return people of whom pandas, polars and Arrow hold every column alike."""
    rng = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "name": [f"P{i}" for i in range(N)],
            "age": rng.integers(18, 90, N),
            "height": rng.normal(170, 9, N).round(1),
            "born": pd.to_datetime([f"19{year}-03-01" for year in rng.integers(20, 99, N)]).astype("M8[ms]"),
            "illness": rng.choice(["flu", "cold", "none"], N),
            "ward": pd.Categorical(["a", "b"] * (N // 2)),
        }
    )


def of_polars(frame):
    return pl.from_arrow(pa.Table.from_pandas(frame, preserve_index=False))


def of_arrow(frame):
    return pa.Table.from_pandas(frame, preserve_index=False)


KINDS = {"polars": of_polars, "pyarrow": of_arrow}
each_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


@each_kind
@pytest.mark.parametrize(
    "choices",
    [{"rounding": "file"}, {"statistic": "generalize"}, {"by": "ward", "statistic": "median", "shuffle": 3}],
    ids=str,
)
def test_a_release_has_the_kind_that_was_given_and_the_bytes_of_pandas(kind, choices):
    frame = people()
    expected = microaggregate(frame, **ROLES, **choices)
    table = kind(frame)
    release = microaggregate(table, **ROLES, **choices)
    assert type(release.frame) is type(table)
    assert isinstance(expected.frame, pd.DataFrame)
    assert release.recipe == expected.recipe
    assert release.findings == expected.findings
    for name in ("out.csv", "out.parquet"):
        data, counted = release.export(name)
        assert counted.level == "ok"
        assert data == expected.export(name)[0]
    assert write_table(release.frame, "out.csv") == release.export("out.csv")[0]
    again = replay(table, release.recipe)
    assert again.frame.equals(release.frame)
    assert type(pickle.loads(pickle.dumps(release)).frame) is type(table)


def rich() -> pl.DataFrame:
    """Return a table with a column of each type that pandas holds otherwise or not at all."""
    day, moment = dt.date(2020, 2, 29), dt.datetime(2020, 2, 29, 12, 30, 1)
    return pl.DataFrame(
        {
            "age": [20, 21, 40, 41, 60, 61],
            "whole": [BEYOND, None, 2, 3, 4, -BEYOND],
            "unsigned": pl.Series([2**64 - 1, 0, 1, 2, 3, 4], dtype=pl.UInt64),
            "exact": [Decimal("12345678901234567.89"), None, Decimal("0.10"), Decimal(1), Decimal(2), Decimal(3)],
            "short": pl.Series([Decimal("1.10"), None] * 3, dtype=pl.Decimal(9, 2)),
            "zoned": pl.Series([moment, None] * 3).dt.replace_time_zone("Europe/Berlin"),
            "day": [day, None] * 3,
            "time": [dt.time(14, 5), None] * 3,
            "lasts": [dt.timedelta(hours=1, microseconds=1), None] * 3,
            "bytes": [b"\xff\x00", None] * 3,
            "nothing": [None] * 6,
            "yes": [True, None] * 3,
            "half": pl.Series([0.1, None] * 3, dtype=pl.Float32),
            "school": pl.Series(["low", "high", None] * 2, dtype=pl.Enum(["low", "mid", "high"])),
            "ward": pl.Series(["a", "b", None] * 2, dtype=pl.Categorical),
        }
    )


def test_columns_that_stay_as_they_are_stay_so_to_the_last_digit():
    table = rich()
    with pytest.warns(ConvertedColumnWarning) as said:
        release = microaggregate(table, k=2, quasi_identifiers="age", shuffle=7)
    texts = [str(one.message) for one in said]
    assert any("'exact' holds decimals with more digits than a float keeps" in text for text in texts)
    assert any("'bytes' holds 3 cells of bytes that are no text" in text for text in texts)
    assert len(texts) == 2
    assert release.frame.schema == {**table.schema, "age": pl.Float64}
    order = np.random.default_rng(7).permutation(6)
    others = [name for name in table.columns if name != "age"]
    assert release.frame.select(others).equals(table.select(others)[order.tolist()])
    assert release.frame["age"].to_list() == [[20.5, 20.5, 40.5, 40.5, 60.5, 60.5][i] for i in order]
    arrow = table.to_arrow()
    with pytest.warns(ConvertedColumnWarning):
        frame = microaggregate(arrow, k=2, quasi_identifiers="age").frame
    for name in others:
        is_category = name in ("school", "ward")
        assert frame.schema.field(name).type == arrow.schema.field(name).type
        assert frame.column(name).to_pylist() == arrow.column(name).to_pylist()
        assert is_category or frame.schema.field(name).equals(arrow.schema.field(name))


@pytest.mark.parametrize("form", [lambda table: table, pl.DataFrame.to_arrow], ids=["polars", "pyarrow"])
def test_replaced_columns_keep_their_type_where_they_can(form):
    table = form(
        pl.DataFrame(
            {
                "day": [dt.date(2020, 1, i) for i in (1, 3, 9, 11)],
                "moment": [dt.datetime(2020, 1, i) for i in (1, 3, 9, 11)],
                "school": pl.Series(["low", "low", "high", "mid"], dtype=pl.Enum(["low", "mid", "high"])),
                "trade": ["smith", "smith", "baker", "baker"],
                "ward": pl.Series(["a", "a", "b", "b"], dtype=pl.Categorical),
                "year": pl.Series([1, 2, 10, 10], dtype=pl.Int16),
            }
        )
    )
    names = table.column_names if isinstance(table, pa.Table) else table.columns
    release = microaggregate(table, k=2, method="mondrian", quasi_identifiers=names, rounding="file")
    if isinstance(table, pa.Table):
        assert release.frame.schema.types == table.schema.types
    else:
        # Nobody is released as "high", so nobody learns that it was there.
        assert release.frame.schema == {**table.schema, "school": pl.Enum(["low", "mid"])}
    result = as_pandas(release.frame)
    assert [day.day for day in result["day"]] == [2, 2, 10, 10]
    assert [day.day for day in result["moment"]] == [2, 2, 10, 10]
    # Of two ordered categories the median is the lower.
    assert result["school"].tolist() == ["low", "low", "mid", "mid"]
    assert result["trade"].tolist() == ["smith", "smith", "baker", "baker"]
    assert result["year"].tolist() == [2, 2, 10, 10]


@pytest.mark.parametrize("form", [lambda table: table, pl.DataFrame.to_arrow], ids=["polars", "pyarrow"])
def test_categories_of_those_who_are_left_out_are_not_released(form):
    table = pl.DataFrame(
        {
            "age": [20, 21, None, 40, 41],
            "trade": pl.Series(["smith", "baker", "hangman", "baker", None], dtype=pl.Categorical),
            "rank": pl.Series(["low", "mid", "top", "mid", None], dtype=pl.Enum(["never", "low", "mid", "top"])),
        }
    )
    roles = {"k": 2, "quasi_identifiers": "age", "missing": "drop"}
    release = microaggregate(form(table), **roles)
    arrow = release.frame if isinstance(release.frame, pa.Table) else release.frame.to_arrow()
    rank = arrow.column("rank").unify_dictionaries().chunk(0).dictionary.to_pylist()
    assert rank == ["never", "low", "mid"]
    if isinstance(release.frame, pa.Table):
        assert "hangman" not in arrow.column("trade").chunk(0).dictionary.to_pylist()
    assert arrow.column("trade").to_pylist() == ["smith", "baker", "baker", None]
    assert arrow.column("rank").to_pylist() == ["low", "mid", "mid", None]
    stream = pa.BufferOutputStream()
    with pa.ipc.new_file(stream, arrow.schema) as file:
        file.write_table(arrow)
    assert b"top" not in stream.getvalue().to_pybytes()


@each_kind
def test_every_function_takes_every_kind(kind):
    frame, names = people(), ["age", "height"]
    table, schema = kind(frame), Schema.infer(frame, ROLES["quasi_identifiers"])
    release = microaggregate(frame, **ROLES)
    after = kind(release.frame)
    before = table.select(after.column_names if isinstance(after, pa.Table) else after.columns)
    choices = {name: value for name, value in ROLES.items() if name != "k"}
    results = [
        [
            Schema.infer(data, ROLES["quasi_identifiers"]),
            schema.records(data).values,
            schema.encode(data),
            standardize(part),
            metrics.risk.uniqueness(data, names).n_unique,
            metrics.risk.individual_risk(data, names, [2.0] * N).share,
            *(repr(measure(*pair)) for measure in (metrics.utility.hellinger, metrics.utility.propensity)),
            summary(data).to_csv(),
            guess_columns(data),
            to_csv(data),
            list(try_remedies(data, k=4, **choices)),
        ]
        for data, part, pair in (
            (table, table.select(names), (before, after)),
            (frame, frame[names], (frame[release.frame.columns], release.frame)),
        )
    ]
    for result, expected in zip(*results, strict=True):
        np.testing.assert_equal(result, expected)


@for_each(
    ("series", "says"),
    [
        (pl.Series([[1], [2]]), "holds lists or records"),
        (pl.Series([{"a": 1}, {"a": 2}]), "holds lists or records"),
        (pl.Series([[1, 2], [3, 4]], dtype=pl.Array(pl.Int64, 2)), "holds lists or records"),
        (pl.Series([object(), object()], dtype=pl.Object), "is of the type Object"),
        (pl.Series([1, 2], dtype=pl.Int128), "is of the type Int128"),
    ],
)
def test_a_column_without_single_values_is_named(series, says):
    table = pl.DataFrame({"age": [1, 2], "odd": series})
    for form in (table, *([table.to_arrow()] if "lists" in says else [])):
        with pytest.raises(DataError, match=f"column 'odd' {says}"):
            microaggregate(form, k=2, quasi_identifiers="age")


TABLE = pl.DataFrame({"age": [1, 2]})


@for_each(
    ("given", "says"),
    [
        (TABLE.lazy(), r"polars.LazyFrame, of which nothing is computed yet: pass what \.collect\(\) returns"),
        (TABLE["age"], r"polars.Series: pass what \.to_"),
        (TABLE.to_arrow().to_batches()[0], r"pyarrow.RecordBatch: pass what \.to_pandas"),
        (np.eye(2), r"numpy.ndarray: pandas.DataFrame\(X, columns=\[\.\.\.\]\) makes one"),
        (None, "not NoneType"),
        ("people.csv", r"not the name of a file: microagg\.tables\.read_table\(name\) reads it"),
        (pa.table([[1, 2], [3, 4]], names=["age", "age"]), "column name 'age' occurs more than once"),
        (pl.DataFrame({"age": []}, schema={"age": pl.Int64}), r"only 0 records.*can be formed\.$"),
    ],
)
def test_other_tables_are_refused_with_what_to_do(given, says):
    with pytest.raises(DataError, match=says):
        microaggregate(given, k=2)


def test_without_pyarrow_polars_is_told_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(DataError, match=r"a table of polars needs the package pyarrow: install microagg\[files\]"):
        microaggregate(TABLE, k=2)


def test_digest_of_arrays():
    X = np.arange(12.0).reshape(4, 3)
    assert digest_array(X) == digest_array(X.copy(order="F")) == digest_array(X.tolist())
    others = [X.reshape(3, 4), X.astype(np.float32), X + 1e-9, X[:0], X.ravel(), X.astype("M8[D]")]
    assert len({digest_array(other) for other in [X, *others]}) == 7
    assert digest_array(np.float64(1.5)) != digest_array(np.float64(2.5))
    with pytest.raises(ParameterError, match="array of numbers"):
        digest_array(np.array(["a", None], dtype=object))
