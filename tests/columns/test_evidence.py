"""What columns show: the words of their names, and which are equivalent, against what groups of pandas say."""

from __future__ import annotations

from microagg.columns.names import NUMBERED, Words, folded, parts


def test_words_of_names():
    assert parts("HHWeight2_kg") == ("hh", "weight", "kg")
    assert parts("IDNumber") == ("id", "number")
    assert parts("Straße.nr") == ("strasse", "nr")
    assert parts(7) == ()
    assert folded("Región ÄÖ") == "region ao"
    assert NUMBERED.in_name("paid") is None
    assert NUMBERED.in_name("person_ids") == "ids"
    words = Words(frozenset({"party", "vote"}), ("diagnos",))
    assert words.in_name("party_size") == "party"
    assert words.in_name("partition") is None
    assert words.in_name("self-diagnosed") == "diagnosed"
