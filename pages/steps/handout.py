"""The tour on paper: one HTML page to print, with the stops, their pictures and questions, and then the solutions."""

from __future__ import annotations

from html import escape
from typing import Any

from microagg import explain
from microagg.explain import player
from pages.shared import shell, tour
from pages.shared.tour import STOPS
from pages.steps import records

_CSS = """
@page { margin: 12mm; }
:root { color-scheme: light; }
body { max-width: 58rem; font: 15px/1.4 system-ui, sans-serif; background: #fff; color: #17212b; }
h2 { font-size: 1.25rem; margin: 0 0 0.4rem; }
p { margin: 0.3rem 0; }
section { break-inside: avoid; margin: 0 0 1.1rem; }
.solutions { break-before: page; }
.question { font-weight: 650; }
.room { height: 3.7rem; background: repeating-linear-gradient(transparent 0 1.8rem, #99a3ad 1.8rem calc(1.8rem + 1px)); print-color-adjust: exact; }
.mg-steps.mg-steps { --mg-text: #17212b; --mg-back: #fff; --mg-second: #f3f6f9; --mg-border: #d9e0e7; --mg-primary: #0072b2; margin: 0.3rem 0; }
.mg-steps .mg-sides.mg-sides { grid-template-columns: repeat(auto-fit, minmax(15rem, 1fr)); gap: 0.5rem 1.4rem; }
.mg-steps :is(.mg-code, .mg-now, .mg-numbers) { display: none; }
.mg-steps .mg-groups { min-height: 0 !important; }
.mg-steps .mg-side.mg-side { display: block; }
@media print { body { padding: 0; } }
"""

_DRAW = """for (const place of document.querySelectorAll("[data-stop]"))
  still(place, data[place.dataset.stop], Number(place.dataset.at));"""


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
    body = "\n".join([*stops, '<h1 class="solutions">Solutions</h1>', *solutions])
    return player.html_page("Microaggregation: a tour", body, scenes, _DRAW, _CSS)


def _scene(number: int) -> dict[str, Any]:
    choices = tour.choices_of(number)
    seen, gamma, k = records.on_a_line(choices["line"]), choices["v-mdav.gamma"], choices["watch_k"]
    runs = []
    for key in (choices["watched"], choices["beside"]):
        if key in explain.EXPLAINED:
            params = {"gamma": gamma} if key == "v-mdav" else {}
            runs.append(player.Watched(key, params, list(explain.steps(key, seen.X, k=k, **params))))
    return player.scene(seen.X, k, runs, names=seen.names, attributes=seen.attributes, at=choices["tick"])
