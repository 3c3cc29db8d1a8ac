"""k-anonymity first and t-closeness first give the groups of their oracles, and what is proven of them holds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microagg import ParameterError
from microagg.algorithms.registry import make
from microagg.columns.records import Attribute, Records
from microagg.columns.taxonomy import Taxonomy
from microagg.kernels.local_search import guarded
from tests import naive

CASES = st.tuples(st.integers(0, 10**6), st.integers(4, 60), st.integers(1, 5), st.sampled_from([0.02, 0.1, 0.2, 0.5]))


TREE = Taxonomy.from_nested({"any": {"warm": ["red", "pink"], "cold": ["blue", "gray"]}})
RANKS = ("0", "1", "2", "3", "4", "5")
ATTRIBUTES = (Attribute("a"), Attribute("b", "ordinal", RANKS), Attribute("c", "nominal", (), TREE))


def drawn(seed: int, n: int, values: int) -> tuple[np.ndarray | Records, np.ndarray]:
    """Return records with ties, numbers or mixed, and a secret of each, a number with ties."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)) if seed % 3 == 0 else rng.integers(0, 6, (n, 2)).astype(float)
    if seed % 3 == 2:
        X = Records(ATTRIBUTES, np.column_stack([X, rng.choice(TREE.leaves, n)]))
    secrets = np.unique(rng.integers(0, values, n), return_inverse=True)[1]
    return X, secrets


def rule(kind: int, bound: float, secrets: np.ndarray) -> tuple:
    return kind, bound, secrets, np.bincount(secrets) / len(secrets)


@settings(deadline=None, max_examples=80)
@given(CASES, st.booleans(), st.booleans())
def test_k_anonymity_first_is_its_oracle(case, ordered, diverse):
    seed, n, k, t = case
    k = min(k, n)
    X, secrets = drawn(seed, n, 5)
    wanted = min(2, len(set(secrets.tolist())))
    rules = [rule(guarded.ORDERED if ordered else guarded.EQUAL, t, secrets)]
    rules += [rule(guarded.DISTINCT, wanted, secrets)] if diverse else []

    def lack(members):
        own = [int(secrets[i]) for i in members]
        over = naive.closeness(own, secrets.tolist(), ordered) - t
        short = 1 - len(set(own)) / wanted if diverse else 0.0
        return sum(amount for amount in (over, short) if amount > 1e-9)

    found = make("k-anonymity-first", k=k).fit_keeping(X, guarded.make_rules(rules)).labels_
    assert found.tolist() == naive.k_anonymity_first(X, k, lack)


@settings(deadline=None, max_examples=80)
@given(CASES, st.sampled_from([3, 20, 1000]), st.booleans())
def test_t_closeness_first_is_its_oracle(case, values, ordered):
    seed, n, k, t = case
    k = min(k, n)
    X, secrets = drawn(seed, n, values)
    # What else is asked for does not matter.
    rules = [rule(guarded.ENTROPY, 1.1, secrets), rule(guarded.ORDERED if ordered else guarded.EQUAL, t, secrets)]
    found = make("t-closeness-first", k=k).fit_keeping(X, guarded.make_rules(rules)).labels_
    assert found.tolist() == naive.t_closeness_first(X, k, secrets.tolist(), t)


@pytest.mark.parametrize(("n", "t"), [(60, 0.05), (60, 0.12), (120, 0.03), (100, 0.2)])
def test_groups_with_one_record_of_each_bucket_are_close(n, t):
    X = np.random.default_rng(n).normal(size=(n, 2))
    secrets = np.random.default_rng(n).permutation(n)
    rules = guarded.make_rules([rule(guarded.ORDERED, t, secrets)])
    partition = make("t-closeness-first", k=2).fit_keeping(X, rules).partition_
    size = partition.sizes.min()
    assert size >= n / (2 * (n - 1) * t + 1)
    # Proposition 2 of the source, of groups without a record that is left over.
    for rows in partition.groups():
        if len(rows) == size and n % size == 0:
            own = naive.closeness(secrets[rows].tolist(), secrets.tolist(), True)
            assert own <= (n - size) / (2 * (n - 1) * size) + 1e-9 <= t + 2e-9


def test_t_closeness_first_needs_to_know_how_close():
    rules = guarded.make_rules([rule(guarded.DISTINCT, 2, np.array([0, 1, 0, 1]))])
    with pytest.raises(ParameterError, match="ask for the closeness of a confidential column, such as closeness="):
        make("t-closeness-first", k=2).fit_keeping(np.arange(4.0)[:, np.newaxis], rules)
