"""V-MDAV step by step: a group around the farthest record, which takes in neighbors that are near it and nothing else.

Sources: Solanas & Martínez-Ballesté 2006; Thaeter & Reischuk, Improving Anonymization Clustering.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from microagg.explain.run import Run, squares, value
from microagg.explain.step import Focus, Quantity, Step

CODE = (
    "c ← the centroid of all records",
    "while at least k records are unassigned:",
    "    r ← the unassigned record farthest from c",
    "    r and the k − 1 unassigned records nearest to it become a group G",
    "    while G has fewer than 2k − 1 records:",
    "        e ← the unassigned record nearest to a member of G",
    "        d_in ← the squared distance from e to that member",
    "        d_out ← the squared distance from e to its nearest other unassigned record, ∞ if there is none",
    "        if d_in < γ · d_out: e joins G;  otherwise G is complete",
    "each record left joins the group with the nearest centroid; centroids stay",
)
_CENTROID, _FARTHEST, _FORM, _DECIDE, _REST = 0, 2, 3, 8, 9


def explain(run: Run, gamma: float) -> Iterator[Step]:
    """Yield the steps of V-MDAV."""
    center = run.middle(run.unassigned)
    yield run.centroid_step(center, _CENTROID)
    while len(run.unassigned) >= run.k:
        r = run.farthest(center, run.unassigned)
        yield run.farthest_step(r, center, "all", _FARTHEST)
        yield run.form_around(r, _FORM)
        yield from _extend(run, gamma)
    yield from run.join_nearest_centroids(_REST, moving=False)


class _Neighbor(NamedTuple):
    """The unassigned record nearest to a group, and how near it is to that and to another one."""

    e: int
    member: int  # of the group, nearest to e
    d_in: float
    other: int | None  # unassigned, nearest to e
    d_out: float


def _extend(run: Run, gamma: float) -> Iterator[Step]:
    """Yield, for one record after the other, whether it joins the group formed last, until one does not."""
    group, joins = len(run.groups) - 1, True
    while joins and run.unassigned and len(run.groups[group]) < 2 * run.k - 1:
        neighbor = _neighbor(run, group)
        # With γ = 0 nothing joins, not even the last record, for which 0 · ∞ is no number.
        joins = gamma > 0 and neighbor.d_in < gamma * neighbor.d_out
        weighed = _weigh(run, neighbor, gamma, joins)
        yield weighed
        if joins:
            before = run.braced(run.groups[group])
            run.join(group, neighbor.e)
            yield run.step(
                "join",
                "It joins",
                f"{run.name(neighbor.e)} joins {before}: {_why(neighbor, gamma, joins)}.",
                _DECIDE,
                Focus(seed=neighbor.e, group=group, point=run.centroid(run.groups[group])),
                weighed.quantities,
            )


def _neighbor(run: Run, group: int) -> _Neighbor:
    """Return the unassigned record nearest to any member of a group."""
    d_in, e, member = min(
        (run.distance(record, run.row(member)), record, member)
        for record in run.unassigned
        for member in run.groups[group]
    )
    others = run.nearest(e, 1, run.unassigned)
    if not others:
        return _Neighbor(e, member, d_in, None, math.inf)
    return _Neighbor(e, member, d_in, others[0], run.distance(others[0], run.row(e)))


def _weigh(run: Run, found: _Neighbor, gamma: float, joins: bool) -> Step:
    """Return the step that compares d_in with γ · d_out."""
    group, e, other = len(run.groups) - 1, found.e, found.other
    quantities = [Quantity("d_in", found.d_in, squares(run.row(e), run.row(found.member)), joins)]
    lines = [(e, found.member)]
    text = f"{run.name(e)} is nearest to {run.braced(run.groups[group])}, d_in = {value(found.d_in)}"
    if other is None:
        text += ", and no other record is unassigned"
        if not joins:
            quantities.append(Quantity("γ · d_out", 0.0, "γ = 0", True))
        # Otherwise γ · d_out is infinite: there is no number to stand beside d_in.
    else:
        text += f", and {run.name(other)} is nearest to {run.name(e)}, d_out = {value(found.d_out)}"
        quantities.append(Quantity("γ · d_out", gamma * found.d_out, _product(found, gamma), not joins))
        lines.append((e, other))
    verdict = "." if joins else f": {_why(found, gamma, joins)}, so the group is complete."
    return run.step(
        "weigh",
        "Near the group, or near another record?",
        text + verdict,
        _DECIDE,
        Focus(seed=e, candidates=() if other is None else (other,), group=group, lines=tuple(lines)),
        quantities,
    )


def _product(found: _Neighbor, gamma: float) -> str:
    return f"{value(gamma)} · {value(found.d_out)} = {value(gamma * found.d_out)}"


def _why(found: _Neighbor, gamma: float, joins: bool) -> str:
    """Return what the comparison finds."""
    if found.other is None:
        return "there is no other record for it to be near" if joins else "with γ = 0 no record joins"
    return f"{value(found.d_in)} is {'' if joins else 'not '}less than {_product(found, gamma)}"
