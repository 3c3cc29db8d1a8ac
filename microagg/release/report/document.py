"""The report as one HTML document made of its contents, its figures as SVG: equal contents give equal text."""

from __future__ import annotations

import importlib
import io
import math
import re
import shlex
import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import resources
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from microagg.errors import DataError
from microagg.optimum.formatting import in_unit, percent
from microagg.validation import shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


# Of more attributes the table has those that lose most.
_MOST_ATTRIBUTES = 40

# A program of more characters stays folded on paper, as one has that names thousands of columns.
_MOST_PRINTED = 5_000

_LEVELS = {"stop": "Stop", "warn": "To think about", "ok": "In order"}
_BETTER = {"low": "lower is better", "high": "higher is better"}

# The columns of the table of attributes: heading, and what is in it.
_ATTRIBUTES = {
    "lost": ("Lost", "percent"),
    "sd_ratio": ("Standard deviation kept", "share"),
    "mean_change": ("Mean moves by (sd)", "number"),
    "quantile_change": ("A quantile moves by (sd)", "number"),
    "correlation_change": ("A correlation changes by", "number"),
    "hellinger": ("Hellinger distance", "number"),
    "interval_disclosure": ("Released near the original", "share"),
}


def document(contents: Mapping[str, Any]) -> str:
    """Return the report as HTML that needs no other file, from what :meth:`microagg.Release.to_dict` returns.

    Raises :class:`DataError` if Jinja2 or Matplotlib is not installed.
    """
    for module, package in (("jinja2", "Jinja2"), ("matplotlib", "Matplotlib")):
        try:
            importlib.import_module(module)
        except ImportError:
            raise DataError(
                f"the report as HTML needs the package {package}: install microagg[report], or write it by to_json."
            ) from None
    import jinja2

    files = resources.files(__package__)
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"written": _written, "percent": percent, "counted": "{:,}".format}
    report = contents["report"]
    findings = [finding | {"accepted": finding in report["accepted"]} for finding in report["findings"]]
    template = environment.from_string(files.joinpath("report.html").read_text(encoding="utf-8"))
    return template.render(
        **contents,
        whole=len(contents["program"]["text"]) < _MOST_PRINTED,
        style=files.joinpath("report.css").read_text(encoding="utf-8"),
        drawn=_drawn(contents),
        check=_check(contents["file"]),
        levels=_LEVELS,
        better=_BETTER,
        findings=sorted(findings, key=lambda finding: list(_LEVELS).index(finding["level"])),
        attributes=_attributes(contents["assessment"]),
        ranges={measure["key"]: _range(measure) for measure in contents["measures"]},
    )


def _drawn(contents: Mapping[str, Any]) -> dict[str, str]:
    """Return the figures by their names, empty texts where there is nothing to be drawn."""
    drawn = {"loss": "", "risk": "", "kept": ""}
    comparison, assessment, report = contents["comparison"], contents["assessment"], contents["report"]
    if comparison and (rows := comparison["rows"]):
        # Where there are categories it is Total-IL that was compared.
        lost = (report["generalization"] or report["loss"])["information_loss"]
        release = {"title": None, "k": report["k"], "information_loss": lost}
        chosen = next((row for row in rows if row["chosen"]), release)
        drawn["loss"] = loss_against_k(rows, chosen, "loss")
        if any(row.get("record_linkage") is not None for row in rows):
            drawn["risk"] = risk_and_loss(rows, chosen, "risk")
    if assessment and "overall" not in contents["withheld"]:
        drawn["kept"] = spreads_and_correlations(assessment["attributes"], "kept")
    return drawn


def _check(file: Mapping[str, Any] | None) -> list[dict[str, str]]:
    name = file["name"] if file and file["name"] else "FILE"
    return [
        {"system": "Linux", "command": f"sha256sum -- {shlex.quote(name)}"},
        {"system": "macOS", "command": f"shasum -a 256 -- {shlex.quote(name)}"},
        {"system": "Windows", "command": f'certutil -hashfile "{name}" SHA256'},
    ]


def _attributes(assessment: Mapping[str, Any] | None) -> dict[str, Any]:
    table = assessment["attributes"] if assessment else []
    columns = [name for name in _ATTRIBUTES if any(row.get(name) is not None for row in table)]
    return {
        "headings": [_ATTRIBUTES[name][0] for name in columns],
        "rows": [
            [str(row["attribute"]), *(_written(row.get(name), _ATTRIBUTES[name][1]) for name in columns)]
            for row in table[:_MOST_ATTRIBUTES]
        ],
        "more": max(len(table) - _MOST_ATTRIBUTES, 0),
    }


def _written(value: float | None, unit: str) -> str:
    """Format a figure in its unit; a dash for None."""
    return "–" if value is None else in_unit(value, unit)


def _range(measure: Mapping[str, Any]) -> str:
    """Return the lowest and the highest value of a measure in words."""
    ends = (None if bound is None or math.isinf(bound) else bound for bound in measure["bounds"])
    low, high = (None if bound is None else in_unit(bound, measure["unit"]) for bound in ends)
    if low is None:
        return "any number" if high is None else f"at most {high}"
    return f"{low} or more" if high is None else f"from {low} to {high}"


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


def loss_against_k(rows: Rows, release: Mapping[str, Any], name: str) -> str:
    """Return the loss of each method against k, the ``release`` marked, and the lower bounds.

    ``rows`` are those of :func:`microagg.release.report.contents.compared`; ``release`` has ``title``, ``k`` and
    ``information_loss`` of the release; ``name`` tells the parts of this figure from those of others in the document.
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
        for title, part, style in _lines(rows, release):
            axes.plot([row["k"] for row in part], [row["information_loss"] for row in part], label=title, **style)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        _finish(figure, axes, "k, the smallest group asked for", release["k"], release["information_loss"])
        losses = [row["information_loss"] for row in rows]
        return _svg(
            figure,
            name,
            "Information loss against k",
            f"{len(rows)} releases with a loss from {min(losses):.3g} % to {max(losses):.3g} %; the one that was "
            f"chosen, at k = {release['k']}, loses {release['information_loss']:.3g} %.",
        )


def risk_and_loss(rows: Rows, release: Mapping[str, Any], name: str) -> str:
    """Return the loss against the share of records found again, the ``release`` marked if its share is known."""
    linked = [row for row in rows if row.get("record_linkage") is not None]
    with _figure(2.75) as figure:
        axes = figure.add_subplot()
        for title, part, style in _lines(linked, release):
            xs = [100 * row["record_linkage"] for row in part]
            axes.plot(xs, [row["information_loss"] for row in part], label=title, **style)
            if title == release["title"]:
                _name_ks(axes, part, xs)
        linkage = release.get("record_linkage")
        x = None if linkage is None else 100 * linkage
        _finish(figure, axes, "Records found again by their nearest values, %", x, release["information_loss"])
        axes.set_xlim(left=0)
        return _svg(
            figure,
            name,
            "Information loss against the risk to be found",
            f"{len(linked)} releases: those toward the lower left are better in both. Lines join the values of k of a "
            "method.",
        )


def spreads_and_correlations(attributes: Rows, name: str) -> str:
    """Return how much of its spread each attribute keeps and how much a correlation of it changes; "" without numbers.

    ``attributes`` are those of :attr:`microagg.release.Assessment.attributes`; the first ones are drawn.
    """
    drawn = [row for row in attributes if row.get("sd_ratio") is not None][:_MOST_BARS]
    if not drawn:
        return ""
    places = range(len(drawn))
    with _figure(0.85 + 0.22 * len(drawn)) as figure:
        left, right = figure.subplots(1, 2, sharey=True)
        left.barh(places, [100 * row["sd_ratio"] for row in drawn], color=_CHOSEN, height=0.55)
        left.axvline(100, color=_INK, linewidth=0.8)
        left.set_xlabel("Standard deviation\nkept, %")
        right.barh(places, [row.get("correlation_change") or 0.0 for row in drawn], color=_OTHER, height=0.55)
        right.set_xlabel("Largest change\nof a correlation")
        right.set_xlim(left=0)
        left.set_yticks(places, [_printable(row["attribute"]) for row in drawn])
        left.invert_yaxis()
        for axes in (left, right):
            axes.tick_params(axis="y", length=0)
        spreads = [100 * row["sd_ratio"] for row in drawn]
        return _svg(
            figure,
            name,
            "Spreads and correlations that are kept",
            f"Of {len(drawn)} attributes, {_printable(drawn[0]['attribute'])} loses most; standard deviations are "
            f"{min(spreads):.3g} % to {max(spreads):.3g} % of what they were.",
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


def _lines(rows: Rows, release: Mapping[str, Any]) -> Iterator[tuple[str | None, Rows, dict[str, Any]]]:
    """Yield the name, the rows and the style of each method, the chosen one last so that it lies on top."""
    others = list(dict.fromkeys(row["title"] for row in rows if row["title"] != release["title"]))
    many = len(others) > _MOST_LINES
    for place, title in enumerate(others):
        part = [row for row in rows if row["title"] == title]
        if many:
            named = f"{len(others)} other methods" if place == 0 else None
            yield named, part, {"color": _FAINT, "marker": "."}
        else:
            yield _printable(title), part, {"color": _OTHER, "linestyle": _DASHES[place], "marker": _MARKERS[place]}
    if part := [row for row in rows if row["title"] == release["title"]]:
        yield release["title"], part, {"color": _CHOSEN, "marker": "o", "linewidth": 1.8, "zorder": 3}


def _name_ks(axes: Axes, rows: Rows, xs: Sequence[float]) -> None:
    """Write k beside the points of a method, beside the first and the last one where there are many."""
    alignment: dict[str, Any] = {"horizontalalignment": "right", "verticalalignment": "top", "fontsize": 8}
    for place, (row, x) in enumerate(zip(rows, xs, strict=True)):
        if len(rows) <= 8 or place in (0, len(rows) - 1):
            where = (x, row["information_loss"])
            axes.annotate(f"k = {row['k']}", where, xytext=(-7, -6), textcoords="offset points", **alignment)


def _finish(figure: Figure, axes: Axes, x_label: str, x: float | None, y: float) -> None:
    """Ring the release, if its place is known, and name the axes and the lines."""
    if x is not None:
        axes.plot([x], [y], "o", ms=11, mfc="none", mec=_CHOSEN, mew=1.8, zorder=4, label="this release")
    axes.set_xlabel(x_label)
    axes.set_ylabel("Information loss, %")
    axes.set_ylim(bottom=0)
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, handlelength=2.6, fontsize=8)


def _printable(name: object) -> str:
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
