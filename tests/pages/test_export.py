"""What figures show, as a table."""

from __future__ import annotations

import plotly.graph_objects as go

from pages.shared.figures import table
from tests.pages.helpers import open_page


def test_a_table_has_a_row_for_each_mark_named_as_the_axes_are():
    figure = go.Figure()
    figure.add_scatter(x=[1, 2], y=[10.0, 20.0], name="<b>MDAV*</b>", text=["a", "b"])
    figure.add_scatter(x=[3, None, 4], y=[30.0, None, 40.0], name="floor")
    figure.update_xaxes(title="k")
    figure.update_yaxes(title="loss<br>(%)")
    assert table(figure).fillna("").to_dict("list") == {
        "shown": ["MDAV*", "MDAV*", "floor", "floor"],
        "k": [1, 2, 3, 4],
        "loss (%)": [10.0, 20.0, 30.0, 40.0],
        "text": ["a", "b", "", ""],
    }


def test_a_matrix_has_a_row_for_each_cell():
    figure = go.Figure(go.Heatmap(x=["a", "b"], y=["r", "s", "t"], z=[[1, 2], [3, 4], [5, 6]]))
    found = table(figure)
    assert found["z"].tolist() == [1, 2, 3, 4, 5, 6]
    assert found["x"].tolist() == ["a", "b"] * 3
    assert found["y"].tolist() == ["r", "r", "s", "s", "t", "t"]


def test_each_axis_names_its_own_marks():
    figure = go.Figure()
    figure.add_scatter(x=[1], y=[2])
    figure.add_scatter(x=[3], y=[4], xaxis="x2", yaxis="y2")
    figure.update_layout(
        xaxis={"title": "left"}, xaxis2={"title": "right"}, yaxis={"title": "up"}, yaxis2={"title": "up"}
    )
    assert table(figure)[["left", "right", "up"]].fillna(-1).to_dict("list") == {
        "left": [1, -1],
        "right": [-1, 3],
        "up": [2, 4],
    }


def test_a_figure_that_shows_nothing_has_an_empty_table():
    assert table(go.Figure()).empty


def test_every_figure_can_be_saved():
    app = open_page("methods")
    assert [button.proto.label for button in app.get("download_button")][:1] == ["What it shows (CSV)"]
