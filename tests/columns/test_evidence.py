"""What columns show: the words of their names, and which determine which, against what groups of pandas say."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg.columns import determined_by
from microagg.columns.evidence import NUMBERED, Words, folded, parts
from microagg.errors import DataError


def naive_determined_by(frame):
    found = {}
    counts = {name: frame[name].nunique() for name in frame}
    names = [name for name in frame if 2 <= counts[name] <= len(frame) / 2]
    for one, other in itertools.permutations(names, 2):
        both = frame[frame[one].notna() & frame[other].notna()]
        if len(both) >= len(frame) / 2 and (both.groupby(one)[other].nunique() <= 1).all():
            found.setdefault(other, []).append(one)
    return {name: tuple(others) for name, others in found.items()}


@given(
    st.lists(
        st.tuples(*[st.one_of(st.none(), st.sampled_from("abc"))] * 2, st.integers(0, 3), st.integers(0, 1)),
        min_size=1,
        max_size=16,
    )
)
def test_determined_by_as_groups_say(rows):
    frame = pd.DataFrame(rows, columns=["a", "b", "c", "d"])
    frame["e"] = frame["c"] // 2
    assert determined_by(frame) == naive_determined_by(frame)


def test_determined_by_looks_at_all_records():
    # Two columns that agree in all records that a sample would take.
    a = np.tile([0, 1, 2], 2000)
    b = a.copy()
    b[4999] = 0
    assert b[4999] != a[4999]
    frame = pd.DataFrame({"a": a, "b": b, "c": a * 7})
    assert determined_by(frame) == {"a": ("c",), "c": ("a",)}
    assert determined_by(frame, ["b", "c"]) == {}
    with pytest.raises(DataError, match="no column 'z'"):
        determined_by(frame, ["a", "z"])
    with pytest.raises(DataError, match="must be a DataFrame"):
        determined_by([1, 2])


def test_words_of_names():
    assert parts("HHWeight2_kg") == ["hh", "weight", "kg"]
    assert parts("IDNumber") == ["id", "number"]
    assert parts("Straße.nr") == ["strasse", "nr"]
    assert parts(7) == []
    assert folded("Región ÄÖ") == "region ao"
    assert NUMBERED.in_name("paid") is None
    assert NUMBERED.in_name("person_ids") == "ids"
    words = Words("party vote", "diagnos")
    assert words.in_name("party_size") == "party"
    assert words.in_name("partition") is None
    assert words.in_name("self-diagnosed") == "diagnosed"
