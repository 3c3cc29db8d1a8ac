"""Values become others on the page Data: spellings are made one by a click, taken back, and released as they became."""

from types import SimpleNamespace

import numpy as np
import pandas as pd

import microagg
from microagg import datasets
from tests.pages.helpers import choose, look_at, open_page, plain, press, settle, unescaped, upload, visit

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
ROLES = ["quasi-identifier.category..0:sex", "quasi-identifier.number..0:age"]
ROLES += ["stratum...0:grade", "confidential...0:diagnosis"]


def clinic(table=CLINIC, roles=ROLES, sep=",", **query):
    return upload("clinic.csv", table.to_csv(index=False, sep=sep).encode(), columns=roles, k="3", **query)


def click(app, key):
    app.button(key=key).click()
    return settle(app)


def take(app, column, words):
    """Look at the values of a column, take what is suggested in these words, and return the effects that were shown."""
    look_at(app, column)
    effects = [unescaped(own.value) for own in app.caption]
    click(app, f"suggest_{column}_{words}")
    return effects


def kind_of_age(app):
    return next(group.value for group in app.button_group if group.key == "column_kind_age")


def test_spellings_are_made_one_by_a_click_and_taken_back_and_released():
    app = clinic()
    says = "variants in **sex** count as different values: 'f', 'female' and 'F '; 'm' and 'M'."
    assert says in plain(look_at(app, "sex"))
    assert app.button(key="alike_sex").label.replace("\\", "").endswith("(25 records changed)")
    click(app, "alike_sex")
    assert app.query_params["recode"] == ["sex=female=f", "sex=F =f", "sex=M=m"]
    assert "Values of **sex**: 'female' and 'F ' are now 'f' and 'M' is now 'm'." in plain(app)
    assert "variants in **sex**" not in plain(app)
    assert "2 distinct values" in plain(app)
    # What was decided of the column is decided still.
    assert "made for other values" not in plain(app)
    click(app, "undo_sex")
    assert "recode" not in app.query_params
    assert "variants in **sex**" in plain(look_at(app, "sex"))
    for name in ("sex", "grade", "diagnosis"):
        click(look_at(app, name), f"alike_{name}")
    visit(app, "release")
    # The program stands beside the file as it was, and does all of it.
    [code] = [block.value for block in app.code if "import microagg" in block.value]
    scope = {"microagg": microagg, "original": SimpleNamespace(frame=CLINIC)}
    exec(code[code.index("release = ") : code.index("print(")], scope)
    released = scope["release"].frame
    assert set(released["sex"]) <= {"f", "m", "*"}
    for name, rest in {"grade": "poor", "diagnosis": "cold"}.items():
        [other] = {*released[name]} - {rest}
        assert other.lower() in ("good", "flu")
        assert (released[name] == rest).sum() == (CLINIC[name] == rest).sum()
    assert scope["release"].report.risk.realized_k >= 3


def test_extremes_are_coded_so_that_k_records_share_them():
    app = open_page("data", data="wine", k="4")
    values = np.sort(datasets.load("wine").frame["proline"])
    low, high = values[3], values[-4]
    n = (values < low).sum() + (values > high).sum()
    effects = take(app, "proline", f"numbers below {low:,g} made that, and above {high:,g} that")
    assert f"{n} records changed, at least 4 have each of the two" in effects
    assert app.query_params["recode"] == [f"proline=<{low:g}={low:g}", f"proline=>{high:g}={high:g}"]
    assert f"proline: {low:g} to {high:,.0f}" in plain(look_at(app, "proline"))
    assert f"'proline': {{'<{low:g}': '{low:g}', '>{high:g}': '{high:g}'}}" in visit(app, "release").code[0].value


def test_numbers_become_intervals_that_are_suggested_or_ones_own():
    app = clinic()
    ages, tens = CLINIC["age"].nunique(), (CLINIC["age"] // 10).nunique()
    assert f"{tens} values instead of {ages}" in take(app, "age", "intervals of 10, such as 10–19")
    assert kind_of_age(app) == ("ordinal", "")
    assert f"{tens} distinct values" in plain(app)
    assert "made for other values" not in plain(app)
    assert kind_of_age(click(app, "undo_age")) == ("numeric", "")
    assert "'18, 40 x' is not a list of numbers" in plain(choose(app, w_values_limits_age="18, 40 x"))
    assert "'[30, 65)' is now '30–64'" in plain(choose(app, w_values_limits_age="30, 65"))
    assert app.query_params["recode"] == ["age=<30=<30", "age=[30, 65)=30–64", 'age=">=65"=65+']
    assert "ordinal={'age': ['<30', '30–64', '65+']}" in visit(app, "release").code[0].value


def test_a_recoding_that_cannot_be_done_is_told_and_taken_back():
    app = clinic(recode=["sex=>5=5", "nobody=a=b"])
    assert "olumn 'sex' has 'f' in record 0" in plain(app)
    press(app, "Undo all recodings")
    assert "recode" not in app.query_params
    assert "variants in **sex**" in plain(look_at(app, "sex"))
