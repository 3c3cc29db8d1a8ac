"""The page Data: a row for each column, benchmarks that are not here, uploads, and names that nobody should trust."""

from __future__ import annotations

import io
import re

import pandas as pd
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from microagg import datasets
from microagg.columns.schema import Schema
from pages.shared.columns import PER_PAGE
from tests.pages.helpers import APP, SURVEY, button, go_to, links, open_page, plain, settle, upload, words

READS = pytest.mark.skipif(not hasattr(Schema, "read"), reason="needs a schema that reads dates and text as numbers")


def role(app, name):
    return app.selectbox(key=f"column_role_{name}")


def rows(app):
    """Return the names of the columns that have a row."""
    keys = [box.key for box in app.selectbox if box.key and box.key.startswith("column_role_")]
    return [key.removeprefix("column_role_") for key in keys]


def roles_of(app):
    """Return what the table of distributions says of each column."""
    [shown] = [table.value for table in app.dataframe if "role" in table.value]
    return shown.set_index("column")["role"].to_dict()


def open_link(**query):
    """Open the page Data of a session without a file."""
    return open_page("data", data="upload", **query)


# --- rows -------------------------------------------------------------------------------------------------------------


def test_a_benchmark_comes_with_its_roles_and_a_change_stands_in_the_address():
    app = open_page("data", data="wine")
    assert rows(app) == list(datasets.load("wine").frame.columns)
    assert role(app, "alcohol").value == "quasi_identifiers"
    assert role(app, "target").value != "quasi_identifiers"
    assert "guess" not in words(app)
    assert "126 distinct: 14.23, 13.2, 13.16" in plain(app)
    role(app, "alcohol").set_value("others")
    settle(app)
    assert decided(app) == ["others.numeric.drop.0:alcohol"]
    assert roles_of(app)["alcohol"] == "Other"
    assert "alcohol" not in app.selectbox(key="w_attribute").options
    assert not app.error


def test_all_numbers_of_tarragona_are_quasi_identifiers():
    app = open_page("data", data="tarragona")
    assert set(list(roles_of(app).values())[:10]) == {"Quasi-identifier"}
    assert len(rows(app)) == datasets.load("tarragona").frame.shape[1]
    assert not app.error


def decided(app):
    """Return what the address says of columns, without the digests of these."""
    return [re.sub(r"\.[0-9a-f]{6}(?=[.:])", "", entry) for entry in app.session_state["choices"].columns]


def test_guesses_are_marked_until_they_are_changed_or_agreed_to():
    app = upload("survey.csv", SURVEY.read_bytes())
    assert "11 of 11 columns are guesses" in words(app)
    assert words(app).count("[guess]") == 11
    assert role(app, "person_id").value == "identifiers"
    role(app, "rent").set_value("confidential")
    settle(app)
    assert "10 of 11 columns are guesses" in words(app)
    assert words(app).count("[guess]") == 10
    button(app, "Agree to all guesses").click()
    settle(app)
    assert "guess" not in words(app)
    assert not [button for button in app.button if "Agree" in button.label]
    assert roles_of(app)["rent"] == "Confidential"
    assert "agreed" in app.query_params


def test_why_a_data_set_leaves_a_column_out_is_said():
    assert "Determines 'education' one to one" in plain(open_page("data", data="adult"))


@pytest.mark.parametrize("agreed", [True, False])
def test_what_was_decided_of_other_values_is_a_guess_again(agreed):
    """After a reload the same file may be read otherwise: its numbers are text then, on which nobody decided."""
    numbers = "".join(f"{20 + i % 9},{i % 5}.{i % 7}5\n" for i in range(60))
    app = upload("a.csv", f"age,weight\n{numbers}".encode())
    role(app, "weight").set_value("quasi_identifiers")
    settle(app)
    role(app, "age").set_value("confidential")
    settle(app)
    if agreed and [button for button in app.button if "Agree" in button.label]:
        button(app, "Agree to all guesses").click()
        settle(app)
    link = {name: app.query_params[name] for name in ("columns", "agreed") if name in app.query_params}
    app = open_link(**link)
    app.file_uploader[0].upload("a.csv", f"age,weight\n{numbers.replace('.', ';')}".replace(";", ":").encode())
    settle(app)
    assert "What was decided of 'weight' was decided of other values" in words(app).replace("\\", "")
    assert "[guess]" in words(app)
    assert "Every column is decided" not in words(app)
    button(app, "Go on without").click()
    settle(app)
    assert "was decided of other values" not in words(app)
    assert decided(app) == ["confidential.numeric.drop.0:age"]


def test_a_file_that_is_uploaded_again_gets_its_roles_back():
    app = upload("survey.csv", SURVEY.read_bytes())
    role(app, "rent").set_value("confidential")
    settle(app)
    button(app, "Agree to all guesses").click()
    settle(app)
    app = open_link(columns=app.query_params["columns"], agreed=app.query_params["agreed"])
    assert "the same file above" in app.warning[0].value
    assert not app.error
    app.file_uploader[0].upload("survey.csv", SURVEY.read_bytes())
    settle(app)
    assert role(app, "rent").value == "confidential"
    assert "guess" not in words(app)


def test_columns_of_the_address_that_are_not_there_are_said_and_can_be_forgotten():
    said = ["other.number.drop.0:hue", "other.number.drop.0:non*sense"]
    app = open_page("data", data="wine", columns=said, entered=['ordinal.123456:["ash", ["2.1"]]'])
    assert "'non*sense'" in plain(app)
    assert "there is no column of that name" in app.warning[0].value
    assert "What was decided of 'ash' was decided of other values" in app.warning[1].value.replace("\\", "")
    button(app, "Go on without").click()
    settle(app)
    assert not app.warning
    assert app.query_params["columns"] == said[0]
    assert "entered" not in app.query_params
    assert role(app, "hue").value == "others"


def test_the_words_of_links_of_before_are_understood():
    pay = [f"{1 + i % 9},{i * 37 % 1000:03}" for i in range(60)]
    born = [f"{1 + i % 9}/{1 + i % 7}/1950" for i in range(60)]
    lines = [f'"{pay[i]}",{born[i]},{i % 3},{"xy"[i % 2]},{1 + i % 4},{i % 5}' for i in range(60)]
    old = ["quasi-identifier.comma.drop.0:pay", "quasi-identifier.month-first-year.drop.0:born"]
    old += ["quasi-identifier.ordered.drop.0:level", "stratum..:part", "weight.number.drop.0:w", "other...0:rest"]
    content = "\n".join(["pay,born,level,part,w,rest", *lines]).encode()
    app = upload("a.csv", content, columns=old, k="3", ks="3", methods="mdav", method="mdav")
    assert {name: role(app, name).value for name in rows(app)} == {
        "pay": "quasi_identifiers",
        "born": "quasi_identifiers",
        "level": "quasi_identifiers",
        "part": "strata",
        "w": "weights",
        "rest": "others",
    }
    kinds = {name: app.selectbox(key=f"column_kind_{name}").value for name in ("pay", "born", "level")}
    assert kinds == {"pay": ("numeric", "1.234,5"), "born": ("numeric", "year m/d"), "level": ("ordinal", "")}


def test_a_kind_is_asked_for_only_where_there_is_a_choice():
    app = upload("survey.csv", SURVEY.read_bytes())
    kind = app.selectbox(key="column_kind_education")
    assert kind.value == ("nominal", "")
    kind.set_value(("ordinal", ""))
    settle(app)
    assert decided(app) == ["quasi_identifiers.ordinal.drop.0:education"]
    role(app, "education").set_value("confidential")
    settle(app)
    assert "column_kind_education" not in [box.key for box in app.selectbox]


def test_what_happens_to_gaps_is_said_with_their_number():
    lines = "".join(f"{i % 7 if i % 10 else ''},{'xy'[i % 2] if i % 15 else ''}\n" for i in range(30))
    app = open_link(columns=["quasi-identifier.number.drop.0:a", "quasi-identifier.category.drop.0:b"])
    app.file_uploader[0].upload("a.csv", f"a,b\n{lines}".encode())
    settle(app)
    numbers, categories = app.selectbox(key="column_gaps_a"), app.selectbox(key="column_gaps_b")
    assert numbers.options == ["Leave the record out (3)", "Fill in the median (3)"]
    assert categories.options == [
        "Leave the record out (2)",
        "A category of its own (2)",
        "Fill in the most frequent (2)",
    ]
    assert "4 records of 30 (13.3 %) with gaps will be left out" in plain(app)
    role(app, "b").set_value("confidential")
    settle(app)
    assert "3 records of 30 (10 %) with gaps will be left out" in plain(app)
    assert "column_gaps_b" not in [box.key for box in app.selectbox]


def test_codes_for_missing_values_can_be_taken_as_values():
    lines = "".join(f"{i},{i % 7}\n" for i in range(1, 60))
    app = open_link(columns=["quasi-identifier.category.drop.0:a"])
    app.file_uploader[0].upload("a.csv", f"a,b\nn/a,3\n{lines}".encode())
    settle(app)
    toggle = app.toggle(key="column_codes_a")
    assert toggle.label.replace("\\", "") == "Treat 'n/a' (1) as missing"
    assert toggle.value is False
    toggle.set_value(True).run()
    assert decided(app) == ["quasi_identifiers.nominal.drop.1:a"]


@READS
def test_a_messy_file_is_read_as_its_rows_say():
    days = [f"2001-{1 + i % 12:02d}-{1 + i % 28:02d}" for i in range(60)]
    lines = "".join(f"{days[i]},{20 + i % 9 if i else 'n/a'},{i % 5 if i % 20 else ''}\n" for i in range(60))
    roles = ["quasi-identifier.date.drop.0:born", "quasi-identifier.number.drop.1:age"]
    app = open_link(columns=[*roles, "quasi-identifier.number.impute.0:children"])
    app.file_uploader[0].upload("a.csv", f"born,age,children\n{lines}".encode())
    settle(app)
    assert not app.error
    assert "1 record of 60 (1.67 %) with gaps will be left out" in plain(app)
    assert "2 gaps of 'children' were filled with the median 2" in plain(app)
    assert "born goes from 2001-01-09 to 2001-12-24" in plain(app)
    app.selectbox(key="column_kind_born").set_value(("numeric", "year"))
    app.selectbox(key="column_gaps_age").set_value("impute")
    settle(app)
    assert not app.error
    assert "left out" not in " ".join(info.value for info in app.info)
    app.toggle(key="column_codes_age").set_value(False)
    settle(app)
    assert "'n/a'" in app.error[0].value.replace("\\", "")


def numbers_file(n=60):
    """Return a file with numbers as text: clear ones, such as may be two, shares, and amounts beside what is none."""
    lines = [f'"€{1000 + 37 * i:,}.50","{1 + i % 9},{200 + i}",{5 + i % 40} %,({i % 7 + 1})' for i in range(n)]
    lines[3] = lines[3].rpartition(",")[0] + ',"< 5"'
    lines[5] = lines[5].rpartition(",")[0] + ',"[x](y)"'
    return "\n".join(["pay,rent,share,debt", *lines]).encode()


def test_text_that_reads_as_numbers_is_guessed_where_it_is_clear_and_asked_about_where_it_is_not():
    app = upload("a.csv", numbers_file())
    assert "it would be left out, though it can be read as numbers, such as '1,200' for 1200" in plain(app)
    assert "4 of 4 columns are guesses" in plain(app)
    for name in ("pay", "share", "debt"):
        assert role(app, name).value == "quasi_identifiers"
        assert app.selectbox(key=f"column_kind_{name}").value == ("numeric", "1,234.5")
    assert "'€1,000.50' is 1000.5" in plain(app)
    assert "'5 %' is 5" in plain(app)
    # What is no number is listed with its count, and counts as missing.
    assert "'(1)' is -1; '< 5' (1) and '[x](y)' (1) count as missing" in plain(app)
    assert app.toggle(key="column_codes_debt").value is True
    assert app.selectbox(key="column_gaps_debt").options[0] == "Leave the record out (2)"
    assert "2 records of 60 (3.33 %) with gaps will be left out" in plain(app)
    assert "pay goes from 1,000 to 3,184" in plain(app)
    assert not [button for button in app.button if button.key == "read_1,234.5_pay"]
    # Nothing would be left of the other.
    [red] = app.error
    assert "rent" in red.value
    app.button(key="lost_rent").click()
    settle(app)
    assert not app.error
    assert decided(app) == ["identifiers.nominal.drop.0:rent"]
    app.toggle(key="column_codes_debt").set_value(False)
    settle(app)
    assert "'< 5' in record 3 (counting from 0), which is no number" in app.error[0].value.replace("\\", "")


@pytest.mark.parametrize(("form", "least"), [("day d/m", "1950-02-01"), ("day m/d", "1950-01-02")])
def test_dates_that_can_be_read_in_two_ways_are_offered_in_both_and_read_by_a_click(form, least):
    born = [f"{1 + i % 9:02}/{2 + i % 9:02}/{1950 + i % 7}" for i in range(60)]
    frame = pd.DataFrame({"born": born, "pay": [i * 7 % 100 for i in range(60)]})
    app = upload("a.csv", frame.to_csv(index=False).encode(), k="3", ks="3", methods="mdav", method="mdav")
    assert "it would be left out, though it can be read as dates, such as '01/02/1950'" in plain(app)
    assert "it is not clear which number is the day: say so" in plain(app)
    offered = [own.value.replace("\\", "") for own in app.caption if " is 19" in own.value]
    both = ["'01/02/1950' is 1950-02-01, '02/03/1951' is 1951-03-02 and '03/04/1952' is 1952-04-03"]
    both += ["'01/02/1950' is 1950-01-02, '02/03/1951' is 1951-02-03 and '03/04/1952' is 1952-03-04"]
    assert offered == both
    app.button(key=f"read_{form}_born").click()
    settle(app)
    assert not app.error
    assert decided(app) == [f"quasi_identifiers.numeric.drop.0.{form}:born"]
    assert app.selectbox(key="column_kind_born").value == ("numeric", form)
    assert f"Text that is read as dates: '01/02/1950' is {least}" in plain(app)
    assert not [own for own in app.button if (own.key or "").startswith("read_")]
    app.selectbox(key="w_attribute").set_value("born")
    settle(app)
    assert f"born goes from {least} to" in plain(app)


@pytest.mark.parametrize(("form", "least", "most"), [("1,234.5", "1,200", "9,253"), ("1.234,5", "1.2", "9.253")])
def test_of_two_readings_the_chosen_one_counts(form, least, most):
    app = upload("a.csv", numbers_file(55))
    assert app.button(key="read_1,234.5_rent").label.replace("\\", "") == "Read as numbers: 1,200 is 1200"
    assert app.button(key="read_1.234,5_rent").label.replace("\\", "") == "Read as numbers: 1,200 is 1.2"
    app.button(key=f"read_{form}_rent").click()
    settle(app)
    assert decided(app) == [f"quasi_identifiers.numeric.drop.0.{form}:rent"]
    box = app.selectbox(key="column_kind_rent")
    assert box.value == ("numeric", form)
    assert box.options == ["Numeric: 1,200 is 1200", "Numeric: 1,200 is 1.2", "Ordinal", "Nominal"]
    app.selectbox(key="w_attribute").set_value("rent")
    settle(app)
    assert f"rent goes from {least} to {most}" in plain(app)


def test_a_record_that_looks_like_a_total_is_said():
    lines = [f"R{i},{10 + i},{i % 5}" for i in range(30)]
    app = upload("a.csv", "\n".join(["region,persons,x", *lines, f"Total,{sum(range(10, 40))},60"]).encode())
    # Once, where the reader of the file has said it already.
    assert "The last record seems to be a total or a note rather than a record: 'Total'." in plain(app)
    assert "look like totals" not in plain(app)
    lines.insert(4, "Total,0,0")
    app = upload("a.csv", "\n".join(["region,persons,x", *lines]).encode())
    assert "Records that look like totals of the others: 4 (counting from 0). Leave them out" in plain(app)
    del lines[4]
    app = upload("a.csv", "\n".join(["region,persons,x", *lines]).encode())
    assert "totals" not in words(app)


def test_namibia_counts_as_missing_only_if_somebody_says_so():
    content = io.BytesIO()
    pd.DataFrame({"country": ["AF", "NA", "DE"] * 20, "age": range(60)}).to_parquet(content)
    app = upload("a.parquet", content.getvalue())
    toggle = app.toggle(key="column_codes_country")
    assert toggle.label.replace("\\", "") == "Treat 'NA' (20) as missing"
    assert toggle.value is False
    assert "20 of 60 are 'NA', which may be a value too, such as a country or initials" in plain(app)
    toggle.set_value(True)
    settle(app)
    assert app.selectbox(key="column_gaps_country").options[0] == "Leave the record out (20)"


@pytest.mark.slow
def test_a_wide_file_is_shown_page_by_page():
    names = [f"c{i}" for i in range(PER_PAGE + 5)]
    lines = "".join(",".join(str(i * j % 11) for j in range(len(names))) + "\n" for i in range(1, 40))
    app = upload("wide.csv", f"{','.join(names)}\n{lines}".encode())
    assert rows(app) == names[:PER_PAGE]
    app.session_state["w_columns_page"] = 2
    settle(app)
    assert rows(app) == names[PER_PAGE:]
    assert f"Columns {PER_PAGE + 1} to {PER_PAGE + 5} of {PER_PAGE + 5}" in words(app)


# --- what concerns all columns ----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_class_is_the_data_sets_own_another_one_or_none():
    app = open_page("data", data="adult", sample="300")
    box = app.selectbox(key="w_classes")
    assert box.value == ""
    assert box.options == ["income, as the data set says", "None"]
    box.set_value("-")
    settle(app)
    assert app.query_params["classes"] == "-"
    role(app, "relationship").set_value("confidential")
    settle(app)
    assert app.selectbox(key="w_classes").options == ["income, as the data set says", "relationship", "None"]
    assert app.selectbox(key="w_classes").value == "-"
    assert "2,399 records of 32,561 (7.37 %) with gaps will be left out" in plain(app)


def test_a_column_that_cannot_be_the_class_is_said():
    app = open_page("data", data="wine", classes="alcohol")
    assert "'alcohol' cannot be the class" in app.warning[0].value.replace("\\", "")
    app = upload("a.csv", b"a,b\n1,2\n2,3\n3,4\n4,5\n")
    assert app.selectbox(key="w_classes").disabled
    app = upload("survey.csv", SURVEY.read_bytes())
    role(app, "satisfaction").set_value("confidential")
    settle(app)
    app.selectbox(key="w_classes").set_value("satisfaction")
    settle(app)
    assert app.query_params["classes"] == "satisfaction"


def test_weights_say_how_they_are_released_and_only_one_counts():
    app = open_page("data", data="wine")
    assert "w_weights" not in [box.key for box in app.selectbox]
    role(app, "proline").set_value("weights")
    settle(app)
    assert "groups are formed without them" in words(app)
    assert not app.warning
    app.selectbox(key="w_weights").set_value("keep")
    role(app, "magnesium").set_value("weights")
    settle(app)
    assert app.query_params["weights"] == "keep"
    assert "Only the first column of weights, 'magnesium', counts: 'proline' will" in plain(app)


def test_categories_that_hardly_differ_are_named():
    lines = "".join(f"{i},{'F' if i % 2 else 'M'}\n" for i in range(60))
    app = upload("a.csv", f"a,sex\n{lines}60,f\n61,f\n".encode())
    assert "'F' and 'f'" in app.warning[0].value.replace("\\", "")
    assert "In **sex**" in app.warning[0].value
    role(app, "sex").set_value("others")
    settle(app)
    assert not app.warning


def test_scaling_is_asked_for_where_there_are_numbers_and_says_what_it_does():
    app = open_page("data", data="wine", scale="none")
    assert "largest" in app.warning[0].value
    app = upload("a.csv", b"a,b\n" + b"x,y\nx,z\nw,z\nw,y\n" * 6)
    assert not app.error
    assert "w_scale" not in [group.key for group in app.button_group]


def test_guesses_are_agreed_to_and_the_way_on_stands_beside_them():
    app = upload("a.csv", b"a,b\n1,2\n2,3\n3,4\n4,5\n")
    assert "2 of 2 columns are guesses" in words(app)
    assert links(app) == ["**Choose k →**"]
    button(app, "Agree to all guesses").click()
    settle(app)
    assert "Every column is decided" in words(app)
    for name in "ab":
        role(app, name).set_value("confidential")
    settle(app)
    assert "there is no quasi-identifier yet" in app.error[0].value.lower().replace("\\", "")


# --- where data come from ---------------------------------------------------------------------------------------------


def test_without_a_file_the_page_says_so_and_offers_the_survey():
    app = open_link()
    assert "No file yet" in app.info[0].value
    assert not app.error
    assert "reloading the page discards it" in words(app)
    button(app, "Try the sample survey").click()
    settle(app)
    assert "survey.csv**: 300 records, 11 columns" in plain(app)


def test_a_generated_set_follows_its_seed():
    app = open_page("data", data="simc")
    before = app.dataframe[-1].value
    app.number_input(key="w_seed").set_value(1)
    settle(app)
    assert not app.error
    assert app.query_params["seed"] == "1"
    assert not app.dataframe[-1].value.equals(before)


def test_missing_benchmark_is_offered_for_download(monkeypatch, tmp_path):
    monkeypatch.setenv(datasets.DATA_DIR_VARIABLE, str(tmp_path))
    monkeypatch.setattr(datasets.loading, "cache_folder", lambda: tmp_path / "cache")
    st.cache_resource.clear()  # what an earlier test has loaded stays usable otherwise
    app = AppTest.from_file(APP, default_timeout=60)
    app.query_params["data"] = "census"
    go_to(app, "data")
    app.run()
    assert not app.exception
    assert "can be fetched once" in words(app)
    assert any(button.label == "Download Census" for button in app.button)
    go_to(app, "clusters")
    app.run()
    assert not app.exception
    assert "Census" in app.error[0].value


def test_an_uploaded_table_is_used():
    app = upload("my *data*.csv", b"name;a;b\nx;1;2\ny;2;3\nz;3;4\nv;4;5\nw;9;9\nu;8;8\n")
    assert not app.exception
    assert not app.error
    assert "my *data*.csv**: 6 records, 3 columns" in plain(app)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.csv", b"", "empty (0 bytes)"),
        ("a.csv", b"a,b\n", "record"),
        ("a.csv", b"a,a\n1,2\n", "'a'"),
        ("a.csv", "a,b\n1,é\n".encode("latin-1"), "UTF-8"),
        ("a.csv", b"a,b\n1,2\n1,2,3\n", "Line 3"),
        ("a.xlsx", b"not a workbook", "a.xlsx"),
        ("a.parquet", b"not a table", "a.parquet"),
    ],
)
def test_bad_upload_is_said_in_one_sentence(name, content, says):
    app = upload(name, content)
    assert not app.exception
    assert len(app.error) == 1
    assert says in app.error[0].value.replace("\\", "")


def test_upload_read_with_the_wrong_delimiter_is_said():
    app = upload("a.csv", b"a;b\n1;2\n3;4\n")
    assert not app.error
    app.selectbox(key="u_delimiter").set_value("comma").run()
    assert not app.exception
    assert "choose ';' as the delimiter" in app.error[0].value


def test_a_workbook_with_several_sheets_is_asked_which():
    book = io.BytesIO()
    with pd.ExcelWriter(book) as writer:
        pd.DataFrame({"a": [1, 2], "b": [3, 4]}).to_excel(writer, sheet_name="first", index=False)
        pd.DataFrame({"c": [1, 2, 3], "d": [3, 4, 7]}).to_excel(writer, sheet_name="second", index=False)
    app = upload("a.xlsx", book.getvalue())
    assert rows(app) == ["a", "b"]
    app.selectbox(key="u_sheet").set_value("second")
    settle(app)
    assert rows(app) == ["c", "d"]


def test_untrusted_names_are_shown_letter_by_letter():
    hostile = b"![x](http://example.org/x.png),$b$,<b>c</b>\n1,2,3\n2,3,5\n3,4,1\n4,5,2\n"
    app = upload("![x](http://example.org).csv", hostile)
    assert not app.exception
    assert not app.error
    assert rows(app) == ["![x](http://example.org/x.png)", "$b$", "<b>c</b>"]
    assert not re.search(r"(?<!\\)(\]\(http|\$b|<b>)", words(app))
    app.selectbox(key="w_attribute").set_value("<b>c</b>")
    settle(app)
    assert "**\\<b\\>c\\</b\\> goes from 1 to 5" in words(app)
