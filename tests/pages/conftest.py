"""What tests of pages share."""

from __future__ import annotations

import pytest
import streamlit as st

from pages.shared import compiling


@pytest.fixture
def searches():
    """Forget in the end what a test has found: all tests run in one session, and what is found is shown."""
    yield
    st.cache_resource.clear()


@pytest.fixture(scope="session", autouse=True)
def _nothing_compiled_ahead():
    """Keep pages that are drawn in this process from having another one compile all that there is."""
    usual, idle = compiling.ahead, compiling.Ahead([])
    idle.close()
    compiling.ahead = lambda: idle
    yield
    compiling.ahead = usual
