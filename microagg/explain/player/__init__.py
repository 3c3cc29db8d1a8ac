"""The player: explained runs as pictures that can be stepped through in a browser.

:func:`scene` says all that is drawn, as plain data: records on a line or a plane, and the steps of one or two runs.
``player.js`` and ``player.css`` draw it, on a page of its own that plays in any browser and loads nothing from
elsewhere (:func:`page`, :func:`animation`), or within another one, which then sends :func:`script` and :func:`style`.
Other pictures are drawn with the same module, :func:`drawing`, which is put before a script of their kind.
"""

from __future__ import annotations

import html
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from importlib import resources
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from microagg.algorithms.registry import algorithm
from microagg.columns.scaling import centered
from microagg.errors import ParameterError
from microagg.explain import EXPLAINED, pseudo_code, steps
from microagg.explain.coordinates import principal_components
from microagg.explain.questions import questions
from microagg.explain.run import Run, make_run, value
from microagg.explain.step import Focus, Quantity, Step, first_difference, lockstep
from microagg.metrics import loss
from microagg.optimum.formatting import percent
from microagg.partition import canonical_labels
from microagg.validation import FloatArray, check_enough_records, check_finite, check_k, check_matrix

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ margin: 0 auto; max-width: 90rem; padding: 1rem; font-family: system-ui, sans-serif; background: #fff; color: #17212b; }}
@media (prefers-color-scheme: dark) {{ body {{ background: #10161d; color: #e8edf2; }} }}
h1 {{ font-size: 1.5rem; margin: 0 0 0.75rem; }}
{style}
</style>
</head>
<body>
<h1>{title}</h1>
<div id="player"></div>
<noscript>This page draws with JavaScript: allow it to see the steps.</noscript>
<script type="application/json" id="scene">{scene}</script>
<script type="module">
{script}
mount(document.getElementById("player"), JSON.parse(document.getElementById("scene").textContent));
</script>
</body>
</html>
"""  # noqa: E501


def script() -> str:
    """Return the player's ES module, with a Streamlit component as its default.

    ``mount(root, scene, {onTick, at})`` plays a scene; ``still(root, scene, at)`` draws one tick of it, to be printed.
    """
    return "\n".join((drawing(), _read("account.js"), _read("player.js")))


def drawing() -> str:
    """Return the part of the player's module that draws: shapes, axes and the class ``Picture`` of records."""
    return _read("picture.js")


def style() -> str:
    """Return the player's style sheet; each rule is of ``.mg-steps`` alone."""
    return _read("player.css")


def _read(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def page(drawn: Mapping[str, Any], title: str) -> str:
    """Return one self-contained HTML page that plays what :func:`scene` returns."""
    return _PAGE.format(title=html.escape(title), style=style(), script=script(), scene=as_json(drawn))


def as_json(drawn: Mapping[Any, Any]) -> str:
    """Return what is drawn as JSON that can stand in a script element of a page."""
    # Within it only "<" can end it, whatever the names are.
    return json.dumps(drawn, ensure_ascii=False, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def animation(
    keys: str | Sequence[str],
    X: ArrayLike,
    *,
    k: int = 3,
    names: Sequence[str] | None = None,
    attributes: Sequence[str] | None = None,
    optimum: ArrayLike | None = None,
    ask: bool = False,
    **params: Any,
) -> str:
    """Return a self-contained HTML page that plays one algorithm, or two beside each other.

    Parameters
    ----------
    keys : str or two of them
        Algorithms of :data:`microagg.explain.EXPLAINED`.
    X, k, names, attributes
        As for :func:`microagg.explain.steps`.
    optimum : array-like of int, shape (n,), optional
        The group of each record in the best partition that is possible, drawn beside the runs.
    ask : bool, default False
        Whether it asks what comes next before each step that decides something.
    **params
        Parameters of the algorithms; each gets those that it has.

    Raises
    ------
    DataError, ParameterError
        As :func:`microagg.explain.steps` and :func:`scene` do.

    Examples
    --------
    >>> from pathlib import Path
    >>> file = Path("mdav-star.html")
    >>> file.write_text(animation("mdav-star", [[1], [2], [3], [5], [6], [19]]), encoding="utf-8")  # doctest: +SKIP
    """
    keys = [keys] if isinstance(keys, str) else list(keys)
    unknown = dict(params)
    runs = []
    for key in keys:
        accepted = {param.name for param in algorithm(key).params} if key in EXPLAINED else set(params)
        # What none of them has is refused by the last, in its own words.
        unknown = {name: each for name, each in unknown.items() if name not in accepted}
        chosen = {name: each for name, each in params.items() if name in accepted}
        chosen |= unknown if key == keys[-1] else {}
        played = list(steps(key, X, k=k, names=names, attributes=attributes, **chosen))
        settings = ", ".join(f"{name} = {each}" for name, each in chosen.items())
        runs.append(Watched(algorithm(key).info.title, settings, pseudo_code(key), played))
    # What the texts call the records, the pictures do, too.
    run = make_run(X, k, names)
    matrix, names = run.X, run.names
    if attributes is None:
        attributes = ["value"] if matrix.shape[1] == 1 else [f"attribute {j + 1}" for j in range(matrix.shape[1])]
    drawn = scene(matrix, k, runs, names=names, attributes=attributes, optimum=optimum, ask=ask)
    return page(drawn, " beside ".join(each.title for each in runs) + ", step by step")


# --- what is drawn ----------------------------------------------------------------------------------------------------


class Watched(NamedTuple):
    """A run to be drawn."""

    title: str  # what the algorithm is called
    settings: str  # its parameters in words, "γ = 0.2"; empty if there are none
    code: Sequence[str]  # the lines of its pseudo-code
    steps: Sequence[Step]


def scene(
    X: ArrayLike,
    k: int,
    runs: Sequence[tuple[str, str, Sequence[str], Sequence[Step]]],
    *,
    names: Sequence[str],
    attributes: Sequence[str],
    says: Sequence[str] | None = None,
    optimum: ArrayLike | None = None,
    at: int = 0,
    ask: bool = False,
) -> dict[str, Any]:
    """Return what the player draws, as dictionaries, lists, texts and finite numbers that JSON can hold.

    One attribute is drawn on a line, two as they are, more by their principal components: then the titles of the axes
    name the share of the variance, radii and cuts are left out, and lengths are those in all attributes.

    Parameters
    ----------
    X, k : array-like, shape (n, d), and int
        As the algorithms got them.
    runs : one or two (title, settings, code, steps)
        As in :class:`Watched`.
    names, attributes : sequences of str, of length n and d
        What the records and attributes are called.
    says : sequence of str, length n, optional
        What is said of a record under the pointer; by default its name and values.
    optimum : array-like of int, shape (n,), optional
        The group of each record in the best partition that is possible.
    at : int, default 0
        The tick at which the player opens; beyond the last one it opens at the last.
    ask : bool, default False
        Whether it asks what comes next before each step that decides something.

    Raises
    ------
    ParameterError
        If there are no runs or more than two, a run has no steps, or names, attributes or texts do not fit X.
    DataError
        If X is not a finite matrix, or has fewer than k records.
    """
    matrix = check_matrix(X)
    check_finite(matrix)
    check_enough_records(len(matrix), check_k(k), "X")
    watched = [Watched(*run) for run in runs]
    _check(matrix, watched, names, attributes, says)
    frame = _Frame(matrix, attributes)
    ticks, differ = _ticks([run.steps for run in watched])
    about = Run(matrix, k, names, attributes) if ask else None
    drawn = [{"code": list(run.code), "steps": list(_drawn(frame, run.steps, about))} for run in watched]
    sides = [run._asdict() | each for run, each in zip(watched, drawn, strict=True)]
    return {
        "records": frame.records(names, says),
        "k": k,
        "sides": sides,
        "ticks": ticks,
        "differ": differ,
        "optimum": None if optimum is None else _best(frame, optimum),
        "at": min(max(at, 0), len(ticks) - 1),
    }


def records(X: FloatArray, names: Sequence[str], attributes: Sequence[str]) -> dict[str, Any]:
    """Return the part of :func:`scene` that says where each record is drawn, and how it is called."""
    return _Frame(X, attributes).records(names, None)


def _ticks(runs: Sequence[Sequence[Step]]) -> tuple[list[list[int]], int | None]:
    """Return which steps are seen together, and where the groups of two runs first differ."""
    if len(runs) == 1:
        return [[place] for place in range(len(runs[0]))], None
    first, second = runs
    pairs = lockstep(first, second)
    return [list(pair) for pair in pairs], first_difference(first, second, pairs)


def _check(
    X: FloatArray, runs: Sequence[Watched], names: Sequence[str], attributes: Sequence[str], says: Sequence[str] | None
) -> None:
    if not 1 <= len(runs) <= 2:
        raise ParameterError(f"{len(runs)} runs cannot be drawn beside each other: give one or two.")
    for run in runs:
        if not run.steps:
            raise ParameterError(f"{run.title} has no steps: give those of microagg.explain.steps as a list.")
    for values, number, what in (
        (names, len(X), "names for {} records"),
        (attributes, X.shape[1], "titles for {} attributes"),
        (says, len(X), "texts for {} records"),
    ):
        if values is not None and len(values) != number:
            raise ParameterError(f"{len(values)} {what.format(number)}: give one for each.")


class _Frame:
    """Where records and points lie in the picture, and what their groups lose."""

    def __init__(self, X: FloatArray, attributes: Sequence[str]) -> None:
        self.X, self._sst, self._attributes = X, loss.sst(X), attributes
        self._losses: dict[tuple[int, ...], float] = {}
        self._weights: FloatArray | None = None
        plane: FloatArray = X
        self.labels: list[str | None] = [*attributes[:2], None][:2]
        if X.shape[1] > 2:
            components = principal_components(X)
            plane, shares = components.points, components.shares
            self._low, self._center, deviations = centered(X)
            # Centroids lie among the records, so any weights by which the records become their points do.
            self._weights = np.asarray(np.linalg.lstsq(deviations, plane, rcond=None)[0], dtype=np.float64)
            first, second = (f"{100 * min(share, 1.0):.0f} %" for share in shares.tolist())
            self.labels = [f"Principal component 1 ({first} of variance)", f"Principal component 2 ({second})"]
        self.x: list[float] = plane[:, 0].tolist()
        self.y: list[float] | None = None if X.shape[1] == 1 else plane[:, 1].tolist()

    def records(self, names: Sequence[str], says: Sequence[str] | None) -> dict[str, Any]:
        """Return where each record is drawn, what it is called, and what is said of it."""
        return {
            "names": list(names),
            "x": self.x,
            "y": self.y,
            "labels": self.labels,
            "says": list(says) if says is not None else _values(self.X, names, self._attributes),
        }

    @property
    def exact(self) -> bool:
        """Whether the picture has the attributes themselves as its axes."""
        return self._weights is None

    def point(self, of: Sequence[float]) -> list[float | None]:
        """Return where a point of all attributes is drawn."""
        if self._weights is not None:
            x, y = ((np.asarray(of) - self._low - self._center) @ self._weights).tolist()
            return [x, y]
        return [*of, None][:2]

    def distance(self, one: int, two: int) -> float:
        """Return the Euclidean distance of two records in all attributes."""
        return math.dist(self.X[one].tolist(), self.X[two].tolist())

    def sse(self, groups: Sequence[tuple[int, ...]]) -> float:
        """Return the SSE within groups; records that are in none do not count."""
        for members in groups:
            if members not in self._losses:
                self._losses[members] = loss.sse(self.X[list(members)], np.zeros(len(members), dtype=np.int64))
        return math.fsum(self._losses[members] for members in groups)

    def lost(self, sse: float) -> str:
        """Return an SSE as a share of the SST of all records, in words."""
        return percent(loss.percent(sse, self._sst))


def _values(X: FloatArray, names: Sequence[str], attributes: Sequence[str]) -> list[str]:
    """Return the name and the values of each record."""
    return [
        f"{name}: " + ", ".join(f"{title} {number:g}" for title, number in zip(attributes, row, strict=True))
        for name, row in zip(names, X.tolist(), strict=True)
    ]


def _best(frame: _Frame, labels: ArrayLike) -> dict[str, Any]:
    numbers = canonical_labels(labels)
    groups = [tuple(np.flatnonzero(numbers == group).tolist()) for group in range(numbers.max(initial=-1) + 1)]
    groups.sort(key=lambda members: (sum(frame.x[record] for record in members) / len(members), members))
    sse = frame.sse(groups)
    return {"text": f"SSE {value(sse)}, IL {frame.lost(sse)}", "groups": [list(members) for members in groups]}


def _drawn(frame: _Frame, steps: Sequence[Step], about: Run | None) -> Iterator[dict[str, Any]]:
    """Yield each step as the player reads it: of groups, order and arcs only what is new.

    Questions are asked where it is known what they are ``about``.
    """
    number = len(frame.X)
    before: dict[int, int] = dict.fromkeys(range(number), -1)
    order: tuple[int, ...] = ()
    arcs: dict[tuple[int, int], list[Any]] = {}
    free: Sequence[int] = range(number)
    due = [None] * len(steps) if about is None else questions(about, steps)
    for step, question in zip(steps, due, strict=True):
        groups = dict.fromkeys(range(number), -1)
        groups.update((record, place) for place, members in enumerate(step.groups) for record in members)
        focus, sse = step.focus, frame.sse(step.groups)
        seen = {(arc.start, arc.stop): [arc.start, arc.stop, _text(arc.cost), arc.chosen] for arc in focus.arcs}
        drawn = {
            "kind": step.kind,
            "title": step.decision or step.title,
            "text": step.text,
            "line": step.line,
            "changed": [[record, group] for record, group in groups.items() if group != before[record]],
            "seed": focus.seed,
            "candidates": list(focus.candidates),
            **_measured(frame, step, free),
            "group": focus.group,
            "order": None if focus.order == order else list(focus.order),
            "arcs": [arc for place, arc in seen.items() if arcs.get(place) != arc],
            "quantities": [_quantity(quantity) for quantity in step.quantities],
            "sse": value(sse),
            "loss": frame.lost(sse),
        }
        if about is not None:
            # With a question nothing else is seen of the step.
            shows = {name: drawn[name] for name in question.shows} if question else {}
            drawn["question"] = question and asdict(question) | {"shows": shows}
        yield drawn
        before, order, free, arcs = groups, focus.order, step.unassigned, arcs | seen


def _measured(frame: _Frame, step: Step, free: Sequence[int]) -> dict[str, Any]:
    """Return what a step measures: from where, how far, between whom, and where it is cut."""
    focus = step.focus
    return {
        "point": None if focus.point is None else frame.point(focus.point),
        "measured": None if focus.point is None else _measure_label(frame, focus, step, free),
        "radius": focus.radius if frame.exact else None,
        "lines": [[one, two, value(frame.distance(one, two))] for one, two in focus.lines],
        "cuts": [{"axis": "xy"[j], "at": at, "text": value(at)} for j, at in focus.cuts if frame.exact],
    }


def _measure_label(frame: _Frame, focus: Focus, step: Step, free: Sequence[int]) -> str:
    """Return what the point of a step is; ``free`` are the records that were unassigned before it."""
    middles = [
        ("centroid of all", range(len(frame.X))),
        ("centroid of the group", step.groups[focus.group] if focus.group is not None else ()),
        ("centroid of the unassigned", free),
        ("centroid of the unassigned", step.unassigned),
    ]
    spread = np.ptp(frame.X, axis=0)
    for title, members in middles:
        if len(members) and bool(
            np.all(np.abs(frame.X[list(members)].mean(axis=0) - np.asarray(focus.point)) <= 1e-9 * spread)
        ):
            return title
    return "centroid"


def _text(number: float) -> str:
    return value(number) if math.isfinite(number) else "∞"  # a group that is not possible


def _quantity(quantity: Quantity) -> dict[str, Any]:
    return {
        "name": quantity.name,
        "value": quantity.value if math.isfinite(quantity.value) else None,
        "text": _text(quantity.value),
        "formula": quantity.formula,
        "chosen": quantity.chosen,
    }
