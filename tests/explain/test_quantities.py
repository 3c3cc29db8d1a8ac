"""What decides in each explained algorithm, with numbers computed by hand."""

import pytest

from microagg import explain
from microagg.errors import ParameterError
from tests.cases import for_each
from tests.explain.test_explain import TOY


def run(key, X, k, **params):
    return list(explain.steps(key, X, k=k, **params))


def of_kind(steps, *kinds):
    return [step for step in steps if step.kind in kinds]


def numbers(step):
    """Return the quantities of a step as they are shown, the chosen one starred."""
    return [f"{'*' if each.chosen else ''}{each.name}: {each.formula}" for each in step.quantities]


def test_mdav_looks_from_the_centroid_then_from_the_farthest_record():
    # The sum of the eleven is 374, so their centroid is 34: 100 is 66 from it, 1 is 33.
    steps = run("mdav", TOY, 3)
    assert [step.kind for step in steps] == ["look", "look", "form", "form", "form"]
    assert steps[0].focus.point == (34.0,)
    assert numbers(steps[0]) == ["squared distance to the centroid: (100 − 34)² = 4356"]
    assert numbers(steps[1]) == ["squared distance to 100: (1 − 100)² = 9801"]
    assert steps[1].focus.lines == ((10, 0),)
    # Of equal records the first that is not r is s, and for the same reason the one nearest to r.
    steps = run("mdav", [[7], [7], [7], [7]], 2, names="abcd")
    assert [step.line for step in steps] == [2, 3, 4, 5, 6]
    assert (steps[3].title, steps[3].text[:2]) == ("b went with a", "c ")


def test_mdav_moves_the_centroid_with_each_record_left_over():
    # 5 and 3 are left of two groups at 0 and at 8: by 5 the centroid of the second moves to 29 / 4.
    *_, one, two = run("mdav", [[0], [0], [0], [8], [8], [8], [5], [3]], 3)
    assert numbers(one) == [
        "*to the centroid of {8, 8, 8}: (5 − 8)² = 9",
        "to the centroid of {0, 0, 0}: (5 − 0)² = 25",
    ]
    joins = ["*to the centroid of {0, 0, 0}: (3 − 0)² = 9", "to the centroid of {5, 8, 8, 8}: (3 − 7.25)² ≈ 18.06"]
    assert numbers(two) == joins


def test_mdav_plus_keeps_its_centroid():
    # 20 and 21 are left over, and the centroid of {5, 6, 19} stays at 10 when 20 has joined.
    steps = run("mdav-plus", TOY, 3)
    assert {step.focus.point[0] for step in of_kind(steps, "start", "look")} == {34.0}
    looks = ["(100 − 34)² = 4356", "(1 − 34)² = 1089", "(5 − 34)² = 841"]
    assert [step.quantities[0].formula for step in of_kind(steps, "look")] == looks
    joins = ["(20 − 10)² = 100", "(21 − 10)² = 121"]
    assert [step.quantities[0].formula for step in of_kind(steps, "join")] == joins


@pytest.mark.parametrize(
    ("gamma", "cost", "joins"), [(0.2, "0.2 · 1 = 0.2", 0), (4.0, "4 · 1 = 4", 0), (4.1, "4.1 · 1 = 4.1", 1)]
)
def test_v_mdav_lets_5_join_only_if_gamma_exceeds_4(gamma, cost, joins):
    steps = run("v-mdav", TOY, 3, gamma=gamma)
    weighed = of_kind(steps, "weigh")[1]
    marks = ("*", "") if joins else ("", "*")
    assert numbers(weighed) == [f"{marks[0]}d_in: (5 − 3)² = 4", f"{marks[1]}γ · d_out: {cost}"]
    assert any(step.text.startswith("5 joins {1, 2, 3}") and cost in step.text for step in steps) == joins
    assert joins or cost in weighed.text


def test_v_mdav_takes_in_the_last_record_whatever_its_distance_but_for_gamma_0():
    # The centroid is 5, from which 0 is farthest: {0, 7} is formed, and only 8 is left.
    last = run("v-mdav", [[7], [8], [0]], 2, gamma=0.01)[-1]
    assert numbers(last) == ["*d_in: (8 − 7)² = 1"]
    assert last.text.startswith("8 joins {0, 7}")
    weighed = of_kind(run("v-mdav", [[7], [8], [0]], 2, gamma=0.0), "weigh")
    assert numbers(weighed[0]) == ["d_in: (8 − 7)² = 1", "*γ · d_out: γ = 0"]


def test_mdav_star_weighs_the_quantities_of_the_paper():
    steps = run("mdav-star", TOY, 3)
    five, six = of_kind(steps, "weigh")[1:]
    assert numbers(five) == [
        "open a new group: SSE{5, 6, 19} / 3 = 122 / 3 ≈ 40.67",
        "*join {1, 2, 3}: (growth of {1, 2, 3} + SSE{6, 19, 20}) / 4 = (6.75 + 122) / 4 ≈ 32.19",
    ]
    assert numbers(six)[1].endswith("(8.45 + 2) / 4 ≈ 2.613")
    assert of_kind(steps, "join")[0].text == "5 joins {1, 2, 3}: 32.19 is less than 40.67."
    assert five.decision == "32.19 < 40.67: 5 joins {1, 2, 3}"


def test_mhm_fills_the_row_of_the_dynamic_program():
    # Of 0, 1, 5, 6, 7 with k = 2 the groups have 2 or 3 records. SSE: {0, 1} 0.5; {0, 1, 5} 14; {1, 5} 8; {5, 6} 0.5;
    # {1, 5, 6} 14; {6, 7} 0.5; {5, 6, 7} 2. No group of k starts at place 1, where no group stops.
    steps = run("mhm", [[6], [0], [5], [1], [7]], 2)
    assert [numbers(step) for step in of_kind(steps, "weigh")] == [
        ["*{0, 1} as the last group: best(0) + SSE = 0 + 0.5 = 0.5"],
        ["*{0, 1, 5} as the last group: best(0) + SSE = 0 + 14 = 14"],
        ["*{5, 6} as the last group: best(2) + SSE = 0.5 + 0.5 = 1"],
        [
            "*{5, 6, 7} as the last group: best(2) + SSE = 0.5 + 2 = 2.5",
            "{6, 7} as the last group: best(3) + SSE = 14 + 0.5 = 14.5",
        ],
    ]
    assert {step.focus.order for step in steps} == {(1, 3, 2, 0, 4)}
    cuts = of_kind(steps, "cut")
    assert [step.focus.cuts for step in cuts] == [((0, 3.0),), ()]
    assert [step.groups for step in cuts] == [((2, 0, 4),), ((2, 0, 4), (1, 3))]
    row = [(each.name, each.value, each.chosen) for each in cuts[0].quantities]
    expected = [(0, 0.0, True), (2, 0.5, True), (3, 14.0, False), (4, 1.0, False), (5, 2.5, True)]
    assert row == [(f"best({place})", best, chosen) for place, best, chosen in expected]


def test_names_are_one_for_each():
    with pytest.raises(ParameterError, match="2 names for 1 attributes: give one for each"):
        explain.steps("mdav", TOY, attributes=["a", "b"])


@for_each("key", explain.EXPLAINED)
def test_many_records_are_named_by_a_few(key):
    X = [[float(place % 37), float(place % 11)] for place in range(120)]
    for step in explain.steps(key, X, k=20):
        assert len(step.text) < 320, step.text
