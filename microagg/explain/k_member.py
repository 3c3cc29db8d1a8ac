"""Greedy k-member step by step: groups that grow by the record with which they lose the least information.

I(c) is the sum, over the attributes, of the share of its domain that the records of a group c span, and the group's
information loss is IL(c) = |c| · I(c). The domain of an attribute is what all records span.

Source: Byun, Kamra, Bertino & Li 2007.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from microagg.errors import ParameterError
from microagg.explain.run import MOST_TERMS, Run, least, total, value
from microagg.explain.step import Focus, Quantity, Step

CODE = (
    "r ← a random record",
    "while at least k records are unassigned:",
    "    the unassigned record farthest from r begins a group c",
    "    while c has fewer than k records:",
    "        c takes in the unassigned record x with the least IL(c ∪ {x})",
    "    r ← the record taken in last, or the one that began c, as furthest_from says",
    "each record left, in random order, joins the group c with the least IL(c ∪ {x}) − IL(c)",
)
_RANDOM, _BEGIN, _GROW, _REST = 0, 2, 4, 6


def explain(run: Run, furthest_from: str, class_penalty: float, random_state: int) -> Iterator[Step]:
    """Return an iterator over the steps of greedy k-member.

    Raises
    ------
    ParameterError
        If ``class_penalty`` is not 0: the records have no classes here.
    """
    if class_penalty != 0:
        raise ParameterError(
            f"class_penalty must be 0, not {class_penalty:g}, where k-member is explained: the records have no classes."
        )
    return _steps(run, _Loss(run), furthest_from == "seed", np.random.default_rng(random_state))


class _Loss:
    """The information that groups of a run's records lose."""

    def __init__(self, run: Run) -> None:
        self.shares, self._domains = run.spans, run.domains

    def distance(self, one: int, other: int) -> float:
        """Return I of two records."""
        return total(self.shares([one, other]))

    def loss(self, members: Sequence[int]) -> float:
        """Return IL of a group."""
        return len(members) * total(self.shares(members))

    def spelled(self, members: Sequence[int]) -> str:
        """Return I of a group with the numbers put in: "2 / 9 + 3 / 12"."""
        shares = self.shares(members)
        if len(shares) > MOST_TERMS:
            return value(total(shares))
        pairs = zip(shares, self._domains, strict=True)
        return " + ".join(
            f"{value(share * domain)} / {value(domain)}" if domain > 0 else "0" for share, domain in pairs
        )

    def formula(self, members: Sequence[int]) -> str:
        """Return IL of a group with the numbers put in: "3 · (2 / 9 + 3 / 12) = 1.417"."""
        terms = self.spelled(members)
        if 1 < len(self._domains) <= MOST_TERMS:
            terms = f"({terms})"
        return f"{len(members)} · {terms} = {value(self.loss(members))}"


def _steps(run: Run, measure: _Loss, from_seed: bool, random: np.random.Generator) -> Iterator[Step]:
    r = int(random.integers(len(run.X)))
    text = f"{run.name(r)} is drawn at random; the first group begins far from it."
    yield run.step("start", "A random record", text, _RANDOM, Focus(seed=r))
    while len(run.unassigned) >= run.k:
        seed = max(run.unassigned, key=lambda record: measure.distance(record, r))
        yield _begin(run, measure, seed, r)
        while len(run.groups[-1]) < run.k:
            yield _take_in(run, measure)
        r = seed if from_seed else run.groups[-1][-1]
    for record in random.permutation(run.unassigned).tolist():
        yield _join(run, measure, record)


def _begin(run: Run, measure: _Loss, seed: int, r: int) -> Step:
    """Let the record farthest from r begin a group, and return that step."""
    distance = measure.distance(seed, r)
    group = run.form([seed])
    text = f"{run.name(seed)}, the unassigned record farthest from {run.name(r)}, begins a group."
    focus = Focus(seed=seed, group=group, point=run.row(r), lines=((r, seed),) if r != seed else ())
    far = Quantity(f"distance to {run.name(r)}", distance, f"{measure.spelled([seed, r])} = {value(distance)}")
    return run.step("form", "A group begins", text, _BEGIN, focus, [far])


def _take_in(run: Run, measure: _Loss) -> Step:
    """Let the group formed last take in the record with which it loses least, and return that step."""
    group, candidates = len(run.groups) - 1, list(run.unassigned)
    members, before = list(run.groups[group]), run.braced(run.groups[group])
    losses = [measure.loss([*members, record]) for record in candidates]
    shown = least(losses)
    quantities = [
        Quantity(
            f"IL{run.braced([*members, candidates[place]])}",
            losses[place],
            measure.formula([*members, candidates[place]]),
            place == shown[0],
        )
        for place in shown
    ]
    x = candidates[shown[0]]
    text = f"{before} takes in {run.name(x)}: {quantities[0].name} = {value(quantities[0].value)} is the least."
    others = [candidates[place] for place in shown[1:]]
    return run.join(x, group, "The group grows", text, _GROW, quantities, others)


def _join(run: Run, measure: _Loss, record: int) -> Step:
    """Let a record left over join the group whose information loss grows least, and return that step."""
    names = [run.braced(members) for members in run.groups]
    pairs = [(measure.loss([*members, record]), measure.loss(members)) for members in run.groups]
    growths = [together - alone for together, alone in pairs]
    shown = least(growths)
    quantities = [
        Quantity(
            f"growth of IL{names[group]}",
            growths[group],
            " − ".join(map(value, pairs[group])) + f" = {value(growths[group])}",
            group == shown[0],
        )
        for group in shown
    ]
    group = shown[0]
    text = f"{run.name(record)} joins {names[group]}, whose information loss grows least, by {value(growths[group])}."
    return run.join(record, group, "A record left over", text, _REST, quantities)
