"""Labels of widgets, which screen readers read out as they stand, and text on the screen, which must not be markup."""

import re

import pytest

from microagg.algorithms.method import VARIANTS
from pages.shared import shell, text
from tests.pages.helpers import WIDGETS, choose, look_at, upload, visit

# Names and values that Markdown would take as markup, and codes that may stand for missing values.
ROWS = [
    f"{i},{-99 if i % 9 == 0 else i * 7 % 50},{'n/a' if i % 8 == 0 else i % 10},{'*' if i % 9 == 0 else 'pq'[i % 2]}"
    for i in range(1, 121)
]
FILE = "\n".join(["patient no.,*a* [b](c),$x$ _y_ :red[z],#1", *ROWS]).encode()
MARKUP = re.compile(r"\\|[*_~`$].*[*_~`$]|\[|:\w+:")


def labels(app):
    """Return the labels that are read out, each with whether it is shown, too."""
    found = [(part.label, part.proto.label_visibility.value == 0) for kind in WIDGETS for part in app.get(kind)]
    return found + [(block.proto.popover.label, True) for block in blocks(app._tree) if block.type == "popover"]


def blocks(node):
    for child in getattr(node, "children", {}).values():
        yield child
        yield from blocks(child)


def test_no_label_holds_what_keeps_text_from_being_markdown():
    app = upload("a_*file*_[x](y).csv", FILE, methods="v-mdav", records="data")
    names = ["patient no.", "*a* [b](c)", "$x$ _y_ :red[z]"]
    shown = [pair for name in names for pair in labels(look_at(app, name))]
    assert {"Role of patient no.", "Role of *a* [b](c)", "Role of $x$ _y_ :red[z]"} <= {label for label, _ in shown}
    assert any(label.startswith("Treat 'n/a' (") and not visible for label, visible in shown)
    for page in shell.PAGES:
        shown = labels(visit(app, page))
        assert shown
        assert [label for label, _ in shown if "\\" in label] == []
        # What is shown besides is drawn as Markdown, which must not change it.
        assert [label for label, visible in shown if visible and MARKUP.search(label)] == []
    visit(app, "choose_k")
    assert "k: ?" in [label for label, _ in labels(choose(app, w_ks="**[x](y)**"))]
    assert [variant.title for variant in VARIANTS.values() if MARKUP.search(variant.title)] == []


def test_markdown_is_escaped():
    assert text.escape_markdown("a*b [c](d)\n$e$") == r"a\*b \[c\]\(d\) \$e\$"


def test_no_line_ends_within_a_percentage_or_a_value_of_k():
    assert text.escape_markdown("8 % at k = 5, not 9 or x %") == "8\u00a0% at k\u00a0=\u00a05, not 9 or x %"


@pytest.mark.parametrize("name", ["http://x.org/a", "HTTPS://x", "see www.x.org", "me@x.org", "a@b@c.de"])
def test_addresses_do_not_become_links(name):
    shown = text.escape_markdown(name).replace("\\", "")
    assert shown.replace("\u2060", "") == name
    # What Markdown takes for the beginning of an address, or for one of mail.
    assert not re.search(r"(?i)https?://|www\.|@\w", shown)
