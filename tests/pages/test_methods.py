"""The page Methods."""

from __future__ import annotations

from microagg import ALGORITHMS
from tests.pages.helpers import (
    open_page,
    words,
)


def test_methods_page_describes_every_algorithm():
    app = open_page("methods")
    assert len(app.expander) == len(ALGORITHMS)
    assert "Genetic algorithm" in words(app)
