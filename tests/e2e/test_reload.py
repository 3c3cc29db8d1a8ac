"""What lasts of a project: over a reload, in a file, when the browser goes back; and where the focus stays."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import load_benchmark
from tests.e2e.steps import columns_of, contrast, set_role, visit, wait_for_address, wait_until_idle

pytestmark = pytest.mark.e2e

# None of them is what is guessed, however the file is read.
ROLES = {"person": "Other", "age": "Confidential", "rent": "Confidential", "town": "Stratum"}


def rents():
    """Return a CSV file whose rents have decimal commas, and in which “k.A.” stands for no answer."""
    random = np.random.default_rng(0)
    lines = ["person;age;rent;town"]
    for i in range(200):
        age = "k.A." if i % 20 == 3 else random.integers(18, 90)
        rent = f"{random.integers(300, 2000)},{random.integers(10, 99)}"
        lines.append(f"P{i:04};{age};{rent};{random.choice(['Aachen', 'Bonn', 'Celle'])}")
    return "\n".join(lines).encode()


def upload(page, content):
    file = {"name": "rents.csv", "mimeType": "text/csv", "buffer": content}
    page.set_input_files("input[type=file] >> nth=0", file)
    page.get_by_text("200 records").first.wait_for()
    wait_until_idle(page)


def read_otherwise(page):
    """Have the file read with decimal commas, and with its code for what is missing."""
    page.get_by_role("button", name="The decimal mark is a comma").click()
    page.get_by_text("Read with your settings: decimal:").wait_for()
    wait_until_idle(page)
    page.get_by_text("How the file is read", exact=True).click()
    page.wait_for_timeout(1500)  # what is written while it opens is lost
    field = page.get_by_role("combobox", name=re.compile("Cells of text that count as missing"))
    field.scroll_into_view_if_needed()
    page.wait_for_timeout(500)  # what opens closes when the page is scrolled
    field.fill("k.A.")
    page.get_by_text("Add: k.A.").wait_for()
    field.press("Enter")
    wait_until_idle(page)
    assert columns_of(page)["age"]["Missing"] == "10"


def roles(page):
    """Return what the page shows as the role of each column."""
    return {name: role_of(page, name) for name in ROLES}


def role_of(page, name):
    return columns_of(page)[name]["Role"]


def decide(page, server):
    """Upload a file, have it read otherwise, and decide of every column; return the address."""
    page.goto(f"{server.url}/data?data=upload")
    page.get_by_text("Upload the same file again").wait_for()
    upload(page, rents())
    read_otherwise(page)
    for name, role in ROLES.items():
        set_role(page, name, role)
        wait_for_address(page, f"%3A{name}")
        wait_until_idle(page)
    page.get_by_text("Every column is decided").wait_for()
    return page.url


def test_a_file_that_is_uploaded_again_is_read_and_decided_as_it_was(page, server):
    link = decide(page, server)
    page.get_by_text("Project", exact=True).click()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save the project").click()

    page.goto("about:blank")
    page.goto(link)
    page.get_by_text("This session has no file").wait_for()
    upload(page, rents())
    page.get_by_text("Read with your settings: decimal:").wait_for()
    page.get_by_text("Every column is decided").wait_for()
    assert roles(page) == ROLES
    assert page.get_by_text("made for other values").count() == 0

    page.goto("about:blank")
    page.goto(f"{server.url}/data?data=upload")
    page.get_by_text("No file yet").wait_for()
    page.get_by_text("Project", exact=True).click()
    name, content = saved.value.suggested_filename, Path(saved.value.path()).read_bytes()
    file = {"name": name, "mimeType": "application/json", "buffer": content}
    page.set_input_files("input[type=file] >> nth=1", file)
    page.get_by_text("This session has no file").wait_for()
    upload(page, rents())
    page.get_by_text("Every column is decided").wait_for()
    assert roles(page) == ROLES


def test_back_and_forward_of_the_browser_undo_a_choice_and_do_it_again(page, server):
    page.goto(f"{server.url}/data?data=wine&k=4")
    wait_until_idle(page)
    for title, role in (("Confidential", "confidential"), ("Other", "others")):
        set_role(page, "ash", title)
        wait_for_address(page, f"{role}.numeric")
        wait_until_idle(page)
    visit(page, "Choose k")
    page.get_by_role("heading", name="Choose k").wait_for()
    wait_for_address(page, "columns=others.numeric")
    wait_until_idle(page)

    def wait_for_role(role):
        for _ in range(100):
            if role_of(page, "ash") == role:
                return
            page.wait_for_timeout(200)
        assert role_of(page, "ash") == role

    page.go_back()
    page.get_by_role("heading", name="Data").first.wait_for()
    wait_until_idle(page)
    wait_for_role("Other")
    page.go_back()
    wait_for_role("Confidential")
    page.go_back()
    wait_for_role("Quasi-identifier")
    wait_for_address(page, "k=4")
    page.go_forward()
    wait_for_role("Confidential")
    wait_for_address(page, "columns=confidential.numeric")


def test_the_focus_is_on_the_way_on_once_suggestions_are_accepted(page, server):
    page.goto(f"{server.url}/data?data=upload")
    page.get_by_text("Try the sample survey").click()
    agree = page.get_by_role("button", name=re.compile("sure suggestions"))
    agree.wait_for()
    wait_until_idle(page)
    agree.focus()
    page.keyboard.press("Enter")
    page.wait_for_function("document.activeElement.textContent.includes('Choose k')")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Choose k").wait_for()


# Of each text of a figure that stands on the page itself, and of no swatch: its color, and what it says.
TEXTS = """() => [...document.querySelectorAll('.js-plotly-plot svg text')].filter(
    text => text.textContent && !text.closest('.barlayer, .heatmaplayer, .hm, .iciclelayer, .hoverlayer')
).map(text => [getComputedStyle(text).fill, text.textContent])"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_stands_in_figures_is_legible(page, server, scheme):
    load_benchmark("wine")
    page.emulate_media(color_scheme=scheme)
    for address, says in (
        ("choose_k?data=wine&ks=3,5,10&k=5&methods=mdav&method=mdav&limit=10", "largest acceptable loss"),
        ("evidence", "has lower loss"),
        ("release?data=wine&k=5&method=mdav", "change"),
    ):
        page.goto(f"{server.url}/{address}")
        page.locator(".js-plotly-plot svg text").get_by_text(says).first.wait_for()
        wait_until_idle(page)
        ground = page.locator(".stApp").evaluate("app => getComputedStyle(app).backgroundColor")
        texts = page.evaluate(TEXTS)
        assert any(says in text for _, text in texts)
        assert [(fill, text) for fill, text in texts if contrast(fill, ground) < 4.5] == []
