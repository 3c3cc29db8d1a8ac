"""The page Clusters."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from microagg import Schema, datasets, microaggregate
from microagg.columns.records import Attribute
from microagg.columns.taxonomy import Taxonomy
from microagg.explain.coordinates import principal_coordinates
from microagg.partition import canonical_labels
from microagg.studies import landscape
from pages.clusters import group
from pages.clusters.plane import Axis
from pages.shared import text, theme
from tests.conftest import load_benchmark
from tests.pages.helpers import (
    FRAME,
    choose,
    decode,
    figures,
    labels,
    lines,
    links,
    open_page,
    open_survey,
    partitions,
    plain,
    roles,
    settle,
    unescaped,
    upload,
)

KINDS = {"region": "category", "education": "ordered", "age": "number", "rent": "number"}
LEVELS = sorted(FRAME["education"].unique())


def columns(kinds=KINDS, **others):
    return roles(kinds, other="other", **others)


def open_table(rows, kinds, **query):
    """Open the page with a file of these lines, and their columns as quasi-identifiers."""
    content = "\n".join([",".join(kinds), *rows]).encode()
    app = upload("a.csv", content, "clusters", columns=roles(kinds, kinds), **query)
    assert not app.error
    return app


def records_of(app, side=0):
    """Return what a panel shows of each record by its name: group, place, color and size of its mark."""
    parts = []
    for trace in figures(app)[side]["data"]:
        if not trace.get("customdata"):
            continue
        at, _, groups, _ = np.transpose(trace["customdata"]).astype(int)
        shown = {"group": groups, "at": at, "x": trace["x"], "y": trace["y"], "color": trace["marker"]["color"]}
        parts.append(pd.DataFrame(shown, index=trace["hovertext"]).assign(size=trace["marker"]["size"]))
    return pd.concat(parts).sort_values("at")


def groups_of(app, side=0):
    return records_of(app, side)["group"].astype(int)


def axis_of(app, name):
    return figures(app)[0]["layout"][name]


def title_of(app, name):
    return axis_of(app, name)["title"]["text"]


def standard(name):
    data = load_benchmark(name).frame[list(load_benchmark(name).quasi_identifiers)]
    return (data - data.mean()) / data.std(ddof=0)


def lost_of(X, groups):
    """Return the squared distances to the means of groups, by record and attribute."""
    return (X - X.groupby(np.asarray(groups)).transform("mean")) ** 2


def test_clusters_show_both_partitions_on_the_same_axes():
    app = open_page("clusters", data="tarragona", k="5", second="mdav-plus")
    one, other = (figure["layout"] for figure in figures(app)[:2])
    for name in ("xaxis", "yaxis"):
        assert one[name] == other[name]
    assert "**MDAV*: loss 22.2 %, 147 groups**" in plain(app)
    assert "**MDAV+: loss 22.9 %, 166 groups**" in plain(app)
    assert partitions(app) == [("22.2 %", "20.1 %", "147"), ("22.9 %", "20.1 %", "166")]
    assert "MDAV* has 2.7 % lower loss than MDAV+" in unescaped(app.header[0].value)
    assert "sample" not in plain(app)
    assert links(app) == ["**Release →**"]
    # Records that both sides group alike are small where only differences stand out.
    one, other = (groups_of(app, side) for side in range(2))
    members = [groups.groupby(groups).apply(lambda part: frozenset(part.index)) for groups in (one, other)]
    differ = np.array([members[0][a] != members[1][b] for a, b in zip(one, other, strict=True)])
    assert 0 < differ.sum() < len(differ)
    [toggle] = [each for each in app.toggle if each.label == f"Differences only ({differ.sum()} of 834 records)"]
    toggle.set_value(True)
    settle(app)
    shown = [records_of(app, side) for side in range(2)]
    for each in shown:
        assert ((each["size"] == 8) == differ).all()
    # A record has the color of the side on which it loses less.
    gray = [each["color"] == theme.NEUTRAL for each in shown]
    assert not (~gray[0] & ~gray[1]).any()
    assert (~gray[0] | ~gray[1])[differ].mean() > 0.9


def test_stored_partitions_need_no_run_and_stand_under_both_curves(monkeypatch):
    def fail(*_):
        raise MemoryError

    monkeypatch.setattr("pages.shared.jobs.experiment.run_one", fail)
    app = open_page("clusters", data="tarragona", k="5", second="v-mdav", demo="1")
    assert not app.error
    runs = landscape.runs().query("data == 'tarragona' and k <= 20").set_index(["method", "k"])["information_loss"]
    assert [lost for lost, _, _ in partitions(app)] == [text.percent(runs[name, 5]) for name in ("mdav-star", "v-mdav")]
    assert lines(app)["MDAV*"] == pytest.approx(runs["mdav-star"].to_numpy())
    [bars] = figures(app)[1]["data"]
    less = 100 * (1 - runs["mdav-star"] / runs["v-mdav"])
    assert decode(bars["y"]) == pytest.approx(less.to_numpy())
    assert f"{(less > 0).sum()} of 19 values of k" in plain(app)


def test_v_mdav_stands_beside_mdav_star_and_each_beside_the_other():
    app = open_page("clusters", data="wine", k="4")
    assert app.selectbox(key="w_second").value == "v-mdav"
    assert choose(app, w_method_chosen="v-mdav").selectbox(key="w_second").value == "mdav-star"
    assert "fewer than k = 179" in unescaped(choose(app, w_k_chosen=179).error[0].value)


def test_spokes_lead_to_the_means_and_colors_rise_with_the_loss():
    app = open_page("clusters", data="wine", k="4", plane="attributes", x="alcohol", y="ash")
    frame, X = load_benchmark("wine").frame, standard("wine")
    for place in range(2):
        shown = records_of(app, place)
        groups = shown["group"].to_numpy()
        lost = lost_of(X, groups).sum(axis=1)
        each = lost.groupby(groups).sum()
        # The five groups with the largest losses stand out, each record joined to the mean.
        assert sorted(shown.loc[shown["size"] == 8, "group"].unique()) == sorted(each.nlargest(5).index)
        spokes = {name: decode(figures(app)[place]["data"][0][name]).reshape(-1, 3) for name in "xy"}
        rows = np.flatnonzero(shown["size"] == 8)
        for axis, name in (("x", "alcohol"), ("y", "ash")):
            assert shown[axis].to_numpy() == pytest.approx(frame[name].to_numpy())
            assert spokes[axis][:, 0] == pytest.approx(frame[name].to_numpy()[rows])
            assert spokes[axis][:, 1] == pytest.approx(frame[name].groupby(groups).transform("mean").to_numpy()[rows])
        assert (np.diff(shown["color"].to_numpy()[np.argsort(lost)]) >= -1e-12).all()
    assert figures(app)[0]["data"][-1]["marker"]["colorbar"]["title"]["text"] == "loss of a record, % of variation"


def test_a_group_that_is_chosen_shows_its_values_and_where_else_its_records_are(monkeypatch):
    seen = []
    usual = group.chosen
    monkeypatch.setattr(group, "chosen", lambda workspace, sides: seen.append(workspace) or usual(workspace, sides))
    app = open_page("clusters", data="wine", k="4")
    assert "× All groups" not in labels(app)
    record = 17
    app.session_state["clusters_chosen"] = (seen[0].digest, 0, record)
    settle(app)
    shown, other = records_of(app), groups_of(app, 1)
    one = shown["group"]
    number = one[str(record)]
    members = one.index[one == number]
    for side in range(2):
        assert set(records_of(app, side).query("size == 8").index) == set(members)
    assert f"Group {number} of MDAV*: {len(members)} records, " in plain(app).replace("**", "")
    table = app.dataframe[0].value
    assert table["record"].tolist() == ["→ released", *members]
    assert table["other"].tolist() == ["", *other[members].astype(str)]
    values = load_benchmark("wine").frame.loc[members.astype(int), "alcohol"]
    assert table["a0"].tolist() == [text.number(value) for value in (values.mean(), *values)]
    parts = other[members].nunique()
    assert (f"among {parts} groups" if parts > 1 else "V-MDAV has them all in group") in plain(app)
    # Of other data nothing is chosen.
    app.session_state["choices"] = dataclasses.replace(app.session_state["choices"], scale="none")
    assert "× All groups" not in labels(settle(app))


def test_the_records_that_lose_most_lie_furthest_from_their_centroids():
    app = open_page("clusters", data="wine", k="4")
    groups, X, frame = groups_of(app).to_numpy(), standard("wine"), load_benchmark("wine").frame
    parts = lost_of(X, groups)
    lost = parts.sum(axis=1)
    table = app.dataframe[0].value
    first, name = int(table["record"][0]), table["attribute"][0]
    assert first == lost.idxmax()
    assert table["share"].to_numpy() == pytest.approx(100 * lost.nlargest(20).to_numpy() / lost.sum())
    assert name == parts.loc[first].idxmax()
    mean = frame.loc[groups == groups[first], name].mean()
    assert table["change"][0] == f"{text.number(frame[name][first])} → {text.number(mean)}"


def test_numbers_are_drawn_on_the_axes_of_largest_variance_or_of_most_loss():
    app = open_page("clusters", data="wine", k="5")
    X = standard("wine")
    largest = np.sort(np.linalg.eigvalsh(np.cov(X.T, ddof=0)))[::-1]
    for place, axis in enumerate("xy"):
        assert records_of(app)[axis].to_numpy().var() == pytest.approx(largest[place], rel=1e-5)
        assert f"component {place + 1} ({100 * largest[place] / 13:.0f} %)" in title_of(app, f"{axis}axis")
    choose(app, w_plane="loss")
    lost = lost_of(X, groups_of(app)).sum()
    names = [title_of(app, f"{axis}axis").split(" (")[0] for axis in "xy"]
    assert names == lost.nlargest(2).index.tolist()


def test_skewed_attributes_are_drawn_on_a_scale_on_which_they_can_be_told_apart():
    app = open_page("clusters", data="tarragona", k="5", x="PAID.UP.CAPITAL", y="NET.PROFIT")
    capital, profit = (load_benchmark("tarragona").frame[name] for name in ("PAID.UP.CAPITAL", "NET.PROFIT"))
    assert axis_of(app, "xaxis").get("type") == "log"
    assert records_of(app)["x"].to_numpy() == pytest.approx(capital.to_numpy())
    # There is no logarithm of a loss.
    assert axis_of(app, "yaxis").get("type") != "log"
    assert records_of(app)["y"].to_numpy() == pytest.approx(profit.to_numpy())


def test_a_single_attribute_is_drawn_along_a_line_and_a_single_record():
    app = open_table("1278", {"a": "number"}, k="2")
    assert records_of(app)["x"].tolist() == [1, 2, 7, 8]
    assert records_of(app)["y"].tolist() == [0, 0, 0, 0]
    app = open_table(["1,2"], {"a": "number", "b": "number"}, k="1")
    assert len(groups_of(app)) == 1
    assert "The loss is 0" in plain(app)


def shares(groups):
    """Return what each record loses of each attribute: the range of its group as a share of the whole."""
    ranks = FRAME["education"].map({level: rank for rank, level in enumerate(LEVELS)})
    numbers = pd.DataFrame({"education": ranks, "age": FRAME["age"], "rent": FRAME["rent"]})
    spread = numbers.groupby(groups).transform("max") - numbers.groupby(groups).transform("min")
    differ = FRAME["region"].groupby(groups).transform("nunique") > 1
    return pd.concat([differ.astype(float), spread / (numbers.max() - numbers.min())], axis=1)


def test_categories_have_principal_coordinates_and_what_generalizing_loses():
    given = {"columns": columns(sickness_days="confidential"), "classes": "sickness_days"}
    app = open_survey("clusters", **given, k="6", method="k-member")
    assert not app.error
    trees = {"region": Taxonomy.flat(sorted(FRAME["region"].unique()))}
    schema = Schema.infer(FRAME, quasi_identifiers=list(KINDS), ordinal={"education": LEVELS}, taxonomies=trees)
    plane = principal_coordinates(schema.records(FRAME))
    for place, axis in enumerate("xy"):
        assert records_of(app)[axis].abs().to_numpy() == pytest.approx(np.abs(plane.points[:, place]), rel=1e-5)
        assert f"coordinate {place + 1} ({100 * plane.shares[place]:.0f} %)" in title_of(app, f"{axis}axis")
    assert "% of the largest possible" in figures(app)[0]["data"][-1]["marker"]["colorbar"]["title"]["text"]
    groups, others = (groups_of(app, side).to_numpy() for side in range(2))
    lost = shares(groups)
    whole = 100 * lost.to_numpy().mean()
    total, floor, number = partitions(app)[0]
    assert total == text.percent(whole)
    assert 0 < float(floor.removesuffix(" %")) < whole
    assert f"discernibility {(np.bincount(groups) ** 2).sum():,}," in plain(app)
    usual = FRAME["sickness_days"].groupby(groups).agg(lambda part: part.value_counts().iloc[0]).sum()
    assert f"classification {text.percent(100 * (300 - usual) / 300)}," in plain(app)
    assert number == str(groups.max())
    less = 100 * (1 - lost.to_numpy().sum() / shares(others).to_numpy().sum())
    assert f"Greedy k-member has {text.percent(less, 2)} lower loss than" in unescaped(app.header[0].value)
    # The groups that have least in common lose most.
    each = lost.sum(axis=1).groupby(groups).sum()
    table = app.dataframe[0].value
    assert table["share"].to_numpy() == pytest.approx(100 * each.nlargest(20).to_numpy() / each.sum())
    numbers = table["group"].str.partition(" ")[0].astype(int)
    assert numbers.nunique() == 20
    for number, column, change in zip(numbers, table["attribute"], table["change"], strict=True):
        assert lost.loc[groups == number, column].max() == lost[groups == number].to_numpy().max()
        members = FRAME.loc[groups == number, column]
        assert change == ("anything" if column == "region" else f"[{members.min()}, {members.max()}]")


def test_ordered_categories_are_an_axis_in_their_order():
    app = open_survey("clusters", columns=columns(), x="education", y="rent", k="6")
    assert axis_of(app, "xaxis")["ticktext"] == LEVELS
    assert list(decode(axis_of(app, "xaxis")["tickvals"])) == list(range(len(LEVELS)))
    assert "ticktext" not in axis_of(choose(app, w_plane="components"), "xaxis")
    # A category without an order is no axis: the usual plane is shown instead.
    app = open_survey("clusters", columns=columns(), x="region", k="6")
    assert "principal coordinate" in title_of(app, "xaxis")


def test_groups_stay_within_strata():
    kinds = {"age": "number", "rent": "number"}
    app = open_survey("clusters", columns=columns(kinds, region="stratum"), k="5")
    assert "within the strata of region" in plain(app)
    for side in range(2):
        assert (FRAME["region"].groupby(groups_of(app, side).to_numpy()).nunique() == 1).all()
    assert "strata have fewer than k = 250 records" in unescaped(choose(app, w_k_chosen=250).error[0].value)


def test_a_sample_is_called_one_and_its_records_keep_their_names():
    app = open_page("clusters", data="adult", sample="300", k="10", second="mondrian")
    assert not app.error
    assert "a sample of 300 of 30,162 records" in plain(app)
    # What is proven of a sample is no floor of the file.
    assert [bound for _, bound, _ in partitions(app)] == ["", ""]
    groups = groups_of(app)
    income = load_benchmark("adult").frame.loc[groups.index.astype(int), "income"]
    majority = income.groupby(groups.to_numpy()).agg(lambda part: part.value_counts().iloc[0]).sum()
    assert f"classification {text.percent(100 * (300 - majority) / 300)}," in plain(app)


def test_names_of_columns_and_records_are_shown_letter_by_letter():
    kinds = {"![x](y)": "category", "<b>n</b>": "number", "m": "number"}
    app = open_table([f"{'uv'[i % 2]},{i},{i * i % 7}" for i in range(12)], kinds, x="<b>n</b>", k="3")
    assert title_of(app, "xaxis") == "&lt;b&gt;n&lt;/b&gt;"


def test_values_are_written_as_their_attribute_has_them():
    born = SimpleNamespace(name="born", kind="numeric", unit="day", levels=(), taxonomy=None)
    axis = Axis.of(born, np.array([0.0, 365.0]))
    assert axis.ticks == {"type": "date"}
    assert list(pd.to_datetime(axis.values, unit="ms").strftime("%Y-%m-%d")) == ["1970-01-01", "1971-01-01"]
    assert text.value(born, 365.4) == "1971-01-01"
    born.unit = "year"
    assert text.value(born, 400.0) == "1971"
    assert text.value(Attribute("x"), 1234.5) == "1,234"
    assert text.value(Attribute("x", "ordinal", ("low", "high")), 1) == "high"
    tree = Taxonomy.flat(["a", "b"])
    assert text.value(Attribute("x", "nominal", (), tree), tree.leaves[1]) == "b"


def test_groups_are_drawn_as_they_are_released():
    app = open_page("clusters", data="wine", k="5", second="t-closeness-first", closeness="target=0.3")
    assert not app.error
    assert "at most 0.3 from" in plain(app)
    frame = datasets.load("wine").frame
    how = {"quasi_identifiers": [name for name in frame.columns if name != "target"], "confidential": "target"}
    for side, method in enumerate(("mdav-star", "t-closeness-first")):
        release = microaggregate(frame, k=5, method=method, closeness={"target": 0.3}, **how)
        drawn = canonical_labels(groups_of(app, side).to_numpy() - 1)
        assert drawn.tolist() == canonical_labels(release.partition.labels).tolist()
    refused = open_page("clusters", data="wine", k="5", diversity="target=4", second="t-closeness-first")
    assert "cannot be met" in plain(refused)
    without = open_page("clusters", data="wine", k="5", second="t-closeness-first")
    assert without.selectbox(key="w_second").value == "v-mdav"
