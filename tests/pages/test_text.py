"""Words, numbers and names for the screen."""

from __future__ import annotations

import pytest

from microagg.variants import VARIANTS
from pages.ui import text
from pages.ui.charts import theme


@pytest.mark.parametrize(
    ("loss", "floor", "says"),
    [
        (0.0, 0.0, "nothing"),
        (2.0, 2.0, "the optimum"),
        (2.1, 2.0, "at most 5 % above"),
        (14.4833, 14.4588, "at most 0.17 % above"),
        (6.0, 2.0, "at most 3 times"),
        (6.0, 0.0, "not known"),
    ],
)
def test_gap_in_words(loss, floor, says):
    assert says in text.gap_in_words(loss, floor)


def test_markdown_is_escaped():
    assert text.escape_markdown("a*b [c](d)\n$e$") == r"a\*b \[c\]\(d\) \$e\$"


def test_variants_have_styles_of_their_own():
    assert len({theme.style(name) for name in VARIANTS}) == len(VARIANTS)
