"""Words, numbers and names for the screen."""

from __future__ import annotations

import re

import pytest

from microagg.algorithms.method import VARIANTS
from pages.shared import text, theme


def test_markdown_is_escaped():
    assert text.escape_markdown("a*b [c](d)\n$e$") == r"a\*b \[c\]\(d\) \$e\$"


@pytest.mark.parametrize("name", ["http://x.org/a", "HTTPS://x", "see www.x.org", "me@x.org", "a@b@c.de"])
def test_addresses_do_not_become_links(name):
    shown = text.escape_markdown(name).replace("\\", "")
    assert shown.replace("\u2060", "") == name
    # What Markdown takes for the beginning of an address, or for one of mail.
    assert not re.search(r"(?i)https?://|www\.|@\w", shown)


def test_variants_have_styles_of_their_own():
    assert len({theme.style(name) for name in VARIANTS}) == len(VARIANTS)
