"""The player: explained runs as pictures for a browser, step by step.

:func:`scene` makes plain data for the drawing: records on a line or a plane, and the steps of one or two runs.
``picture.js``, ``player.js`` and ``player.css`` draw it, on a self-contained page for any browser (:func:`page`,
:func:`animation`), or within another page, which then sends :func:`script` and :func:`style`.
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

from microagg.algorithms.base import check_params
from microagg.algorithms.registry import algorithm
from microagg.columns.scaling import centered
from microagg.errors import ParameterError
from microagg.explain import pseudo_code, steps
from microagg.explain.coordinates import principal_components
from microagg.explain.run import Step, first_difference, lockstep, make_run, value
from microagg.metrics import loss
from microagg.optimum.formatting import percent
from microagg.partition import canonical_labels
from microagg.validation import FloatArray

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
<script type="application/json" id="data">{data}</script>
<script type="module">
{script}
mount(document.getElementById("player"), JSON.parse(document.getElementById("data").textContent));
</script>
</body>
</html>
"""  # noqa: E501


def script() -> str:
    """The player's ES module, with a Streamlit component as its default.

    ``mount(root, scene, {onTick, at})`` plays a scene.
    """
    return f"{_read('picture.js')}\n{_read('player.js')}"


def style() -> str:
    """The player's style sheet. Each rule applies only to ``.mg-steps``."""
    return _read("player.css")


def _read(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def page(drawn: Mapping[str, Any], title: str) -> str:
    """One self-contained HTML page that plays the result of :func:`scene`."""
    # Only "<" could end the script element.
    data = json.dumps(drawn, ensure_ascii=False, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    return _PAGE.format(title=html.escape(title), style=style(), data=data, script=script())


def animation(
    keys: str | Sequence[str],
    X: ArrayLike,
    *,
    k: int = 3,
    names: Sequence[str] | None = None,
    attributes: Sequence[str] | None = None,
    optimum: ArrayLike | None = None,
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
    **params
        Parameters of the algorithms; each gets those that it has.

    Raises
    ------
    DataError, ParameterError
        As :func:`microagg.explain.steps` does, and if there are not one or two algorithms.

    Examples
    --------
    >>> from pathlib import Path
    >>> file = Path("mdav-star.html")
    >>> file.write_text(animation("mdav-star", [[1], [2], [3], [5], [6], [19]]), encoding="utf-8")  # doctest: +SKIP
    """
    keys = [keys] if isinstance(keys, str) else list(keys)
    if not 1 <= len(keys) <= 2:
        raise ParameterError(f"{len(keys)} algorithms cannot be drawn beside each other: give one or two.")
    taken = {key: {param.name for param in algorithm(key).params} for key in keys}
    if unknown := set(params).difference(*taken.values()):
        check_params(algorithm(keys[-1]), dict.fromkeys(unknown))
    # Pictures have the same names of records as the texts.
    run = make_run(X, k, names, attributes)
    watched = []
    for key in keys:
        settings = {name: params[name] for name in params if name in taken[key]}
        played = list(steps(key, run.X, k=k, names=run.names, attributes=run.attributes, **settings))
        watched.append(Watched(key, settings, played))
    drawn = scene(run.X, k, watched, names=run.names, attributes=run.attributes, optimum=optimum)
    return page(drawn, " beside ".join(side["title"] for side in drawn["sides"]) + ", step by step")


class Watched(NamedTuple):
    """A run to be drawn."""

    key: str  # of the algorithm
    params: Mapping[str, Any]  # those to be named beside its title
    steps: Sequence[Step]

    @property
    def settings(self) -> str:
        """The parameters as text: "γ = 0.2", without those at their defaults that the literature does not write so."""
        declared = {param.name: param for param in algorithm(self.key).params}
        settings = [(declared[name], value) for name, value in self.params.items()]
        return ", ".join(param.set_to(value) for param, value in settings if param.symbol or value != param.default)


def scene(
    X: FloatArray,
    k: int,
    runs: Sequence[Watched],
    *,
    names: Sequence[str],
    attributes: Sequence[str],
    optimum: ArrayLike | None = None,
    at: int = 0,
) -> dict[str, Any]:
    """Data for the player: dictionaries, lists, texts and finite numbers for JSON.

    One attribute is drawn on a line, two on a plane, more by their principal components: then the titles of the axes
    have the share of the variance, radii and cuts are left out, and lengths are those in all attributes. The input of
    the ``runs`` was ``X``, shape (n, d), and ``k``; ``optimum`` has the group of each record in the optimal partition.
    The player opens at the tick ``at``, or the last one.
    """
    frame = _Frame(X, attributes)
    ticks, differ = [[index] for index in range(len(runs[0].steps))], None
    if len(runs) == 2:
        first, second = (run.steps for run in runs)
        pairs = lockstep(first, second)
        ticks, differ = [list(pair) for pair in pairs], first_difference(first, second, pairs)
    sides = [
        {
            "title": algorithm(run.key).info.title,
            "settings": run.settings,
            "code": list(pseudo_code(run.key)),
            "steps": list(_step_data(frame, run.steps)),
        }
        for run in runs
    ]
    return {
        "records": frame.records(names),
        "k": k,
        "sides": sides,
        "ticks": ticks,
        "differ": differ,
        "optimum": None if optimum is None else _optimum_data(frame, optimum),
        "at": min(max(at, 0), len(ticks) - 1),
    }


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

    def records(self, names: Sequence[str]) -> dict[str, Any]:
        """Positions, names and texts of the records."""
        message = [
            f"{name}: " + ", ".join(f"{title} {number:g}" for title, number in zip(self._attributes, row, strict=True))
            for name, row in zip(names, self.X.tolist(), strict=True)
        ]
        return {"names": list(names), "x": self.x, "y": self.y, "labels": self.labels, "says": message}

    def point(self, coordinates: Sequence[float]) -> list[float | None]:
        """Position of a point of all attributes in the picture."""
        if self._weights is not None:
            x, y = ((np.asarray(coordinates) - self._low - self._center) @ self._weights).tolist()
            return [x, y]
        return [*coordinates, None][:2]

    def sse(self, groups: Sequence[tuple[int, ...]]) -> float:
        """SSE within groups. Unassigned records do not count."""
        for members in groups:
            if members not in self._losses:
                self._losses[members] = loss.sse(self.X[list(members)], np.zeros(len(members), dtype=np.int64))
        return math.fsum(self._losses[members] for members in groups)

    def lost(self, sse: float) -> str:
        """An SSE as a share of the SST of all records, as text."""
        return percent(loss.percent(sse, self._sst))


def _optimum_data(frame: _Frame, labels: ArrayLike) -> dict[str, Any]:
    numbers = canonical_labels(labels)
    sse = frame.sse([tuple(np.flatnonzero(numbers == group).tolist()) for group in range(numbers.max(initial=-1) + 1)])
    return {"text": f"SSE {value(sse)}, IL {frame.lost(sse)}", "labels": numbers.tolist()}


def _step_data(frame: _Frame, steps: Sequence[Step]) -> Iterator[dict[str, Any]]:
    """Yield the data of each step for the player: only changes of groups and order."""
    n, d = frame.X.shape
    axes_are_attributes = d <= 2
    previous_groups: dict[int, int] = dict.fromkeys(range(n), -1)
    order: tuple[int, ...] = ()
    for step in steps:
        groups = dict.fromkeys(range(n), -1)
        groups.update((record, group) for group, members in enumerate(step.groups) for record in members)
        focus, sse = step.focus, frame.sse(step.groups)
        yield {
            "kind": step.kind,
            "title": step.decision or step.title,
            "text": step.text,
            "line": step.line,
            "changed": [[record, group] for record, group in groups.items() if group != previous_groups[record]],
            "seed": focus.seed,
            "candidates": list(focus.candidates),
            "point": None if focus.point is None else frame.point(focus.point),
            "measured": focus.point_name,
            "radius": focus.radius if axes_are_attributes else None,
            "lines": [
                [first, second, value(math.dist(frame.X[first].tolist(), frame.X[second].tolist()))]
                for first, second in focus.lines
            ],
            "cuts": [{"axis": "xy"[j], "at": cut, "text": value(cut)} for j, cut in focus.cuts if axes_are_attributes],
            "group": focus.group,
            "order": None if focus.order == order else list(focus.order),
            "quantities": [asdict(each) | {"text": value(each.value)} for each in step.quantities],
            "sse": value(sse),
            "loss": frame.lost(sse),
        }
        previous_groups, order = groups, focus.order
