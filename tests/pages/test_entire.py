"""What Choose k says of all records of a file of which it compares a sample: their losses, and their floor."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

import microagg
from microagg import metrics, optimum, tables
from microagg.optimum.formatting import percent
from microagg.studies import experiment
from pages.shared import jobs, workspace
from pages.shared import tables as large
from tests.pages.helpers import open_page, plain, press, settle, upload

N, SAMPLE, KS = 12_500, 2_000, (5, 10, 20)
FAMILY = ("mdav", "mdav-plus", "v-mdav", "mdav-star")


def register():
    random = np.random.default_rng(0)
    return pd.DataFrame({"age": random.normal(50, 12, N), "rent": random.lognormal(7, 0.5, N)})


def clusters():
    random = np.random.default_rng(1)
    places = np.repeat(random.uniform(0, 100, (N // 25, 2)), 25, axis=0)
    return pd.DataFrame(places + random.normal(0, 1, places.shape), columns=["east", "north"])


def open_large(frame, folder, monkeypatch, **query):
    """Open Choose k on a large file with more parts than a sample is drawn from."""
    frame.to_parquet(folder / "register.parquet", row_group_size=500)
    monkeypatch.setenv(large.FOLDER, str(folder))
    monkeypatch.setattr(large, "SAMPLE", SAMPLE)
    return settle(open_page("choose_k", data="large", file="register.parquet", **query))


def open_upload(frame, folder, monkeypatch, **query):
    content = frame.to_csv(index=False).encode()
    return settle(upload("clusters.csv", content, "choose_k", sample=str(SAMPLE), **query))


@pytest.mark.parametrize(("make", "open_it"), [(register, open_large), (clusters, open_upload)])
def test_losses_and_floor_are_those_of_all_records(make, open_it, tmp_path, monkeypatch):
    frame = make()
    X = microagg.standardize(frame)
    labels = {key: {k: microagg.make(key, k=k).fit_predict(X) for k in KS} for key in FAMILY}
    losses = {key: {k: metrics.information_loss(X, own) for k, own in of.items()} for key, of in labels.items()}
    own, best = losses["mdav-star"], min(of[5] for of in losses.values())
    limit = f"{(own[10] + own[20]) / 2:.3g}"
    said = plain(open_it(frame, tmp_path, monkeypatch, k="5", ks="5, 10, 20", limit=limit, method="mdav-star"))

    form = rf"\*\*All {N:,} records: MDAV\* at k = 5: gap ([\d.]+) % \(loss ([\d.]+) %, lower bound ([\d.]+) %\)"
    gap, loss, least = map(float, re.search(form, said).groups())
    assert loss == pytest.approx(own[5], rel=5e-3)
    assert gap == pytest.approx(100 * (loss / least - 1), rel=0.1)
    [floor] = optimum.bounds.nearest_neighbor_curve(X, [5])
    assert least == pytest.approx(floor.information_loss, rel=5e-3)
    better = metrics.information_loss(X, microagg.Search(X, 5, labels["mdav-star"][5]).improve(2.0).labels)
    assert least <= better <= best
    # What is proven of a sample is above that: it would be no floor of the file.
    sample = np.random.default_rng(0).choice(N, SAMPLE, replace=False)
    [of_sample] = optimum.bounds.nearest_neighbor_curve(microagg.standardize(X[sample]), [5])
    assert of_sample.information_loss > best

    # The answer is that of all records.
    assert f"All {N:,} records: MDAV* at k = 5 meets both: risk 20 %, loss {percent(own[5])}." in said


def test_only_what_is_quick_is_computed_on_all_records(tmp_path, monkeypatch):
    run = []
    monkeypatch.setattr(jobs, "losses", lambda whole, cells, real=jobs.losses: run.extend(cells) or real(whole, cells))
    open_large(register(), tmp_path, monkeypatch, k="5", ks="5, 10", methods=["mdav", "mdav-plus", "p-s"])
    assert {(method.key, k) for method, k in run} == {("mdav", 5), ("mdav-plus", 5)}
    run.clear()
    open_large(register(), tmp_path, monkeypatch, k="5", ks="5, 10", methods=["mdav", "v-mdav"], best="1")
    assert {method.key for method, _ in run} == {"mdav"}


def test_too_many_records_stay_an_estimate(tmp_path, monkeypatch):
    monkeypatch.setattr(workspace, "_MOST_VALUES", 2 * N - 1)
    said = plain(open_large(register(), tmp_path, monkeypatch, k="5", ks="5, 10"))
    assert not re.search(r"All [\d,]+ records:|gap \d", said)
    assert "Estimate from a sample" in said


def test_what_fails_stays_an_estimate_and_can_be_tried_again(tmp_path, monkeypatch):
    def fail(problem, *given, real=experiment.run_one):
        if len(problem.data) == N:
            raise MemoryError("no room")
        return real(problem, *given)

    with monkeypatch.context() as patch:
        patch.setattr(experiment, "run_one", fail)
        app = open_large(register(), tmp_path, monkeypatch, k="5", ks="5, 10")
        assert "(MemoryError: no room)" in plain(app)
        assert "All 12,500 records: MDAV" not in plain(app)
        assert "Estimate from a sample of 2,000 of 12,500 records" in plain(app)
    settle(press(app, "Go on"))
    assert "All 12,500 records: MDAV* " in plain(app)


def test_what_the_sample_does_not_show_of_the_file_is_said(tmp_path, monkeypatch):
    frame = register()
    frame.to_parquet(tmp_path / "register.parquet", row_group_size=500)
    seen = tables.sample_parquet(tmp_path / "register.parquet", SAMPLE).frame
    missed = int(np.flatnonzero(~frame["age"].isin(seen["age"]))[0])
    frame.loc[missed, "age"] = np.nan
    said = plain(open_large(frame, tmp_path, monkeypatch, k="5", ks="5, 10"))
    assert "'age'" in said
    assert "Estimate from a sample" in said
