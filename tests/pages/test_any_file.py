"""Files that nobody expects, through all pages: shown and released, or refused in one sentence."""

import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
import streamlit as st

from microagg.release import source as sources
from tests.pages.helpers import accept, choose, metrics, open_survey, plain, table_of_columns, upload, visit

N = 30
RNG = np.random.default_rng(0)
X = RNG.gamma(3, 10, N).round(2)


def csv(**columns):
    return pd.DataFrame({**columns, "x": X}).to_csv(index=False).encode()


def parquet(**columns):
    buffer = io.BytesIO()
    pyarrow.parquet.write_table(pa.table({**columns, "x": X}), buffer)
    return buffer.getvalue()


def days(low, high):
    return pa.array(RNG.integers(low, high, N).tolist(), pa.int64())


RELEASED = {
    "from 2^53.csv": csv(a=2**53 + 7 * np.arange(N)),
    "constant.csv": csv(a=[1e17] * N),
    "adjacent.csv": csv(a=np.where(X > 30, 1.0, np.nextafter(1.0, 2.0))),
    "beyond 64 bits.csv": csv(a=[10**20 + 37 * i for i in range(N)]),
    "400 digits.csv": csv(a=["9" * 400 if i % 2 else str(i) for i in range(N)]),
    "nanoseconds.parquet": parquet(a=pd.Timestamp("2020-01-01") + pd.to_timedelta(RNG.integers(0, 999, N), "ns")),
    "ancient.csv": csv(a=[f"{1500 + 10 * i}-01-0{1 + i % 9}" for i in range(N)]),
    "any year.parquet": parquet(
        a=pa.array([86_400_000_000 * d for d in days(-700_000, 5_000_000).to_pylist()]).cast(pa.timestamp("us"))
    ),
    "bytes.parquet": parquet(a=[b"\xff\x00", b"a"] * (N // 2)),
    "own words.csv": csv(**{"PC 1": X * 2, "PC 2": X[::-1], "index": np.arange(N) % 7, "group": np.arange(N) % 5}),
    "long.csv": csv(**{"n" * 1000: np.arange(N) % 7, "c": [chr(97 + i % 5) * 1000 for i in range(N)]}),
}
ON_ALL_PAGES = ("from 2^53.csv", "any year.parquet", "own words.csv", "long.csv")
REFUSED = {
    "1e308.csv": (csv(a=RNG.uniform(-1, 1, N) * 1.7e308), "its square is too large"),
    "tiny.csv": (csv(a=5e-324 * (np.arange(N) % 5)), "its square is 0"),
    "infinite.parquet": (parquet(a=np.where(X > 30, np.inf, X)), "has infinity in record"),
}


@pytest.mark.parametrize("name", RELEASED)
def test_any_file_is_shown_and_released(name):
    app = upload(name, RELEASED[name], ks="3", k="3", methods="mdav")
    assert not app.error
    accept(app)
    for page in ("choose_k", "clusters", "release") if name in ON_ALL_PAGES else ("release",):
        visit(app, page)
        assert not app.error
    assert "each combination of quasi-identifiers is that of at least 3" in plain(app)


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_grouped_is_said_in_one_sentence_there_and_on_the_pages_after(name):
    content, says = REFUSED[name]
    app = upload(name, content, ks="3", k="3", methods="mdav")
    assert [says in error.value for error in app.error] == [True]
    for page in ("choose_k", "release"):
        visit(app, page)
        assert [says in error.value for error in app.error] == [True]


def test_the_beginning_of_a_wide_file_is_shown_and_said_to_be():
    frame = pd.DataFrame(RNG.integers(0, 9, (40, 450)), columns=[f"question {j}" for j in range(450)])
    app = upload("wide.csv", frame.to_csv(index=False).encode(), ks="3", k="3", methods="mdav")
    assert len(table_of_columns(app)) == 450
    assert [len(table.value.columns) for table in app.dataframe][-1] == 100
    accept(app)
    for part in ("side_by_side", "attributes"):  # what is folded is drawn once it is opened
        app.session_state[part] = True
    visit(app, "release")
    for most in ("most affected 20", "most affected 200", "first 30"):
        assert f"the {most} of 450 quasi-identifiers" in plain(app)


def test_of_a_wide_file_with_categories_the_quick_method_is_chosen_and_a_sample_compared(monkeypatch):
    says = "The default for so many columns: it is quick"
    app = open_survey("clusters")
    assert app.selectbox(key="w_method_chosen").value == "k-member"
    assert says not in plain(app)
    st.cache_resource.clear()
    monkeypatch.setattr(sources, "MOST_VALUES", 500)
    monkeypatch.setattr(sources, "SAMPLED_VALUES", 400)
    monkeypatch.setattr(sources, "LEAST_SAMPLE", 40)
    app = open_survey("clusters")
    assert app.selectbox(key="w_method_chosen").value == "mondrian"
    assert says in plain(app)
    assert "This is a sample" in plain(app)
    assert says not in plain(choose(app, w_method_chosen="k-member"))
    assert metrics(visit(app, "release"))["Records"] == "300"


def test_long_texts_are_cut():
    app = upload("texts.csv", csv(a=[chr(97 + i % 5) * 100_000 for i in range(N)]))
    shown = app.dataframe[-1].value["a"]
    assert shown.str.len().max() == 200
