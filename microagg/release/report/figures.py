"""The figures of the report as SVG to stand in HTML: equal contents give equal text, and nothing is loaded."""

from __future__ import annotations

import io
import re
import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from microagg.validation import shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Rows = Sequence[Mapping[str, Any]]

# The chosen release and ink are dark, others gray and told apart by dash and marker: so a print in black says as much.
_INK, _CHOSEN, _OTHER, _FAINT = "#1d2329", "#0b4f82", "#5f6b76", "#87919a"
_DASHES = ("--", ":", "-.", (0, (6, 2)), (0, (1, 1)), (0, (4, 1, 1, 1, 1, 1)))
_MARKERS = ("s", "^", "D", "v", "P", "X")

# In inches. More lines than these are drawn alike, and more attributes are left to the table.
_WIDTH = 4.6
_MOST_LINES, _MOST_BARS = len(_DASHES), 12

# What Matplotlib is told by settings that hold for the whole process, so one thread draws at a time.
_LOCK = threading.Lock()
_SETTINGS: dict[Any, Any] = {
    "font.family": ["DejaVu Sans"],
    "font.size": 8.5,
    "svg.fonttype": "none",
    "svg.hashsalt": "microagg",
    "text.parse_math": False,
    "axes.edgecolor": _OTHER,
    "axes.labelcolor": _INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "text.color": _INK,
    "legend.frameon": False,
    "lines.linewidth": 1.1,
    "lines.markersize": 4.0,
}

_SVG, _LINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}"


def loss_against_k(rows: Rows, own: Mapping[str, Any], name: str) -> str:
    """Return the loss of each method against k, the release ``own`` marked, and where no method gets.

    Parameters
    ----------
    rows : sequence of mapping
        As :func:`microagg.release.report.comparing.compared` returns them.
    own : mapping
        ``title``, ``k`` and ``information_loss`` of the release.
    name : str
        What tells the parts of this figure from those of others in the document.
    """
    from matplotlib.ticker import MaxNLocator

    with _figure(2.75) as figure:
        axes = figure.add_subplot()
        floors = {row["k"]: row["floor"] for row in rows if row.get("floor") is not None}
        if floors:
            ks = sorted(floors)
            lows = [floors[k] for k in ks]
            axes.fill_between(ks, lows, color="#eceff1", linewidth=0)
            axes.plot(ks, lows, color=_OTHER, linewidth=0.8, label="no method can lose less")
        for title, part, style in _lines(rows, own):
            axes.plot([row["k"] for row in part], [row["information_loss"] for row in part], label=title, **style)
        _mark(axes, own["k"], own["information_loss"])
        axes.set_xlabel("k, the smallest group asked for")
        axes.set_ylabel("Information loss, %")
        axes.set_ylim(bottom=0)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        _legend(figure, axes)
        losses = [row["information_loss"] for row in rows]
        return _svg(
            figure,
            name,
            "Information loss against k",
            f"{len(rows)} releases with a loss from {min(losses):.3g} % to {max(losses):.3g} %; the one that was "
            f"chosen, at k = {own['k']}, loses {own['information_loss']:.3g} %.",
        )


def risk_and_loss(rows: Rows, own: Mapping[str, Any], name: str) -> str:
    """Return the loss against the share of records found again, the release ``own`` marked if its share is known."""
    known = [row for row in rows if row.get("record_linkage") is not None]
    with _figure(2.75) as figure:
        axes = figure.add_subplot()
        for title, part, style in _lines(known, own):
            xs = [100 * row["record_linkage"] for row in part]
            axes.plot(xs, [row["information_loss"] for row in part], label=title, **style)
            if title == own["title"]:
                _name_ks(axes, part, xs)
        if own.get("record_linkage") is not None:
            _mark(axes, 100 * own["record_linkage"], own["information_loss"])
        axes.set_xlabel("Records found again by their nearest values, %")
        axes.set_ylabel("Information loss, %")
        axes.set_xlim(left=0)
        axes.set_ylim(bottom=0)
        _legend(figure, axes)
        return _svg(
            figure,
            name,
            "Information loss against the risk to be found",
            f"{len(known)} releases: those toward the lower left are better in both. Lines join the values of k of a "
            "method.",
        )


def spreads_and_correlations(attributes: Rows, name: str) -> str:
    """Return how much of its spread each attribute keeps and how much a correlation of it changes; "" without numbers.

    ``attributes`` are those of :attr:`microagg.release.Assessment.attributes`; the first ones are drawn.
    """
    shown = [row for row in attributes if row.get("sd_ratio") is not None][:_MOST_BARS]
    if not shown:
        return ""
    places = range(len(shown))
    with _figure(0.85 + 0.22 * len(shown)) as figure:
        left, right = figure.subplots(1, 2, sharey=True)
        left.barh(places, [100 * row["sd_ratio"] for row in shown], color=_CHOSEN, height=0.55)
        left.axvline(100, color=_INK, linewidth=0.8)
        left.set_xlabel("Standard deviation\nkept, %")
        right.barh(places, [row.get("correlation_change") or 0.0 for row in shown], color=_OTHER, height=0.55)
        right.set_xlabel("Largest change\nof a correlation")
        right.set_xlim(left=0)
        left.set_yticks(places, [_shown(row["attribute"]) for row in shown])
        left.invert_yaxis()
        for axes in (left, right):
            axes.tick_params(axis="y", length=0)
        kept = [100 * row["sd_ratio"] for row in shown]
        return _svg(
            figure,
            name,
            "Spreads and correlations that are kept",
            f"Of {len(shown)} attributes, {_shown(shown[0]['attribute'])} loses most; standard deviations are "
            f"{min(kept):.3g} % to {max(kept):.3g} % of what they were.",
        )


@contextmanager
def _figure(height: float) -> Iterator[Figure]:
    """Give an empty figure, with the settings of all of them while it is drawn."""
    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    with _LOCK, matplotlib.rc_context(_SETTINGS), warnings.catch_warnings():
        # The reader's fonts draw the letters; that those at hand here lack one changes only how wide it counts.
        warnings.filterwarnings("ignore", "Glyph")
        yield Figure(figsize=(_WIDTH, height), layout=ConstrainedLayoutEngine(wspace=0.05))


def _lines(rows: Rows, own: Mapping[str, Any]) -> Iterator[tuple[str | None, Rows, dict[str, Any]]]:
    """Yield the name, the rows and the style of each method, the chosen one last so that it lies on top."""
    others = list(dict.fromkeys(row["title"] for row in rows if row["title"] != own["title"]))
    many = len(others) > _MOST_LINES
    for place, title in enumerate(others):
        part = [row for row in rows if row["title"] == title]
        style = (
            {"color": _FAINT, "marker": "."}
            if many
            else {"color": _OTHER, "linestyle": _DASHES[place], "marker": _MARKERS[place]}
        )
        named = f"{len(others)} other methods" if place == 0 else None
        yield (named if many else _shown(title)), part, style
    if part := [row for row in rows if row["title"] == own["title"]]:
        yield own["title"], part, {"color": _CHOSEN, "marker": "o", "linewidth": 1.8, "zorder": 3}


def _mark(axes: Axes, x: float, y: float) -> None:
    """Ring the release."""
    axes.plot(
        [x],
        [y],
        "o",
        markersize=11,
        markerfacecolor="none",
        markeredgecolor=_CHOSEN,
        markeredgewidth=1.8,
        zorder=4,
        label="this release",
    )


def _name_ks(axes: Axes, rows: Rows, xs: Sequence[float]) -> None:
    """Write k beside the points of a method, beside the first and the last one where there are many."""
    for place, (row, x) in enumerate(zip(rows, xs, strict=True)):
        if len(rows) <= 8 or place in (0, len(rows) - 1):
            where = (x, row["information_loss"])
            axes.annotate(
                f"k = {row['k']}",
                where,
                xytext=(-7, -6),
                textcoords="offset points",
                horizontalalignment="right",
                verticalalignment="top",
                fontsize=8,
            )


def _legend(figure: Figure, axes: Axes) -> None:
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, handlelength=2.6, fontsize=8)


def _shown(name: object) -> str:
    """Return a name in letters that can be printed, none too long."""
    return shortened("".join(letter if letter.isprintable() else " " for letter in str(name)), 28)


def _svg(figure: Figure, name: str, title: str, says: str) -> str:
    """Return a figure as an SVG element for HTML, with words for those who do not see it."""
    written = io.BytesIO()
    figure.savefig(written, format="svg", metadata={"Date": None})
    root = ElementTree.fromstring(written.getvalue())
    for parent in root.iter():
        for child in list(parent):
            if not child.tag.startswith(_SVG):
                parent.remove(child)
    if (about := root.find(f"{_SVG}metadata")) is not None:
        root.remove(about)
    for element in root.iter():
        element.tag = element.tag.removeprefix(_SVG)
        attributes = {key.removeprefix(_LINK): _renamed(value, key, name) for key, value in element.attrib.items()}
        element.attrib.clear()
        element.attrib.update(attributes)
    root.attrib = {
        "viewBox": root.attrib["viewBox"],
        "role": "img",
        "aria-labelledby": f"{name}-title {name}-desc",
        "class": "drawn",
    }
    for place, (tag, text) in enumerate((("title", title), ("desc", says))):
        element = ElementTree.Element(tag, {"id": f"{name}-{tag}"})
        element.text = text
        root.insert(place, element)
    return ElementTree.tostring(root, encoding="unicode")


def _renamed(value: str, key: str, name: str) -> str:
    """Return an attribute in which the parts of a figure are called after it, so that no two have one name."""
    if key == "id":
        return f"{name}-{value}"
    if key.removeprefix(_LINK) == "href":
        return value.replace("#", f"#{name}-")
    return re.sub(r"url\(#", f"url(#{name}-", value)
