"""The page Clusters."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from microagg import Schema, datasets, metrics, microaggregate, standardize
from microagg.columns.records import Attribute
from microagg.columns.taxonomy import Taxonomy
from microagg.explain.coordinates import principal_coordinates
from microagg.partition import canonical_labels
from microagg.release import recoding
from microagg.studies import landscape
from microagg.studies.experiment import Method, Problem, run_one
from pages.clusters import group
from pages.clusters.plane import Axis
from pages.shared import methods, searched, state, text
from pages.shared.workspace import Workspace
from tests.conftest import load_benchmark
from tests.pages.helpers import (
    FRAME,
    choose,
    decode,
    figures,
    lines,
    links,
    open_page,
    open_survey,
    partitions,
    plain,
    roles,
    scene,
    settle,
    traces,
    unpacked,
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


def groups_of(app, side=0):
    """Return the group of each record that a panel shows, by the record's name."""
    shown = scene(app)
    names = [str(row) for row in unpacked(shown["rows"])] if shown["names"] is None else shown["names"]
    return pd.Series(unpacked(shown["sides"][side]["groups"]) + 1, index=names)


def axis_of(app, name):
    return scene(app)["figure"]["layout"][name]


def title_of(app, name):
    return axis_of(app, name)["title"]["text"]


def standard(name):
    data = load_benchmark(name).frame[list(load_benchmark(name).quasi_identifiers)]
    return (data - data.mean()) / data.std(ddof=0)


def lost_of(X, groups):
    """Return the squared distances to the means of groups, by record and attribute."""
    return (X - X.groupby(np.asarray(groups)).transform("mean")) ** 2


# --- numbers ----------------------------------------------------------------------------------------------------------


def test_clusters_show_both_partitions_on_the_same_axes():
    app = open_page("clusters", data="tarragona", k="5", second="mdav-plus")
    layout = scene(app)["figure"]["layout"]
    for letter in "xy":
        assert layout[f"{letter}axis"]["range"] == layout[f"{letter}axis2"]["range"]
        assert layout[f"{letter}axis2"]["matches"] == letter
    titles = [note["text"].split("> ")[1] for note in layout["annotations"]]
    assert titles == ["MDAV*: loss 22.2 %, 147 groups", "MDAV+: loss 22.9 %, 166 groups"]
    assert partitions(app) == [("22.2 %", "20.1 %", "147"), ("22.9 %", "20.1 %", "166")]
    assert "MDAV\\* has 2\\.7 % lower loss than MDAV\\+" in app.header[0].value
    assert "sample" not in plain(app)
    assert links(app) == ["**Release →**"]
    # Records that both sides group alike are marked.
    one, other = (groups_of(app, side) for side in range(2))
    members = [groups.groupby(groups).apply(lambda part: frozenset(part.index)) for groups in (one, other)]
    alike = [members[0][a] == members[1][b] for a, b in zip(one, other, strict=True)]
    assert 0 < sum(alike) < len(alike)
    assert unpacked(scene(app)["alike"]).astype(bool).tolist() == alike


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
    assert "fewer than k=179" in choose(app, w_k_chosen=179).error[0].value


def test_spokes_lead_to_the_means_and_colors_rise_with_the_loss():
    app = open_page("clusters", data="wine", k="4", plane="attributes", x="alcohol", y="ash", axes="linear")
    shown, frame, X = scene(app), load_benchmark("wine").frame, standard("wine")
    levels, losses, said = [], [], []
    for place, (side, line) in enumerate(zip(shown["sides"], ("MDAV*", "V-MDAV"), strict=True)):
        groups = groups_of(app, place).to_numpy()
        for axis, name in zip(side["centroids"], ("alcohol", "ash"), strict=True):
            assert unpacked(axis) == pytest.approx(frame[name].groupby(groups).mean().to_numpy(), rel=1e-6)
        lost = lost_of(X, groups).sum(axis=1)
        assert unpacked(side["shares"]) == pytest.approx((100 * lost / lost.sum()).to_numpy(), rel=1e-5)
        each = lost.groupby(groups).sum()
        assert [group + 1 for group in side["outlined"]] == each.nlargest(5).index.tolist()
        levels.append(unpacked(side["colors"]))
        losses.append(lost.to_numpy())
        # A tenth of the groups loses what the curve says.
        tenth = each.nlargest(int(np.ceil(len(each) / 10))).sum()
        said.append(f"{100 * tenth / lost.sum():.3g} % ({line})")
        curve = decode(traces(app)[line]["y"])
        assert curve[[0, 1, -1]] == pytest.approx([0, 100 * each.max() / lost.sum(), 100])
    assert " and ".join(said) in plain(app)
    # One scale for both sides: more loss is never a lower color, and both ends are in use.
    levels, losses = np.concatenate(levels), np.concatenate(losses)
    assert (np.diff(levels[np.argsort(losses)].astype(int)) >= 0).all()
    assert (levels.min(), levels.max()) == (0, len(shown["palette"]) - 1)
    assert shown["scale"]["of"] == "% of variation"
    assert shown["scale"]["ends"][1] == f"{100 * losses.max() / (X**2).to_numpy().sum():.3g}"


def test_few_groups_have_a_color_each_the_same_on_both_sides():
    app = open_page("clusters", data="wine", k="30")
    shown = scene(app)
    assert shown["scale"] is None
    one, other = (groups_of(app, side).to_numpy() for side in range(2))
    colors = [unpacked(side["colors"]) for side in shown["sides"]]
    for groups, own in zip((one, other), colors, strict=True):
        assert len(set(zip(groups, own, strict=True))) == len(set(own)) == groups.max()
    # The groups with the most records in common look the same.
    first, counterpart = pd.crosstab(one, other).stack().idxmax()
    assert colors[0][one == first][0] == colors[1][other == counterpart][0]
    assert scene(open_page("clusters", data="wine", k="30", colors="loss"))["scale"] is not None
    assert scene(open_page("clusters", data="wine", k="4", colors="group"))["scale"] is None


def chosen(app):
    return scene(app, "chosen")["chosen"]


def test_a_group_that_is_chosen_shows_its_values_and_where_else_its_records_are(monkeypatch):
    seen = []
    usual = group.chosen
    monkeypatch.setattr(group, "chosen", lambda workspace, sides: seen.append(workspace) or usual(workspace, sides))
    app = open_page("clusters", data="wine", k="4")
    assert chosen(app) is None
    record = 17
    app.session_state["clusters_chosen"] = group.Chosen(seen[0].digest, 0, record)
    settle(app)
    one, other = (groups_of(app, side) for side in range(2))
    number = one[str(record)]
    assert chosen(app) == {"side": 0, "record": record, "group": number - 1}
    members = one.index[one == number]
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
    assert chosen(settle(app)) is None


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


def test_parameters_of_the_address_are_used_where_they_have_a_meaning():
    app = open_page("clusters", data="tarragona", k="3", method="v-mdav", **{"v-mdav__gamma": "0.3"})
    assert partitions(app)[0][0] == "15.8 %"
    assert app.query_params["v-mdav.gamma"] == "0.3"
    app = open_page("clusters", data="wine", k="5", method="k-member", **{"k-member__class_penalty": "2"})
    assert not app.error
    assert [box.label for box in app.number_input if "penalty" in box.label] == []


def test_what_the_search_has_found_is_the_chosen_partition(monkeypatch):
    app = open_page("clusters", data="wine", scale="none", k="3", method="found")
    assert not app.error
    assert not partitions(app)
    assert "search again" in app.info[0].value
    assert links(app) == ["Choose k →"]

    def found(workspace: Workspace, k: int):
        result = run_one(Problem.of(workspace.X), Method("mdav-plus"), k)
        return dataclasses.replace(result, method=Method("iterated-local-search"))

    monkeypatch.setattr(searched, "newest", found)
    app = open_page("clusters", data="wine", k="3", method="found", second="mdav")
    X = standardize(datasets.load("wine").X)
    lost = metrics.information_loss(X, run_one(Problem.of(X), Method("mdav-plus"), 3).partition.labels)
    assert partitions(app)[0][0] == text.percent(lost)
    assert f"{methods.title(state.FOUND)}: 20 of 178" in plain(app)


def test_numbers_are_drawn_on_the_axes_of_largest_variance_or_of_most_loss():
    app = open_page("clusters", data="wine", k="5")
    X = standard("wine")
    largest = np.sort(np.linalg.eigvalsh(np.cov(X.T, ddof=0)))[::-1]
    for place, axis in enumerate("xy"):
        assert unpacked(scene(app)[axis]).var() == pytest.approx(largest[place], rel=1e-5)
        assert f"component {place + 1} ({100 * largest[place] / 13:.0f} %)" in title_of(app, f"{axis}axis")
    assert f"({100 * largest[:2].sum() / 13:.0f} %)" in app.selectbox(key="w_plane").options[0]
    choose(app, w_plane="loss")
    lost = lost_of(X, groups_of(app)).sum()
    names = [title_of(app, f"{axis}axis").split(" (")[0] for axis in "xy"]
    assert names == lost.nlargest(2).index.tolist()


def test_skewed_attributes_are_drawn_on_a_scale_on_which_they_can_be_told_apart():
    app = open_page("clusters", data="tarragona", k="5", x="PAID.UP.CAPITAL", y="NET.PROFIT")
    capital, profit = (load_benchmark("tarragona").frame[name] for name in ("PAID.UP.CAPITAL", "NET.PROFIT"))
    assert axis_of(app, "xaxis").get("type") == "log"
    assert unpacked(scene(app)["x"]) == pytest.approx(np.log10(capital), rel=1e-5)
    assert "(asinh scale)" in title_of(app, "yaxis")
    unit = profit[profit != 0].abs().median()
    assert unpacked(scene(app)["y"]) == pytest.approx(np.arcsinh(profit / unit), rel=1e-4, abs=1e-5)
    places = dict(zip(axis_of(app, "yaxis")["ticktext"], decode(axis_of(app, "yaxis")["tickvals"]), strict=True))
    assert places["0"] == 0
    assert all(at == pytest.approx(np.arcsinh(float(said.replace(",", "")) / unit)) for said, at in places.items())
    app = open_page("clusters", data="tarragona", k="5", x="PAID.UP.CAPITAL", y="NET.PROFIT", axes="linear")
    assert unpacked(scene(app)["x"]) == pytest.approx(capital, rel=1e-5)


def test_a_single_attribute_is_drawn_along_a_line_and_a_single_record():
    app = open_table("1278", {"a": "number"}, k="2")
    assert unpacked(scene(app)["x"]).tolist() == [1, 2, 7, 8]
    assert unpacked(scene(app)["y"]).tolist() == [0, 0, 0, 0]
    app = open_table(["1,2"], {"a": "number", "b": "number"}, k="1")
    assert len(groups_of(app)) == 1
    assert "The loss is 0" in plain(app)


# --- categories -------------------------------------------------------------------------------------------------------


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
    shown = scene(app)
    trees = {"region": Taxonomy.flat(sorted(FRAME["region"].unique()))}
    schema = Schema.infer(FRAME, quasi_identifiers=list(KINDS), ordinal={"education": LEVELS}, taxonomies=trees)
    plane = principal_coordinates(schema.records(FRAME))
    for place, axis in enumerate("xy"):
        assert np.abs(unpacked(shown[axis])) == pytest.approx(np.abs(plane.points[:, place]), rel=1e-5)
        assert f"coordinate {place + 1} ({100 * plane.shares[place]:.0f} %)" in title_of(app, f"{axis}axis")
    assert [side["centroids"] for side in shown["sides"]] == [None, None]
    assert shown["scale"]["of"] == "% of the largest possible"
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
    assert f"Greedy k-member has {text.percent(less, 2)} lower loss than" in app.header[0].value.replace("\\", "")
    # The groups that have least in common lose most.
    each = lost.sum(axis=1).groupby(groups).sum()
    table = app.dataframe[0].value
    assert table["share"].to_numpy() == pytest.approx(100 * each.nlargest(20).to_numpy() / each.sum())
    records = table["record"].astype(int)
    assert [entry.partition(" ")[0] for entry in table["group"]] == groups[records].astype(str).tolist()
    assert len(set(groups[records])) == 20
    for record, column, change in zip(records, table["attribute"], table["change"], strict=True):
        assert lost.loc[record, column] == lost.loc[record].max()
        own = FRAME.loc[groups == groups[record], column]
        common = "anything" if column == "region" else f"[{own.min()}, {own.max()}]"
        before = FRAME.loc[record, column]
        assert change == f"{before if isinstance(before, str) else text.number(before)} → {common}"


def test_of_a_group_of_categories_the_record_furthest_from_the_others_is_named():
    # Two groups of four: in the first the third record is the odd one, in the second the fourth.
    sizes = [1, 2, 30, 3, 90, 91, 92, 100]
    rows = [f"{town},{size}" for town, size in zip("aabacccd", sizes, strict=True)]
    table = open_table(rows, {"town": "category", "size": "number"}, k="4").dataframe[0].value
    assert dict(zip(table["record"], table["change"], strict=True)) == {"2": "b → anything", "7": "d → anything"}


def test_ordered_categories_are_an_axis_in_their_order():
    app = open_survey("clusters", columns=columns(), x="education", y="rent", k="6")
    assert axis_of(app, "xaxis")["ticktext"] == LEVELS
    assert list(decode(axis_of(app, "xaxis")["tickvals"])) == list(range(len(LEVELS)))
    assert app.selectbox(key="w_x").options == ["education", "age", "rent"]
    assert "ticktext" not in axis_of(choose(app, w_plane="components"), "xaxis")
    # A category without an order is no axis: the usual plane is shown instead.
    app = open_survey("clusters", columns=columns(), x="region", k="6")
    assert "principal coordinate" in title_of(app, "xaxis")


def test_groups_stay_within_strata():
    kinds = {"age": "number", "rent": "number"}
    app = open_survey("clusters", columns=columns(kinds, region="stratum"), k="5")
    assert "within region" in plain(app)
    for side in range(2):
        assert (FRAME["region"].groupby(groups_of(app, side).to_numpy()).nunique() == 1).all()
    assert "strata have fewer than k=250 records" in choose(app, w_k_chosen=250).error[0].value


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


@pytest.mark.slow
def test_what_groups_have_in_common_is_computed_of_the_attributes_shown_only(monkeypatch):
    texts, asked = recoding.group_texts, []

    def watched(frame, records, *further):
        asked.append([attribute.name for attribute in records.attributes])
        return texts(frame, records, *further)

    monkeypatch.setattr(group, "group_texts", watched)
    frame = pd.DataFrame(np.random.default_rng(0).random((40, 90)).round(3)).add_prefix("q")
    app = upload("wide.csv", frame.assign(town=list("abcd") * 10).to_csv(index=False).encode(), "clusters")
    shown = app.dataframe[-1].value
    assert sorted(asked[-1]) == sorted(set(shown["attribute"]))
    numbers = shown[shown["attribute"] != "town"]
    assert len(numbers)
    for _, row in numbers.iterrows():
        ends = [float(end) for end in row["change"].partition(" → ")[2].strip("[]").split(", ")]
        assert ends[0] <= frame.loc[int(row["record"]), row["attribute"]] <= ends[-1]


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
    assert (
        open_page("clusters", data="wine", k="5", second="t-closeness-first").selectbox(key="w_second").value
        == "v-mdav"
    )
