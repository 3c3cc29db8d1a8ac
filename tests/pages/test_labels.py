"""Labels of widgets, which screen readers read out as they stand: without Markdown's escapes, and without markup."""

from __future__ import annotations

import re

import pytest

from microagg.algorithms.method import VARIANTS
from pages.shared import shell
from tests.pages.helpers import go_to, settle, upload

# Names and values that Markdown would take as markup, and codes that may stand for missing values.
ROWS = [
    f"{i},{-99 if i % 9 == 0 else i * 7 % 50},{'n/a' if i % 8 == 0 else i % 10},{'*' if i % 9 == 0 else 'pq'[i % 2]}"
    for i in range(1, 121)
]
FILE = "\n".join(["patient no.,*a* [b](c),$x$ _y_ :red[z],#1", *ROWS])
MARKUP = re.compile(r"\\|[*_~`$].*[*_~`$]|\[|:\w+:")
SPOKEN = [
    "selectbox",
    "multiselect",
    "number_input",
    "text_input",
    "text_area",
    "toggle",
    "checkbox",
    "radio",
    "slider",
    "select_slider",
    "button_group",
    "date_input",
]


def labels(app):
    """Return the labels that are read out, each with whether it is shown, too."""
    found = [(part.label, part.proto.label_visibility.value == 0) for kind in SPOKEN for part in app.get(kind)]
    return found + [(block.proto.popover.label, True) for block in blocks(app._tree) if block.type == "popover"]


def blocks(node):
    for child in getattr(node, "children", {}).values():
        yield child
        yield from blocks(child)


@pytest.mark.parametrize("page", shell.PAGES)
def test_no_label_holds_what_keeps_text_from_being_markdown(page):
    app = upload("a_*file*_[x](y).csv", FILE.encode(), page, methods="v-mdav", records="data")
    shown = labels(app)
    assert len(shown) > 1
    assert [label for label, _ in shown if "\\" in label] == []
    # What is shown besides is drawn as Markdown, which must not change it.
    assert [label for label, visible in shown if visible and MARKUP.search(label)] == []
    if page == "data":
        assert {"Role of patient no.", "Role of *a* [b](c)", "Role of $x$ _y_ :red[z]"} <= {label for label, _ in shown}
        assert any(label.startswith("Treat 'n/a' (") and not visible for label, visible in shown)


def test_titles_of_methods_may_stand_in_labels_as_they_are():
    assert [variant.title for variant in VARIANTS.values() if MARKUP.search(variant.title)] == []


def test_what_is_typed_for_k_does_not_become_markup():
    app = upload("survey.csv", FILE.encode(), "choose_k", ks="**[x](y)**")
    go_to(app, "choose_k")
    settle(app)
    assert "k: ?" in [label for label, _ in labels(app)]
