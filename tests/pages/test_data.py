"""The page Data: the table of columns, benchmarks that are not here, uploads, and names that nobody should trust."""

import io
import re

import numpy as np
import pandas as pd
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from microagg import datasets
from tests.pages.helpers import (
    APP,
    SURVEY,
    WIDGETS,
    accept,
    button,
    choose,
    decide,
    errors,
    go_to,
    labels,
    links,
    look_at,
    open_page,
    open_survey,
    plain,
    press,
    settle,
    table_of_columns,
    unescaped,
    upload,
    visit,
    words,
)


def value(app, field, name):
    """Return the value of a widget in the panel of a column."""
    key = f"column_{field}_{name}"
    return next(part.value for kind in WIDGETS for part in look_at(app, name).get(kind) if part.key == key)


def role(app, name):
    return value(app, "role", name)


def keys(app, kind="selectbox"):
    return [part.key for part in app.get(kind) if part.key]


def rows(app):
    return list(table_of_columns(app).index)


def roles_of(app):
    return table_of_columns(app)["role"].to_dict()


def marks(app):
    """Return the columns by their mark: what needs a decision, what is suggested, what is decided."""
    table = table_of_columns(app)
    return {mark: list(table.index[table["mark"] == mark]) for mark in "⚠○✓"}


def decided(app):
    """Return what the address says of columns, without the digests of these."""
    return [re.sub(r"\.[0-9a-f]{6}(?=[.:])", "", entry) for entry in app.session_state["choices"].columns]


def upload_to(content, **query):
    """Upload a file to a session that was opened by a link."""
    return upload("a.csv", content if isinstance(content, bytes) else content.encode(), **query)


def test_a_benchmark_comes_with_its_roles_and_a_change_stands_in_the_address():
    app = open_page("data", data="wine")
    assert rows(app) == list(datasets.load("wine").frame.columns)
    assert marks(app)["✓"] == rows(app)
    assert role(app, "target") != "quasi_identifiers"
    assert role(app, "alcohol") == "quasi_identifiers"
    assert "126 distinct values, least 11.03" in plain(app)
    decide(app, alcohol="others")
    assert decided(app) == ["others.numeric.drop.0:alcohol"]
    assert roles_of(app)["alcohol"] == "Other"
    assert not app.error


def test_sessions_share_the_table_of_one_file():
    first, second = open_survey(), open_survey()
    assert first.session_state["uploaded_table"].read is second.session_state["uploaded_table"].read


def test_suggestions_are_marked_until_they_are_changed_or_accepted_and_come_back_with_the_file():
    app = open_survey()
    assert len(marks(app)["✓"]) == 0
    assert "all 11 columns" in words(app)
    assert role(app, "person_id") == "identifiers"
    assert links(app) == ["**Choose k →**"]
    decide(app, rent="confidential")
    assert marks(app)["✓"] == ["rent"]
    accept(app)
    assert len(marks(app)["✓"]) == 11
    assert "Every column is decided" in words(app)
    assert not [label for label in labels(app) if "Accept" in label]
    assert roles_of(app)["rent"] == "Confidential"
    app = open_page("data", data="upload", columns=app.query_params["columns"], agreed=app.query_params["agreed"])
    assert "the same file above" in app.warning[0].value
    assert not app.error
    app.file_uploader(key="w_file").upload("survey.csv", SURVEY.read_bytes())
    assert roles_of(settle(app))["rent"] == "Confidential"
    assert len(marks(app)["✓"]) == 11


def doubtful_file(n=200):
    """Return a Stata file with labels, in which columns follow from others: a logarithm, a square, an indicator."""
    random = np.random.default_rng(1)
    hours = np.where(random.random(n) < 0.6, random.integers(100, 3000, n), 0)
    frame = pd.DataFrame({"age": random.integers(30, 61, n), "inlf": (hours > 0).astype(int), "hours": hours})
    frame["wage"] = np.where(hours > 0, random.gamma(3, 1.4, n).round(3) + 0.1, np.nan)
    frame = frame.assign(lwage=np.log(frame["wage"]), exper=random.integers(0, 45, n))
    frame["expersq"] = frame["exper"] ** 2
    content = io.BytesIO()
    labels = {"age": "woman's age in yrs", "expersq": "exper^2"}
    frame.to_stata(content, write_index=False, variable_labels=labels, version=118)
    return content.getvalue()


def test_suggestions_that_need_a_decision_come_first_and_are_accepted_by_name_only():
    app = upload("mroz.dta", doubtful_file())
    unsure = ["inlf", "wage", "lwage", "expersq"]
    assert marks(app) == {"⚠": unsure, "○": ["age", "hours", "exper"], "✓": []}
    assert rows(app)[:4] == unsure
    reasons = table_of_columns(app)["why"]
    sources = {"inlf": "hours", "lwage": "wage", "expersq": "exper"}
    assert all(f"ollows from {source!r}" in reasons[name] for name, source in sources.items())
    press(app, "Accept 3 sure suggestions")
    assert marks(app) == {"⚠": unsure, "○": [], "✓": ["age", "hours", "exper"]}
    link = app.query_params["agreed"]
    # A row that is decided keeps its place.
    decide(app, inlf="confidential")
    assert rows(app)[:4] == unsure
    assert "3 need a decision: wage, lwage and expersq" in plain(app)
    press(app, "Accept too: wage, lwage and expersq")
    assert "Every column is decided" in plain(app)
    assert (roles_of(app)["lwage"], roles_of(app)["expersq"]) == ("Identifier (left out)", "Quasi-identifier")
    # A link of before, to all suggestions, accepts these, too.
    assert "agreed" in app.query_params
    app = upload("mroz.dta", doubtful_file(), agreed=link[0].partition(".")[0] if isinstance(link, list) else link[:8])
    assert len(marks(app)["✓"]) == 7


@pytest.mark.parametrize("names", [["ranked", "income", "band"], ["income", "band", "ranked"]])
def test_what_follows_from_a_confidential_column_is_no_quasi_identifier(names):
    income = np.random.default_rng(1).permutation(np.arange(200) ** 2 + 900)
    frame = pd.DataFrame({"income": income, "ranked": np.sqrt(income).round(3), "band": income // 5000})
    app = upload_to(frame[names].to_csv(index=False))
    left_out = "Identifier (left out)"
    assert roles_of(app) == {"income": "Confidential", "ranked": left_out, "band": left_out}
    reasons, says = table_of_columns(app)["why"], "which is confidential: leave it out, or give both the same role"
    assert reasons["band"].startswith(f"Follows from 'income', {says}")
    assert reasons["ranked"].startswith(f"Follows from 'income' one to one, {says}")


def test_variable_labels_stand_in_the_table_in_the_panel_and_on_release():
    app = upload("mroz.dta", doubtful_file())
    assert table_of_columns(app)["label"]["age"] == "woman's age in yrs"
    assert "woman's age in yrs" in plain(look_at(app, "age"))
    assert "age (woman's age in yrs)" in visit(app, "release").selectbox(key="w_release_attribute").options
    shown = upload("mroz.csv", b"age,educ\n" + b"30,9\n40,8\n" * 9).dataframe
    assert not [table for table in shown if "label" in list(table.proto.column_order)]


def test_few_labelled_values_are_codes_and_all_can_be_categories():
    content, labels = io.BytesIO(), {"age": {85: "85 and over", 98: "don't know"}}
    frame = pd.DataFrame({"age": [98, *range(40, 86)] * 4, "x": range(188)})
    frame.to_stata(content, write_index=False, value_labels=labels, version=118)
    app = look_at(upload("x.dta", content.getvalue()), "age")
    assert value(app, "kind", "age") == ("numeric", "")
    assert "85 is '85 and over'; 4 of 188 are 98 (\"don't know\"): treat them as missing?" in plain(app)
    next(button for button in app.button if button.label == "Take values with labels as categories").click()
    assert not settle(app).error
    assert value(app, "kind", "age") == ("nominal", "")
    assert "45 of 47 categories are numbers" in plain(app)


def test_ticked_rows_get_a_role_and_a_kind_at_once():
    app = open_survey()
    names = rows(app)
    key = next(table.key for table in app.dataframe if "role" in table.value)
    places = [names.index(name) for name in ("region", "education")]
    app.session_state[key] = {"selection": {"rows": places, "columns": [], "cells": []}}
    choose(settle(app), w_set_kind=("ordinal", ""))
    assert {"quasi_identifiers.ordinal.drop.0:region", "quasi_identifiers.ordinal.drop.0:education"} == {*decided(app)}
    assert app.selectbox(key="w_set_role").disabled
    app.session_state[key] = {"selection": {"rows": places, "columns": [], "cells": []}}
    choose(settle(app), w_set_role="confidential")
    assert [roles_of(app)[name] for name in ("region", "education")] == ["Confidential"] * 2


def test_columns_of_the_address_that_are_not_there_are_said_and_can_be_forgotten():
    said = ["other.number.drop.0:hue", "other.number.drop.0:non*sense"]
    app = open_page("data", data="wine", columns=said, entered=['ordinal.123456:["ash", ["2.1"]]'])
    assert "'non*sense'" in plain(app)
    assert "'ash' were made for other values" in unescaped(app.warning[1].value)
    press(app, "Discard the decisions")
    assert not app.warning
    assert app.query_params["columns"] == said[0]
    assert "entered" not in app.query_params
    assert role(app, "hue") == "others"


def test_the_words_of_links_of_before_are_understood():
    pay = [f"{1 + i % 9},{i * 37 % 1000:03}" for i in range(60)]
    born = [f"{1 + i % 9}/{1 + i % 7}/1950" for i in range(60)]
    lines = [f'"{pay[i]}",{born[i]},{i % 3},{"xy"[i % 2]},{1 + i % 4},{i % 5}' for i in range(60)]
    old = ["quasi-identifier.comma.drop.0:pay", "quasi-identifier.month-first-year.drop.0:born"]
    old += ["quasi-identifier.ordered.drop.0:level", "stratum..:part", "weight.number.drop.0:w", "other...0:rest"]
    app = upload_to("\n".join(["pay,born,level,part,w,rest", *lines]), columns=old, k="3")
    expected = [*["quasi_identifiers"] * 3, "strata", "weights", "others"]
    assert [role(app, name) for name in ("pay", "born", "level", "part", "w", "rest")] == expected
    kinds = [value(app, "kind", name) for name in ("pay", "born", "level")]
    assert kinds == [("numeric", "1.234,5"), ("numeric", "year m/d"), ("ordinal", "")]


def test_what_happens_to_gaps_is_said_with_their_number():
    lines = "".join(f"{i % 7 if i % 10 else ''},{'xy'[i % 2] if i % 15 else ''}\n" for i in range(30))
    columns = ["quasi-identifier.number.drop.0:a", "quasi-identifier.category.drop.0:b"]
    app = upload_to(f"a,b\n{lines}", columns=columns)
    numbers = look_at(app, "a").selectbox(key="column_gaps_a")
    assert numbers.options == ["Leave the record out (3)", "Fill in the median (3)"]
    options = ["Leave the record out (2)", "A category of its own (2)", "Fill in the most frequent (2)"]
    assert look_at(app, "b").selectbox(key="column_gaps_b").options == options
    assert "4 records of 30 (13.3 %) with missing values" in plain(app)
    decide(app, b="confidential")
    assert "3 records of 30 (10 %) with missing values" in plain(app)
    assert "column_gaps_b" not in keys(app)


def test_codes_for_missing_values_can_be_taken_as_values():
    content = io.BytesIO()
    pd.DataFrame({"a": ["AF", "NA", "DE"] * 20, "age": range(60)}).to_parquet(content)
    app = look_at(upload("a.parquet", content.getvalue(), columns=["quasi-identifier.category.drop.0:a"]), "a")
    toggle = app.toggle(key="column_codes_a")
    assert (toggle.label.replace("\\", ""), toggle.value) == ("Treat 'NA' (20) as missing", False)
    assert "which may be a value too" in plain(app)
    assert "3 distinct values, for example" in plain(app)
    choose(app, column_codes_a=True)
    assert "2 distinct values, 20 missing" in plain(app)
    assert table_of_columns(app).loc["a", ["distinct", "missing"]].tolist() == [2, 20]
    assert decided(app) == ["quasi_identifiers.nominal.drop.1:a"]
    assert app.selectbox(key="column_gaps_a").options[0] == "Leave the record out (20)"


def numbers_file(n=60):
    """Return a file with numbers as text: clear ones, such as may be two, shares, and amounts beside what is none."""
    lines = [f'"€{1000 + 37 * i:,}.50","{1 + i % 9},{200 + i}",{5 + i % 40} %,({i % 7 + 1})' for i in range(n)]
    lines[3] = lines[3].rpartition(",")[0] + ',"< 5"'
    lines[5] = lines[5].rpartition(",")[0] + ',"[x](y)"'
    return "\n".join(["pay,rent,share,debt", *lines])


def test_text_that_reads_as_numbers_is_guessed_where_it_is_clear_and_asked_about_where_it_is_not():
    app = upload_to(numbers_file())
    assert marks(app)["⚠"] == ["rent"]
    for name in ("pay", "share", "debt"):
        assert role(app, name) == "quasi_identifiers"
        assert value(app, "kind", name) == ("numeric", "1,234.5")
    # What is no number is listed with its count, and counts as missing.
    assert "'(1)' is -1; '< 5' (1) and '[x](y)' (1) count as missing" in plain(app)
    assert app.toggle(key="column_codes_debt").value is True
    assert app.selectbox(key="column_gaps_debt").options[0] == "Leave the record out (2)"
    assert "2 records of 60 (3.33 %) with missing values" in plain(app)
    assert "'€1,000.50' is 1000.5" in plain(look_at(app, "pay"))
    assert "read_1,234.5_pay" not in keys(app, "button")
    # Nothing would be left of the other.
    [red] = errors(app)
    assert "such as '1,200' for 1200" in red
    accept(app)
    assert "1 of 4 columns has a suggested role" in plain(app)
    look_at(app, "rent").button(key="accept_one").click()
    assert not settle(app).error
    assert "identifiers.nominal.drop.0:rent" in decided(app)
    assert "'< 5' in record 3" in errors(decide(app, "codes", debt=False))[0]


@pytest.mark.parametrize(
    ("form", "name", "content", "offered", "says"),
    [
        ("day m/d", "born", None, "'01/02/1950' is 1950-01-02", "born: 1950-01-02 to"),
        ("1.234,5", "rent", numbers_file(55), "1,200 is 1.2", "rent: 1.2 to 9.253"),
    ],
)
def test_of_two_readings_both_are_offered_and_the_chosen_one_counts(form, name, content, offered, says):
    born = [f"{1 + i % 9:02}/{2 + i % 9:02}/{1950 + i % 7},{i * 7 % 100}" for i in range(60)]
    app = look_at(upload_to(content or "\n".join(["born,pay", *born])), name)
    assert any(offered in text for text in [*labels(app), plain(app)])
    assert len([key for key in keys(app, "button") if key.startswith("read_") and key.endswith(name)]) == 2
    app.button(key=f"read_{form}_{name}").click()
    settle(app)
    assert decided(app) == [f"quasi_identifiers.numeric.drop.0.{form}:{name}"]
    assert value(app, "kind", name) == ("numeric", form)
    assert f"read_{form}_{name}" not in keys(app, "button")
    assert says in plain(look_at(app, name))


@pytest.mark.slow
def test_the_class_is_the_data_sets_own_another_one_or_none():
    app = open_page("data", data="adult", sample="300")
    assert "ollows from 'education' one to one" in table_of_columns(app)["why"]["education-num"]
    assert app.selectbox(key="w_classes").value == ""
    assert app.selectbox(key="w_classes").options == ["income, as the data set says", "None"]
    choose(app, w_classes="-")
    assert app.query_params["classes"] == "-"
    decide(app, relationship="confidential")
    box = app.selectbox(key="w_classes")
    assert (box.value, box.options) == ("-", ["income, as the data set says", "relationship", "None"])
    assert "2,399 records of 32,561 (7.37 %) with missing values" in plain(app)


def test_weights_say_how_they_are_released_and_only_one_counts():
    app = open_page("data", data="wine", scale="none")
    assert "largest" in app.warning[0].value
    choose(app, w_scale="zscore")
    assert "w_weights" not in keys(app)
    decide(app, proline="weights")
    assert "groups are formed without them" in words(app)
    assert not app.warning
    decide(choose(app, w_weights="keep"), magnesium="weights")
    assert app.query_params["weights"] == "keep"
    assert "Only the first column of weights, 'magnesium', counts: 'proline' will" in plain(app)


def test_without_a_file_the_page_says_so_and_offers_the_survey():
    app = open_page("data", data="upload")
    assert "No file yet" in app.info[0].value
    assert not app.error
    press(app, "Try the sample survey")
    assert "survey.csv**: 300 records, 11 columns" in plain(app)


def test_nothing_leads_on_without_a_quasi_identifier():
    app = accept(upload_to("a,b\n" + "\n".join(f"{i % 7},{i % 5}" for i in range(40))))
    assert "Choose k →" in labels(app)
    decide(app, a="confidential", b="confidential")
    assert errors(app) == ["There is no quasi-identifier yet: give at least one column that role on the page Data."]
    assert "Choose k →" not in labels(app)
    assert links(app) == []


def test_a_generated_set_follows_its_seed():
    app = open_page("data", data="simc")
    before = app.dataframe[-1].value
    choose(app, w_seed=1)
    assert not app.error
    assert app.query_params["seed"] == "1"
    assert not app.dataframe[-1].value.equals(before)


def test_missing_benchmark_is_offered_for_download(monkeypatch, tmp_path):
    monkeypatch.setenv(datasets.DATA_DIR_VARIABLE, str(tmp_path))
    monkeypatch.setattr(datasets.loading, "cache_folder", lambda: tmp_path / "cache")
    st.cache_resource.clear()  # what an earlier test has loaded stays usable otherwise
    app = AppTest.from_file(APP, default_timeout=60)
    app.query_params["data"] = "census"
    settle(go_to(app, "data"))
    assert button(app, "Download Census")
    assert "Census" in visit(app, "clusters").error[0].value


def test_untrusted_names_are_shown_letter_by_letter():
    hostile = b"![x](http://example.org/x.png),$b$,<b>c</b>\n1,2,3\n2,3,5\n3,4,1\n4,5,2\n"
    app = upload("![x](http://example.org).csv", hostile)
    assert not app.error
    assert rows(app) == ["![x](http://example.org/x.png)", "$b$", "<b>c</b>"]
    assert not re.search(r"(?<!\\)(\]\(http|\$b|<b>)", words(app))
    assert "**<b>c</b>: 1 to 5" in plain(look_at(app, "<b>c</b>"))
