"""The tour on paper: one HTML page to print, with the stops, their pictures and questions, and then the solutions."""

from __future__ import annotations

from html import escape
from pathlib import Path
from string import Template
from typing import Any

from microagg import explain
from microagg.explain import player
from pages.shared import methods, shell, tour
from pages.shared.tour_stops import STOPS
from pages.steps import records

TITLE = "Microaggregation: a tour"


def handout() -> str:
    """Return the page. It needs no network, and its pictures are those of the player."""
    scenes, stops, solutions = {}, [], []
    for number, stop in enumerate(STOPS, start=1):
        says = {name: escape(text) for name, text in tour.written(number).items()}
        head = f"<section><h2>{number}. {escape(stop.title)}</h2>"
        before = after = f"<p>See the page {shell.PAGES[stop.page]}.</p>"
        if stop.page == "steps":
            scenes[number] = scene = _scene(number)
            after = f'<div data-stop="{number}" data-at="{len(scene["ticks"]) - 1}"></div>'
            before = f'<div data-stop="{number}" data-at="{scene["at"]}"></div>'
        asks = f'<p class="question">{says["question"]}</p>'
        stops.append(f'{head}<p>{says["says"]}</p>{before}{asks}<div class="room"></div></section>')
        solutions.append(f"{head}{asks}<p>{says['answer']}</p><p><em>{says['source']}</em></p>{after}</section>")
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
    seen = records.on_a_line(choices["line"])
    settings = {"v-mdav": f"γ = {choices['v-mdav.gamma']:g}"}
    runs = [
        (methods.title_of(key), settings.get(key, ""), explain.pseudo_code(key), steps)
        for key, steps in tour.runs_of(choices).items()
    ]
    return player.scene(
        seen.X, choices["watch_k"], runs, names=seen.names, attributes=seen.attributes, at=choices["tick"]
    )
