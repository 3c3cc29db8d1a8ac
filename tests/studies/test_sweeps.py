"""What a sweep says in one sentence, and the lowest discernibility."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from microagg.metrics.generalization import least_discernibility
from microagg.studies import sweeps


@pytest.mark.parametrize(("n", "k"), [(7, 3), (12, 3), (11, 4), (5, 5), (8, 1), (5, 3)])
def test_least_discernibility_is_that_of_the_best_sizes(n, k):
    def sizes(left, least):
        if left == 0:
            yield ()
        for size in range(least, left + 1):
            yield from ((size, *others) for others in sizes(left - size, size))

    assert least_discernibility(n, k) == min(sum(s * s for s in found) for found in sizes(n, k))


def rows_of(ks, measure, **methods):
    """Return rows of a sweep over ``ks``: for each method its values of a measure."""
    parts = [
        pd.DataFrame(
            {"k": ks, measure: values, "method": name, "variant": name, "title": name.upper(), "n_records": 20}
        )
        for name, values in methods.items()
    ]
    return pd.concat(parts, ignore_index=True)


def test_of_numbers_it_says_which_method_loses_least_and_which_is_fastest():
    rows = rows_of([2, 3, 4], "information_loss", mdav=[1.0, 2, 3], md=[2.0, 1, 6]).assign(sse=1.0)
    assert sweeps.summary(rows, "information_loss", 3) == "MDAV loses least at 2 of 3 values of k"
    only = rows[rows["method"] == "md"]
    assert sweeps.summary(only, "excess", 3) == "MD loses 2.00 % at k = 2, 6.00 % at k = 4"
    rows = rows_of([2, 3, 4], "seconds", mdav=[0.1, 0.4, 0.2], md=[1.0] * 3)
    assert sweeps.summary(rows, "seconds", 9) == "MDAV is 5 times as fast as MD at k = 4"
    rows["seconds"] = [0.0] * 3 + [1.0] * 3
    assert sweeps.summary(rows, "seconds", 2) == "MDAV is far more than a thousand times as fast as MD at k = 2"
    assert sweeps.summary(rows[:3], "seconds", 2) == "MDAV takes 0 seconds at k = 2"


def test_of_categories_the_best_is_set_against_each_other_algorithm():
    rows = rows_of([5, 10], "information_loss", a=[10.0, 20], b=[12.5, 40], c=[20.0, 20.05])
    assert sweeps.summary(rows, "information_loss", 5) == "At k = 5, A loses 20 % less than B and 50 % less than C"
    # 7 is nearer to 5 than to 10; 8 is nearer to 10.
    assert sweeps.summary(rows, "information_loss", 7, " and 20 records").startswith("At k = 5 and 20 records, A")
    assert sweeps.summary(rows, "information_loss", 8) == "At k = 10, A loses slightly less than C and 50 % less than B"
    same = rows_of([5], "information_loss", a=[10.0], b=[10.0])
    assert sweeps.summary(same, "information_loss", 5) == (
        "A and B do the same at k = 5: 10.0 % of all there is to lose"
    )
    mixed = rows_of([5], "classification", a=[0.1], b=[0.2])
    assert sweeps.summary(mixed, "classification", 5) == "At k = 5, A mixes the classes 50 % less than B"


def test_of_discernibility_it_says_whether_it_is_the_lowest_there_can_be():
    # 20 records in groups of at least 6: 7 + 7 + 6 gives 134.
    rows = rows_of([6], "discernibility", a=[134], b=[134], c=[200])
    assert sweeps.summary(rows, "discernibility", 6) == (
        "At k = 6, A and B have the lowest DM that there can be; C has 49 % more"
    )
    rows = rows_of([6], "discernibility", a=[164], b=[200])
    assert sweeps.summary(rows, "discernibility", 6) == "At k = 6, A has the lowest DM, 164; B has 22 % more"


def test_a_class_penalty_costs_and_gains():
    rows = pd.DataFrame(
        {"penalty": [0.0, 2.0], "k": 10, "information_loss": [20.0, 21.0], "classification": [0.2, 0.15]}
    )
    assert sweeps.summary_of_tradeoff(rows, 2.0) == (
        "At k = 10, a class penalty of 2 takes CM from 20.0 % to 15.0 % at 5 % more Total-IL"
    )
    assert sweeps.summary_of_tradeoff(rows, 3.0) == "What greedy k-member gains and loses by a class penalty"


def test_winners_are_those_that_are_lowest_at_each_k():
    rows = rows_of([5, 2, 3], "information_loss", a=[3.0, 1, 2], b=[4.0, 1, 1], c=[3.5, 2, 1.5])
    assert list(sweeps.winners(rows, "information_loss").items()) == [(2, ["a", "b"]), (3, ["b"]), (5, ["a"])]
    assert sweeps.winners(rows.iloc[:0], "information_loss") == {}


def curve(losses, first=2):
    """Return the rows of one method over consecutive k."""
    return rows_of(range(first, first + len(losses)), "information_loss", a=losses)


@pytest.mark.parametrize(
    ("losses", "limit", "says"),
    [
        ([1.0, 2, 3, 4], 3, "A stays within 3 % up to k = 4, where it loses 3.00 %; the loss rises evenly, so no k "),
        (
            [1.0, 2, 3, 4],
            9,
            "A loses no more than 4.00 % even at k = 5, the largest k compared: more may be possible wi",
        ),
        ([1.0, 2, 3, 4], 0.5, "A loses more than 0.5 % at every k compared, at least 1.00 % at k = 2; the loss rises "),
        # 2 lies on no straight line from 1 to 4: it is one step before the bend.
        (
            [1.0, 4, 5, 6],
            4.5,
            "A stays within 4.5 % up to k = 3, where it loses 4.00 %; the loss rises fast up to k = 3 ",
        ),
        (
            [1.0, 2, 3, 9],
            4.5,
            "A stays within 4.5 % up to k = 4, where it loses 3.00 %; the loss rises slowly up to k = 4 ",
        ),
        ([5.0], 1, "A loses more than 1 % at every k compared, at least 5.00 % at k = 2; the loss rises evenly"),
    ],
)
def test_the_limit_and_the_knee_are_one_sentence(losses, limit, says):
    assert sweeps.choice_in_words(curve(losses), limit, 100).startswith(says)


def test_an_answer_at_the_edge_says_so_unless_there_is_no_larger_k():
    assert "the largest k compared: more may be possible within 9 %" in sweeps.choice_in_words(curve([1.0, 2, 3]), 9, 5)
    assert sweeps.choice_in_words(curve([1.0, 2, 3]), 9, 4).startswith("A stays within 9 % up to k = 4")
    few = sweeps.choice_in_words(curve([3.0, 5, 6], first=10), 2, 100)
    assert "at least 3.00 % at k = 10; a smaller k may lose less" in few


def test_winners_of_unknown_measures_are_nobody_and_of_equal_ones_all_in_their_order():
    rows = pd.DataFrame(
        {
            "k": [5, 3, 3, 3, 4],
            "variant": ["b", "b", "a", "c", "a"],
            "excess": [1.0, 2.0, 2.0 * (1 + 1e-10), 3.0, math.nan],
        }
    )
    assert list(sweeps.winners(rows, "excess").items()) == [(3, ["b", "a"]), (4, []), (5, ["b"])]
