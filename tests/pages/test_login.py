"""Where a login is asked for, nothing of the dashboard is shown before it."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.helpers import APP, go_to


@pytest.mark.parametrize("page", ["start", "data", "methods"])
def test_nobody_gets_in_without_the_login_that_is_asked_for(page):
    app = AppTest.from_file(APP, default_timeout=60)
    app.user = {"is_logged_in": False}
    go_to(app, page)
    app.run()
    assert not app.exception
    assert [button.label for button in app.button] == ["Log in"]
    assert not app.markdown
    app.user = {"is_logged_in": True, "email": "a@b.c"}
    app.run()
    assert "Log in" not in [button.label for button in app.button]
    assert app.markdown
