"""The report tells what the released frame loses and guarantees."""

import json
import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from microagg.api import microaggregate
from microagg.columns.scaling import Scaling, standardize
from microagg.errors import ConstantColumnWarning
from microagg.metrics import information_loss, sse, sst
from microagg.optimum import bounds
from tests.release.common import QUASI, smallest_class


@pytest.mark.parametrize("scale", ["zscore", "minmax", "none"])
def test_loss_is_that_of_the_partition(frame, scale):
    release = microaggregate(frame, k=4, scale=scale, quasi_identifiers=QUASI)
    raw = frame[QUASI].to_numpy(float)
    Z = Scaling.fit(raw, scale).transform(raw)
    lost = release.report.loss
    assert lost.sse == pytest.approx(sse(Z, release.partition.labels), rel=1e-9)
    assert lost.sst == pytest.approx(sst(Z))
    assert lost.information_loss == pytest.approx(100 * lost.sse / lost.sst)
    assert lost.lower_bound == pytest.approx(bounds.nearest_neighbor(Z, 4).information_loss)
    assert 0 < lost.lower_bound < lost.information_loss
    for j, name in enumerate(QUASI):
        assert lost.attributes[name] == pytest.approx(information_loss(Z[:, j], release.partition.labels))


@pytest.mark.parametrize("by", [None, "region"])
def test_of_one_attribute_the_floor_is_the_optimum(frame, by):
    report = microaggregate(frame, k=4, quasi_identifiers="age", by=by).report
    Z, lost = standardize(frame[["age"]]), report.loss
    parts = [np.arange(len(Z))] if by is None else [np.flatnonzero(frame[by] == value) for value in "ns"]
    assert lost.lower_bound == pytest.approx(100 * sum(bounds.exact(Z[rows], 4)[0] for rows in parts) / sst(Z))
    assert lost.lower_bound == pytest.approx(lost.information_loss)
    assert "so this is the optimum." in report.summary()
    worse = microaggregate(frame, k=4, quasi_identifiers="age", by=by, method="v-mdav", gamma=1.0).report
    assert worse.loss.lower_bound == lost.lower_bound
    assert re.search(r"\(gap [\d.]+ %\)\.", worse.summary())


def test_risk_is_counted_on_the_release(frame):
    release = microaggregate(frame, k=4, quasi_identifiers=QUASI)
    risk = release.report.risk
    assert risk.realized_k == smallest_class(release.frame, QUASI) >= 4
    assert risk.max_reidentification_probability == 1 / risk.realized_k
    assert (risk.n_groups, risk.largest_group) == (release.partition.n_groups, release.partition.sizes.max())
    assert risk.n_classes == len(release.frame[QUASI].drop_duplicates())
    assert risk.n_shared == 60


def test_a_release_below_k_is_withheld(frame, monkeypatch):
    n = len(frame)
    broken = SimpleNamespace(labels=np.arange(n), sizes=np.ones(n, dtype=int), n_groups=n)  # each record alone
    apart = lambda X, partition, *rest: X.values[: partition.n_groups]  # noqa: E731
    monkeypatch.setattr("microagg.release.recoding.group_values", apart)
    monkeypatch.setattr("microagg.release.plan.join_strata", lambda *_: broken)
    with pytest.raises(RuntimeError, match="class of 1 records, fewer than k=4"):
        microaggregate(frame, k=4, quasi_identifiers=QUASI)


def test_utility_compares_before_and_after(frame):
    release = microaggregate(frame, k=6, quasi_identifiers=QUASI)
    utility = release.report.utility
    before, after = frame[QUASI].astype(float), release.frame[QUASI]
    change = (after.corr() - before.corr()).abs().to_numpy()
    for j, attribute in enumerate(utility.attributes):
        assert attribute.name == QUASI[j]
        assert attribute.mean_before == pytest.approx(before.iloc[:, j].mean())
        assert attribute.mean_after == pytest.approx(attribute.mean_before)
        assert attribute.sd_before == pytest.approx(before.iloc[:, j].std(ddof=0))
        assert attribute.sd_after == pytest.approx(after.iloc[:, j].std(ddof=0))
        assert attribute.correlation_change == pytest.approx(change[j].max())
    assert utility.correlation_change == pytest.approx(change.max())
    one, other = (QUASI.index(name) for name in utility.correlation_pair)
    assert change[one, other] == pytest.approx(change.max())


def test_constant_columns_are_fine_and_named(frame):
    plain = microaggregate(frame, k=4, quasi_identifiers=QUASI)
    frame["same"] = 0.1
    with pytest.warns(ConstantColumnWarning, match="one value only .*: 'same'") as caught:
        release = microaggregate(frame, k=4, quasi_identifiers=[*QUASI, "same"])
    assert caught[0].filename == __file__
    assert release.partition == plain.partition
    assert (release.frame["same"] == 0.1).all()
    report = release.report
    assert report.constant_columns == ("same",)
    assert "without having been declared confidential: 'id'," in report.summary()
    assert report.loss.information_loss == pytest.approx(plain.report.loss.information_loss)
    assert report.loss.attributes["same"] == 0.0
    same = report.utility.attributes[-1]
    assert (same.mean_before, same.mean_after, same.sd_before, same.sd_after) == (0.1, 0.1, 0.0, 0.0)
    assert same.correlation_change is None
    assert "'same'" in report.summary()


@pytest.mark.parametrize("scale", ["zscore", "minmax", "none"])
@pytest.mark.parametrize("statistic", ["mean", "median"])
def test_nothing_can_be_lost_where_all_records_are_equal(scale, statistic):
    frame = pd.DataFrame({"a": [0.1] * 7, "b": [1e8 + 0.7] * 7})
    with pytest.warns(ConstantColumnWarning, match="one value only .*: 'a', 'b'"):
        release = microaggregate(frame, k=3, scale=scale, statistic=statistic)
    lost = release.report.loss
    assert lost.information_loss == lost.lower_bound == lost.sse == 0.0
    assert lost.attributes == {"a": 0.0, "b": 0.0}
    pd.testing.assert_frame_equal(release.frame, frame)
    assert release.report.risk.realized_k == 7
    json.dumps(release.report.to_dict(), allow_nan=False)
