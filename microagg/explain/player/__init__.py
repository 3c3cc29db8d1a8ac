"""The player: explained runs as pictures for a browser, step by step.

:func:`scene` makes plain data for the drawing: records on a line or a plane, and the steps of one or two runs.
``player.js`` and ``player.css`` draw it, on a self-contained page for any browser (:func:`page`, :func:`animation`), or
within another page, which then sends :func:`script` and :func:`style`. Other pictures use the same module,
:func:`drawing`, before their script.
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
    """The player's ES module, with a Streamlit component as its default.

    ``mount(root, scene, {onTick, at})`` plays a scene; ``still(root, scene, at)`` draws one tick of it for print.
    """
    return "\n".join((drawing(), _read("account.js"), _read("player.js")))


def drawing() -> str:
    """The part of the player's module that draws: shapes, axes and the class ``Picture`` of records."""
    return _read("picture.js")


def style() -> str:
    """The player's style sheet. Each rule applies only to ``.mg-steps``."""
    return _read("player.css")


def _read(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def page(drawn: Mapping[str, Any], title: str) -> str:
    """One self-contained HTML page that plays the result of :func:`scene`."""
    return _PAGE.format(title=html.escape(title), style=style(), script=script(), scene=as_json(drawn))


def as_json(drawn: Mapping[Any, Any]) -> str:
    """Data of a drawing as JSON for a script element of a page."""
    # Only "<" could end the element.
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
    """Self-contained HTML page that plays one algorithm, or two side by side.

    Parameters
    ----------
    keys : str or two of them
        Algorithms of :data:`microagg.explain.EXPLAINED`.
    X, k, names, attributes
        As for :func:`microagg.explain.steps`.
    optimum : array-like of int, shape (n,), optional
        The group of each record in the optimal partition, drawn next to the runs.
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
    unused = dict(params)
    runs = []
    for key in keys:
        accepted = {param.name for param in algorithm(key).params} if key in EXPLAINED else set(params)
        # The last one refuses parameters that none of them has.
        unused = {name: setting for name, setting in unused.items() if name not in accepted}
        own_params = {name: setting for name, setting in params.items() if name in accepted}
        own_params |= unused if key == keys[-1] else {}
        played = list(steps(key, X, k=k, names=names, attributes=attributes, **own_params))
        settings = ", ".join(f"{name} = {setting}" for name, setting in own_params.items())
        runs.append(Watched(algorithm(key).info.title, settings, pseudo_code(key), played))
    # Pictures have the same names of records as the texts.
    run = make_run(X, k, names)
    matrix, names = run.X, run.names
    if attributes is None:
        attributes = ["value"] if matrix.shape[1] == 1 else [f"attribute {j + 1}" for j in range(matrix.shape[1])]
    drawn = scene(matrix, k, runs, names=names, attributes=attributes, optimum=optimum, ask=ask)
    return page(drawn, " beside ".join(setting.title for setting in runs) + ", step by step")


# --- data of the drawing ----------------------------------------------------------------------------------------------


class Watched(NamedTuple):
    """A run to be drawn."""

    title: str  # the title of the algorithm
    settings: str  # its parameters as text, "γ = 0.2"; empty without any
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
    """Data for the player: dictionaries, lists, texts and finite numbers for JSON.

    One attribute is drawn on a line, two on a plane, more by their principal components: then the titles of the axes
    have the share of the variance, radii and cuts are left out, and lengths are those in all attributes.

    Parameters
    ----------
    X, k : array-like, shape (n, d), and int
        The input of the algorithms.
    runs : one or two (title, settings, code, steps)
        As in :class:`Watched`.
    names, attributes : sequences of str, of length n and d
        The names of records and attributes.
    says : sequence of str, length n, optional
        Texts for the record under the pointer; by default its name and values.
    optimum : array-like of int, shape (n,), optional
        The group of each record in the optimal partition.
    at : int, default 0
        The tick at which the player opens, at most the last one.
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
    question_run = Run(matrix, k, names, attributes) if ask else None
    runs_data = [{"code": list(run.code), "steps": list(_step_data(frame, run.steps, question_run))} for run in watched]
    sides = [run._asdict() | data for run, data in zip(watched, runs_data, strict=True)]
    return {
        "records": frame.records(names, says),
        "k": k,
        "sides": sides,
        "ticks": ticks,
        "differ": differ,
        "optimum": None if optimum is None else _optimum_data(frame, optimum),
        "at": min(max(at, 0), len(ticks) - 1),
    }


def records(X: FloatArray, names: Sequence[str], attributes: Sequence[str]) -> dict[str, Any]:
    """The part of :func:`scene` with positions and names of records."""
    return _Frame(X, attributes).records(names, None)


def _ticks(runs: Sequence[Sequence[Step]]) -> tuple[list[list[int]], int | None]:
    """Steps that are displayed together, and the position where the groups of two runs first differ."""
    if len(runs) == 1:
        return [[index] for index in range(len(runs[0]))], None
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
    """Positions of records and points in the picture, and losses of their groups."""

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
            # Centroids lie among the records, so any weights that map records to their points suffice.
            self._weights = np.asarray(np.linalg.lstsq(deviations, plane, rcond=None)[0], dtype=np.float64)
            first, second = (f"{100 * min(share, 1.0):.0f} %" for share in shares.tolist())
            self.labels = [f"Principal component 1 ({first} of variance)", f"Principal component 2 ({second})"]
        self.x: list[float] = plane[:, 0].tolist()
        self.y: list[float] | None = None if X.shape[1] == 1 else plane[:, 1].tolist()

    def records(self, names: Sequence[str], says: Sequence[str] | None) -> dict[str, Any]:
        """Positions, names and texts of the records."""
        return {
            "names": list(names),
            "x": self.x,
            "y": self.y,
            "labels": self.labels,
            "says": list(says) if says is not None else _values(self.X, names, self._attributes),
        }

    @property
    def exact(self) -> bool:
        """Whether the axes of the picture are attributes."""
        return self._weights is None

    def point(self, coordinates: Sequence[float]) -> list[float | None]:
        """Position of a point of all attributes in the picture."""
        if self._weights is not None:
            x, y = ((np.asarray(coordinates) - self._low - self._center) @ self._weights).tolist()
            return [x, y]
        return [*coordinates, None][:2]

    def distance(self, first: int, second: int) -> float:
        """Euclidean distance of two records in all attributes."""
        return math.dist(self.X[first].tolist(), self.X[second].tolist())

    def sse(self, groups: Sequence[tuple[int, ...]]) -> float:
        """SSE within groups. Unassigned records do not count."""
        for members in groups:
            if members not in self._losses:
                self._losses[members] = loss.sse(self.X[list(members)], np.zeros(len(members), dtype=np.int64))
        return math.fsum(self._losses[members] for members in groups)

    def lost(self, sse: float) -> str:
        """An SSE as a share of the SST of all records, as text."""
        return percent(loss.percent(sse, self._sst))


def _values(X: FloatArray, names: Sequence[str], attributes: Sequence[str]) -> list[str]:
    """Name and values of each record."""
    return [
        f"{name}: " + ", ".join(f"{title} {number:g}" for title, number in zip(attributes, row, strict=True))
        for name, row in zip(names, X.tolist(), strict=True)
    ]


def _optimum_data(frame: _Frame, labels: ArrayLike) -> dict[str, Any]:
    numbers = canonical_labels(labels)
    groups = [tuple(np.flatnonzero(numbers == group).tolist()) for group in range(numbers.max(initial=-1) + 1)]
    groups.sort(key=lambda members: (sum(frame.x[record] for record in members) / len(members), members))
    sse = frame.sse(groups)
    return {"text": f"SSE {value(sse)}, IL {frame.lost(sse)}", "groups": [list(members) for members in groups]}


def _step_data(frame: _Frame, steps: Sequence[Step], question_run: Run | None) -> Iterator[dict[str, Any]]:
    """Yield the data of each step for the player: only changes of groups, order and arcs.

    With ``question_run``, questions are added.
    """
    n = len(frame.X)
    before: dict[int, int] = dict.fromkeys(range(n), -1)
    order: tuple[int, ...] = ()
    arcs: dict[tuple[int, int], list[Any]] = {}
    free: Sequence[int] = range(n)
    step_questions = [None] * len(steps) if question_run is None else questions(question_run, steps)
    for step, question in zip(steps, step_questions, strict=True):
        groups = dict.fromkeys(range(n), -1)
        groups.update((record, group) for group, members in enumerate(step.groups) for record in members)
        focus, sse = step.focus, frame.sse(step.groups)
        new_arcs = {(arc.start, arc.stop): [arc.start, arc.stop, _text(arc.cost), arc.chosen] for arc in focus.arcs}
        data = {
            "kind": step.kind,
            "title": step.decision or step.title,
            "text": step.text,
            "line": step.line,
            "changed": [[record, group] for record, group in groups.items() if group != before[record]],
            "seed": focus.seed,
            "candidates": list(focus.candidates),
            **_measurements(frame, step, free),
            "group": focus.group,
            "order": None if focus.order == order else list(focus.order),
            "arcs": [arc for key, arc in new_arcs.items() if arcs.get(key) != arc],
            "quantities": [_quantity(quantity) for quantity in step.quantities],
            "sse": value(sse),
            "loss": frame.lost(sse),
        }
        if question_run is not None:
            # A question hides the rest of the step.
            answers = {name: data[name] for name in question.shows} if question else {}
            data["question"] = question and asdict(question) | {"shows": answers}
        yield data
        before, order, free, arcs = groups, focus.order, step.unassigned, arcs | new_arcs


def _measurements(frame: _Frame, step: Step, free: Sequence[int]) -> dict[str, Any]:
    """Measurements of a step: its point, radius, lines and cuts."""
    focus = step.focus
    return {
        "point": None if focus.point is None else frame.point(focus.point),
        "measured": None if focus.point is None else _measure_label(frame, focus, step, free),
        "radius": focus.radius if frame.exact else None,
        "lines": [[first, second, value(frame.distance(first, second))] for first, second in focus.lines],
        "cuts": [{"axis": "xy"[j], "at": cut, "text": value(cut)} for j, cut in focus.cuts if frame.exact],
    }


def _measure_label(frame: _Frame, focus: Focus, step: Step, free: Sequence[int]) -> str:
    """Label of the point of a step. ``free`` are the records that were unassigned before it."""
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
