"""The page Clusters."""

from __future__ import annotations

import dataclasses
import json
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
from microagg.studies.experiment import Method, Problem, run_one
from pages.clusters import group
from pages.clusters.plane import Axis
from pages.shared import searched, text
from pages.shared.workspace import Workspace
from tests.conftest import load_benchmark
from tests.pages.helpers import (
    SURVEY,
    decode,
    figures,
    links,
    open_page,
    open_survey,
    plain,
    scene,
    settle,
    unpacked,
    upload,
    words,
)

KINDS = {"region": "category", "education": "ordered", "age": "number", "rent": "number"}
FRAME = pd.read_csv(SURVEY)
LEVELS = sorted(FRAME["education"].unique())


def roles(frame=FRAME, kinds=KINDS, **others):
    """Return what the address says where the columns of ``kinds`` are the quasi-identifiers."""
    return [
        f"quasi-identifier.{kinds[name]}.drop.0:{name}" if name in kinds else f"{others.get(name, 'other')}..:{name}"
        for name in frame.columns
    ]


def groups_of(app, side=0):
    """Return the group of each record that a panel shows, by the record's name."""
    shown = scene(app)
    rows = unpacked(shown["rows"])
    names = [str(row) for row in rows] if shown["names"] is None else shown["names"]
    return pd.Series(unpacked(shown["sides"][side]["groups"]) + 1, index=names)


def axis_of(app, name):
    return scene(app)["figure"]["layout"][name]


# --- numbers ----------------------------------------------------------------------------------------------------------


def test_clusters_show_both_partitions_on_the_same_axes():
    app = open_page("clusters", data="tarragona", k="5", second="mdav-plus")
    layout = scene(app)["figure"]["layout"]
    for letter in "xy":
        assert layout[f"{letter}axis"]["range"] == layout[f"{letter}axis2"]["range"]
        assert layout[f"{letter}axis2"]["matches"] == letter
    assert [note["text"].split("> ")[1] for note in layout["annotations"]] == [
        "MDAV*: 22.2 % lost, 147 groups",
        "MDAV+: 22.9 % lost, 166 groups",
    ]
    assert [metric.value for metric in app.metric] == ["22.2 %", "20.1 %", "147", "22.9 %", "20.1 %", "166"]
    assert "MDAV\\* loses 2\\.72 % less than MDAV\\+" in words(app)
    assert "sample" not in words(app)
    assert links(app) == ["**Release →**"]


def test_v_mdav_stands_beside_mdav_star_and_each_beside_the_other():
    app = open_page("clusters", data="wine", k="4")
    assert "Beside MDAV*" in [box.label.replace("\\", "") for box in app.selectbox]
    assert app.selectbox(key="w_second").value == "v-mdav"
    assert open_page("clusters", data="wine", k="4", method="v-mdav").selectbox(key="w_second").value == "mdav-star"


def test_spokes_lead_to_the_means_and_colors_rise_with_the_loss():
    app = open_page("clusters", data="wine", k="4", plane="attributes", x="alcohol", y="ash", axes="linear")
    shown = scene(app)
    frame = load_benchmark("wine").frame
    X = standard("wine")
    levels, losses = [], []
    for place, side in enumerate(shown["sides"]):
        groups = groups_of(app, place).to_numpy()
        for axis, name in zip(side["centroids"], ("alcohol", "ash"), strict=True):
            assert unpacked(axis) == pytest.approx(frame[name].groupby(groups).mean().to_numpy(), rel=1e-6)
        lost = ((X - X.groupby(groups).transform("mean")) ** 2).sum(axis=1)
        assert unpacked(side["shares"]) == pytest.approx((100 * lost / lost.sum()).to_numpy(), rel=1e-5)
        each = lost.groupby(groups).sum().nlargest(8)
        assert [group + 1 for group in side["outlined"]] == each.index.tolist()
        levels.append(unpacked(side["colors"]))
        losses.append(lost.to_numpy())
    # One scale for both sides: more loss is never a lower color, and both ends are in use.
    levels, losses = np.concatenate(levels), np.concatenate(losses)
    assert (np.diff(levels[np.argsort(losses)].astype(int)) >= 0).all()
    assert levels.min() == 0
    assert levels.max() == len(shown["palette"]) - 1
    assert shown["scale"]["of"] == "% of the SST"
    assert shown["scale"]["ends"][1] == f"{100 * losses.max() / (X**2).to_numpy().sum():.3g}"


def test_few_groups_have_a_color_each_the_same_on_both_sides():
    app = open_page("clusters", data="wine", k="30")
    shown = scene(app)
    assert shown["scale"] is None
    one, other = (groups_of(app, side).to_numpy() for side in range(2))
    colors = [unpacked(side["colors"]) for side in shown["sides"]]
    for groups, own in zip((one, other), colors, strict=True):
        assert len({(group, color) for group, color in zip(groups, own, strict=True)}) == groups.max()
        assert len(set(own)) == groups.max()
    # The groups with the most records in common look the same.
    common = pd.crosstab(one, other)
    group, counterpart = common.stack().idxmax()
    assert colors[0][one == group][0] == colors[1][other == counterpart][0]
    assert scene(open_page("clusters", data="wine", k="30", colors="loss"))["scale"] is not None
    assert scene(open_page("clusters", data="wine", k="4", colors="group"))["scale"] is None


def test_records_that_both_sides_group_alike_are_told():
    app = open_page("clusters", data="tarragona", k="4")
    one, other = (groups_of(app, side) for side in range(2))
    members = [groups.groupby(groups).apply(lambda part: frozenset(part.index)) for groups in (one, other)]
    alike = [members[0][a] == members[1][b] for a, b in zip(one, other, strict=True)]
    assert 0 < sum(alike) < len(alike)
    assert unpacked(scene(app)["alike"]).astype(bool).tolist() == alike


def test_a_group_that_is_chosen_shows_its_values_and_where_else_its_records_are(monkeypatch):
    seen = []
    usual = group.chosen
    monkeypatch.setattr(group, "chosen", lambda workspace, sides: seen.append(workspace) or usual(workspace, sides))
    app = open_page("clusters", data="wine", k="4")
    assert "Click a record" in plain(app)
    assert chosen(app) is None
    record = 17
    app.session_state["clusters_chosen"] = group.Chosen(seen[0].digest, 0, record)
    settle(app)
    one, other = (groups_of(app, side) for side in range(2))
    assert chosen(app) == {"side": 0, "record": record, "group": one[str(record)] - 1}
    members = one.index[one == one[str(record)]]
    assert f"Group {one[str(record)]} of MDAV*: {len(members)} records, " in plain(app).replace("**", "")
    table = app.dataframe[0].value
    assert table["record"].tolist() == ["→ released", *members]
    assert table["other"].tolist() == ["", *other[members].astype(str)]
    rows = load_benchmark("wine").frame.loc[members.astype(int), "alcohol"]
    assert table["a0"].tolist() == [text.number(rows.mean()), *(text.number(one) for one in rows)]
    counts = other[members].value_counts()
    said = f"V-MDAV divides them among {len(counts)} groups" if len(counts) > 1 else "V-MDAV has them all in group"
    assert said in plain(app)
    # Of other data nothing is chosen.
    app.session_state["choices"] = dataclasses.replace(app.session_state["choices"], scale="none")
    settle(app)
    assert chosen(app) is None


def chosen(app):
    [component] = [part for part in app.get("bidi_component") if part.proto.component_name == "microagg_chosen"]
    return json.loads(component.proto.json)["chosen"]


def test_a_tenth_of_the_groups_loses_what_the_curve_says():
    app = open_page("clusters", data="wine", k="4")
    X = standard("wine")
    said = []
    for side, line in enumerate(figures(app)[0]["data"][:2]):
        groups = groups_of(app, side).to_numpy()
        lost = ((X - X.groupby(groups).transform("mean")) ** 2).sum(axis=1).groupby(groups).sum()
        first = lost.nlargest(int(np.ceil(len(lost) / 10))).sum()
        said.append(f"{100 * first / lost.sum():.3g} % by {line['name']}")
        assert decode(line["y"])[[0, 1, -1]] == pytest.approx([0, 100 * lost.max() / lost.sum(), 100])
    assert f"A tenth of the groups loses {said[0]} and {said[1]}" in plain(app)


def test_the_records_that_lose_most_lie_furthest_from_their_centroids():
    app = open_page("clusters", data="wine", k="4")
    groups = groups_of(app)
    X = standard("wine")
    centered = X - X.groupby(groups.to_numpy()).transform("mean")
    lost = (centered**2).sum(axis=1)
    table = app.dataframe[0].value
    first = int(table["record"][0])
    assert first == lost.idxmax()
    assert table["share"].to_numpy() == pytest.approx(100 * lost.nlargest(20).to_numpy() / lost.sum())
    name = centered.loc[first].abs().idxmax()
    assert table["attribute"][0] == name
    frame = load_benchmark("wine").frame
    mean = frame.loc[groups.to_numpy() == groups[str(first)], name].mean()
    assert table["change"][0] == f"{text.number(frame[name][first])} → {text.number(mean)}"


def standard(name):
    data = load_benchmark(name).frame[list(load_benchmark(name).quasi_identifiers)]
    return (data - data.mean()) / data.std(ddof=0)


def test_clusters_say_that_k_is_too_large():
    app = open_page("clusters", data="wine", k="179")
    assert "fewer than k=179" in app.error[0].value


def test_parameters_of_the_address_are_used():
    app = open_page("clusters", data="tarragona", k="3", method="v-mdav", **{"v-mdav__gamma": "0.3"})
    assert app.metric[0].value == "15.8 %"
    assert app.query_params["v-mdav.gamma"] == "0.3"


def test_numbers_hide_what_needs_classes():
    app = open_page("clusters", data="wine", k="5", method="k-member", **{"k-member__class_penalty": "2"})
    assert not app.error
    assert [box.label for box in app.number_input if "penalty" in box.label] == []


def test_what_another_session_has_found_has_to_be_searched_again():
    app = open_page("clusters", data="wine", scale="none", k="3", method="found")
    assert not app.error
    assert not app.metric
    assert "run the search again on the page Choose k" in app.info[0].value
    assert links(app) == ["Choose k →"]


def test_what_the_search_has_found_is_the_chosen_partition(monkeypatch):
    def found(workspace: Workspace, k: int):
        result = run_one(Problem.of(workspace.X), Method("mdav-plus"), k)
        return dataclasses.replace(result, method=Method("iterated-local-search"))

    monkeypatch.setattr(searched, "newest", found)
    app = open_page("clusters", data="wine", k="3", method="found", second="mdav")
    X = standardize(datasets.load("wine").X)
    lost = metrics.information_loss(X, run_one(Problem.of(X), Method("mdav-plus"), 3).partition.labels)
    assert app.metric[0].value == text.percent(lost)
    assert " less than Best found." in plain(app)
    assert "By Best found, " in plain(app)
    assert "falls on 20 of 178 records" in plain(app)


def test_numbers_are_drawn_on_the_axes_of_largest_variance():
    app = open_page("clusters", data="wine", k="5")
    largest = np.sort(np.linalg.eigvalsh(np.cov(standard("wine").T, ddof=0)))[::-1]
    for axis, place in (("x", 0), ("y", 1)):
        assert unpacked(scene(app)[axis]).var() == pytest.approx(largest[place], rel=1e-5)
        said = axis_of(app, f"{axis}axis")["title"]["text"]
        assert said == f"principal component {place + 1} ({100 * largest[place] / 13:.0f} %)"
    both = f"Principal components ({100 * largest[:2].sum() / 13:.0f} %)"
    assert app.selectbox(key="w_plane").options[0] == both


def test_the_plane_of_the_attributes_that_lose_most():
    app = open_page("clusters", data="wine", k="5", plane="loss")
    X = standard("wine")
    lost = ((X - X.groupby(groups_of(app).to_numpy()).transform("mean")) ** 2).sum()
    names = [axis_of(app, name)["title"]["text"].split(" (")[0] for name in ("xaxis", "yaxis")]
    assert names == lost.nlargest(2).index.tolist()


def test_skewed_attributes_are_drawn_on_a_scale_on_which_they_can_be_told_apart():
    app = open_page("clusters", data="tarragona", k="5", x="PAID.UP.CAPITAL", y="NET.PROFIT")
    frame = load_benchmark("tarragona").frame
    assert axis_of(app, "xaxis").get("type") == "log"
    assert unpacked(scene(app)["x"]) == pytest.approx(np.log10(frame["PAID.UP.CAPITAL"]), rel=1e-5)
    assert "(asinh scale)" in axis_of(app, "yaxis")["title"]["text"]
    unit = frame["NET.PROFIT"][frame["NET.PROFIT"] != 0].abs().median()
    assert unpacked(scene(app)["y"]) == pytest.approx(np.arcsinh(frame["NET.PROFIT"] / unit), rel=1e-4, abs=1e-5)
    places = dict(zip(axis_of(app, "yaxis")["ticktext"], decode(axis_of(app, "yaxis")["tickvals"]), strict=True))
    assert places["0"] == 0
    assert all(at == pytest.approx(np.arcsinh(float(said.replace(",", "")) / unit)) for said, at in places.items())
    app = open_page("clusters", data="tarragona", k="5", x="PAID.UP.CAPITAL", y="NET.PROFIT", axes="linear")
    assert unpacked(scene(app)["x"]) == pytest.approx(frame["PAID.UP.CAPITAL"], rel=1e-5)


def test_a_single_attribute_is_drawn_along_a_line():
    names = pd.DataFrame(columns=["a"])
    app = upload("a.csv", b"a\n1\n2\n7\n8\n", "clusters", columns=roles(names, {"a": "number"}), k="2")
    assert not app.error
    assert unpacked(scene(app)["x"]).tolist() == [1, 2, 7, 8]
    assert unpacked(scene(app)["y"]).tolist() == [0, 0, 0, 0]


# --- categories -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def survey():
    return open_survey(
        "clusters", columns=roles(sickness_days="confidential"), classes="sickness_days", k="6", method="k-member"
    )


def test_categories_have_principal_coordinates_and_what_generalizing_loses(survey):
    assert not survey.error
    shown = scene(survey)
    trees = {"region": Taxonomy.flat(sorted(FRAME["region"].unique()))}
    schema = Schema.infer(FRAME, quasi_identifiers=list(KINDS), ordinal={"education": LEVELS}, taxonomies=trees)
    plane = principal_coordinates(schema.records(FRAME))
    for axis, place in (("x", 0), ("y", 1)):
        assert np.abs(unpacked(shown[axis])) == pytest.approx(np.abs(plane.points[:, place]), rel=1e-5)
        said = axis_of(survey, f"{axis}axis")["title"]["text"]
        assert said == f"principal coordinate {place + 1} ({100 * plane.shares[place]:.0f} %)"
    assert [side["centroids"] for side in shown["sides"]] == [None, None]
    assert shown["scale"]["of"] == "% of the most that can be lost"
    groups = groups_of(survey).to_numpy()
    lost = shares(groups)
    sizes = np.bincount(groups)
    assert survey.metric[0].value == text.percent(100 * lost.to_numpy().mean())
    assert survey.metric[1].label == "Floor"
    assert 0 < float(survey.metric[1].value.removesuffix(" %")) < 100 * lost.to_numpy().mean()
    assert survey.metric[2].value == f"{(sizes**2).sum():,}"
    usual = FRAME["sickness_days"].groupby(groups).agg(lambda part: part.value_counts().iloc[0]).sum()
    assert survey.metric[3].value == text.percent(100 * (300 - usual) / 300)
    assert survey.metric[4].value == str(groups.max())
    other = shares(groups_of(survey, 1).to_numpy())
    less = 100 * (1 - lost.to_numpy().sum() / other.to_numpy().sum())
    assert f"At k = 6, Greedy k-member loses {less:.3g} % less than MDAV-generic (mixed)." in plain(survey)


def shares(groups):
    """Return what each record loses of each attribute: the range of its group as a share of the whole."""
    ranks = FRAME["education"].map({level: rank for rank, level in enumerate(LEVELS)})
    numbers = pd.DataFrame({"education": ranks, "age": FRAME["age"], "rent": FRAME["rent"]})
    spread = numbers.groupby(groups).transform("max") - numbers.groupby(groups).transform("min")
    differ = FRAME["region"].groupby(groups).transform("nunique") > 1
    return pd.concat([differ.astype(float), spread / (numbers.max() - numbers.min())], axis=1)


def test_of_categories_the_groups_that_have_least_in_common_lose_most(survey):
    groups = groups_of(survey).to_numpy()
    lost = shares(groups)
    each = lost.sum(axis=1).groupby(groups).sum()
    table = survey.dataframe[0].value
    assert table["share"].to_numpy() == pytest.approx(100 * each.nlargest(20).to_numpy() / each.sum())
    records = table["record"].astype(int)
    assert [entry.partition(" ")[0] for entry in table["group"]] == groups[records].astype(str).tolist()
    assert len(set(groups[records])) == 20
    for record, column, change in zip(records, table["attribute"], table["change"], strict=True):
        assert lost.loc[record, column] == lost.loc[record].max()
        own = FRAME.loc[groups == groups[record], column]
        whole = "anything" if column == "region" else f"[{own.min()}, {own.max()}]"
        before = FRAME.loc[record, column]
        assert change == f"{before if isinstance(before, str) else text.number(before)} → {whole}"


def test_of_a_group_of_categories_the_record_furthest_from_the_others_is_named():
    # Two groups of four: in the first the third record is the odd one, in the second the fourth.
    content = b"town,size\n" + b"".join(
        f"{town},{size}\n".encode() for town, size in zip("aabacccd", [1, 2, 30, 3, 90, 91, 92, 100], strict=True)
    )
    kinds = {"town": "category", "size": "number"}
    app = upload("towns.csv", content, "clusters", columns=roles(pd.DataFrame(columns=["town", "size"]), kinds), k="4")
    table = app.dataframe[0].value
    assert dict(zip(table["record"], table["change"], strict=True)) == {"2": "b → anything", "7": "d → anything"}


def test_ordered_categories_are_an_axis_in_their_order():
    app = open_survey("clusters", columns=roles(), x="education", y="rent", k="6")
    axis = axis_of(app, "xaxis")
    assert axis["ticktext"] == LEVELS
    assert list(decode(axis["tickvals"])) == list(range(len(LEVELS)))
    assert app.selectbox(key="w_x").options == ["education", "age", "rent"]
    app.selectbox(key="w_plane").set_value("components")
    settle(app)
    assert "ticktext" not in axis_of(app, "xaxis")
    # A category without an order is no axis: the usual plane is shown instead.
    app = open_survey("clusters", columns=roles(), x="region", k="6")
    assert "principal coordinate" in axis_of(app, "xaxis")["title"]["text"]


def test_groups_stay_within_strata():
    kinds = {"age": "number", "rent": "number"}
    app = open_survey("clusters", columns=roles(kinds=kinds, region="stratum"), k="5")
    assert "Groups are formed within region" in plain(app)
    for side in range(2):
        assert (FRAME["region"].groupby(groups_of(app, side).to_numpy()).nunique() == 1).all()
    app = open_survey("clusters", columns=roles(kinds=kinds, region="stratum"), k="250")
    assert "strata have fewer than k=250 records" in app.error[0].value


def test_a_sample_is_called_one_and_its_records_keep_their_names():
    frame = load_benchmark("adult").frame
    app = open_page("clusters", data="adult", sample="300", k="10", second="mondrian")
    assert not app.error
    assert "This is a sample: 300 of 30,162 records" in plain(app)
    # What is proven of a sample is no floor of the file.
    labels = ["Total-IL", "Discernibility", "Classification", "Groups"]
    assert [metric.label for metric in app.metric] == 2 * labels
    groups = groups_of(app)
    income = frame.loc[groups.index.astype(int), "income"]
    majority = income.groupby(groups.to_numpy()).agg(lambda part: part.value_counts().iloc[0]).sum()
    assert app.metric[2].value == text.percent(100 * (300 - majority) / 300)


def test_names_of_columns_and_records_are_shown_letter_by_letter():
    rows = "".join(f"{'uv'[i % 2]},{i},{i * i % 7}\n" for i in range(12))
    frame = pd.DataFrame(columns=["![x](y)", "<b>n</b>", "m"])
    kinds = {"![x](y)": "category", "<b>n</b>": "number", "m": "number"}
    content = ("![x](y),<b>n</b>,m\n" + rows).encode()
    app = upload("a.csv", content, "clusters", columns=roles(frame, kinds), x="<b>n</b>", k="3")
    assert not app.error
    assert axis_of(app, "xaxis")["title"]["text"] == "&lt;b&gt;n&lt;/b&gt;"


def test_a_single_record_is_drawn():
    names = pd.DataFrame(columns=["a", "b"])
    app = upload("a.csv", b"a,b\n1,2\n", "clusters", columns=roles(names, {"a": "number", "b": "number"}), k="1")
    assert not app.error
    assert len(groups_of(app)) == 1
    assert "No record loses anything" in plain(app)


def test_dates_are_drawn_and_written_as_dates():
    born = SimpleNamespace(name="born", kind="numeric", unit="day", levels=(), taxonomy=None)
    axis = Axis.of(born, np.array([0.0, 365.0]))
    assert axis.ticks == {"type": "date"}
    assert list(pd.to_datetime(axis.values, unit="ms").strftime("%Y-%m-%d")) == ["1970-01-01", "1971-01-01"]
    assert text.value(born, 365.4) == "1971-01-01"
    born.unit = "year"
    assert text.value(born, 400.0) == "1971"


def test_values_are_written_as_their_attribute_has_them():
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
        said = row["change"].partition(" → ")[2]
        low, high = said.strip("[]").split(", ") if "[" in said else (said, said)
        assert float(low) <= frame.loc[int(row["record"]), row["attribute"]] <= float(high)


def test_groups_are_drawn_as_they_are_released():
    given = {"data": "wine", "k": "5", "second": "t-closeness-first", "closeness": "target=0.3"}
    app = open_page("clusters", **given)
    assert not app.error
    assert "Groups are drawn as they are released: values of 'target' in each class at most 0.3 from" in plain(app)
    frame = datasets.load("wine").frame
    for side, method in enumerate(("mdav-star", "t-closeness-first")):
        release = microaggregate(
            frame,
            k=5,
            method=method,
            quasi_identifiers=[name for name in frame.columns if name != "target"],
            confidential="target",
            closeness={"target": 0.3},
        )
        drawn = groups_of(app, side).to_numpy()
        assert canonical_labels(drawn - 1).tolist() == canonical_labels(release.partition.labels).tolist()
    refused = open_page("clusters", data="wine", k="5", diversity="target=4")
    assert "cannot be had, so groups are drawn without it" in plain(refused)
    unasked = open_page("clusters", data="wine", k="5", second="t-closeness-first")
    assert unasked.selectbox(key="w_second").value == "v-mdav"
