"""Rounded means and medians look like the numbers of the file, and everything is measured on what is released."""

import numpy as np
import pandas as pd
import pytest

from microagg import ParameterError
from microagg.api import microaggregate
from tests.release.common import Blocks, use


@pytest.fixture(autouse=True)
def blocks(monkeypatch):
    use(monkeypatch, Blocks)


def release_of(values, k=3, dtype=None, **choices):
    frame = pd.DataFrame({"a": pd.Series(values, dtype=dtype)})
    return microaggregate(frame, **{"k": k, "method": "blocks", "rounding": "file", "scale": "none"} | choices)


@pytest.mark.parametrize("dtype", ["int64", "Int64", "Int16", "uint8", "int64[pyarrow]"])
def test_integers_stay_integers_of_their_type(dtype):
    # The means are 7/3 and 32/3.
    release = release_of([1, 2, 4, 10, 11, 11], dtype=dtype)
    assert release.frame["a"].dtype == dtype
    assert release.frame["a"].tolist() == [2, 2, 2, 11, 11, 11]


def test_figures_are_of_the_rounded_values():
    release = release_of([1, 2, 4, 10, 11, 11])
    lost, utility = release.report.loss, release.report.utility.attributes[0]
    # 1 + 0 + 4 and 1 + 0 + 0, of 5.5² + 4.5² + 2.5² + 3.5² + 4.5² + 4.5² about the mean 6.5.
    assert (lost.sse, lost.sst) == (6.0, 109.5)
    assert lost.information_loss == pytest.approx(600 / 109.5)
    assert lost.lower_bound <= lost.information_loss
    assert (utility.mean_before, utility.mean_after) == (6.5, 6.5)
    assert utility.sd_after == pytest.approx(4.5)
    exact = release_of([1, 2, 4, 10, 11, 11], rounding="none")
    assert exact.recipe["release_sha256"] != release.recipe["release_sha256"]
    # More than all can be lost: the mean 0.25 becomes 0, so SSE = 1 and SST = 0.75. Means are then not kept.
    more = release_of([0, 0, 0, 1], k=4)
    assert more.report.loss.information_loss == more.report.loss.attributes["a"] == pytest.approx(400 / 3)
    assert more.report.utility.attributes[0].mean_after == 0 < more.report.utility.attributes[0].mean_before
    # Ranges are not rounded.
    ranges = [release_of([1.5, 2.25, 3.0], statistic="generalize", rounding=how) for how in ("none", "file")]
    assert ranges[1].frame["a"].tolist() == ["[1.5, 3]"] * 3
    assert ranges[0].recipe["release_sha256"] == ranges[1].recipe["release_sha256"]
    with pytest.raises(ParameterError, match="rounding must be one of 'none', 'file', not 2"):
        release_of([1, 2, 3], rounding=2)


def test_halves_go_to_the_even_number():
    assert release_of([0, 1, 1, 2, 2, 3], k=2).frame["a"].tolist() == [0, 0, 2, 2, 2, 2]
    assert release_of([0.1, 0.2, 0.3, 0.4], k=2).frame["a"].tolist() == [0.2, 0.2, 0.4, 0.4]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (pd.Series([170.1, 170.2, 170.4], dtype="float32"), 170.2),
        ([1.25, 2.5, 1.0], 1.58),
        ([1.0, 2.0, 2.0], 2.0),
        ([-0.5, 0.0, 0.5], 0.0),
        ([-1.0, 0.0, 0.0], 0.0),
        ([1 / 3, 1 / 7, 0.5], (1 / 3 + 1 / 7 + 0.5) / 3),
        ([1e-9, 2e-9, 4e-9], 2e-9),
    ],
    ids=str,
)
def test_floats_have_the_decimals_of_their_column(values, expected):
    column = release_of(values).frame["a"]
    assert column.dtype == np.float64
    assert column.tolist() == pytest.approx([expected] * 3, rel=1e-12, abs=0)
    assert not np.signbit(column).any()


def test_medians_are_rounded_too():
    release = release_of([1, 2, 4, 9, 5, 6, 8, 9], k=4, statistic="median")
    assert release.frame["a"].tolist() == [3, 3, 3, 3, 7, 7, 7, 7]
    release = release_of([1, 2, 3, 9, 5, 7, 8, 9], k=4, statistic="median")
    assert release.frame["a"].tolist() == [2, 2, 2, 2, 8, 8, 8, 8]


def test_shares_of_booleans_are_not_rounded():
    frame = pd.DataFrame({"a": [True, False, False, False], "b": [1, 2, 3, 5]})
    out = microaggregate(frame, k=4, method="blocks", quasi_identifiers=["a", "b"], rounding="file").frame
    assert out["a"].tolist() == [0.25] * 4
    assert out["b"].tolist() == [3] * 4


@pytest.mark.parametrize(("largest", "dtype"), [(2**63 - 1, "int64"), (2**64 - 1, "uint64"), (2**63 - 1, "Int64")])
def test_what_does_not_fit_stays_a_float(largest, dtype):
    # As floats these are 2^63 and 2^64.
    column = release_of([largest] * 3 + [0] * 3, dtype=dtype).frame["a"]
    assert column.dtype == np.float64
    assert column.tolist() == [float(largest)] * 3 + [0.0] * 3


def test_a_record_that_is_left_out_has_no_say():
    release = release_of([1.0, 2.0, np.nan, 2.0], missing="drop")
    assert release.frame["a"].tolist() == [2.0, 2.0, 2.0]
    frame = pd.DataFrame({"a": [1.0, 2.0, 0.125, 2.0], "b": [1.0, 2.0, np.nan, 3.0]})
    out = microaggregate(frame, k=3, method="blocks", missing="drop", rounding="file").frame
    assert out["a"].tolist() == [2.0, 2.0, 2.0]
