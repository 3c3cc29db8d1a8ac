"""The guided tour: its figures, its views and their addresses, and the box that leads through it."""

from __future__ import annotations

import html
import json
import math

import numpy as np
import pytest

import microagg
from microagg import datasets, explain
from microagg.studies import literature
from pages.shared import shell, state, tour
from pages.shared.tour import NEAR, PLANE, STOPS, TWO_FIVES, WITH_SEVEN
from pages.steps.handout import handout
from pages.steps.records import on_a_line, on_a_plane
from tests.conftest import load_benchmark
from tests.naive import least_sse
from tests.pages.helpers import labels, open_page, plain
from tests.pages.test_state import loaded

NUMBERS = range(1, len(STOPS) + 1)
TOY = state.StepsChoices().line


def assert_said(number, *figures):
    stop = STOPS[number - 1]
    text = f"{stop.says} {stop.answer}"
    assert [figure for figure in figures if figure not in text] == []


def sse(X, key, k=3, **params):
    return microagg.metrics.sse(X, microagg.make(key, k=k, **params).fit(X).labels_)


def of_line(text, key, k=3, **params):
    return sse(on_a_line(text).X, key, k, **params)


def ways(n, k=3):
    """Return the number of partitions of n records into groups of at least k, by the group of the last one."""
    return 1 if n == 0 else sum(math.comb(n - 1, size - 1) * ways(n - size, k) for size in range(k, n + 1))


def test_each_stop_asks_something():
    for stop in STOPS:
        assert stop.question.endswith("?")
        assert stop.source
        assert stop.page in shell.PAGES


def test_figures_of_the_texts_are_those_of_the_algorithms():
    two, three, whole = of_line(TOY, "mdav-star", 2), of_line(TOY, "mdav-star"), of_line(TOY, "mdav-star", 6)
    assert_said(1, "{98, 99, 100} are all released as 99", "1/3")
    assert_said(2, f"SSE {two:g}", f"{100 * two / whole:.4f} %", "released as 34", f"{whole:,.0f}")
    assert_said(2, f"With k = 3 it is {100 * three / whole:.3f} %")
    fixed, variable = of_line(NEAR, "mdav"), of_line(NEAR, "v-mdav", gamma=0.2)
    assert_said(3, f"SSE {fixed:g}. V", f"SSE {variable:g}, {fixed / variable:g} times lower")
    low, high = (of_line(TOY, "v-mdav", gamma=gamma) for gamma in (0.2, 5))
    right, wrong = (of_line(WITH_SEVEN, "v-mdav", gamma=gamma) for gamma in (0.2, 5))
    assert_said(4, f"from {low:.1f} to {high:.1f}", f"SSE {right:.0f}, and γ = 5", f"SSE {wrong:.1f}.")
    assert_said(5, f"The SSE is {three:.1f}; with V-MDAV it was {low:.1f}")
    star, by_v_mdav = of_line(TWO_FIVES, "mdav-star"), of_line(TWO_FIVES, "v-mdav", gamma=0.2)
    best = least_sse(on_a_line(TWO_FIVES).X.tolist(), 3)
    assert_said(7, f"SSE {best:g}, the lowest of all {ways(10):,}", f"SSE {star:.1f}, {star / best:.2f} times")
    assert_said(7, f"V-MDAV has {by_v_mdav:.0f}", f"has an SSE of {three:.1f}, and the optimum is {three:.1f}")
    assert least_sse(on_a_line(TOY).X.tolist(), 3) == pytest.approx(three)
    plane = on_a_plane(PLANE).X
    least, _ = microagg.optimum.bounds.exact(plane, 3)
    assert_said(7, f"{ways(14):,} ways", f"MDAV* has {sse(plane, 'mdav-star'):.1f}, and the optimum is {least:.0f}.")


def test_no_gamma_is_right_with_and_without_a_seven():
    best = [least_sse(on_a_line(text).X.tolist(), 3) for text in (TOY, WITH_SEVEN)]
    # From 77² on, 21 joins {98, 99, 100}.
    for gamma in (0, 0.2, 1, 2, 3.9, 4, 4.1, 5, 20, 200, 5929, 5930, 1e8):
        losses = [of_line(text, "v-mdav", gamma=gamma) for text in (TOY, WITH_SEVEN)]
        right = [loss == pytest.approx(least) for loss, least in zip(losses, best, strict=True)]
        assert right == [4 < gamma <= 77**2, gamma <= 4]


def test_the_printed_table_is_below_what_is_possible():
    load_benchmark("tarragona")
    choices = STOPS[5].choices
    table = [f for f in literature.figures() if (f.paper, f.table, f.k) == (choices["paper"], choices["table"], 3)]
    p_s = next(figure.value for figure in table if figure.method == "P-S")
    other, method = min((figure.value, figure.method) for figure in table if figure.method != "P-S")
    assert_said(6, f"P-S has a loss of {p_s:.4g} %", f"{len(table) - 1} others, {method}, has {other:.4g} %")
    assert_said(6, f"{other / p_s:.3g} times")
    read = literature.readings("tarragona", 3)
    # A bound is rounded down: it is 9.8551 %.
    assert_said(6, f"below {math.floor(100 * read.floor) / 100} %", f"P-S gives {read.raw:.4g} %")
    assert_said(6, f"it gives {read.scaled:.4g} %, and MDAV {read.mdav:.4g} %")


def test_a_larger_k_has_fewer_records_found_again():
    # A record whose nearest released record is that of its own group of s is found again with probability 1/s.
    X = microagg.standardize(datasets.load("wine").X)
    for k, words in ((3, "{:.1f} % of the records"), (10, "{:.2f} % are")):
        labels = microagg.make("mdav-star", k=k).fit(X).labels_
        centers = np.array([X[labels == group].mean(axis=0) for group in range(labels.max() + 1)])
        nearest = ((X[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
        share = np.mean((nearest == labels) / np.bincount(labels)[labels])
        loss = microagg.metrics.information_loss(X, labels)
        assert_said(8, words.format(100 * share), f"loss of {loss:.1f} %")


# ---- Views ---------------------------------------------------------------------------------------------------------


def views():
    for number in NUMBERS:
        yield number, None
        for further in STOPS[number - 1].further.values():
            yield number, further


@pytest.mark.parametrize(("number", "further"), list(views()), ids=str)
def test_the_address_of_a_view_opens_it_again(monkeypatch, number, further):
    loaded(monkeypatch, data="wine", k="9")
    tour.go_to(number, further)
    chosen, address = state.current(), state.to_query()
    wanted = tour.choices_of(number, further)
    assert chosen.params_of("v-mdav")["gamma"] == wanted.pop("v-mdav.gamma")
    assert {name: chosen.value(name) for name in wanted} == wanted
    again, problems = loaded(monkeypatch, **address)
    assert not problems
    assert again == chosen
    assert again.stop == number


def test_a_stop_forgets_what_another_one_set(monkeypatch):
    loaded(monkeypatch)
    tour.go_to(4, {"v-mdav.gamma": 5.0})
    assert state.current().params_of("v-mdav") == {"gamma": 5.0}
    tour.go_to(7, {"records": "plane", "points": PLANE})
    tour.go_to(2)
    choices, usual = state.current(), state.Choices()
    seen, steps = choices.steps, usual.steps
    assert (seen.records, seen.points, seen.line, seen.k) == ("line", steps.points, steps.line, 2)
    assert choices.params == ()


def test_the_end_of_the_tour_gives_back_what_was_chosen_before(monkeypatch):
    before, _ = loaded(monkeypatch, data="wine", k="9", measure="seconds", line="1, 2, 3, 4")
    tour.go_to(1)
    tour.go_to(8)
    assert (state.current().k, state.current().compare.measure) == (3, "risk")
    tour.end()
    assert state.current() == before


def test_stops_open_at_the_step_that_they_speak_of():
    def shown(number):
        choices = tour.choices_of(number)
        X = [[float(word)] for word in choices["line"].split(",")]
        params = {"gamma": choices["v-mdav.gamma"]} if choices["watched"] == "v-mdav" else {}
        return list(explain.steps(choices["watched"], X, k=choices["watch_k"], **params)), choices["tick"]

    for number in (1, 2):
        steps, tick = shown(number)
        assert tick == len(steps) - 1
        assert not steps[tick].unassigned
    steps, tick = shown(4)
    assert [quantity.value for quantity in steps[tick].quantities if quantity.name == "d_in"] == [4]
    steps, tick = shown(5)
    # Both costs, and not yet what they decide.
    assert [explain.value(cost.value) for cost in steps[tick].quantities] == ["40.67", "32.1875"]
    assert len(steps[tick].unassigned) == len(steps[tick - 1].unassigned) == 5
    assert tour.choices_of(3)["line"] == NEAR


# ---- On paper ------------------------------------------------------------------------------------------------------


def test_the_handout_has_all_questions_before_any_answer():
    page = handout()
    body = page[page.index("<body>") : page.index("<script")]
    asked, solved = body.split('<h1 class="solutions">')
    for number in NUMBERS:
        stop = STOPS[number - 1]
        says = {name: html.escape(getattr(stop, name)) for name in ("says", "question", "answer", "source")}
        assert says["says"] in asked
        assert says["question"] in asked
        assert says["answer"] not in asked
        assert all(says[name] in solved for name in ("question", "answer", "source"))
    # Pictures are those of the steps that the stops open at, and of the last ones.
    scenes = json.loads(page.partition('id="data">')[2].partition("</script>")[0])
    for number, scene in scenes.items():
        assert scene["at"] == tour.choices_of(int(number))["tick"]
        assert f'data-stop="{number}" data-at="{scene["at"]}"' in asked
        assert f'data-stop="{number}" data-at="{len(scene["ticks"]) - 1}"' in solved
    assert list(scenes) == ["1", "2", "3", "4", "5", "7"]
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")


# ---- The box -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("number", "page"), [(6, "evidence"), (8, "choose_k")])
def test_stops_on_other_pages_stand_above_them(number, page):
    assert f"{number} of 8 · " in plain(open_page(page, data="wine", stop=str(number)))
    # Another page shows no box; a number too large is the last stop.
    assert f"Tour, stop {number} →" in labels(open_page("steps", stop="99" if number == 8 else "6"))
