"""The report as one HTML document made of its contents, its figure as SVG: equal contents give equal text."""

from __future__ import annotations

import importlib
import io
import math
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
    from matplotlib.figure import Figure


# The maximum number of attributes in the table: the ones with the highest loss.
_MOST_ATTRIBUTES = 40

# A longer program stays folded on paper: it may name thousands of columns.
_MOST_PRINTED = 5_000

_LEVELS = {"stop": "Stop", "warn": "To think about", "ok": "In order"}
_BETTER = {"low": "lower is better", "high": "higher is better"}

# The columns of the table of attributes: heading and unit.
_ATTRIBUTES = {
    "lost": ("Lost", "percent"),
    "sd_ratio": ("Standard deviation kept", "share"),
    "correlation_change": ("A correlation changes by", "number"),
    "hellinger": ("Hellinger distance", "number"),
    "interval_disclosure": ("Released near the original", "share"),
}


def document(contents: Mapping[str, Any]) -> str:
    """Render the contents of :meth:`microagg.Release.to_dict` as HTML that needs no other file.

    DataError if Jinja2 or Matplotlib is not installed.
    """
    for module, package in (("jinja2", "Jinja2"), ("matplotlib", "Matplotlib")):
        try:
            importlib.import_module(module)
        except ImportError:
            raise DataError(f"the report as HTML needs the package {package}: install microagg[report].") from None
    import jinja2

    files = resources.files(__package__)
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"written": _format_figure, "percent": percent, "counted": "{:,}".format}
    report = contents["report"]
    findings = [finding | {"accepted": finding in report["accepted"]} for finding in report["findings"]]
    template = environment.from_string(files.joinpath("report.html").read_text(encoding="utf-8"))
    return template.render(
        **contents,
        whole=len(contents["program"]["text"]) < _MOST_PRINTED,
        style=files.joinpath("report.css").read_text(encoding="utf-8"),
        drawn=_drawing(contents),
        check=_check(contents["file"]),
        levels=_LEVELS,
        better=_BETTER,
        findings=sorted(findings, key=lambda finding: list(_LEVELS).index(finding["level"])),
        attributes=_attributes(contents["assessment"]),
        ranges={measure["key"]: _range(measure) for measure in contents["measures"]},
    )


def _drawing(contents: Mapping[str, Any]) -> str:
    """The loss of what was compared, against k. Empty if nothing was."""
    comparison, report = contents["comparison"], contents["report"]
    if not comparison:
        return ""
    # Where there are categories it is Total-IL that was compared.
    loss = (report["generalization"] or report["loss"])["information_loss"]
    release = {"title": None, "k": report["k"], "information_loss": loss}
    return loss_against_k(comparison["rows"], next((row for row in comparison["rows"] if row["chosen"]), release))


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
            [str(row["attribute"]), *(_format_figure(row.get(name), _ATTRIBUTES[name][1]) for name in columns)]
            for row in table[:_MOST_ATTRIBUTES]
        ],
        "more": max(len(table) - _MOST_ATTRIBUTES, 0),
    }


def _format_figure(value: float | None, unit: str) -> str:
    """Format a figure in its unit. A dash for None."""
    return "–" if value is None else in_unit(value, unit)


def _range(measure: Mapping[str, Any]) -> str:
    """Lowest and highest value of a measure as text."""
    ends = (None if bound is None or math.isinf(bound) else bound for bound in measure["bounds"])
    low, high = (None if bound is None else in_unit(bound, measure["unit"]) for bound in ends)
    if low is None:
        return "any number" if high is None else f"at most {high}"
    return f"{low} or more" if high is None else f"from {low} to {high}"


Rows = Sequence[Mapping[str, Any]]

# The chosen release is dark, others are gray and differ by dash and marker, so a print in black is legible.
_INK, _CHOSEN, _OTHER, _FAINT = "#1d2329", "#0b4f82", "#5f6b76", "#87919a"
_DASHES = ("--", ":", "-.", (0, (6, 2)), (0, (1, 1)), (0, (4, 1, 1, 1, 1, 1)))
_MARKERS = ("s", "^", "D", "v", "P", "X")

# In inches.
_SIZE = (4.6, 2.75)

# More lines are drawn alike.
_MOST_LINES = len(_DASHES)

# Matplotlib's settings hold for the whole process, so one thread draws at a time.
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


def loss_against_k(rows: Rows, release: Mapping[str, Any]) -> str:
    """Draw the loss of each method against k, with the ``release`` marked, and the lower bounds.

    ``rows`` are those of :func:`microagg.release.report.contents.compared`; ``release`` has ``title``, ``k`` and
    ``information_loss`` of the release.
    """
    from matplotlib.ticker import MaxNLocator

    with _figure() as figure:
        axes = figure.add_subplot()
        floors = {row["k"]: row["floor"] for row in rows if row.get("floor") is not None}
        if floors:
            ks = sorted(floors)
            lows = [floors[k] for k in ks]
            axes.fill_between(ks, lows, color="#eceff1", linewidth=0)
            axes.plot(ks, lows, color=_OTHER, linewidth=0.8, label="lower bound at each k")
        for title, part, style in _lines(rows, release):
            axes.plot([row["k"] for row in part], [row["information_loss"] for row in part], label=title, **style)
        here = ([release["k"]], [release["information_loss"]])
        axes.plot(*here, "o", ms=11, mfc="none", mec=_CHOSEN, mew=1.8, zorder=4, label="this release")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel("k, the smallest group")
        axes.set_ylabel("Information loss, %")
        axes.set_ylim(bottom=0)
        handles, labels = axes.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3, handlelength=2.6, fontsize=8)
        losses = [row["information_loss"] for row in rows]
        return _svg(
            figure,
            "Information loss against k",
            f"{len(rows)} releases with a loss from {min(losses):.3g} % to {max(losses):.3g} %; the "
            f"chosen one, at k = {release['k']}, has {release['information_loss']:.3g} %.",
        )


@contextmanager
def _figure() -> Iterator[Figure]:
    """An empty figure, with the common settings while it is drawn."""
    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    with _LOCK, matplotlib.rc_context(_SETTINGS), warnings.catch_warnings():
        # The reader's fonts draw the letters; a letter that is missing here only changes its estimated width.
        warnings.filterwarnings("ignore", "Glyph")
        yield Figure(figsize=_SIZE, layout=ConstrainedLayoutEngine())


def _lines(rows: Rows, release: Mapping[str, Any]) -> Iterator[tuple[str | None, Rows, dict[str, Any]]]:
    """Yield the name, the rows and the style of each method, the chosen one last so that it is on top."""
    others = list(dict.fromkeys(row["title"] for row in rows if row["title"] != release["title"]))
    are_many = len(others) > _MOST_LINES
    for index, title in enumerate(others):
        part = [row for row in rows if row["title"] == title]
        if are_many:
            label = f"{len(others)} other methods" if index == 0 else None
            yield label, part, {"color": _FAINT, "marker": "."}
        else:
            yield _printable(title), part, {"color": _OTHER, "linestyle": _DASHES[index], "marker": _MARKERS[index]}
    if part := [row for row in rows if row["title"] == release["title"]]:
        yield release["title"], part, {"color": _CHOSEN, "marker": "o", "linewidth": 1.8, "zorder": 3}


def _printable(name: object) -> str:
    """A name in printable letters, shortened."""
    return shortened("".join(letter if letter.isprintable() else " " for letter in str(name)), 28)


def _svg(figure: Figure, title: str, description: str) -> str:
    """A figure as an SVG element for HTML, with a description for those who do not see it."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    root = ElementTree.fromstring(buffer.getvalue())
    for parent in root.iter():
        for child in list(parent):
            if not child.tag.startswith(_SVG) or child.tag == f"{_SVG}metadata":
                parent.remove(child)
    for element in root.iter():
        element.tag = element.tag.removeprefix(_SVG)
        attributes = {key.removeprefix(_LINK): value for key, value in element.attrib.items()}
        element.attrib.clear()
        element.attrib.update(attributes)
    root.attrib = {"viewBox": root.attrib["viewBox"], "role": "img", "aria-labelledby": "drawn-title drawn-desc"}
    root.attrib["class"] = "drawn"
    for position, (tag, text) in enumerate((("title", title), ("desc", description))):
        element = ElementTree.Element(tag, {"id": f"drawn-{tag}"})
        element.text = text
        root.insert(position, element)
    return ElementTree.tostring(root, encoding="unicode")
