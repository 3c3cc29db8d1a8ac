"""The limits of each kind of file, and of the memory that reading one may take."""

import numpy as np
import pandas as pd
import pyreadstat
import pytest

from microagg.errors import DataError
from microagg.tables import notices, read_table
from microagg.tables.limits import LIMITS, cut, exceeds
from microagg.tables.notices import allowed, check_memory
from microagg.tables.writing import written
from tests.cases import for_each


@for_each(
    ("ending", "what", "letter"), [(".dta", "variable label", "ü"), (".sav", "value label", "ü"), (".sav", "name", "€")]
)
def test_texts_are_cut_between_characters(ending, what, letter):
    limit = LIMITS[ending][what]
    text = "x" + letter * limit.most
    short = cut(text, ending, what)
    assert text.startswith(short)
    assert not exceeds(short, ending, what)
    assert exceeds(short + letter, ending, what)


@for_each(("ending", "first"), [(".dta", "0100-01-01"), (".sav", "1582-10-15"), (".xlsx", "1900-03-01")])
def test_dates_outside_the_calendar_of_a_format_are_text(ending, first):
    day = np.datetime64(first, "s")
    frame = pd.DataFrame({"fits": [day, np.datetime64("9999-12-31T23:59:59", "s")], "early": [day - 1, day]})
    read = read_table(written(frame, f"x{ending}").data, name=f"x{ending}")
    assert read["fits"].tolist() == frame["fits"].tolist()
    assert read["early"].tolist() == [str(cell) for cell in frame["early"]]


def test_what_a_writer_cannot_do_is_an_error_with_a_remedy(monkeypatch):
    def fail(*args, **options):
        raise ValueError("no room")

    monkeypatch.setattr(pyreadstat, "write_sav", fail)
    with pytest.raises(DataError, match=r"cannot be written as \.sav \(no room\): choose \.csv or \.parquet"):
        written(pd.DataFrame({"a": [1]}), "x.sav")


def test_allowed_is_twenty_times_the_size_and_200_mb_within_a_quarter_of_the_machine(monkeypatch):
    monkeypatch.setattr(notices, "machine_memory", lambda: None)
    assert allowed(1_000_000) == 220_000_000
    check_memory(201_160_000, 58_000, "x.parquet")
    with pytest.raises(DataError, match=r"201 MB of memory.*20 times its size.*split the file, or save the table as"):
        check_memory(201_160_001, 58_000, "x.parquet")
    with pytest.raises(DataError, match=r"\(0.058 MB\) would take at least 4,300 MB.* columns, or split the file\.$"):
        check_memory(4_300_000_000, 58_000, "x.csv")
    monkeypatch.setattr(notices, "machine_memory", lambda: 400_000_000)
    assert allowed(0) == allowed(10**10) == 100_000_000
    with pytest.raises(DataError, match=r"over the limit of 100 MB, which is a quarter of this machine's memory: "):
        check_memory(150_000_000, 58_000, "x.parquet")
