"""How much memory reading a file may take."""

import pytest

from microagg.errors import DataError
from microagg.tables import notices
from microagg.tables.notices import allowed, check_memory


@pytest.fixture
def machine(monkeypatch):
    """Return a function that sets the memory of this machine."""
    return lambda memory: monkeypatch.setattr(notices, "machine_memory", lambda: memory)


def test_allowed_is_twenty_times_the_size_and_200_mb_within_a_quarter_of_the_machine(machine):
    machine(None)
    assert allowed(0) == 200_000_000
    assert allowed(1_000_000) == 220_000_000
    machine(8_000_000_000)
    assert allowed(1_000_000) == 220_000_000
    assert allowed(90_000_000) == 2_000_000_000
    assert allowed(10**10) == 2_000_000_000


def test_what_is_allowed_passes_and_one_byte_more_is_refused_in_one_sentence(machine):
    machine(None)
    check_memory(201_160_000, 58_000, "x.parquet")
    with pytest.raises(DataError, match="201 MB of memory"):
        check_memory(201_160_001, 58_000, "x.parquet")
    with pytest.raises(DataError) as huge:
        check_memory(4_300_000_000, 58_000, "x.parquet")
    assert str(huge.value) == (
        "reading the file 'x.parquet' (0.058 MB) would take at least 4,300 MB of memory, over the limit of 201 MB, "
        "which is 20 times its size and 200 MB: leave out columns, split the file, or save the "
        "table as .csv."
    )
    with pytest.raises(DataError, match=r"leave out columns, or split the file\.$"):
        check_memory(4_300_000_000, 58_000, "x.csv")
    machine(400_000_000)
    with pytest.raises(DataError, match=r"over the limit of 100 MB, which is a quarter of this machine's memory: "):
        check_memory(150_000_000, 58_000, "x.parquet")
