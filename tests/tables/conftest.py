"""What all tests of tables go without."""

import pytest

from tests.tables.common import read_here


@pytest.fixture(autouse=True)
def one_process(request, monkeypatch):
    """Read SPSS and Stata files in this process, as starting another takes long; tests of processes start their own."""
    if "process" not in request.node.name:
        monkeypatch.setattr("microagg.tables.stata_spss.in_own_process", read_here)
