"""What comes next: the questions before steps, whose answers are the steps themselves."""

from __future__ import annotations

import numpy as np

from microagg import explain
from microagg.explain.player import questions
from microagg.explain.run import Focus, Quantity, Step, make_run
from tests.cases import for_each
from tests.explain.test_explain import TOY, VARIANTS, small_sets
from tests.explain.test_player import toy


def asked(key, X, k, **params):
    """Return each question of a run with its right answers in words."""
    run, steps = make_run(X, k), list(explain.steps(key, X, k=k, **params))
    found = [question for question in questions(run, steps) if question]
    return [(each.text, [each.options[at] if each.options else run.names[at] for at in each.right]) for each in found]


def test_mdav_star_is_asked_for_the_farthest_and_for_the_cheaper():
    found = asked("mdav-star", TOY, 3)
    # The farthest record, then, of it, what is cheaper.
    right = [["100"], ["1"], ["open a new group"], ["5"], ["join {1, 2, 3}"], ["6"], ["join {1, 2, 3, 5}"], ["19"]]
    assert [answers for _, answers in found] == right
    assert [text.startswith("Which unassigned record") for text, _ in found] == [True, True, *[False, True] * 3]
    assert [text[:2] for text, _ in found[2::2]] == ["1:", "5:", "6:"]


def test_which_group_a_record_joins():
    left_over = [answers for _, answers in asked("mdav-plus", TOY, 3)[-2:]]
    assert left_over == [["5", "6", "19"], ["5", "6", "19", "20"]]


def test_where_the_optimal_cut_is():
    *weighed, last, first = asked("mhm", TOY, 3)
    assert weighed[-1][1] == ["{98, 99, 100} as the last group"]
    assert (last[1], first[1]) == (["21", "98"], ["6", "19"])
    # A cut of the plane goes through an attribute: all records at its value are beside it, 1 and 2 as well as 3.
    X = [[0, 0], [1, 5], [1, 0], [2, 5], [3, 0], [3, 5]]
    assert asked("mondrian", X, 2, cut="strict")[1][1] == ["1", "2", "3"]


def test_of_equally_far_records_each_is_right_and_what_says_nothing_is_not_asked():
    text, right = asked("mdav", [[-2], [0], [0], [2]], 2)[0]
    assert (text.startswith("Which unassigned record is farthest"), right) == (True, ["-2", "2"])
    run = make_run([[0], [1], [2]], 1)
    one = Step("weigh", "Alone", "", ((0,),), (1, 2), 0, quantities=(Quantity("it", 1.0, chosen=True),))
    none = Step("weigh", "Both", "", ((0,),), (1, 2), 0, quantities=(Quantity("a", 1.0), Quantity("b", 1.0)))
    nobody = Step("look", "Somewhere", "", ((0,),), (1, 2), 0, Focus(point=(1.0,)))
    assert list(questions(run, [one, none, nobody])) == [None, None, None]


@for_each(("key", "params"), VARIANTS)
def test_the_right_answer_is_what_the_step_does(key, params):
    for X, k in small_sets(60):
        run, steps = make_run(X, k), list(explain.steps(key, X, k=k, **params))
        before = Step("start", "", "", (), tuple(range(len(X))), 0)
        for step, question in zip(steps, questions(run, steps), strict=True):
            if question is not None:
                assert question.right
                answers = len(question.options) or len(X)
                assert set(question.right) <= set(range(answers))
                _check(X, step, before, question)
            before = step


def _check(X, step, before, question):
    seed, right = step.focus.seed, set(question.right)
    if step.kind == "weigh":
        assert [each.chosen for each in step.quantities] == [place in right for place in range(len(step.quantities))]
    elif step.kind == "look":
        origin = X[step.focus.lines[0][0]] if step.focus.lines else np.array(step.focus.point)
        far = ((X - origin) ** 2).sum(axis=1)
        assert seed in right <= set(step.unassigned)
        assert all(np.isclose(far[record], max(far[list(step.unassigned)])) for record in right)
    elif step.kind == "join":
        [joined] = [members for members in step.groups if seed in members]
        assert seed in right or right == set(joined) - {seed}
    else:
        with_whom = [[before.labels == before.labels[i], step.labels == step.labels[i]] for i in right]
        assert any((old != new).any() for old, new in with_whom)


def test_the_player_gets_questions_only_where_it_is_to_ask():
    silent, asking = (toy(3, ask=ask)["sides"][0]["steps"] for ask in (False, True))
    assert not any("question" in step for step in silent)
    assert asking[0]["question"] is None
    question = dict(asking[1]["question"])
    assert question.pop("text").startswith("Which unassigned record")
    shows = {"point": [34.0, None], "measured": "centroid of all"}
    assert question == {"right": (10,), "options": (), "seed": None, "shows": shows}
