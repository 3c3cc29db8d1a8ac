"""Names at the ends of lines, in place of a legend: each beside its line, none over another."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from scipy.optimize import isotonic_regression

from pages.ui.text import escape_html

# Of the text, in pixels: the size of a letter, its usual width, the height of a line, and that of the smallest.
_SIZE, _LETTER, _LINE, _LEAST = 12, 6.6, 15.0, 11.0

# How far from the end of a line its name stands, in pixels, and how many letters it has in a row.
_OFF, _MOST_LETTERS = 16, 16


@dataclass(frozen=True)
class End:
    """The end of a line.

    Attributes
    ----------
    name : str
        What is written there.
    y : float
        Where the line ends, in the unit of the axis: a logarithm where that is logarithmic.
    color : str
    x : float, optional
        Where it ends across, if not where all do.
    """

    name: str
    y: float
    color: str
    x: float | None = None


def spread_out(wanted: Sequence[float], gap: float, room: float) -> list[float]:
    """Return places between 0 and ``room``, at least ``gap`` apart, as near as possible to those ``wanted``.

    Their order is kept. Where there is no room for all of them they are closer together, evenly.
    """
    if not wanted:
        return []
    gap = min(gap, room / max(len(wanted) - 1, 1))
    order = np.argsort(wanted, kind="stable")
    steps = gap * np.arange(len(wanted))
    # Without the steps between them, places may be equal but not fall.
    placed = np.clip(isotonic_regression(np.asarray(wanted, dtype=float)[order] - steps).x, 0, room - steps[-1]) + steps
    found = np.empty(len(wanted))
    found[order] = placed
    return [float(place) for place in found]


def name_ends(figure: go.Figure, ends: Sequence[End], x: float, span: tuple[float, float], height: float) -> int:
    """Write the name of each line beside its end, a thin line leading to it, and return the pixels that they need.

    Parameters
    ----------
    figure : Figure
    ends : sequence of End
    x : float
        Where the lines end, in the unit of the axis; or, of those that end elsewhere, where the names stand.
    span : (float, float)
        The range of the vertical axis, in its unit.
    height : float
        Of the plot, in pixels.
    """
    low, high = span
    shown = ends[: int(height / _LEAST)]
    rows = [textwrap.wrap(end.name, _MOST_LETTERS) or [""] for end in shown]
    natural = [(end.y - low) / (high - low) * height for end in shown]
    gap = _LINE * max((len(row) for row in rows), default=1)
    size = _SIZE if gap * len(shown) <= height else _SIZE - 2
    for end, row, wanted, place in zip(shown, rows, natural, spread_out(natural, gap, height), strict=True):
        elsewhere = (
            {} if end.x is None else {"axref": "x", "ax": x, "ayref": "y", "ay": low + place / height * (high - low)}
        )
        figure.add_annotation(
            x=x if end.x is None else end.x,
            y=end.y,
            **{"ax": _OFF, "ay": wanted - place, **elsewhere},
            text="<br>".join(escape_html(words) for words in row),
            font={"size": size},
            align="left",
            xanchor="left",
            standoff=6,
            arrowhead=0,
            arrowwidth=1.5,
            arrowcolor=end.color,
        )
    return round(_OFF + 8 + _LETTER * max((len(words) for row in rows for words in row), default=0))
