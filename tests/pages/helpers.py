"""Opening pages without a browser, and reading what stands on them."""

import base64
import json
import re
import time

import numpy as np
import pandas as pd
from streamlit import util
from streamlit.testing.v1 import AppTest

from microagg import datasets
from tests.conftest import ROOT, load_benchmark

APP = ROOT / "pages" / "router" / "script.py"

SURVEY = ROOT / "sample_data" / "survey.csv"
FRAME = pd.read_csv(SURVEY)

FLOOR = "lower bound"

#: The kinds of widgets whose label is read out, and that a choice is made with.
WIDGETS = (
    *("selectbox", "multiselect", "number_input", "text_input", "text_area", "toggle", "checkbox", "radio"),
    *("slider", "select_slider", "button_group", "date_input"),
)

# What Streamlit calls a page by, made of the page's address; before 1.50 or so by another name.
_HASH = getattr(util, "calc_hash", None) or util.calc_md5


def go_to(app, name):
    """Open another page at the next run. Before the first one, AppTest would tell pages apart by their files' names."""
    app._page_hash = _HASH(name)
    return app


def open_page(name, **query):
    """Open a page as a link would, and wait until no run is under way."""
    if query.get("data") in datasets.NAMES and not datasets.is_available(query["data"]):
        load_benchmark(query["data"])  # skips the test, saying why
    app = AppTest.from_file(APP, default_timeout=120)
    for key, value in query.items():
        app.query_params[key.replace("__", ".")] = value
    go_to(app, name)
    return settle(app)


def settle(app):
    app.run()
    for _ in range(200):
        assert not app.exception, [exception.value for exception in app.exception]
        if not app.get("progress"):
            return app
        time.sleep(0.1)
        app.run()
    raise AssertionError("a job did not end")


def visit(app, page):
    return settle(go_to(app, page))


def press(app, label):
    button(app, label).click()
    return settle(app)


def choose(app, **values):
    """Set the widgets of these keys."""
    for key, value in values.items():
        next(part for kind in WIDGETS for part in app.get(kind) if part.key == key).set_value(value)
    return settle(app)


def figures(app):
    return [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]


def decode(values):
    """Return the numbers of a figure's array, which Plotly writes as base64."""
    if isinstance(values, dict):
        return np.frombuffer(base64.b64decode(values["bdata"]), dtype=values["dtype"])
    return np.array(values)


def traces(app, place=0):
    """Return the lines of a figure by name."""
    return {trace.get("name"): trace for trace in figures(app)[place]["data"]}


def lines(app, place=0):
    """Return the lines of a figure by name, each as its values."""
    return {name: decode(trace["y"]) for name, trace in traces(app, place).items() if "y" in trace}


def scene(app, name):
    """Return what a component of a page gives the browser to draw."""
    [component] = [part for part in app.get("bidi_component") if part.proto.component_name == f"microagg_{name}"]
    return json.loads(component.proto.json)


def words(app):
    return " ".join(element.value for element in [*app.markdown, *app.caption, *app.info, *app.warning, *app.error])


def unescaped(text):
    """Return a text of Markdown without its backslashes, and with plain blanks."""
    return text.replace("\\", "").replace("\u00a0", " ")


def plain(app):
    """Return the words of a page without what keeps them from being Markdown and lines from ending."""
    return unescaped(words(app))


def errors(app):
    return [unescaped(error.value) for error in app.error]


def metrics(app):
    """Return the figures that stand out by their titles."""
    return {unescaped(metric.label): metric.value for metric in app.metric}


_PARTITION = re.compile(r"loss ([\d.]+ %)(?:, lower bound ([\d.]+ %)\))?.*?, ([\d,]+) groups? of", re.M)


def partitions(app):
    """Return the loss, the lower bound and the number of groups of each partition on the page Clusters."""
    return [found for element in app.markdown for found in _PARTITION.findall(unescaped(element.value))]


def links(app):
    """Return the links of a page itself, without those of its header."""
    labels = [link.proto.label for link in app.main.get("page_link")]
    above = [label for label in labels if label.startswith(":material/table:")]
    return [label for label in labels if label not in {*above, "Compare methods →", "Information loss at each k →"}]


def labels(app):
    return [unescaped(button.label) for button in app.button]


def button(app, label):
    return next(button for button in app.button if unescaped(label) in unescaped(button.label))


def upload(name, content, page="data", **query):
    """Open the page Data, upload a file there, and go on to ``page``."""
    app = open_page("data", data="upload", **query)
    app.file_uploader(key="w_file").upload(name, content)
    settle(app)
    return app if page == "data" else visit(app, page)


def roles(quasi, names=tuple(FRAME), other="identifier", **others):
    """Return what the address says of columns: ``quasi`` has the kinds of the quasi-identifiers by name."""
    return [
        f"quasi-identifier.{quasi[name]}.drop.0:{name}" if name in quasi else f"{others.get(name, other)}..:{name}"
        for name in names
    ]


def open_survey(page="data", **query):
    return upload("survey.csv", SURVEY.read_bytes(), page, **query)


def look_at(app, column):
    """Open the panel of a column on the page Data, as a click on its row does."""
    app.session_state["choices"] = app.session_state["choices"].with_values({"attribute": column})
    return settle(app)


def decide(app, field="role", **values):
    """Set the role, or another ``field``, of columns, each in its panel."""
    for name, value in values.items():
        choose(look_at(app, name), **{f"column_{field}_{name}": value})
    return app


def accept(app):
    """Accept all suggestions, also those that need a decision, but not those that lose a column."""
    while buttons := [part for part in app.button if part.label.startswith("Accept") and part.key != "accept_one"]:
        buttons[0].click()
        settle(app)
    return app


def table_of_columns(app):
    """Return the table of the page Data, by column."""
    [shown] = [table.value for table in app.dataframe if "role" in table.value]
    return shown.set_index("column")


def contrast(one, other):
    """Return the contrast, as WCAG 2.2 defines it, of two colors: texts with their red, green and blue."""

    def luminance(color):
        parts = [int(part) / 255 for part in re.findall(r"\d+", color)[:3]]
        red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)
