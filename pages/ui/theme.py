"""Colors: one per algorithm everywhere, the same in light and dark; groups have a cyclic set of their own.

Both sets build on Okabe & Ito's, which stay apart under color blindness. An algorithm also has its own marker and
dash, so that nothing depends on color alone.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from microagg import ALGORITHMS

BLUE, SKY, GREEN, ORANGE = "#0072B2", "#56B4E9", "#009E73", "#E69F00"
VERMILLION, PURPLE, OLIVE, GRAY, BROWN = "#D55E00", "#CC79A7", "#9A8F00", "#7F8C99", "#A0643C"

#: What is neither an algorithm nor a group: floors, frames, helper lines; readable on white and on near-black.
NEUTRAL = "#7F8C99"
FLOOR_FILL = "rgba(127, 140, 153, 0.22)"
HIGHLIGHT = "#C2185B"

_CYCLE = (BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILLION, OLIVE, BROWN)
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "star", "cross", "hexagon", "triangle-down", "pentagon")
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash")


@dataclass(frozen=True)
class Style:
    """How an algorithm is drawn."""

    color: str
    symbol: str
    dash: str


# The four of the founding comparison and those beside them keep these whatever is registered later.
_FIXED = {
    "mdav-star": Style(VERMILLION, "star", "solid"),
    "v-mdav": Style(GREEN, "diamond", "solid"),
    "mdav-plus": Style(SKY, "square", "solid"),
    "mdav": Style(ORANGE, "circle", "solid"),
    "mdav-1": Style(PURPLE, "triangle-up", "dash"),
    "mdav-generic": Style(BROWN, "triangle-down", "dot"),
    "mdav-argus": Style(GRAY, "pentagon", "dashdot"),
    "cbfs": Style(BLUE, "hexagon", "dash"),
    "md": Style(OLIVE, "cross", "dot"),
}


def _further_styles() -> Iterator[Style]:
    for place in itertools.count():
        further = Style(
            _CYCLE[place % len(_CYCLE)],
            _SYMBOLS[(3 + place) % len(_SYMBOLS)],
            _DASHES[1 + (place // len(_CYCLE)) % (len(_DASHES) - 1)],
        )
        if further not in _FIXED.values():
            yield further


_STYLES = _FIXED | dict(zip((key for key in ALGORITHMS if key not in _FIXED), _further_styles(), strict=False))


def style(key: str) -> Style:
    """Return the style of an algorithm; thirty share colors but never color, marker and dash together."""
    return _STYLES[key]


#: The cyclic colors of groups.
GROUP_COLORS = _CYCLE
