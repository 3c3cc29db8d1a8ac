"""The scene that the player draws, its numbers by hand, and the file of its own that is made of it."""

import json
import re

import numpy as np
import pytest

from microagg import ParameterError, explain
from microagg.explain import player
from microagg.explain.run import Focus, Step
from tests.explain.test_explain import TOY
from tests.release.test_html import Page

NAMES = [str(value) for (value,) in TOY]
OPTIMUM = [0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2]


def run_of(X, k, names):
    return player.Watched("mdav-star", {}, list(explain.steps("mdav-star", X, k=k, names=names)))


def toy(*ks, **more):
    X = np.array(TOY, dtype=float)
    return player.scene(X, 3, [run_of(TOY, k, NAMES) for k in ks], names=NAMES, attributes=["value"], **more)


def scene_of(*steps, X, attributes):
    names = list("abcdefgh")[: len(X)]
    return player.scene(np.array(X), 1, [player.Watched("mdav", {}, steps)], names=names, attributes=attributes)


def step_of(groups, unassigned, focus):
    return Step("look", "A title", "A sentence.", groups, unassigned, 0, focus)


def test_the_toy_example_in_numbers():
    drawn = toy(3, optimum=OPTIMUM)
    assert drawn["records"]["x"] == [1, 2, 3, 5, 6, 19, 20, 21, 98, 99, 100]
    assert drawn["records"]["y"] is None
    assert drawn["records"]["labels"] == ["value", None]
    assert drawn["records"]["says"][3] == "5: value 5"
    (side,) = drawn["sides"]
    assert (side["title"], side["settings"], drawn["k"]) == ("MDAV*", "", 3)
    assert drawn["ticks"] == [[place] for place in range(len(side["steps"]))]
    assert drawn["differ"] is None
    first, second, third = side["steps"][:3]
    # The mean of the toy example is 374 / 11.
    assert first["point"] == [34.0, None]
    assert [first[name] for name in ("measured", "changed", "sse", "loss")] == ["centroid of all", [], "0", "0 %"]
    assert second["seed"] == 10
    # {98, 99, 100} comes first, with an SSE of 2; the SST is Σ x² − 11 · 34² = 30682 − 12716 = 17966.
    assert third["changed"] == [[8, 0], [9, 0], [10, 0]]
    assert (third["sse"], third["loss"]) == ("2", "0.0111 %")
    assert (third["radius"], third["candidates"]) == (2.0, [9, 8])
    # {1, 2, 3, 5, 6} has 17.2, the other two 2 each.
    assert side["steps"][-1]["sse"] == "21.2"
    best = {"text": "SSE 21.2, IL 0.118 %", "labels": OPTIMUM}
    assert drawn["optimum"] == best
    weighed = [step for step in side["steps"] if step["kind"] == "weigh"]
    costs = [(cost["text"], cost["chosen"]) for cost in weighed[1]["quantities"]]
    assert costs == [("40.67", False), ("32.19", True)]
    assert weighed[1]["title"] == "32.19 < 40.67: 5 joins {1, 2, 3}"
    # 5 is compared with 6, and 1 in distance.
    assert weighed[1]["lines"] == [[3, 4, "1"]]


def test_changes_add_up_to_the_groups_of_each_step():
    steps = list(explain.steps("mdav-star", TOY, k=3))
    labels = np.full(len(TOY), -1)
    for step, drawn in zip(steps, toy(3)["sides"][0]["steps"], strict=True):
        for record, group in drawn["changed"]:
            assert labels[record] != group
            labels[record] = group
        expected = {record: place for place, members in enumerate(step.groups) for record in members}
        assert labels.tolist() == [expected.get(record, -1) for record in range(len(TOY))]


def test_two_sides_run_in_lockstep():
    drawn = toy(3, 4, at=10_000)
    first, second = (list(explain.steps("mdav-star", TOY, k=k)) for k in (3, 4))
    pairs = explain.lockstep(first, second)
    assert drawn["ticks"] == [list(pair) for pair in pairs]
    assert drawn["differ"] == explain.first_difference(first, second, pairs) == 2
    assert drawn["at"] == len(pairs) - 1
    assert toy(3, at=-5)["at"] == 0


def test_two_attributes_are_drawn_as_they_are():
    X = [[0.0, 0.0], [3.0, 4.0], [6.0, 0.0]]
    steps = [
        step_of((), (0, 1, 2), Focus(seed=0, point=(3.0, 4 / 3), radius=5.0, lines=((0, 1),), cuts=((1, 2.5),))),
        step_of(((0, 1),), (2,), Focus(group=0)),
    ]
    drawn = scene_of(*steps, X=X, attributes=("height", "weight"))
    assert (drawn["records"]["x"], drawn["records"]["y"]) == ([0, 3, 6], [0, 4, 0])
    assert drawn["records"]["labels"] == ["height", "weight"]
    assert drawn["records"]["says"][1] == "b: height 3, weight 4"
    first, second = drawn["sides"][0]["steps"]
    assert first["lines"] == [[0, 1, "5"]]
    assert first["radius"] == 5.0
    assert first["cuts"] == [{"axis": "y", "at": 2.5, "text": "2.5"}]
    # Half the distance of 5, squared, twice.
    assert second["sse"] == "12.5"


def test_more_attributes_are_drawn_as_principal_components():
    # The first component is along (1, 1, 0), where the squares add up to 16, the second along (0, 0, 1), to 2.
    X = [[-2.0, -2.0, 0.0], [2.0, 2.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, -1.0]]
    focus = Focus(seed=0, point=(1.0, 1.0, 0.5), radius=1.0, lines=((0, 2),), cuts=((2, 0.5),))
    drawn = scene_of(step_of((), (0, 1, 2, 3), focus), X=X, attributes=("a", "b", "c"))
    assert np.abs(drawn["records"]["x"]) == pytest.approx([8**0.5, 8**0.5, 0, 0])
    assert np.abs(drawn["records"]["y"]) == pytest.approx([0, 0, 1, 1])
    assert [re.findall(r"\d+", label) for label in drawn["records"]["labels"]] == [["1", "89"], ["2", "11"]]
    (step,) = drawn["sides"][0]["steps"]
    # The same map: halfway to record 1, and half as high as record 2.
    expected = [drawn["records"]["x"][1] / 2, drawn["records"]["y"][2] / 2]
    assert step["point"] == pytest.approx(expected)
    assert (step["radius"], step["cuts"]) == (None, [])
    assert step["lines"] == [[0, 2, "3"]]


def test_of_orders_only_what_is_new_is_sent():
    run = player.Watched("mhm", {"order": "sum"}, list(explain.steps("mhm", TOY, k=3)))
    (side,) = player.scene(np.array(TOY, dtype=float), 3, [run], names=NAMES, attributes=["value"])["sides"]
    assert (side["title"], side["settings"]) == ("MHM", "")
    first, *others = [step["order"] for step in side["steps"]]
    assert (first, set(others)) == (list(range(11)), {None})
    json.dumps(side, allow_nan=False)


def scene_in(page):
    return json.loads(Page(page).below("script")[0])


def test_the_page_is_whole_and_asks_nobody():
    text = player.page(toy(3, 4), "MDAV* at k = 3 & 4")
    read = Page(text)
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"\b(src|href|import|url|fetch)\b\s*[=(\"']", text)
    assert [tag for tag, attrs in read.elements if tag in {"link", "img", "iframe"} or "src" in attrs] == []
    assert read.below("title") == ["MDAV* at k = 3 & 4"]
    data, program = read.below("script")
    assert json.loads(data) == toy(3, 4)
    assert player.script() in program
    assert player.style() in read.below("style")[0]
    # Data is only ever set as text.
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b", program)


def test_names_cannot_leave_the_data():
    names = ["</script><b>", "<!--", "\u2028", '"', "&amp;", "<script>", *NAMES[6:]]
    X = np.array(TOY, dtype=float)
    drawn = player.scene(X, 3, [run_of(TOY, 3, names)], names=names, attributes=["</style><i>"])
    read = Page(player.page(drawn, "</title><script>alert(1)</script>"))
    assert [tag for tag, _ in read.elements if tag in {"b", "i"}] == []
    assert [tag for tag, _ in read.elements].count("script") == 2
    assert json.loads(read.below("script")[0])["records"]["names"] == names


def test_an_animation_in_one_call():
    drawn = scene_in(player.animation("mdav-star", TOY, k=3, optimum=OPTIMUM))
    assert drawn["sides"] == toy(3)["sides"]
    assert drawn["optimum"] == toy(3, optimum=OPTIMUM)["optimum"]
    plane = scene_in(player.animation(["mdav-star", "v-mdav"], [[1, 2], [3, 4]], k=2, gamma=0.3))
    assert plane["records"]["labels"] == ["x", "y"]
    assert [(side["title"], side["settings"]) for side in plane["sides"]] == [("MDAV*", ""), ("V-MDAV", "γ = 0.3")]
    for keys, params, says in (("mdav-star", {"gamma": 1}, "gamma"), ([], {}, "one or two"), ("p-s", {}, "P-S is")):
        with pytest.raises(ParameterError, match=says):
            player.animation(keys, TOY, **params)
    # Records are called as in its texts.
    drawn = scene_in(player.animation("mdav", [[1e12 + 5], [1e12 + 6], [3], [4]], k=2))
    names, texts = drawn["records"]["names"], " ".join(step["text"] for step in drawn["sides"][0]["steps"])
    assert len(set(names)) == 4
    assert f"{{{names[0]}, {names[1]}}}" in texts


def test_every_rule_of_the_style_is_the_players_own():
    style = re.sub(r"/\*.*?\*/", "", player.style(), flags=re.DOTALL)
    selectors = [part.strip() for rule in re.findall(r"([^{}]+)\{", style) for part in re.split(r",(?![^(]*\))", rule)]
    assert len(selectors) > 80
    assert [each for each in selectors if not each.startswith((".mg-steps", "@"))] == []
