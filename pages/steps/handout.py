"""The tour on paper: one HTML page to print, with the stops, their pictures and questions, and then the solutions."""

from __future__ import annotations

from html import escape
from pathlib import Path
from string import Template
from typing import Any

from microagg import explain
from microagg.explain import player
from pages.shared import shell, tour
from pages.shared.tour import STOPS
from pages.steps import records

TITLE = "Microaggregation: a tour"


def handout() -> str:
    """Return the page. It needs no network, and its pictures are those of the player."""
    scenes, stops, solutions = {}, [], []
    for number, stop in enumerate(STOPS, start=1):
        head = f"<section><h2>{number}. {escape(stop.title)}</h2>"
        before = after = f"<p>See the page {shell.PAGES[stop.page]}.</p>"
        if stop.page == "steps":
            scenes[number] = scene = _scene(number)
            after = f'<div data-stop="{number}" data-at="{len(scene["ticks"]) - 1}"></div>'
            before = f'<div data-stop="{number}" data-at="{scene["at"]}"></div>'
        asks = f'<p class="question">{escape(stop.question)}</p>'
        stops.append(f'{head}<p>{escape(stop.says)}</p>{before}{asks}<div class="room"></div></section>')
        solutions.append(
            f"{head}{asks}<p>{escape(stop.answer)}</p><p><em>{escape(stop.source)}</em></p>{after}</section>"
        )
    return Template(Path(__file__).with_name("handout.html").read_text(encoding="utf-8")).substitute(
        title=TITLE,
        style=player.style(),
        script=player.script(),
        stops="\n".join(stops),
        solutions="\n".join(solutions),
        scenes=player.as_json(scenes),
    )


def _scene(number: int) -> dict[str, Any]:
    choices = tour.choices_of(number)
    seen, gamma, k = records.on_a_line(choices["line"]), choices["v-mdav.gamma"], choices["watch_k"]
    runs = []
    for key in (choices["watched"], choices["beside"]):
        if key in explain.EXPLAINED:
            params = {"gamma": gamma} if key == "v-mdav" else {}
            runs.append(player.Watched(key, params, list(explain.steps(key, seen.X, k=k, **params))))
    return player.scene(seen.X, k, runs, names=seen.names, attributes=seen.attributes, at=choices["tick"])
