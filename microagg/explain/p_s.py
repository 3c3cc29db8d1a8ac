"""P-S step by step: two groups a round, which grow from the records with the least and the greatest sum of attributes.

Source: Kabir, Wang & Zhang 2010.
"""

from __future__ import annotations

from collections.abc import Iterator

from microagg.explain.run import Run, least, sum_of, total, value
from microagg.explain.step import Focus, Quantity, Step

CODE = (
    "sort the records by the sum of their attributes",
    "while at least 3k records are unassigned:",
    "    p, q ← the unassigned records with the least and the greatest sum",
    "    p begins a group, and so does q",
    "    p's group takes in the unassigned record by which its SSE grows least, until it has k records; then q's does",
    "if at least 2k records are left: the one with the least sum begins a group, which grows to k records",
    "the records left become one group",
)
_SEEDS, _BEGIN, _GROW, _ONCE_MORE, _ONE_GROUP = 2, 3, 4, 5, 6


def explain(run: Run) -> Iterator[Step]:
    """Yield the steps of P-S."""
    k = run.k
    while len(run.unassigned) >= 3 * k:
        by_sum = _by_sum(run)
        yield from _begin(run, [by_sum[0], by_sum[-1]], _SEEDS, _BEGIN)
        for group in (len(run.groups) - 2, len(run.groups) - 1):
            yield from _grow(run, group, _GROW)
    if len(run.unassigned) >= 2 * k:
        yield from _begin(run, _by_sum(run)[:1], _ONCE_MORE, _ONCE_MORE)
        yield from _grow(run, len(run.groups) - 1, _ONCE_MORE)
    yield run.form_of_rest(_ONE_GROUP)


def _by_sum(run: Run) -> list[int]:
    """Return the unassigned records by the sum of their attributes, equal ones by index."""
    return sorted(run.unassigned, key=lambda record: total(run.row(record)))


def _begin(run: Run, seeds: list[int], look: int, begin: int) -> Iterator[Step]:
    """Yield how the records at the ends of the order are found, and that each begins a group."""
    sums = [
        Quantity(f"{which} sum", total(run.row(seed)), sum_of(run.row(seed)))
        for which, seed in zip(("least", "greatest"), seeds, strict=False)
    ]
    says = (f"{run.name(seed)} has the {each.name}" for seed, each in zip(seeds, sums, strict=True))
    text = f"Of the unassigned records, {' and '.join(says)}."
    yield run.step("look", "The ends of the order", text, look, Focus(seed=seeds[0], candidates=tuple(seeds[1:])), sums)
    for seed in seeds:
        run.form([seed])
    title, text = "A group begins", f"{run.name(seeds[0])} begins a group."
    if len(seeds) == 2:
        title = "Two groups begin"
        text = f"{run.name(seeds[0])} and {run.name(seeds[1])} begin a group each, so neither can take in the other."
    group = len(run.groups) - len(seeds)
    yield run.step("form", title, text, begin, Focus(seed=seeds[0], group=group))


def _grow(run: Run, group: int, line: int) -> Iterator[Step]:
    """Yield each record that a group takes in until it has k."""
    while len(run.groups[group]) < run.k:
        yield _take_in(run, group, line)


def _take_in(run: Run, group: int, line: int) -> Step:
    """Let a group take in the unassigned record by which its SSE grows least, and return that step."""
    candidates, center, before = list(run.unassigned), run.centroid(run.groups[group]), run.braced(run.groups[group])
    size = len(run.groups[group])
    # It is the record nearest to the centroid. Distances are compared, as rounding may make equal growths differ.
    nearest = least([run.distance(record, center) for record in candidates])
    shown = [candidates[place] for place in nearest]
    quantities = [
        Quantity(
            f"growth by {run.name(record)}",
            run.growth(group, record),
            f"{size} / {size + 1} · {value(run.distance(record, center))} = {value(run.growth(group, record))}",
            record == shown[0],
        )
        for record in shown
    ]
    run.join(group, shown[0])
    return run.step(
        "join",
        "The group grows",
        f"{before} takes in {run.name(shown[0])}: its SSE grows by {value(quantities[0].value)}, the least.",
        line,
        Focus(seed=shown[0], candidates=tuple(shown[1:]), group=group, point=run.centroid(run.groups[group])),
        quantities,
    )
