"""Uploads that are not as they seem: what is said, what is offered, and what the other pages do meanwhile."""

import re

from tests.messy import hospital_csv
from tests.pages.helpers import button, go_to, open_page, plain, settle, upload

RECORDS = "plz,age,income\n" + "".join(f"0{1000 + i},{20 + i % 9},{i * i % 97}\n" for i in range(30))


def click(app, label):
    button(app, label).click()
    return settle(app)


def again(app, name, content):
    app.file_uploader[0].upload(name, content)
    return settle(app)


def labels(app):
    return [button.label.replace("\\", "") for button in app.button]


def test_a_file_in_order_is_read_without_a_word():
    app = upload("a.csv", RECORDS.replace("\n0", "\n").encode())
    assert not app.error
    assert not [box for box in app.info if "Column" in box.value]
    assert "Read it as usual" not in labels(app)


def test_what_is_kept_as_text_is_said_in_one_box():
    app = upload("a.csv", RECORDS.encode())
    [box] = [box for box in app.info if "kept as text" in box.value]
    assert "Column 'plz' is kept as text because of 30 cells such as '01000'" in box.value.replace("\\", "")


def test_many_columns_have_one_line():
    names = [f"c{j}" for j in range(40)]
    lines = "".join(",".join(f"0{i}{j}" for j in range(40)) + "\n" for i in range(20))
    app = upload("a.csv", f"{','.join(names)}\n{lines}".encode())
    [box] = [box for box in app.info if "kept as text" in box.value]
    text = box.value.replace("\\", "")
    assert text.count("\n") == 0
    assert "Likewise 39 more columns: 'c1' ('001'), 'c2' ('002')" in text
    assert text.endswith("and 31 more.") or text.endswith("31 more.")


def test_hostile_cells_are_shown_letter_by_letter():
    app = upload("a.csv", b"![x](http://example.org/x.png),b\n0$1$,1\n+49,2\n".replace(b"0$1$", b"+48"))
    [box] = [box for box in app.info if "kept as text" in box.value]
    assert "![x](http" not in box.value
    assert "![x]" in box.value.replace("\\", "")


def test_titles_are_skipped_by_one_click_and_read_again_by_another():
    content = f"Table 1\n\n{RECORDS}".encode()
    app = upload("a.csv", content)
    assert "titles above the header" in app.error[0].value
    click(app, "Skip the first 2 lines")
    assert not app.error
    assert "a.csv**: 30 records, 3 columns" in plain(app)
    assert "lines skipped: 2" in plain(app)
    assert app.number_input(key="u_skip_lines").value == 2
    # The same file again is read as was chosen, another one is not.
    again(app, "b.csv", RECORDS.encode())
    assert "It is read as usual, until you say otherwise" in plain(app)
    assert app.number_input(key="u_skip_lines").value == 0
    again(app, "a.csv", content)
    assert not app.error
    assert "lines skipped: 2" in plain(app)
    click(app, "Read it as usual")
    assert "titles above the header" in app.error[0].value


def test_no_page_goes_on_with_the_file_before():
    app = upload("good.csv", RECORDS.encode())
    assert not app.error
    again(app, "bad.csv", b"a,b\n1,2\n1,2,3\n")
    assert "Line 3" in app.error[0].value
    for page in ("choose_k", "clusters", "release"):
        go_to(app, page)
        settle(app)
        assert "'bad.csv' could not be read" in plain(app)
        assert "good" not in plain(app)
    go_to(app, "data")
    settle(app)
    assert any("Choose the file again" in box.value for box in app.warning)
    again(app, "good.csv", RECORDS.encode())
    assert not app.error
    assert not [box for box in app.warning if "Choose the file again" in box.value]


def test_encodings_are_offered_with_a_sample():
    content = "город,age\n" + "".join(f"Москва,{i}\nПермь,{i}\n" for i in range(20))
    app = upload("a.csv", content.encode("cp1251"))
    assert "not valid UTF-8" in app.error[0].value.replace("\\", "")
    click(app, "город")
    assert not app.error
    assert "a.csv**: 40 records, 2 columns" in plain(app)
    assert "cp1251" in app.selectbox(key="u_encoding").value


def test_words_that_count_as_missing_become_text():
    lines = "".join(f"{'NA' if i % 5 == 0 else 'DE'},{i}\n" for i in range(30))
    app = upload("a.csv", f"land,age\n{lines}".encode())
    assert "6 cells such as 'NA' count as missing" in plain(app)
    click(app, "Take NA as text")
    assert "count as missing" not in plain(app)
    assert "NA" not in app.multiselect(key="u_missing").value
    app.multiselect(key="u_missing").set_value(["DE"])
    settle(app)
    assert "24 cells such as 'DE' count as missing" in plain(app)


def test_decimal_commas_are_read_by_one_click():
    lines = "".join(f"{i},5;{i}\n" for i in range(30))
    app = upload("a.csv", f"x;y\n{lines}".encode())
    click(app, "The decimal mark is a comma")
    assert app.selectbox(key="u_decimal").value == "comma"
    assert not [box for box in app.info if "decimal comma" in box.value]


def test_a_file_without_a_header_asks_for_one():
    lines = "".join(f"{i},{i * 7 % 30}\n" for i in range(30))
    app = upload("a.csv", lines.encode())
    assert "looks like data" in app.error[0].value
    click(app, "the file has no header")
    assert "a.csv**: 30 records, 2 columns" in plain(app)
    assert app.selectbox(key="u_header").value == "none"


def test_all_ways_to_read_a_file_can_be_chosen():
    lines = "".join(f"A{i};'{i * 7 % 30},5';{i * i % 97}\n" for i in range(30))
    app = upload("a.csv", f"% note\nname;mass;age\n;kg;years\n{lines}Total;435;435\n".encode())
    app.selectbox(key="u_comment").set_value("begin with %").run()
    app.selectbox(key="u_units_row").set_value("yes, leave it out").run()
    app.selectbox(key="u_quote").set_value("'single quotes'").run()
    app.selectbox(key="u_decimal").set_value("comma").run()
    app.number_input(key="u_skip_last").set_value(1)
    settle(app)
    assert not app.error
    assert "a.csv**: 30 records, 3 columns" in plain(app)
    assert not [box for box in app.info if "kept as text" in box.value or "seem" in box.value]


def test_the_program_of_a_release_reads_the_file_as_it_was_read():
    app = upload("a.csv", f"Table 1\n{RECORDS}".encode())
    click(app, "Skip the first line")
    go_to(app, "release")
    settle(app)
    assert any("skip_lines=1" in code.value for code in app.code)


def test_a_picture_is_said_to_be_one():
    app = upload("a.csv", b"\x89PNG\r\n\x1a\n" + bytes(99))
    assert "a PNG image" in plain(app)
    assert not app.exception
    app = open_page("data", data="upload")
    assert not app.error


def test_decimal_commas_are_said_once():
    app = upload("a.csv", "\n".join(["a\tb", *(f"{10 + i % 13},{i % 7}\t{i % 5}" for i in range(60))]).encode())
    assert "looks like numbers with a decimal comma: 60 cells" in plain(app)
    assert "Text that reads as numbers" not in plain(app)


def test_totals_at_the_end_can_be_left_out():
    rows = "".join(f"{name},€{10 * i + 5}\n" for i, name in enumerate(["x", "y", "z", "x", "y", "z"]))
    app = upload("a.csv", f'who,"what"\n{rows}Total,€180\n'.encode())
    assert "look like totals of the others: 6" in plain(app)
    button(app, "Leave out the last record").click()
    settle(app)
    assert "6 records, 2 columns" in plain(app)
    assert "look like totals" not in plain(app)
    # Of numbers that are written plainly the reader says so itself, and nobody twice.
    app = upload("a.csv", f"who,what\n{rows}Total,€180\n".replace("€", "").encode())
    assert labels(app).count("Leave out the last record") == 1
    assert "look like totals" not in plain(app)


# --- ways on ----------------------------------------------------------------------------------------------------------

PEOPLE = "name,age,town\n,years,\n" + "".join(f"P{i},{20 + i % 9},{'Rome' if i % 2 else 'Oslo'}\n" for i in range(30))


def codes(app):
    return "\n".join(code.value for code in app.code)


def test_what_needs_several_clicks_is_one_which_shows_what_it_gives():
    app = upload("a.csv", f"People\n\n{PEOPLE}Total,690,\n\nSource: register\n".encode())
    assert "titles above the header" in app.error[0].value
    # The lines themselves, the trouble marked.
    assert re.search(r"▶\s+1 │ People\n", codes(app))
    first = next(button for button in app.button if button.key == "offer_0")
    assert "leave out the row of units; leave out the last record" in first.label
    assert "It gives 30 records, 3 columns. Left out" in plain(app)
    assert re.search(r"name │ age │ town\nP0\s+│ 20\s+│ Oslo\nP1", codes(app))
    first.click()
    settle(app)
    assert not app.error
    assert "a.csv**: 30 records, 3 columns" in plain(app)
    [done] = app.success
    assert "row of units below the header was left out" in done.value
    assert "Source: register" in codes(app)
    assert not [box for box in app.info if "seem" in box.value]


def test_a_line_that_does_not_fit_is_mended_by_a_click_and_shown_with_its_number():
    content = RECORDS.replace("01003,23,9\n", "01003,23,9,x\n").encode()
    app = upload("a.csv", content)
    assert "Line 5" in app.error[0].value
    assert re.search(r"▶\s+5 │ 01003,23,9,x", codes(app))
    assert "line 5 becomes: 01003 | 23 | 9,x" in codes(app)
    button(app, "Mend the line that does not fit").click()
    settle(app)
    assert not app.error
    assert "more or fewer fields than the header: 1 line (5)" in app.success[0].value.replace("\\", "")
    assert re.search(r"5 │ 01003,23,9,x\n\s+↳ 01003 \| 23 \| 9,x", codes(app))
    assert app.selectbox(key="u_uneven").value == "mended"
    go_to(app, "release")
    settle(app)
    assert "uneven='mend'" in codes(app)


def test_the_file_of_a_hospital_is_read_and_agreed_to_by_two_clicks():
    app = upload("patients.csv", hospital_csv())
    click(app, "cp1252")
    assert not app.error
    assert "1,000 records, 10 columns" in plain(app)
    click(app, "Agree to all guesses")
    assert "Every column is decided" in plain(app)
    assert not app.error
    [shown] = [table.value for table in app.dataframe if "role" in table.value]
    roles = shown.set_index("column")["role"]
    assert roles.value_counts().to_dict() == {
        "Quasi-identifier": 6,
        "Confidential": 2,
        "Direct identifier": 1,
        "Weight": 1,
    }
    assert "'k. A.' (10) count as missing" in plain(app)
    assert "Treat '.' and '999,0'" in plain(app)


def test_a_column_that_would_be_lost_stands_in_red_and_is_not_agreed_to():
    lines = "".join(f"{20 + i % 50};1,{i * i % 997:03d}\n" for i in range(200))
    app = upload("a.csv", f"age;rent\n{lines}".encode())
    assert "nothing would be left of these columns" in app.error[0].value
    assert "it would be left out, though it can be read as numbers" in app.error[0].value.replace("\\", "")
    click(app, "Agree to all guesses")
    assert "1 of 2 columns is a guess" in plain(app)
    click(app, "It may be lost")
    assert "Every column is decided" in plain(app)
    assert not app.error
