"""What tests of pages share."""

import pytest
from streamlit.runtime.caching import clear_session_resource_cache

from pages.shared import compiling


@pytest.fixture(autouse=True)
def _session_of_the_test():
    """End the session with the test: AppTest has one for all, whose results and jobs later tests would see."""
    yield
    clear_session_resource_cache("test session id")


@pytest.fixture(scope="session", autouse=True)
def _nothing_compiled_ahead():
    """Keep pages that are drawn in this process from having another one compile all that there is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiling, "start_ahead", lambda: None)
        yield
