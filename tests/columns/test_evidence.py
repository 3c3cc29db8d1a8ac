"""What columns show: the words of their names, and which are equivalent, against what groups of pandas say."""

from __future__ import annotations

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from microagg.columns.evidence import NUMBERED, ColumnValues, Words, folded, parts
from microagg.columns.structure import is_equivalent


def are_twins(one, other):
    return is_equivalent(ColumnValues.of(pd.Series(one)), ColumnValues.of(pd.Series(other)))


CELLS = st.one_of(st.none(), st.sampled_from("abc"))


@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=16))
def test_columns_are_equivalent_as_groups_say(rows):
    frame = pd.DataFrame(rows, columns=["a", "b"], dtype=object)
    both = frame.dropna()
    one_to_one = all((both.groupby(a)[b].nunique() <= 1).all() for a, b in (("a", "b"), ("b", "a")))
    assert are_twins(frame["a"], frame["b"]) == (one_to_one and len(both) >= len(frame) / 2)


def test_all_records_are_compared():
    # Two columns that agree in all records that a sample would take.
    a = np.tile([0, 1, 2], 2000)
    b = a.copy()
    b[4999] = 0
    assert b[4999] != a[4999]
    assert not are_twins(a, b)
    assert are_twins(a, a * 7)


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
