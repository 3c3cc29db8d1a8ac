"""Values become others on the page Data: spellings are made one by a click, taken back, and released as they became."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd

import microagg
from microagg import datasets
from tests.pages.helpers import go_to, open_page, plain, settle, upload

RNG = np.random.default_rng(3)
N = 90
CLINIC = pd.DataFrame(
    {
        "sex": np.repeat(["f", "F ", "female", "m", "M"], [30, 5, 10, 35, 10]),
        "age": RNG.integers(18, 97, N),
        "grade": RNG.choice(["good", "Good", "poor"], N),
        "diagnosis": RNG.choice(["flu", "Flu", "cold"], N),
    }
)


def clinic(page="data", **query):
    roles = ["quasi-identifier.category..0:sex", "quasi-identifier.number..0:age"]
    roles += ["stratum...0:grade", "confidential...0:diagnosis"]
    return upload("clinic.csv", CLINIC.to_csv(index=False).encode(), page, columns=roles, k="3", **query)


def look_at(app, name):
    app.selectbox(key="w_attribute").set_value(name)
    return settle(app)


def test_spellings_are_made_one_by_a_click_and_taken_back():
    app = clinic()
    assert "In **sex** there are values that hardly differ: 'f', 'female' and 'F '" in plain(app)
    assert "In **grade**" in plain(app)
    assert "In **diagnosis**" in plain(app)
    label = app.button(key="alike_sex").label.replace("\\", "")
    assert label == "Make them one: 'f' and 'm' (25 records changed)"
    app.button(key="alike_sex").click()
    settle(app)
    assert app.query_params["recode"] == ["sex=female=f", "sex=F =f", "sex=M=m"]
    assert "Values of **sex**: 'female' and 'F ' are now 'f' and 'M' is now 'm'." in plain(app)
    assert "In **sex**" not in plain(app)
    assert "2 distinct" in plain(app)
    # What was decided of the column is decided still.
    assert "was decided of other values" not in plain(app)
    app.button(key="undo_sex").click()
    settle(app)
    assert "recode" not in app.query_params
    assert "In **sex** there are values that hardly differ" in plain(app)


def test_what_is_released_has_the_new_values():
    app = clinic()
    for name in ("sex", "grade", "diagnosis"):
        app.button(key=f"alike_{name}").click()
        settle(app)
    go_to(app, "release")
    settle(app)
    # The program stands beside the file as it was, and does all of it.
    [code] = [block.value for block in app.code if "import microagg" in block.value]
    call = code[code.index("release = ") : code.index("print(")]
    scope = {"microagg": microagg, "original": SimpleNamespace(frame=CLINIC)}
    exec(call, scope)
    released = scope["release"].frame
    assert set(released["sex"]) <= {"f", "m", "*"}
    for name, kept in {"grade": "poor", "diagnosis": "cold"}.items():
        [other] = {*released[name]} - {kept}
        assert other.lower() in ("good", "flu")
        assert (released[name] == kept).sum() == (CLINIC[name] == kept).sum()
    assert scope["release"].report.risk.realized_k >= 3


def take(app, column, words):
    """Look at the values of a column, take what is suggested in these words, and return the effects that were shown."""
    app.selectbox(key="w_values_column").set_value(column)
    settle(app)
    effects = [own.value.replace("\\", "") for own in app.caption]
    app.button(key=f"suggest_{column}_{words}").click()
    settle(app)
    return effects


def test_extremes_are_coded_so_that_k_records_share_them():
    app = open_page("data", data="wine", k="4")
    values = np.sort(datasets.load("wine").frame["proline"])
    low, high = values[3], values[-4]
    n = (values < low).sum() + (values > high).sum()
    effects = take(app, "proline", f"numbers below {low:g} made that, and above {high:g} that")
    assert f"{n} records changed, at least 4 have each of the two" in effects
    assert app.query_params["recode"] == [f"proline=<{low:g}={low:g}", f"proline=>{high:g}={high:g}"]
    assert f"proline goes from {low:g} to {high:,.0f}" in plain(look_at(app, "proline"))
    go_to(app, "release")
    settle(app)
    assert f"'proline': {{'<{low:g}': '{low:g}', '>{high:g}': '{high:g}'}}" in app.code[0].value


def test_numbers_become_intervals_that_are_suggested_or_ones_own():
    app = clinic()
    ages, tens = CLINIC["age"].nunique(), (CLINIC["age"] // 10).nunique()
    assert f"{tens} values instead of {ages}" in take(app, "age", "intervals of 10, such as 10–19")
    assert app.selectbox(key="column_kind_age").value == ("ordinal", "")
    assert f"{tens} distinct: " in plain(app)
    assert "was decided of other values" not in plain(app)
    app.button(key="undo_age").click()
    settle(app)
    assert app.selectbox(key="column_kind_age").value == ("numeric", "")
    app.text_input(key="w_values_limits").set_value("18, 40 x")
    settle(app)
    assert "'18, 40 x' is no list of numbers: write such as 18, 40, 65." in plain(app)
    app.text_input(key="w_values_limits").set_value("30, 65")
    settle(app)
    assert "'[30, 65)' is now '30–64'" in plain(app)
    assert app.query_params["recode"] == ["age=<30=<30", "age=[30, 65)=30–64", 'age=">=65"=65+']
    go_to(app, "release")
    settle(app)
    assert "ordinal={'age': ['<30', '30–64', '65+']}" in app.code[0].value


def test_codes_are_cut_and_rare_values_made_one():
    table = CLINIC.assign(postcode=[f"01{i % 4}{i % 9}7" for i in range(N)], job=["a", "b", *["c"] * (N - 2)])
    roles = ["quasi-identifier.category..0:postcode", "quasi-identifier.category..0:job", "identifier...0:age"]
    app = upload("clinic.csv", table.to_csv(index=False).encode(), columns=roles, k="3")
    assert "4 values instead of 36" in take(app, "postcode", "the first 3 characters, such as 010**")
    assert "4 distinct: 010**, 011**, 012**" in plain(app)
    assert "2 records changed" in take(app, "job", "the 2 values of fewer than 3 records made 'other'")
    assert "Values of **job**: 'a' and 'b' are now 'other'." in plain(app)


def test_text_that_reads_as_numbers_has_ranges_and_one_that_does_not_has_none():
    costs = [f"{100 + 7 * i},50" for i in range(N - 1)] + ["k. A."]
    table = CLINIC.assign(cost=costs, seen=pd.Timestamp("2001-02-03"))
    roles = ["quasi-identifier.number.drop.1:cost", "quasi-identifier.number..0:age", "identifier...0:sex"]
    app = upload("clinic.csv", table.to_csv(index=False, sep=";").encode(), columns=roles, k="3")
    effects = take(app, "cost", "numbers below 114.5 made that, and above 702.5 that")
    assert "4 records changed, at least 3 have each of the two" in effects
    assert "cost goes from 114.5 to 702.5" in plain(look_at(app, "cost"))
    go_to(app, "release")
    settle(app)
    assert "numbers={'cost': '1.234,5'}" in app.code[0].value
    assert "'cost': {'<114.5': '114.5', '>702.5': '702.5'}" in app.code[0].value
    roles[0] = "quasi-identifier.number.drop.0:cost"  # 'k. A.' is no number, and does not count as missing
    app = upload("clinic.csv", table.to_csv(index=False, sep=";").encode(), columns=roles, k="3")
    app.selectbox(key="w_values_column").set_value("cost")
    settle(app)
    assert "'k. A.' in record 89 (counting from 0), which is no number" in plain(app)
    assert not [own for own in app.button if (own.key or "").startswith("suggest_cost")]


def test_a_recoding_that_cannot_be_done_is_told_and_taken_back():
    app = clinic(recode=["sex=>5=5", "nobody=a=b"])
    assert "olumn 'sex' has 'f' in record 0 (counting from 0), which is no number" in plain(app)
    next(own for own in app.button if own.label == "Have all values as they were").click()
    settle(app)
    assert "recode" not in app.query_params
    assert "In **sex** there are values that hardly differ" in plain(app)
