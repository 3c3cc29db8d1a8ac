"""Colors, markers and dashes: one style per algorithm everywhere, so that nothing depends on color alone.

Colors are the same in light and dark and build on Okabe & Ito's, for color blindness; groups have cyclic colors.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from microagg import ALGORITHMS
from microagg.algorithms.method import VARIANTS
from pages.shared import state

BLUE, SKY, GREEN, ORANGE = "#0072B2", "#56B4E9", "#009E73", "#E69F00"
VERMILLION, PURPLE, OLIVE, GRAY, BROWN = "#D55E00", "#CC79A7", "#9A8F00", "#7F8C99", "#A0643C"

#: For lower bounds, frames and helper lines; readable on white and on near-black.
NEUTRAL = "#7F8C99"
FLOOR_FILL = "rgba(127, 140, 153, 0.22)"
HIGHLIGHT = "#C2185B"
INK = "#17212B"  # text on cells that are light in both themes
DOTTED = {"color": NEUTRAL, "width": 1.5, "dash": "dot"}  # a line of figures
TEXT = "#010203"  # of figures: style.css gives what has it the color of the page's text
GRID = "rgba(127, 140, 153, 0.25)"
BAND = "rgba(86, 180, 233, 0.25)"  # behind every other group of a table
ACCEPTABLE = {"fillcolor": "rgba(0, 158, 115, 0.10)", "line": {"color": GREEN, "width": 1, "dash": "dash"}}
_CYCLE = (BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILLION, OLIVE, BROWN)
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "star", "cross", "hexagon", "triangle-down", "pentagon")
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash")


@dataclass(frozen=True)
class Style:
    color: str
    symbol: str
    dash: str


# These algorithms keep their style whatever is registered later.
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
    "k-member": Style(BLUE, "circle", "solid"),
    "mondrian": Style(VERMILLION, "square", "solid"),
    "mdav-generic-mixed": Style(GREEN, "triangle-up", "solid"),
}


def _further_styles() -> Iterator[Style]:
    for i in itertools.count():
        further = Style(
            _CYCLE[i % len(_CYCLE)],
            _SYMBOLS[(3 + i) % len(_SYMBOLS)],
            _DASHES[1 + (i // len(_CYCLE)) % (len(_DASHES) - 1)],
        )
        if further not in _FIXED.values():
            yield further


_ALGORITHMS = _FIXED | dict(zip((key for key in ALGORITHMS if key not in _FIXED), _further_styles(), strict=False))

# A variant has the color of its algorithm, with an open marker and a broken line.
_STYLES = {
    name: Style(look.color, f"{look.symbol}-open", "dash")
    for name, variant in VARIANTS.items()
    for look in [_ALGORITHMS[variant.key]]
} | _ALGORITHMS

# A search's partition belongs to no algorithm.
_STYLES[state.FOUND] = Style(HIGHLIGHT, "star-diamond", "dot")

# Algorithms registered after the start.
_REGISTERED_LATER = Style(NEUTRAL, "bowtie", "longdash")


def style(key: str) -> Style:
    return _STYLES.get(key, _REGISTERED_LATER)


def tint(color: str, share: float) -> str:
    return "#" + "".join(f"{round(255 - share * (255 - int(color[i : i + 2], 16))):02X}" for i in (1, 3, 5))


#: The cyclic colors of groups, none of them that of an algorithm.
GROUP_COLORS = ("#7E57C2", "#26A69A", "#E57373", "#7CB342", "#5C6BC0", "#C9A227", "#B0608F", "#8D6E63")


def group_color(place: int) -> str:
    return GROUP_COLORS[place % len(GROUP_COLORS)]


# Readable on white and on near-black; lightness falls from end to end, so the order shows without hues.
_LOSS_STOPS = ((150, 172, 190), (142, 124, 195), (196, 62, 140), (190, 18, 60))

_at = np.linspace(0, len(_LOSS_STOPS) - 1, 24)
_between = np.stack([np.interp(_at, range(len(_LOSS_STOPS)), part) for part in zip(*_LOSS_STOPS, strict=True)], axis=1)

#: The colors of losses, least first.
LOSS_COLORS = tuple(f"#{red:02X}{green:02X}{blue:02X}" for red, green, blue in _between.round().astype(int))
