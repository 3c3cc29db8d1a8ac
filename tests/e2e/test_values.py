"""A value becomes what is typed beside it."""

from urllib.parse import unquote_plus

from tests.e2e.steps import open_column, place_of, wait_until_idle


def test_what_is_typed_of_a_value_is_what_it_becomes(page, server):
    rows = [f"{value},{number}" for value in ("f", "female", "x") for number in range(20)]
    file = {"name": "clinic.csv", "mimeType": "text/csv", "buffer": "\n".join(["sex,age", *rows]).encode()}
    page.goto(f"{server.url}/data?data=upload&k=5")
    page.set_input_files("input[type=file]", file)
    page.get_by_text("60 records").first.wait_for()
    wait_until_idle(page)
    open_column(page, "sex")
    page.get_by_text("Recode values").click()
    page.wait_for_timeout(1500)
    box = place_of(page, page.get_by_test_id("stDataFrame").nth(1))
    page.mouse.dblclick(box["x"] + box["width"] - 60, box["y"] + 35 * 3 + 17)  # the last of three values
    page.wait_for_timeout(500)  # what is typed while the field opens is lost
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("other", delay=60)
    page.wait_for_timeout(500)
    page.keyboard.press("Enter")
    page.get_by_text("'x' is now 'other'").wait_for()
    wait_until_idle(page)
    assert "sex=x=other" in unquote_plus(page.url)
