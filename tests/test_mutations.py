"""The texts that ``tests/mutations.py`` changes are still there; whether the tests notice, only a run of it tells."""

from __future__ import annotations

import pytest

from tests.conftest import ROOT
from tests.mutations import MUTATIONS, find


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.what)
def test_a_mutation_changes_one_place(mutation):
    find(mutation, ROOT)  # raises LookupError unless the text is there exactly once
    assert mutation.old != mutation.new
