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


def test_control_groups_limit_what_the_machine_has(tmp_path):
    membership = tmp_path / "membership"
    folder = tmp_path / "groups"
    (folder / "a" / "b").mkdir(parents=True)
    (folder / "memory" / "c").mkdir(parents=True)

    def found(lines):
        membership.write_text(lines)
        return list(notices._group_limits(membership, folder))

    # Version 2: the group itself has no limit, the one above it has.
    (folder / "a" / "b" / "memory.max").write_text("max\n")
    (folder / "a" / "memory.max").write_text("1000\n")
    assert found("0::/a/b\n") == [1000]
    # A container does not see the folder by the name that the machine has for it.
    (folder / "memory.max").write_text("900\n")
    assert found("0::/elsewhere\n") == [900]
    # Version 1, where other controllers have lines of their own.
    (folder / "memory" / "c" / "memory.limit_in_bytes").write_text("700\n")
    (folder / "memory" / "memory.limit_in_bytes").write_text("9223372036854771712\n")
    assert found("5:cpu:/c\n4:memory:/c\n") == [700, 9223372036854771712]
    assert list(notices._group_limits(tmp_path / "none", folder)) == []
