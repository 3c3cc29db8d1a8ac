"""MDAV* step by step: the farthest record opens a group or joins one, whichever costs less a record.

Source: Thaeter & Reischuk, Improving Anonymization Clustering.
"""

from __future__ import annotations

from collections.abc import Iterator

from microagg.explain.run import Run, value
from microagg.explain.step import Focus, Quantity, Step

CODE = (
    "c ← the centroid of all records",
    "while at least k records are unassigned:",
    "    r ← the unassigned record farthest from c",
    "    G ← r and the k − 1 unassigned records nearest to it",
    "    C ← the group whose SSE grows least by r;  y ← the unassigned record nearest to r",
    "    H ← y and the k − 1 unassigned records nearest to it, without r",
    "    new ← SSE(G) / k;  join ← (growth of C + SSE(H)) / (k + 1)",
    "    if join < new: r joins C",
    "    otherwise: G becomes a group",
    "each record left joins the group whose SSE grows least by it",
)
_FARTHEST, _WEIGH, _JOIN, _FORM, _REST = 2, 6, 7, 8, 9


def explain(run: Run) -> Iterator[Step]:
    """Yield the steps of MDAV*."""
    k, center = run.k, run.middle(run.unassigned)
    yield run.centroid_step(center, 0)
    while len(run.unassigned) >= k:
        r = run.farthest(center, run.unassigned)
        yield run.farthest_step(r, center, "all", _FARTHEST)
        if not run.groups:
            yield run.form_around(r, _FORM, "there is no group yet to join")
        elif len(run.unassigned) == k:
            yield run.form_around(r, _FORM, f"only {run.left()}, just enough for one")
        else:
            yield from _weigh(run, r)
    for record in list(run.unassigned):
        group = _closest(run, record)
        growth = run.growth(group, record)
        before = run.braced(run.groups[group])
        run.join(group, record)
        yield run.step(
            "join",
            "A record left over",
            f"{run.name(record)} joins {before}, whose SSE grows least by it.",
            _REST,
            Focus(seed=record, group=group, point=run.centroid(run.groups[group])),
            [Quantity("growth of the SSE", growth, chosen=True)],
        )


def _closest(run: Run, record: int) -> int:
    """Return the group whose SSE grows least by a record."""
    return min(range(len(run.groups)), key=lambda group: run.growth(group, record))


def _weigh(run: Run, r: int) -> Iterator[Step]:
    """Yield the two costs for seed ``r``, and what the smaller one decides."""
    k, group = run.k, _closest(run, r)
    new_group = run.around(r, run.unassigned)
    others = [record for record in run.unassigned if record != r]
    (y,) = run.nearest(r, 1, others)
    next_group = run.around(y, others)
    own, grown, following = run.sse(new_group), run.growth(group, r), run.sse(next_group)
    new, join = own / k, (grown + following) / (k + 1)
    joins, old = join < new, run.braced(run.groups[group])
    costs = (
        Quantity(
            "open a new group",
            new,
            f"SSE{run.braced(new_group)} / {k} = {value(own)} / {k} = {value(new)}",
            not joins,
        ),
        Quantity(
            f"join {old}",
            join,
            f"(growth of {old} + SSE{run.braced(next_group)}) / {k + 1} = "
            f"({value(grown)} + {value(following)}) / {k + 1} = {value(join)}",
            joins,
        ),
    )
    yield run.step(
        "weigh",
        "A new group, or an old one?",
        f"A new group {run.braced(new_group)} costs {value(new)} a record; joining {old} and leaving "
        f"{run.braced(next_group)} for the next group costs {value(join)}.",
        _WEIGH,
        Focus(seed=r, candidates=tuple(new_group[1:]), radius=run.radius(r, new_group), group=group, lines=((r, y),)),
        costs,
    )
    if joins:
        run.join(group, r)
        says = f"{run.name(r)} joins {old}: {value(join)} is less than {value(new)}."
        yield run.step(
            "join", "It joins", says, _JOIN, Focus(seed=r, group=group, point=run.centroid(run.groups[group])), costs
        )
    else:
        group = run.form(new_group)
        than = "the same as" if join == new else "less than"
        says = f"{run.braced(new_group)} becomes a group: {value(new)} is {than} {value(join)}."
        yield run.step(
            "form", "A new group", says, _FORM, Focus(seed=r, candidates=tuple(new_group[1:]), group=group), costs
        )
