"""Every page, in both color schemes: the fixtures ``page`` and ``server`` fail the test if one asks anybody else."""

from __future__ import annotations

import pytest

from pages.shared import shell
from tests.e2e.steps import visit, wait_until_idle

pytestmark = pytest.mark.e2e


def test_no_page_asks_anybody_but_its_server(page, server):
    schemes = ["light", "dark"]
    page.emulate_media(color_scheme=schemes[0])
    page.goto(f"{server.url}/?data=wine&ks=3-4&methods=mdav")
    for title in shell.PAGES.values():
        visit(page, title)
        wait_until_idle(page)
        page.wait_for_timeout(300)  # what is fetched last
        # The next page opens in the scheme that this one changes to.
        schemes.reverse()
        page.emulate_media(color_scheme=schemes[0])
        page.wait_for_function(
            "scheme => getComputedStyle(document.querySelector('.stApp')).colorScheme === scheme", arg=schemes[0]
        )
        page.wait_for_timeout(300)
