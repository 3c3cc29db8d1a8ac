"""What tasks say of a part is what is said of the whole file."""

from __future__ import annotations

import pytest

from microagg.distributed.passes import _numbered


@pytest.mark.parametrize(
    ("message", "numbered"),
    [
        (
            "column 'a' has NaN in record 3 (counting from 0), one of 2 such",
            "column 'a' has NaN in record 1003 (counting from 0), one of 2 such",
        ),
        ("column 'a' is not numeric (record 0 holds 'x')", "column 'a' is not numeric (record 1000 holds 'x')"),
        ("column 'record 5' has 1e300 in record 7: its", "column 'record 5' has 1e300 in record 1007: its"),
        ("column 'a' is 'record 5'", "column 'a' is 'record 5'"),
    ],
)
def test_records_are_counted_in_the_whole_file(message, numbered):
    assert _numbered(message, 1_000) == numbered
