"""What leaves with a release besides its cells: nothing of the original that is not released."""

import io
import pickle
import zipfile

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
import pytest

from microagg import microaggregate
from microagg.tables import WRITTEN_ENDINGS

#: Stands in all that must not leave, to be looked for in the bytes of files.
SECRET = "Qzx7"
N = 24


def people():
    """Return records of which the last is not released, with secrets wherever a frame can hold them."""
    jobs, sizes = [f"{SECRET} {kind}" for kind in ("queen", "pope")], ["S", "M", f"{SECRET} XL"]
    frame = pd.DataFrame(index=pd.Index([f"{SECRET} {i}" for i in range(N)], name=f"{SECRET} index"))
    frame["name"] = pd.Categorical([f"{SECRET} name {i}" for i in range(N)])
    frame["age"] = [*np.random.default_rng(1).uniform(18, 90, N - 1), np.nan]
    frame["job"] = pd.Categorical(["clerk"] * (N - 2) + jobs)
    frame["size"] = pd.Categorical(["S", "M"] * (N // 2 - 1) + ["S", sizes[2]], categories=sizes, ordered=True)
    ills = ["flu", "gout", f"{SECRET} plague", f"{SECRET} pox"]  # the last one is of somebody in a larger file
    frame["ill"] = pd.Categorical([*ills[:2] * (N // 2 - 1), "flu", ills[2]], categories=ills)
    frame["note"] = ["a", "b"] * (N // 2 - 1) + ["a", f"{SECRET} note"]
    frame.attrs["path"] = f"/home/{SECRET}/people.csv"
    return frame


def released(table, **options):
    roles = {"quasi_identifiers": ["age", "job", "size"], "identifiers": "name", "confidential": ["ill", "note"]}
    how = {"k": 4, "method": "mdav-generic-mixed", "ordinal": {"size": ["S", "M", f"{SECRET} XL"]}, "missing": "drop"}
    return microaggregate(table, **roles, **how, **options)


@pytest.fixture(scope="module")
def release():
    return released(people())


def whole(data):
    """Return the bytes of a file, and of all parts of an archive with their names."""
    if not zipfile.is_zipfile(io.BytesIO(data)):
        return data
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return data + b"".join(name.encode() + archive.read(name) for name in archive.namelist())


def original_numbers():
    """Return the original ages as files hold them: in 64 and 32 bits, and as text."""
    ages = people()["age"].dropna().to_numpy()
    return [form for age in ages for form in (age.tobytes(), age.astype(np.float32).tobytes(), str(age).encode())]


@pytest.mark.parametrize("ending", WRITTEN_ENDINGS)
def test_files_hold_no_original_text_or_number_that_is_not_released(release, ending):
    data, _ = release.export(f"people{ending}")
    assert b"clerk" in whole(data) or ending == ".parquet"  # of which the pages are compressed
    assert SECRET.encode() not in whole(data)
    if ending == ".parquet":
        plain = io.BytesIO()
        pq.write_table(pq.read_table(io.BytesIO(data)), plain, compression="none")
        data = plain.getvalue()
        assert b"clerk" in data
        assert SECRET.encode() not in data
    assert [number for number in original_numbers() if number in whole(data)] == []


def test_parquet_tells_of_released_values_only_in_its_schema_dictionaries_and_statistics(release):
    file = pq.ParquetFile(io.BytesIO(release.export("people.parquet")[0]))
    assert set(file.metadata.metadata or {}) <= {b"ARROW:schema"}
    assert file.schema_arrow.metadata is None
    table = file.read()
    assert table.column_names == ["age", "job", "size", "ill", "note"]
    for i, name in enumerate(table.column_names):
        cells = table.column(name)
        if pa.types.is_dictionary(cells.type):
            assert set(cells.chunk(0).dictionary.to_pylist()) == set(cells.to_pylist())
        statistics = file.metadata.row_group(0).column(i).statistics
        assert statistics.min == min(cells.to_pylist())
        assert statistics.max == max(cells.to_pylist())


def test_workbooks_say_nothing_of_who_wrote_them_when_and_have_no_texts_or_names_aside(release):
    with zipfile.ZipFile(io.BytesIO(release.export("people.xlsx")[0])) as archive:
        assert not [name for name in archive.namelist() if "docProps" in name or "sharedStrings" in name]
        assert b"definedName" not in archive.read("xl/workbook.xml")
        assert {part.date_time for part in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert {part.comment + part.extra for part in archive.infolist()} | {archive.comment} == {b""}


@pytest.mark.parametrize(("ending", "read"), [(".dta", pyreadstat.read_dta), (".sav", pyreadstat.read_sav)])
def test_statistical_files_have_labels_of_released_categories_only(release, tmp_path, ending, read):
    path = tmp_path / f"people{ending}"
    path.write_bytes(release.export(path.name)[0])
    frame, about = read(path)
    labels = {name: sorted(own.values()) for name, own in about.variable_value_labels.items()}
    assert labels == {"job": ["clerk"], "size": ["M", "S"], "ill": ["flu", "gout"]}
    assert list(frame) == ["age", "job", "size", "ill", "note"]
    assert not about.notes
    assert not about.file_label
    assert not any(about.column_labels)


def in_arrow(frame):
    """Return a table with notes on itself and each column, as files of Parquet may have them."""
    table = pa.Table.from_pandas(frame.reset_index(drop=True), preserve_index=False)
    noted = [field.with_metadata({"note": SECRET}) for field in table.schema]
    return table.cast(pa.schema(noted, metadata=table.schema.metadata))


def in_arrow_in_pandas(frame):
    table = in_arrow(frame).to_pandas(types_mapper=pd.ArrowDtype, ignore_metadata=True)
    table.attrs = frame.attrs
    return table


def written(table):
    """Return a table of any kind as the bytes of a file that its own package writes, and as a pickle."""
    stream = io.BytesIO()
    if isinstance(table, pd.DataFrame):
        table.to_parquet(stream, compression=None)
    elif isinstance(table, pl.DataFrame):
        table.write_ipc(stream)
    else:
        pq.write_table(table, stream, compression="none")
    return stream.getvalue() + pickle.dumps(table)


@pytest.mark.parametrize(
    "kind", [pd.DataFrame.reset_index, in_arrow, in_arrow_in_pandas, lambda frame: pl.from_arrow(in_arrow(frame))]
)
def test_frames_carry_no_categories_notes_or_attributes_of_what_is_not_released(kind):
    given = kind(people())
    if f"{SECRET} index" in given:
        given = given.drop(columns=f"{SECRET} index")
    assert SECRET.encode() in written(given)
    made = released(given)
    assert SECRET.encode() not in written(made.frame)
    assert SECRET.encode() not in written(made.to_pandas())
    assert SECRET.encode() not in pickle.dumps(made.partition)
    if isinstance(given, pd.DataFrame):
        assert given.attrs == people().attrs
        assert made.frame.attrs == {}


def test_the_pickle_of_a_part_of_a_table_does_not_hold_the_rest():
    part, rest = in_arrow(people()).slice(0, N - 1), f"{SECRET} note".encode()
    assert rest in pickle.dumps(part)
    assert rest not in pickle.dumps(released(part))


def test_a_shuffled_frame_has_an_index_that_says_nothing_of_the_order_or_the_names():
    frame = released(people(), shuffle=3).frame
    pd.testing.assert_index_equal(frame.index, pd.RangeIndex(N - 1), exact=True)
    assert frame.index.name is None
    assert SECRET.encode() not in written(frame)
    table = in_arrow(people())
    # As Arrow and polars number them; the first record is that of a person whose name is the first.
    table = table.set_column(4, "ill", pa.array(["gout", *table.column("ill").to_pylist()[1:]]).dictionary_encode())
    for given in (table, table.to_pandas(), pl.from_arrow(table)):
        frame = released(given, shuffle=True).to_pandas()
        assert frame["ill"].cat.categories.tolist() == ["flu", "gout"]
    strata = pd.DataFrame({"age": range(12), "town": list("abcd" * 3)})
    release = microaggregate(strata, k=3, quasi_identifiers="age", by="town", shuffle=3, method="mdav")
    order = [stratum.values[0] for stratum in release.report.risk.strata]
    assert "abcd" != "".join(order) == "".join(release.frame["town"].unique())
    kept = released(people()).frame
    assert kept.index.equals(people().index[:-1])  # as it is told: only files are without it
