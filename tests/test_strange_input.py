"""What is no plain table of numbers: read as what it says, or refused in one sentence; never changed unsaid."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

import microagg
from microagg import DataError, MicroaggError, microaggregate
from microagg.columns import guess_columns, summary
from microagg.errors import names_arguments
from microagg.optimum import bounds
from microagg.studies import experiment
from tests.cases import for_each

RNG = np.random.default_rng(0)
X = RNG.normal(size=(24, 3))
MASKED = np.ma.masked_array(X, mask=np.arange(72).reshape(24, 3) == 39)

WAYS = {
    "fit": lambda X: microagg.make("mdav", k=3).fit(X),
    "fit mixed": lambda X: microagg.make("k-member", k=3).fit(X),
    "sweep": lambda X: experiment.sweep(X, ["mdav"], [3]),
    "standardize": microagg.standardize,
    "search": lambda X: microagg.Search(X, k=3),
    "bound": lambda X: bounds.nearest_neighbor_curve(X, [3]),
}
REFUSED = {
    "sparse": (sparse.csr_array(X), "sparse"),
    "sparse matrix": (sparse.csr_matrix(X), "sparse"),
    "masked": (MASKED, "masked values, the first in record 13"),
    "complex": (X + 1j, "omplex"),
    "beyond floats": ([[10**400, 1.0], [2.0, 3.0], [4.0, 5.0]], "too large"),
    "squares beyond floats": (np.sign(X) * 1.7e308, "its square is too large"),
    "dates": (np.array(["2020-01-01", "NaT", "2021-01-01"], "M8[D]")[:, np.newaxis], "dates"),
    "not computed": (pl.DataFrame(X).lazy(), "pass X.collect"),
    "a number": (np.array(3.0), r"records by d attributes"),
}


@for_each("way", WAYS.values())
@for_each(("given", "says"), REFUSED.values())
def test_arrays_that_are_no_plain_numbers_are_refused_in_one_sentence(way, given, says):
    with pytest.raises(DataError, match=says) as caught:
        way(given)
    assert "\n" not in str(caught.value)


def test_sparse_columns_of_a_frame_are_those_numbers():
    frame = pd.DataFrame({"x": X[:, 0], "a": pd.arrays.SparseArray(np.where(X[:, 1] > 1, 2.0, 0.0))})
    dense = frame.astype(float)
    labels = [microagg.make("mdav", k=3).fit(each).labels_.tolist() for each in (frame, dense)]
    assert labels[0] == labels[1]
    released = microagg.microaggregate(frame, k=3, method="mdav").frame
    expected = microagg.microaggregate(dense, k=3, method="mdav").frame
    assert released.astype(float).equals(expected.astype(float))


@for_each("dates", [pd.to_datetime(["2020-01-01", None]), pd.DataFrame({"born": pd.to_datetime(["2020-01-01", None])})])
def test_a_loss_of_dates_is_refused(dates):
    with pytest.raises(DataError, match="dates or durations"):
        microagg.metrics.sse(dates, [0, 0])


def test_names_that_occur_twice_are_refused():
    frame = pd.DataFrame(X, columns=["a", "a", "b"])
    for way in (guess_columns, summary, lambda frame: microagg.microaggregate(frame, k=3)):
        with pytest.raises(DataError, match="'a' occurs more than once"):
            way(frame)


def test_integers_beyond_all_floats_are_named_by_their_column():
    frame = pd.DataFrame({"x": X[:, 0], "a": [10**400 + i for i in range(24)]})
    with pytest.raises(DataError, match=r"column 'a' is not numeric .*401 digits"):
        microagg.microaggregate(frame, k=3, method="mdav", quasi_identifiers=["x", "a"])


def test_columns_that_a_file_could_not_tell_apart_are_refused_before_any_work():
    frame = pd.DataFrame({10: [1, 2, 3, 4, 5, 6], "10": [1, 2, 3, 4, 5, 7]})
    with pytest.raises(DataError, match="the column names 10 and '10' are the same in a file: rename one"):
        microaggregate(frame, k=3, quasi_identifiers=[10])


@for_each("cell", [(1, 2), [1], {"a": 1}, {1}, (), ("a", (1,))])
@for_each("role", ["quasi_identifiers", "confidential", "by", "classes", "weights", "others"])
def test_cells_that_are_no_single_values_are_refused_by_name_or_released_as_they_are(cell, role):
    frame = pd.DataFrame({"age": [31, 33, 35, 60, 62, 64]})
    frame["t"] = pd.Series([cell] * 6, dtype=object)
    if role in ("confidential", "others") or (isinstance(cell, tuple) and role in ("by", "classes")):
        assert microaggregate(frame, k=3, **{role: "t"}).frame["t"].tolist() == [cell] * 6
        return
    with pytest.raises(MicroaggError, match="'t'"):
        microaggregate(frame, k=3, **{role: "t"})


AGES = pd.DataFrame({"age": [31, 33, 35, 60, 62, 64], "ill": list("aabbab")})
LABELS = [0, 0, 0, 1, 1, 1]
STEPS = list(microagg.explain.steps("mdav", X[:6], k=3))
NO_NAME = AGES.set_axis(pd.Index([np.nan, "ill"]), axis=1)
UNEVEN = [[1], [1, 2]]
# What each call must name, and the call, of which one argument is of a wrong type or value.
CALLS = [
    ("array", lambda: microagg.cite(np.arange(3))),
    ("quasi_identifiers", lambda: microaggregate(NO_NAME, k=3, quasi_identifiers=[float("nan")])),
    ("by", lambda: microaggregate(AGES, k=3, by=np.array(3.0))),
    ("weights", lambda: microaggregate(AGES, k=3, weights=())),
    ("dates", lambda: microaggregate(AGES, k=3, dates=[pd.NA])),
    ("column name", lambda: guess_columns(AGES.set_axis([len, "ill"], axis=1))),
    ("no column name", lambda: microagg.metrics.risk.uniqueness(AGES, [["age"]])),
    ("columns", lambda: microagg.metrics.risk.uniqueness(AGES, 3)),
    ("labels", lambda: microagg.Partition(UNEVEN, 1)),
    ("labels", lambda: microagg.metrics.sse(X, UNEVEN)),
    ("ordered", lambda: microagg.metrics.risk.homogeneity(AGES["ill"], LABELS, ordered=X)),
    ("width", lambda: microagg.metrics.risk.interval_disclosure(X, X, 10**400)),
    ("names", lambda: microagg.explain.steps("mdav", X, names=3)),
    ("names", lambda: microagg.explain.steps("mdav", X, names=[None] * 24)),
    ("first", lambda: microagg.explain.lockstep(None, STEPS)),
    ("pairs", lambda: microagg.explain.first_difference([], STEPS, [(0, 0)])),
    ("number", lambda: microagg.explain.value("x")),
    ("information_loss", lambda: microagg.optimum.gap("x", 2.0)),
    ("bound", lambda: microagg.optimum.gap(2.0, None)),
    ("ks", lambda: bounds.nearest_neighbor_curve(X, 3)),
    ("strata", lambda: bounds.nearest_neighbor(X, 3, strata=3)),
    ("watch", lambda: bounds.linear_program(X[:9], 3, 0.1, 3)),
    ("params", lambda: experiment.Method("mdav", 3)),
    ("cells", lambda: experiment.run(X, ["mdav"])),
    ("workers", lambda: experiment.run(X, [(experiment.Method("mdav"), 3)], workers=-1)),
    ("progress", lambda: experiment.sweep(X, ["mdav"], [3], progress=3)),
    ("numbers", lambda: microagg.landscape.recognize([["x"]])),
    ("seed", lambda: microagg.datasets.make_survey(seed="x")),
    ("gamma", lambda: microagg.make("v-mdav", gamma=10**400)),
    ("name", lambda: microagg.tables.written_ending(3)),
    ("cannot be read", lambda: microagg.tables.read_file("\0.csv")),
    ("encoding", lambda: microagg.tables.read_file(b"a,b\n1,2\n", name="x.csv", encoding=3)),
    ("number of bins", lambda: microagg.columns.bin_edges(X[:, 0], 0)),
]


@for_each(("says", "call"), CALLS)
def test_a_wrong_argument_is_named(says, call):
    with pytest.raises(MicroaggError, match=says) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_a_defect_is_no_wrong_argument():
    def defect(names: list[str], k: int = 3) -> None:
        raise KeyError(names[k])

    with pytest.raises(KeyError, match="d"):
        names_arguments(defect)(list("abcd"))
    with pytest.raises(TypeError, match="missing"):
        names_arguments(defect)()
    with pytest.raises(microagg.ParameterError, match=r"k must be int, not 'x' \(str\)"):
        names_arguments(defect)(list("abcd"), "x")


def test_public_functions_are_pickled_by_the_name_of_their_room():
    assert pickle.loads(pickle.dumps(microagg.metrics.sse)) is microagg.metrics.sse
