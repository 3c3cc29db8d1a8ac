"""The texts that ``tests/mutations.py`` changes are still there; whether the tests notice, only a run of it tells."""

from tests.conftest import ROOT
from tests.mutations import MUTATIONS, find


def test_a_mutation_changes_one_place():
    for mutation in MUTATIONS:
        find(mutation, ROOT)  # raises LookupError, which names the text, unless it is there exactly once
        assert mutation.old != mutation.new, mutation.what
