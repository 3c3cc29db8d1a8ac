"""The page Clusters."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from microagg import Schema, metrics
from microagg.coordinates import principal_coordinates
from microagg.experiment import Method, Problem, run_one
from microagg.records import Attribute
from microagg.release import recoding
from microagg.taxonomy import Taxonomy
from pages.ui import text
from pages.ui.charts.clusters import MOST_POINTS, Axis, View, clusters
from pages.ui.data.workspace import Workspace
from pages.ui.runs import certificate
from tests.conftest import load_benchmark
from tests.pages.helpers import (
    SURVEY,
    decode,
    figures,
    links,
    open_page,
    open_survey,
    plain,
    settle,
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


def groups_of(figure):
    """Return the group of each record that a chart shows, by the record's name."""
    return pd.Series({str(name): int(group) for name, group, *_ in points_of(figure)["customdata"]})


def points_of(figure):
    [points] = [trace for trace in figure["data"] if "record" in trace.get("name", "")]
    return points


# --- numbers ----------------------------------------------------------------------------------------------------------


def test_clusters_show_both_partitions_on_the_same_axes():
    app = open_page("clusters", data="tarragona", k="5", second="mdav-plus")
    one, two, _ = figures(app)
    assert one["layout"]["xaxis"]["range"] == two["layout"]["xaxis"]["range"]
    assert one["layout"]["yaxis"]["range"] == two["layout"]["yaxis"]["range"]
    assert "of the variance" in one["layout"]["xaxis"]["title"]["text"]
    assert "centroid" in [trace.get("name") for trace in one["data"]]
    assert [metric.value for metric in app.metric] == ["22.25 %", "13.93 %", "147", "22.87 %", "13.93 %", "166"]
    assert "MDAV\\* loses 2\\.72 % less than MDAV\\+" in words(app)
    assert "sample" not in words(app)
    assert links(app) == ["**Release →**"]


def test_the_records_that_lose_most_lie_furthest_from_their_centroids():
    app = open_page("clusters", data="wine", k="4")
    groups = groups_of(figures(app)[0])
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
    assert app.metric[0].value == "15.85 %"
    assert app.query_params["v-mdav.gamma"] == "0.3"


def test_numbers_hide_what_needs_classes():
    app = open_page("clusters", data="wine", k="5", method="k-member", **{"k-member__class_penalty": "2"})
    assert not app.error
    assert [box.label for box in app.number_input if "penalty" in box.label] == []
    assert "class" not in " ".join(box.label for box in app.number_input)


def test_what_another_session_has_found_has_to_be_searched_again():
    app = open_page("clusters", data="wine", k="3", method="found")
    assert not app.error
    assert not app.metric
    assert "run the search again on the page Choose k" in app.info[0].value
    assert links(app) == ["Choose k →"]


def test_what_the_search_has_found_is_the_chosen_partition(monkeypatch):
    def found(workspace: Workspace, k: int):
        result = run_one(Problem.of(workspace.X), Method("mdav-plus"), k)
        return dataclasses.replace(result, method=Method("iterated-local-search"))

    monkeypatch.setattr(certificate, "found", found)
    app = open_page("clusters", data="wine", k="3", method="found", second="mdav")
    X = standard("wine").to_numpy()
    lost = metrics.information_loss(X, run_one(Problem.of(X), Method("mdav-plus"), 3).partition.labels)
    assert app.metric[0].value == text.percent(lost)
    assert "Best found by search at k = 3" in plain(app)
    assert "By Best found by search, " in plain(app)
    assert "falls on 20 of 178 records" in plain(app)


def test_numbers_are_drawn_on_the_axes_of_largest_variance():
    figure = figures(open_page("clusters", data="wine", k="5"))[0]
    largest = np.sort(np.linalg.eigvalsh(np.cov(standard("wine").T, ddof=0)))[::-1]
    for axis, place in (("x", 0), ("y", 1)):
        assert decode(points_of(figure)[axis]).var() == pytest.approx(largest[place], rel=1e-6)
        said = figure["layout"][f"{axis}axis"]["title"]["text"]
        assert said == f"principal component {place + 1}<br>({100 * largest[place] / 13:.0f} % of the variance)"


# --- categories -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def survey():
    return open_survey(
        "clusters", columns=roles(sickness_days="confidential"), classes="sickness_days", k="6", method="k-member"
    )


def test_categories_have_principal_coordinates_and_what_generalizing_loses(survey):
    assert not survey.error
    one, two, _ = figures(survey)
    trees = {"region": Taxonomy.flat(sorted(FRAME["region"].unique()))}
    schema = Schema.infer(FRAME, quasi_identifiers=list(KINDS), ordinal={"education": LEVELS}, taxonomies=trees)
    plane = principal_coordinates(schema.records(FRAME))
    for figure, axis, place in ((one, "x", 0), (two, "y", 1)):
        assert np.abs(decode(points_of(figure)[axis])) == pytest.approx(np.abs(plane.points[:, place]))
        said = figure["layout"][f"{axis}axis"]["title"]["text"]
        assert (
            said == f"principal coordinate {place + 1}<br>({100 * plane.shares[place]:.0f} % of the squared distances)"
        )
    assert [box.options for box in survey.selectbox if box.label == "Across"] == [
        ["PC 1", "PC 2", "education", "age", "rent"]
    ]
    assert "centroid" not in [trace.get("name") for trace in one["data"]]
    groups = groups_of(one).to_numpy()
    lost = shares(groups)
    sizes = np.bincount(groups)
    assert survey.metric[0].value == text.percent(100 * lost.to_numpy().mean())
    assert survey.metric[1].value == f"{(sizes**2).sum():,}"
    usual = FRAME["sickness_days"].groupby(groups).agg(lambda part: part.value_counts().iloc[0]).sum()
    assert survey.metric[2].value == text.percent(100 * (300 - usual) / 300)
    assert survey.metric[3].value == str(groups.max())
    assert "Floor" not in [metric.label for metric in survey.metric]
    other = shares(groups_of(two).to_numpy())
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
    groups = groups_of(figures(survey)[0]).to_numpy()
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
    axis = figures(app)[0]["layout"]["xaxis"]
    assert axis["ticktext"] == LEVELS
    assert list(decode(axis["tickvals"])) == list(range(len(LEVELS)))
    app.selectbox(key="w_x").set_value("PC 1")
    settle(app)
    assert "ticktext" not in figures(app)[0]["layout"]["xaxis"]
    # A category without an order is no axis: the usual one is taken instead.
    assert open_survey("clusters", columns=roles(), x="region", k="6").query_params.get("x") is None


def test_groups_stay_within_strata():
    kinds = {"age": "number", "rent": "number"}
    app = open_survey("clusters", columns=roles(kinds=kinds, region="stratum"), k="5")
    assert "Groups are formed within region" in plain(app)
    for figure in figures(app)[:2]:
        assert (FRAME["region"].groupby(groups_of(figure).to_numpy()).nunique() == 1).all()
    app.number_input(key="w_k_chosen").set_value(250)
    settle(app)
    assert "strata have fewer than k=250 records" in app.error[0].value


def test_a_sample_is_called_one_and_its_records_keep_their_names():
    frame = load_benchmark("adult").frame
    app = open_page("clusters", data="adult", sample="300", k="10", second="mondrian")
    assert not app.error
    assert "This is a sample: 300 of 30,162 records" in plain(app)
    assert [metric.label for metric in app.metric] == 2 * ["Total-IL", "Discernibility", "Classification", "Groups"]
    groups = groups_of(figures(app)[0])
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
    assert figures(app)[0]["layout"]["xaxis"]["title"]["text"] == "&lt;b&gt;n&lt;/b&gt;"


def test_a_single_record_is_drawn():
    names = pd.DataFrame(columns=["a", "b"])
    app = upload("a.csv", b"a,b\n1,2\n", "clusters", columns=roles(names, {"a": "number", "b": "number"}), k="1")
    assert not app.error
    assert len(groups_of(figures(app)[0])) == 1
    assert "No record loses anything" in plain(app)


# --- the chart --------------------------------------------------------------------------------------------------------


def test_records_without_a_place_are_not_drawn_and_groups_then_not_outlined():
    points = np.array([[0.0, 0], [1, 0], [np.nan, np.nan], [5, 5], [6, 5], [9, np.nan]])
    labels = np.array([0, 0, 1, 1, 1, 2])
    view = View.of(Axis("x", points[:, 0]), Axis("y", points[:, 1]))
    assert list(view.shown) == [0, 1, 3, 4]
    assert view.x_range == pytest.approx((-0.3, 6.3))
    assert view.outside() == 1
    figure = clusters(view, labels, np.arange(6.0), list("abcdef"), loss="Total-IL", centroids=False)
    [trace] = figure.data
    assert [row[0] for row in trace.customdata] == ["a", "b", "d", "e"]
    assert [int(row[2]) for row in trace.customdata] == [2, 2, 3, 3]
    assert "% of the Total-IL" in trace.hovertemplate
    colors = trace.marker.color
    assert colors[0] == colors[1] != colors[2] == colors[3]


def test_of_many_records_a_sample_is_drawn_and_centroids_are_those_of_all():
    n = MOST_POINTS + 10
    values = np.arange(n, dtype=float)
    labels = np.arange(n) * 4 // n
    view = View.of(Axis("x", values), Axis("y", -values))
    assert len(view.shown) == MOST_POINTS
    *_, centroids = clusters(view, labels, values, pd.RangeIndex(n)).data
    assert centroids.x == pytest.approx([values[labels == group].mean() for group in range(4)])


def test_outlines_survive_points_on_a_line_and_duplicates():
    points = np.array([[0, 0], [1, 1], [2, 2], [5, 5], [5, 5], [7, 1], [8, 1], [7, 3], [8, 3]], dtype=float)
    view = View.of(Axis("a", points[:, 0]), Axis("b", points[:, 1]))
    figure = clusters(view, np.array([0, 0, 0, 1, 1, 2, 2, 2, 2]), np.zeros(9), range(9))
    *outlines, _, _ = figure.data
    # A segment of two corners, one of a point twice, and a rectangle, closed; each ends in a gap.
    assert [len(outline.x) for outline in outlines] == [3, 3, 6]


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

    monkeypatch.setattr(recoding, "group_texts", watched)
    frame = pd.DataFrame(np.random.default_rng(0).random((40, 90)).round(3)).add_prefix("q")
    app = upload("wide.csv", frame.assign(town=list("abcd") * 10).to_csv(index=False).encode(), "clusters")
    shown = app.dataframe[-1].value
    assert sorted(asked[-1]) == sorted(set(shown["attribute"]))
    numbers = shown[shown["attribute"] != "town"]
    assert len(numbers)
    for _, row in numbers.iterrows():
        group = row["change"].partition(" → ")[2]
        low, high = group.strip("[]").split(", ") if "[" in group else (group, group)
        assert float(low) <= frame.loc[int(row["record"]), row["attribute"]] <= float(high)
