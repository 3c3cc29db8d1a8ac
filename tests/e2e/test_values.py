"""Values become others by clicks and by typing, dates are read and outliers left out, as the released file shows."""

from __future__ import annotations

from urllib.parse import unquote_plus

import numpy as np
import pandas as pd
import pytest

from tests.e2e.steps import accept, open_column, place_of, visit, wait_for_address, wait_until_idle

pytestmark = pytest.mark.e2e


def clinic():
    random = np.random.default_rng(0)
    sex = np.repeat(["f", "F ", "female", "m", "M", "x"], [60, 10, 20, 80, 20, 10])
    table = pd.DataFrame({"sex": sex, "age": random.integers(18, 90, 200)})
    return table.assign(diagnosis=random.choice(["flu", "cold", "gout"], 200)).to_csv(index=False).encode()


def upload(page):
    page.set_input_files("input[type=file]", {"name": "clinic.csv", "mimeType": "text/csv", "buffer": clinic()})
    page.get_by_text("200 records").first.wait_for()
    wait_until_idle(page)


def type_over(page, row, text):
    """Type what the value in a row of the table becomes, in its last column."""
    box = place_of(page, page.get_by_test_id("stDataFrame").nth(1))
    page.mouse.dblclick(box["x"] + box["width"] - 60, box["y"] + 35 * (row + 1) + 17)
    page.wait_for_timeout(500)  # what is typed while the field opens is lost
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type(text, delay=60)
    page.wait_for_timeout(500)
    page.keyboard.press("Enter")


def test_merging_spellings(page, server):
    page.goto(f"{server.url}/data?data=upload&k=5")
    upload(page)
    open_column(page, "sex")
    page.get_by_text("count as different values: 'f', 'female' and 'F '").wait_for()
    page.get_by_role("button", name="Merge into 'f' and 'm' (50 records changed)").click()
    wait_for_address(page, "recode=")
    page.get_by_text("Values of sex: 'female' and 'F ' are now 'f' and 'M' is now 'm'.").wait_for()
    wait_until_idle(page)
    page.get_by_text("Recode values").click()
    page.wait_for_timeout(1500)
    type_over(page, 5, "other")  # of F, M, f, female, m and x
    page.get_by_text("'x' is now 'other'").wait_for()
    wait_until_idle(page)
    assert "sex=x=other" in unquote_plus(page.url)

    # A link carries them, and takes them back.
    link = page.url
    page.goto("about:blank")
    page.goto(link)
    upload(page)
    page.get_by_text("'x' is now 'other'").wait_for()
    assert page.get_by_text("Spelling variants").count() == 0
    accept(page)
    visit(page, "Release")
    button = page.get_by_role("button", name="Download CSV")
    button.wait_for()
    wait_until_idle(page)
    if button.is_disabled():
        for override in page.get_by_role("button", name="Release anyway").all():
            override.click()
            page.get_by_role("button", name="Override this problem").last.click()
            wait_until_idle(page)
    with page.expect_download() as waiting:
        button.click()
    released = pd.read_csv(waiting.value.path())
    words = set(released["sex"].str.strip("{}").str.split(", ").explode())
    assert words <= {"f", "m", "other", "*"}
    assert {"f", "m"} <= words

    visit(page, "Data")
    page.get_by_role("button", name="Undo").click()
    page.get_by_text("Spelling variants in sex").first.wait_for()
    assert "recode" not in page.url
