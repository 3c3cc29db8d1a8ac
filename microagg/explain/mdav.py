"""MDAV, MDAV+, MDAV* and V-MDAV step by step: groups of k around distant records.

- MDAV forms two groups a round, around the record farthest from the centroid of those still unassigned, and around the
  one farthest from that. Sources: Domingo-Ferrer, Solanas & Martínez-Ballesté 2006; Mortazavi, Jalili & Gohargazi 2013.
- MDAV+ forms one group a round; its centroid is that of all records, and never moves. Source: Thaeter & Reischuk,
  Improving Anonymization Clustering.
- MDAV*: the farthest record opens a group or joins one, whichever costs less a record. Source: Thaeter & Reischuk.
- V-MDAV: a group around the farthest record takes in neighbors that are near it and nothing else. Sources: Solanas &
  Martínez-Ballesté 2006; Thaeter & Reischuk.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from microagg.explain.run import Focus, Quantity, Run, Step, equal, least, squares, value

# --- MDAV -------------------------------------------------------------------------------------------------------------

MDAV_CODE = (
    "while at least 2k records are unassigned:",
    "    c ← the centroid of the unassigned records",
    "    r ← the unassigned record farthest from c",
    "    s ← the unassigned record farthest from r",
    "    r and the k − 1 unassigned records nearest to it become a group",
    "    if s went with r: s ← the unassigned record farthest from r",
    "    s and the k − 1 unassigned records nearest to it become a group",
    "if at least k records are left: they become one group",
    "otherwise each joins the group with the nearest centroid, which moves at once",
)


def explain_mdav(run: Run) -> Iterator[Step]:
    """Yield the steps of MDAV."""
    while len(run.unassigned) >= 2 * run.k:
        center = run.middle(run.unassigned)
        r = run.farthest(center, run.unassigned)
        yield _farthest_step(run, r, center, "the unassigned")
        s = _opposite(run, r)
        yield _opposite_step(run, r, s, "The record opposite", 3)
        yield _form_around(run, r, 4)
        if s not in run.unassigned:
            previous, s = s, _opposite(run, r)
            yield _opposite_step(run, r, s, f"{run.names[previous]} went with {run.names[r]}", 5)
        yield _form_around(run, s, 6)
    if len(run.unassigned) >= run.k:
        members, left = list(run.unassigned), run.left()
        become = "becomes a group" if len(members) == 1 else "become one group"
        text = f"{run.braced(members)} {become}: {left}, too few for two groups of {run.k}."
        group = run.form(members)
        yield run.step("form", "One group of the rest", text, 7, Focus(group=group))
    else:
        yield from _join_nearest_centroids(run, 8, moving=True)


def _opposite(run: Run, r: int) -> int:
    """Return the unassigned record farthest from r."""
    return run.farthest(run.row(r), [record for record in run.unassigned if record != r])


def _opposite_step(run: Run, r: int, s: int, title: str, line: int) -> Step:
    text = f"{run.names[s]} is the unassigned record farthest from {run.names[r]}."
    gap = Quantity(f"squared distance to {run.names[r]}", run.distance(s, run.row(r)), squares(run.row(s), run.row(r)))
    return run.step("look", title, text, line, Focus(seed=s, lines=((r, s),)), [gap])


# --- MDAV+ ------------------------------------------------------------------------------------------------------------

MDAV_PLUS_CODE = (
    "c ← the centroid of all records",
    "while at least k records are unassigned:",
    "    r ← the unassigned record farthest from c",
    "    r and the k − 1 unassigned records nearest to it become a group",
    "each record left joins the group with the nearest centroid; centroids stay",
)


def _from_fixed_centroid(run: Run, treat: Callable[[int], Iterable[Step]]) -> Iterator[Step]:
    """Yield the steps for the centroid of all and for each farthest record r, until fewer than k are unassigned.

    These are lines 0 to 2 of the pseudo-code of MDAV+, MDAV* and V-MDAV; ``treat`` yields the next steps for r.
    """
    center = run.middle(run.unassigned)
    text = "All records together have this centroid. It does not move during the run."
    focus = Focus(point=tuple(center), point_name="centroid of all")
    yield run.step("start", "The centroid of all", text, 0, focus)
    while len(run.unassigned) >= run.k:
        r = run.farthest(center, run.unassigned)
        yield _farthest_step(run, r, center, "all")
        yield from treat(r)


def explain_mdav_plus(run: Run) -> Iterator[Step]:
    """Yield the steps of MDAV+."""
    yield from _from_fixed_centroid(run, lambda r: [_form_around(run, r, 3)])
    yield from _join_nearest_centroids(run, 4, moving=False)


# --- MDAV* ------------------------------------------------------------------------------------------------------------

MDAV_STAR_CODE = (
    "c ← the centroid of all records",
    "while at least k records are unassigned:",
    "    r ← the unassigned record farthest from c",
    "    G ← r and the k − 1 unassigned records nearest to it",
    "    if there is no group yet, or exactly k records are left: G becomes a group;  on with the next r",
    "    C ← the group whose SSE grows least by r;  y ← the other unassigned record nearest to r",
    "    H ← y and the k − 1 unassigned records nearest to it, without r",
    "    new ← SSE(G) / k;  join ← (growth of C + SSE(H)) / (k + 1)",
    "    if join < new: r joins C",
    "    otherwise: G becomes a group",
    "each record left joins the group whose SSE grows least by it",
)


def explain_mdav_star(run: Run) -> Iterator[Step]:
    """Yield the steps of MDAV*."""
    yield from _from_fixed_centroid(run, lambda r: _open_or_join(run, r))
    for record in list(run.unassigned):
        group = _closest(run, record)
        text = f"{run.names[record]} joins {run.braced(run.groups[group])}, whose SSE grows least by it."
        growth = Quantity("growth of the SSE", run.growth(group, record), chosen=True)
        yield run.join(record, group, "A record left over", text, 10, [growth])


def _closest(run: Run, record: int) -> int:
    """Return the group whose SSE grows least by a record."""
    return min(range(len(run.groups)), key=lambda group: run.growth(group, record))


def _open_or_join(run: Run, r: int) -> Iterator[Step]:
    """Yield the two costs for seed ``r``, and what the smaller one decides."""
    k = run.k
    if not run.groups:
        yield _form_around(run, r, 4, "there is no group yet to join")
        return
    if len(run.unassigned) == k:
        yield _form_around(run, r, 4, f"only {run.left()}, just enough for one")
        return
    group = _closest(run, r)
    new_group = run.around(r, run.unassigned)
    other_records = [record for record in run.unassigned if record != r]
    (y,) = run.nearest(r, 1, other_records)
    next_group = run.around(y, other_records)
    start, grown, following = run.sse(new_group), run.growth(group, r), run.sse(next_group)
    new, join = start / k, (grown + following) / (k + 1)
    joins, name = join < new, run.braced(run.groups[group])
    new_text = f"SSE{run.braced(new_group)} / {k} {equal(start)} {value(start)} / {k} {equal(start, new)} {value(new)}"
    join_text = f"(growth of {name} + SSE{run.braced(next_group)}) / {k + 1} {equal(grown, following)} "
    join_text += f"({value(grown)} + {value(following)}) / {k + 1} {equal(grown, following, join)} {value(join)}"
    costs = Quantity("open a new group", new, new_text, not joins), Quantity(f"join {name}", join, join_text, joins)
    text = f"A new group {run.braced(new_group)} costs {value(new)} a record; joining {name} and leaving "
    text += f"{run.braced(next_group)} for the next group costs {value(join)}."
    candidates, radius = tuple(new_group[1:]), run.radius(r, new_group)
    focus = Focus(seed=r, candidates=candidates, radius=radius, group=group, lines=((r, y),))
    outcome = f"{run.names[r]} joins {name}" if joins else f"{run.names[r]} opens a group"
    decision = f"{_compared(join, new, value(new))}: {outcome}"
    yield replace(run.step("weigh", "A new group, or an old one?", text, 7, focus, costs), decision=decision)
    if joins:
        text = f"{run.names[r]} joins {name}: {value(join)} is less than {value(new)}."
        yield replace(run.join(r, group, "It joins", text, 8, costs), decision=decision)
    else:
        group = run.form(new_group)
        than = "the same as" if join == new else "less than"
        text = f"{run.braced(new_group)} becomes a group: {value(new)} is {than} {value(join)}."
        focus = Focus(seed=r, candidates=candidates, group=group)
        yield replace(run.step("form", "A new group", text, 9, focus, costs), decision=decision)


def _compared(left: float, right: float, written: str) -> str:
    """Return two numbers with the sign between them: "4 > 0.2 · 1"; ``written`` is the right one."""
    sign = "<" if left < right else ">" if left > right else "="
    return f"{value(left)} {sign} {written}"


# --- V-MDAV -----------------------------------------------------------------------------------------------------------

V_MDAV_CODE = (
    "c ← the centroid of all records",
    "while at least k records are unassigned:",
    "    r ← the unassigned record farthest from c",
    "    r and the k − 1 unassigned records nearest to it become a group G",
    "    while G has fewer than 2k − 1 records, and any are unassigned:",
    "        e ← the unassigned record nearest to a member of G",
    "        d_in ← the squared distance from e to that member",
    "        d_out ← the squared distance from e to its nearest other unassigned record, ∞ if there is none",
    "        if γ > 0 and d_in < γ · d_out: e joins G;  otherwise G is complete, on with the next r",
    "each record left joins the group with the nearest centroid; centroids stay",
    "or, with leftovers = record: each joins the group of the nearest assigned record",
)


def explain_v_mdav(run: Run, gamma: float, leftovers: str) -> Iterator[Step]:
    """Yield the steps of V-MDAV."""
    yield from _from_fixed_centroid(run, lambda r: _form_and_extend(run, r, gamma))
    if leftovers == "centroid":
        yield from _join_nearest_centroids(run, 9, moving=False)
        return
    for record in list(run.unassigned):
        distance, near, group = min(
            (run.distance(record, run.row(member)), member, group)
            for group, members in enumerate(run.groups)
            for member in members
        )
        text = f"{run.names[record]} joins {run.braced(run.groups[group])}, as {run.names[near]} is the nearest record."
        nearest = Quantity(f"to {run.names[near]}", distance, squares(run.row(record), run.row(near)), chosen=True)
        yield run.join(record, group, "A record left over", text, 10, [nearest])


def _form_and_extend(run: Run, r: int, gamma: float) -> Iterator[Step]:
    """Yield the group around r, and the records that join it, until one does not."""
    yield _form_around(run, r, 3)
    group, joins = len(run.groups) - 1, True
    while joins and run.unassigned and len(run.groups[group]) < 2 * run.k - 1:
        d_in, e, member = min(
            (run.distance(record, run.row(member)), record, member)
            for record in run.unassigned
            for member in run.groups[group]
        )
        others = run.nearest(e, 1, run.unassigned)
        d_out = run.distance(others[0], run.row(e)) if others else math.inf
        # With γ = 0 no record joins, not even the last one, for which 0 · ∞ is undefined.
        joins = gamma > 0 and d_in < gamma * d_out
        name, members = run.names[e], run.braced(run.groups[group])
        threshold, reason, decision = _threshold(name, d_in, d_out, gamma, joins)
        text = f"{name} is nearest to {members}, d_in {equal(d_in)} {value(d_in)}, and "
        if others:
            text += f"{run.names[others[0]]} is nearest to {name}, d_out {equal(d_out)} {value(d_out)}"
        else:
            text += "no other record is unassigned"
        text += "." if joins else f": {reason}, so the group is complete."
        quantities = [Quantity("d_in", d_in, squares(run.row(e), run.row(member)), joins), *threshold]
        lines = ((e, member), *((e, other) for other in others))
        focus = Focus(seed=e, candidates=tuple(others), group=group, lines=lines)
        weighed = run.step("weigh", "Near the group, or near another record?", text, 8, focus, quantities)
        yield replace(weighed, decision=decision)
        if joins:
            joined = run.join(e, group, "It joins", f"{name} joins {members}: {reason}.", 8, quantities)
            yield replace(joined, decision=decision)


def _threshold(name: str, d_in: float, d_out: float, gamma: float, joins: bool) -> tuple[list[Quantity], str, str]:
    """Return γ · d_out, unless it is infinite, why the record joins or does not, and the comparison that decides."""
    if d_out == math.inf:
        if joins:
            return [], "there is no other record for it to be near", ""
        return [Quantity("γ · d_out", 0.0, "γ = 0", True)], "with γ = 0 no record joins", ""
    threshold = gamma * d_out
    factors = f"{value(gamma)} · {value(d_out)}"
    product = f"{factors} {equal(gamma, d_out, threshold)} {value(threshold)}"
    reason = f"{value(d_in)} is {'' if joins else 'not '}less than {product}"
    decision = f"{_compared(d_in, threshold, factors)}: {name} {'joins' if joins else 'stays out'}"
    return [Quantity("γ · d_out", threshold, product, not joins)], reason, decision


# --- steps that several of them take ----------------------------------------------------------------------------------


def _farthest_step(run: Run, record: int, center: Sequence[float], of: str) -> Step:
    """Return the step that finds the unassigned record farthest from ``center``, the centroid of ``of``."""
    text = f"{run.names[record]} is the unassigned record farthest from the centroid of {of}."
    formula = squares(run.row(record), center)
    distance = Quantity("squared distance to the centroid", run.distance(record, center), formula)
    focus = Focus(seed=record, point=tuple(center), point_name=f"centroid of {of}")
    return run.step("look", "The farthest record", text, 2, focus, [distance])


def _form_around(run: Run, seed: int, line: int, why: str | None = None) -> Step:
    """Make a group of a record and its k - 1 nearest unassigned ones, and return that step.

    Its text ends with ``why`` or with the number of unassigned records.
    """
    members = run.around(seed, run.unassigned)
    group = run.form(members)
    ending = f"; {run.left()}" if why is None else f": {why}"
    nearest = "nearest" if run.k == 2 else f"{run.k - 1} nearest"
    beginning = f"{run.names[seed]} " + ("alone becomes" if run.k == 1 else f"and its {nearest} become")
    text = f"{beginning} the group {run.braced(members)}{ending}."
    focus = Focus(seed=seed, candidates=tuple(members[1:]), radius=run.radius(seed, members), group=group)
    return run.step("form", "A new group", text, line, focus)


def _join_nearest_centroids(run: Run, line: int, *, moving: bool) -> Iterator[Step]:
    """Let each unassigned record, by index, join the group with the nearest centroid, and yield these steps.

    The centroids stay where they are now or, if ``moving``, follow each record that joins.
    """
    centers = [run.centroid(members) for members in run.groups]
    names = [run.braced(members) for members in run.groups]
    for record in list(run.unassigned):
        row, distances = run.row(record), [run.distance(record, center) for center in centers]
        group, *runners_up = least(distances)
        text = f"{run.names[record]} joins {names[group]}, whose centroid is the nearest"
        text += f"{', and moves that centroid' if moving else ''}."
        quantities = [
            Quantity(f"to the centroid of {names[i]}", distances[i], squares(row, centers[i]), i == group)
            for i in (group, *runners_up)
        ]
        yield run.join(record, group, "A record left over", text, line, quantities, point=centers[group])
        if moving:
            centers[group], names[group] = run.centroid(run.groups[group]), run.braced(run.groups[group])
