"""Weighted figures are those of the file in which each record stands as often as its weight says."""

import json

import numpy as np
import pandas as pd
import pytest

from microagg import metrics
from microagg.api import microaggregate, replay
from microagg.errors import DataError, ParameterError
from microagg.partition import group_means
from tests.release.common import QUASI, Blocks, replayed, use


@pytest.fixture
def weighted(frame):
    return frame.assign(w=np.random.default_rng(4).integers(1, 6, 60))


@pytest.fixture
def small(monkeypatch):
    """Two groups in order, of two and of three records."""
    use(monkeypatch, Blocks)
    return pd.DataFrame({"a": [0.0, 10.0, 20.0, 21.0, 30.0], "w": [3, 1, 2, 1, 1], "c": list("uvxyz")})


def release_of(frame, **choices):
    return microaggregate(frame, **{"k": 2, "method": "blocks", "weights": "w", "scale": "none"} | choices)


def test_weights_that_are_text_are_read_as_numbers_where_that_is_said(frame):
    weights = np.random.default_rng(4).integers(11, 66, 60) / 10
    text = frame.assign(w=[f"{weight}".replace(".", ",") for weight in weights])
    how = {"quasi_identifiers": QUASI, "method": "mdav-star"}
    numbers = release_of(frame.assign(w=weights), **how)
    read = release_of(text, numbers={"w": "1.234,5"}, **how)
    pd.testing.assert_frame_equal(read.frame, numbers.frame)
    assert read.report.loss == numbers.report.loss
    replayed(text, read)
    kept = release_of(text, numbers={"w": "1.234,5"}, release_weights="keep", **how)
    assert kept.frame["w"].tolist() == weights.tolist()
    with pytest.raises(ParameterError, match="not among the quasi-identifiers"):
        release_of(text, weights=None, others=["w"], numbers={"w": "1.234,5"}, **how)


def test_means_and_loss_by_hand(small):
    release = release_of(small)
    # (3 · 0 + 10) / 4 and (2 · 20 + 21 + 30) / 4.
    assert release.frame["a"].tolist() == [2.5, 2.5, 22.75, 22.75, 22.75]
    lost = release.report.loss
    # 3 · 2.5² + 7.5² and 2 · 2.75² + 1.75² + 7.25².
    assert lost.sse == pytest.approx(3 * 6.25 + 56.25 + 2 * 7.5625 + 3.0625 + 52.5625)
    # About (0 + 10 + 40 + 21 + 30) / 8 = 12.625.
    assert lost.sst == pytest.approx(3 * 12.625**2 + 2.625**2 + 2 * 7.375**2 + 8.375**2 + 17.375**2)
    assert lost.information_loss == pytest.approx(100 * lost.sse / lost.sst)
    assert lost.attributes == {"a": pytest.approx(lost.information_loss)}
    # No bound is claimed, and weights are no quasi-identifier.
    assert lost.lower_bound is lost.gap is None
    assert json.loads(json.dumps(release.report.to_dict()))["loss"]["lower_bound"] is None
    assert release.report.loss.lower_bound is None
    assert "lower bound" not in release.report.summary()
    assert release.recipe["quasi_identifiers"] == ["a"]
    assert release.report.undeclared_columns == ("c",)
    plain = release_of(small, weights=None, confidential="w")
    assert plain.report.loss.lower_bound > 0
    # Without weights the choice has no effect.
    assert release_of(small, weights=None, confidential="w", release_weights="drop").frame.equals(plain.frame)


@pytest.mark.parametrize("statistic", ["mean", "median"])
@pytest.mark.parametrize("rounding", ["none", "file"])
def test_figures_are_those_of_repeated_records(weighted, statistic, rounding):
    choices = {"k": 4, "quasi_identifiers": QUASI, "scale": "none", "statistic": statistic, "rounding": rounding}
    release = microaggregate(weighted, **choices, weights="w")
    times = weighted["w"].to_numpy()
    before = pd.DataFrame(weighted[QUASI].to_numpy(float).repeat(times, axis=0), columns=QUASI)
    after = pd.DataFrame(release.frame[QUASI].to_numpy(float).repeat(times, axis=0), columns=QUASI)
    labels = release.partition.labels.repeat(times)
    if (statistic, rounding) == ("median", "none"):  # which count each record once
        plain = microaggregate(weighted, **choices).frame[QUASI]
        pd.testing.assert_frame_equal(release.frame[QUASI], plain)
    if (statistic, rounding) == ("mean", "none"):
        np.testing.assert_allclose(after, group_means(before.to_numpy(), labels)[labels], rtol=1e-12)
        assert release.report.loss.sse == pytest.approx(metrics.sse(before.to_numpy(), labels), rel=1e-9)
    lost, utility = release.report.loss, release.report.utility
    errors = np.square(before - after).sum()
    spread = np.square(before - before.mean()).sum()
    assert lost.sse == pytest.approx(errors.sum(), rel=1e-9)
    assert lost.sst == pytest.approx(metrics.sst(before.to_numpy()), rel=1e-9)
    for name in QUASI:
        assert lost.attributes[name] == pytest.approx(100 * errors[name] / spread[name], rel=1e-9)
    change = (after.corr() - before.corr()).abs().to_numpy()
    for j, attribute in enumerate(utility.attributes):
        assert attribute.mean_before == pytest.approx(before[QUASI[j]].mean())
        assert attribute.mean_after == pytest.approx(after[QUASI[j]].mean())
        assert attribute.sd_before == pytest.approx(before[QUASI[j]].std(ddof=0))
        assert attribute.sd_after == pytest.approx(after[QUASI[j]].std(ddof=0))
        assert attribute.correlation_change == pytest.approx(change[j].max())
    assert utility.correlation_change == pytest.approx(change.max())


def test_released_weights_by_hand(small):
    mean, keep, drop = (release_of(small, release_weights=how) for how in ("mean", "keep", "drop"))
    assert mean.frame["w"].tolist() == [2.0, 2.0, 4 / 3, 4 / 3, 4 / 3]
    pd.testing.assert_series_equal(keep.frame["w"], small["w"])
    assert list(mean.frame) == list(keep.frame) == ["a", "w", "c"]
    assert list(drop.frame) == ["a", "c"]
    assert mean.frame["a"].tolist() == keep.frame["a"].tolist() == drop.frame["a"].tolist()
    assert [release.report.release_weights for release in (mean, keep, drop)] == ["mean", "keep", "drop"]


def test_total_weights_of_groups_and_weighted_means_are_kept(weighted):
    out = microaggregate(weighted, k=4, quasi_identifiers=QUASI, weights="w", by="region")
    for members in out.partition.groups():
        assert out.frame["w"].iloc[members].sum() == pytest.approx(weighted["w"].iloc[members].sum())
        assert out.frame["w"].iloc[members].nunique() == 1
    for name in QUASI:
        expected = np.average(weighted[name].to_numpy(float), weights=weighted["w"])
        assert np.average(out.frame[name], weights=out.frame["w"]) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("weights", "says"),
    [
        ([1, 2, np.nan, 4, np.nan], "'w' has no weight in record 2 .*one of 2"),
        ([1, 2, 3, np.inf, 5], r"column 'w' has infinity in record 3"),
        ([1, 2, 3, -np.inf, 5], r"column 'w' has infinity in record 3"),
        ([1, 0, 3, 4, 5], "'w' has the weight 0 in record 1 "),
        ([1, 2, 3, -1.5, -2], r"the weight -1.5 in record 3 .*one of 2"),
        (list("12345"), "'w' is not numeric"),
    ],
    ids=str,
)
def test_bad_weights_are_named(small, weights, says):
    with pytest.raises(DataError, match=says):
        release_of(small.assign(w=weights))


def test_a_record_that_is_left_out_needs_no_weight(small):
    small.loc[1, ["a", "w"]] = np.nan
    release = release_of(small, missing="drop")
    # Groups of the first two and the last two records that are left.
    assert release.frame["a"].tolist() == [(3 * 0 + 2 * 20) / 5] * 2 + [25.5] * 2
    small.loc[3, "w"] = 0.0
    with pytest.raises(DataError, match="in record 3 "):
        release_of(small, missing="drop")


@pytest.mark.parametrize("how", ["mean", "keep", "drop"])
def test_a_weighted_release_can_be_replayed_from_the_same_weights_only(weighted, how):
    release = microaggregate(weighted, k=4, quasi_identifiers=QUASI, weights="w", release_weights=how)
    recipe = replayed(weighted, release)
    with pytest.raises(DataError, match=r"the weights \('w'\) differ"):
        replay(weighted.assign(w=weighted["w"] + 1), recipe)
