"""The map of risk and loss on the page Choose k: points, front, what is acceptable, and where no method gets."""

import re

import numpy as np
import pandas as pd
import pytest

import microagg
from microagg import datasets
from microagg.metrics import risk
from microagg.studies import landscape, sweeps
from pages.choose_k import risk_map
from pages.choose_k.risk_map import Limits
from pages.shared import limits
from tests.pages.helpers import choose, decode, figures, open_page, open_survey, plain, settle, unescaped, upload
from tests.pages.test_choose_k import losses, wine

FLOOR = "lower bound"


def drawn(app):
    """Return the lines and points of the map by name, each as its x and y."""
    return {trace["name"]: (decode(trace["x"]), decode(trace["y"])) for trace in figures(app)[0]["data"]}


def stored_floor(k):
    limits = landscape.limits()
    return limits[(limits["data"] == "wine") & (limits["k"] == k)]["floor"].item()


def title_of(app):
    """Return what is written above the figure."""
    return unescaped(next(m.value for m in app.markdown if m.value.startswith(("**With", "**No run"))))


def test_points_are_one_over_the_smallest_group_and_the_loss_of_each_run():
    app = open_page("choose_k", data="wine", ks="3-6", methods=["mdav", "md"], measure="risk", risk_limit="20")
    found = drawn(app)
    for key, name in {"mdav": "MDAV", "md": "MD"}.items():
        assert np.allclose(found[name][0], [100 / k for k in (3, 4, 5, 6)])
        assert np.allclose(found[name][1], losses(key, (3, 4, 5, 6), wine()))
    # The partitions that are stored lose less than both.
    lowest = [landscape.best("wine", k).information_loss for k in (3, 4, 5, 6)]
    assert np.allclose(found["lowest loss at each risk"][0], [100 / k for k in (6, 5, 4, 3)])
    assert np.allclose(found["lowest loss at each risk"][1], lowest[::-1])
    limit, loss = "**With a risk of at most 20 % for every record", f"{lowest[2]:.1f} %**"
    says = f"{limit}, the best known partition at k = 5 has the lowest loss: {loss}"
    assert title_of(app) == says


def test_the_floor_is_a_curve_where_the_risk_follows_from_k():
    found = drawn(open_page("choose_k", data="wine", ks="3, 5, 9", methods="mdav", measure="risk"))
    across, floor = found[FLOOR]
    proven = {k: stored_floor(k) for k in (3, 5, 9)}
    # The first place is the left end of the axis.
    assert np.allclose(across[1:], [100 / 9, 100 / 5, 100 / 3])
    assert np.allclose(floor, [proven[9], proven[9], proven[5], proven[3]])
    assert (floor[1:] <= found["lowest loss at each risk"][1]).all()


def test_records_found_again_are_those_of_the_package_and_lines_say_what_holds_at_the_chosen_k():
    app = open_page("choose_k", data="wine", ks="3-5", k="4", methods="mdav", measure="risk", risk="record_linkage")
    across, _ = drawn(app)["MDAV"]
    X = wine()
    for place, k in enumerate((3, 4, 5)):
        labels = microagg.make("mdav", k=k).fit_predict(X)
        released = np.array([X[labels == label].mean(axis=0) for label in labels])
        assert across[place] == pytest.approx(100 * risk.record_linkage(X, released).share)
        assert across[place] <= 100 / k
    figure = figures(app)[0]
    assert FLOOR not in drawn(app)
    said = [note["text"] for note in figure["layout"]["annotations"]]
    assert {"lower bound at k = 4", "at most 1/4 at k = 4"} <= set(said)
    lines = [shape for shape in figure["layout"]["shapes"] if shape["type"] == "line"]
    floor = stored_floor(4)
    assert any(shape["y0"] == shape["y1"] == pytest.approx(floor) for shape in lines)


@pytest.mark.parametrize("measure", ["homogeneous", "distinct_l"])
def test_confidential_values_are_a_risk(measure):
    query = {"data": "wine", "ks": "3-8", "methods": "mdav", "measure": "risk", "risk": measure, "method": "mdav"}
    app = open_page("choose_k", **query, risk_limit="0")
    target, expected = datasets.load("wine").frame["target"], []
    for k in range(3, 9):
        labels = microagg.make("mdav", k=k).fit_predict(wine())
        n_values = target.groupby(labels).transform("nunique")
        expected.append(100 * (n_values == 1).mean() if measure == "homogeneous" else 100 / n_values.min())
    assert np.allclose(drawn(app)["MDAV"][0], expected)
    # The answer speaks of the same risk.
    title = {"homogeneous": "attribute disclosure", "distinct_l": "l-diversity"}[measure]
    assert f"MDAV at k = 5: {title} {limits.written(expected[2])}, loss" in plain(app)


@pytest.mark.parametrize("is_numeric", [True, False])
def test_risks_that_fit_are_offered_and_stand_in_the_table(is_numeric):
    query = {"ks": "5, 10", "measure": "risk", "risk": "t_closeness"}
    app = open_page("choose_k", data="wine", **query) if is_numeric else open_survey("choose_k", **query)
    linkage = ["Record linkage"] if is_numeric else []
    offered = ["Smallest group", *linkage, "Attribute disclosure", "t-closeness", "l-diversity"]
    assert app.button_group(key="w_risk").options == offered
    assert "the largest distance of the confidential values of a group" in plain(app)
    title = "MDAV" if is_numeric else "Greedy k-member"
    rows = app.dataframe[0].value.query("title == @title").sort_values("k")
    assert rows["max_reidentification"].tolist() == [100 / size for size in rows["smallest_group"]]
    assert ("record_linkage" in rows) == is_numeric
    assert np.allclose(drawn(app)[title][0], rows["t_closeness"])


def test_what_is_acceptable_is_drawn_and_stands_in_the_address():
    query = {"methods": ["mdav", "md"], "method": "md", "measure": "risk", "risk_limit": "10", "limit": "10"}
    app = open_page("choose_k", data="wine", ks="3-8", **query)
    assert re.search(r"at most 10 %.* least is 12\.5 %, the best known partition at k = 8", title_of(app))
    choose(app, w_risk_limit=25.0)
    choose(app, w_limit=30.0)
    assert (app.query_params["risk_limit"], app.query_params["limit"], app.query_params["k"]) == ("25", "30", "4")
    [region] = [shape for shape in figures(app)[0]["layout"]["shapes"] if shape.get("name") == "acceptable"]
    assert (region["x1"], region["y1"]) == (25, 30)
    choose(app, w_limit=limits.NONE)
    choose(app, w_risk_limit=limits.NONE)
    assert "acceptable" not in [shape.get("name") for shape in figures(app)[0]["layout"].get("shapes", ())]


def test_a_new_limit_of_another_risk_chooses_the_smallest_k_that_meets_it():
    query = {"data": "wine", "ks": "3-8", "methods": "mdav", "method": "mdav", "measure": "risk"}
    app = open_page("choose_k", **query, risk="record_linkage", k="8")
    shares = app.dataframe[0].value.query("title == 'MDAV'").set_index("k")["record_linkage"]
    choose(app, w_risk_limit=20.0)  # no change: what is chosen stays
    assert app.query_params["k"] == "8"
    choose(app, w_risk_limit=25.0)
    smallest = int(shares.index[shares <= 25].min())
    assert app.query_params.get("k", "5") == str(smallest)
    assert f"MDAV at k = {smallest} meets the limit: record linkage {shares[smallest]:.3g} % (limit 25 %)" in plain(app)


def test_the_chosen_run_is_ringed_and_every_point_says_which_run_it_is():
    app = open_page("choose_k", data="wine", ks="3-5", k="4", method="md", methods=["mdav", "md"], measure="risk")
    x, y = drawn(app)["chosen"]
    assert np.allclose([x[0], y[0]], [25, losses("md", [4], wine())[0]])
    [points] = [trace for trace in figures(app)[0]["data"] if trace["name"] == "MD"]
    assert points["customdata"] == [["md", 3], ["md", 4], ["md", 5]]
    assert points["hovertext"][1].startswith("<b>MD, k = 4</b>")
    assert "MD at k = 4 exceeds the largest acceptable risk" in plain(app)


def test_what_a_risk_does_not_count_is_said(monkeypatch):
    app = open_page("choose_k", data="wine", ks="3-5", methods="mdav", measure="risk", risk="record_linkage")
    assert "Estimated by" not in plain(app)
    monkeypatch.setattr(sweeps, "MOST_LOOKED_UP", 100)
    monkeypatch.setattr(sweeps, "LOOKED_UP", 60)
    assert "Estimated by 60 of 178 records, drawn at random." in plain(settle(app))
    table = datasets.load("wine").frame.assign(batch=1, note=[None, *"ab" * 88, "a"])
    names = [name for name in table if name not in ("target", "batch", "note")]
    columns = [f"quasi-identifier.number.drop.0:{name}" for name in names]
    columns += [f"confidential...0:{name}" for name in ("target", "batch", "note")]
    query = {"columns": columns, "ks": "3-5", "methods": "mdav", "measure": "risk", "risk": "homogeneous"}
    app = upload("wine.csv", table.to_csv(index=False).encode(), "choose_k", **query)
    assert "Not counted: 'batch' and 'note' (missing values, or one value only)." in plain(app)


def test_categories_have_losses_to_choose_and_no_centroids_to_link_to():
    app = open_survey("choose_k", ks="5, 10", k="5", measure="risk", risk="record_linkage", lost="discernibility")
    assert app.button_group(key="w_lost").options == ["Loss", "Discernibility"]
    found = drawn(app)
    # 300 records: 60 groups of 5, 30 of 10.
    assert np.allclose(found[FLOOR][1], [30 * 100, 30 * 100, 60 * 25])
    assert min(found["Greedy k-member"][1]) == 60 * 25
    app.button_group(key="w_lost").set_value("information_loss")
    settle(app)
    below = drawn(app)[FLOOR][1]
    assert 0 < min(below) < max(below) < min(drawn(app)["Greedy k-member"][1])
    assert "has the lowest loss: " in title_of(app)


def rows_of(risks, loss, ks):
    columns = {"variant": "mdav", "title": "MDAV", "sse": 1.0, "n_groups": 5, "smallest_group": ks}
    return pd.DataFrame({"k": ks, "record_linkage": risks, "information_loss": loss, **columns})


def test_round_values_of_k_are_written_beside_the_points_of_the_front():
    ks = list(range(2, 101))
    rows = rows_of([1 / k for k in ks], [float(k) for k in ks], ks)
    figure = risk_map.risk_map(rows, "record_linkage", "information_loss", Limits(risk=10, loss=None))
    [points] = [trace for trace in figure.data if trace.name == "MDAV"]
    assert len(points.x) == 99
    # 3 is so near 2 that its label would cover the other.
    assert [text for text in points.text if text] == [f"k = {k}" for k in (2, 5, 10, 20, 50, 100)]
    # Left of the points no label covers another point: the axis has the room for that of k = 100, the lowest risk.
    low, high = figure.layout.xaxis.range
    assert (np.log10(min(points.x)) - low) / (high - low) > 0.14
    assert points.textposition == "bottom left"


def test_a_region_is_drawn_up_to_the_limits_on_the_axes_or_not_at_all():
    rows = rows_of([0.2, 0.1], [10.0, 20.0], [3, 5])
    figure = risk_map.risk_map(rows, "record_linkage", "information_loss", Limits(risk=100, loss=500))
    [region] = figure.layout.shapes
    assert region.x1 > figure.layout.xaxis.range[1]  # without a limit of the risk its border is not seen
    assert region.y1 == pytest.approx(figure.layout.yaxis.range[1])
    figure = risk_map.risk_map(rows, "record_linkage", "information_loss", Limits(risk=1, loss=500))
    assert not figure.layout.shapes


def test_equal_risks_and_losses_of_nothing_can_be_drawn():
    rows = rows_of([0.0, 0.0], [0.0, 0.0], [3, 5])
    figure = risk_map.risk_map(rows, "record_linkage", "information_loss", Limits(risk=0, loss=0))
    assert figure.layout.xaxis.range[0] < figure.layout.xaxis.range[1]
    assert figure.layout.yaxis.range[0] < figure.layout.yaxis.range[1]
