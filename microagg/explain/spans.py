"""Greedy k-member and Mondrian step by step: groups by how much of the attributes' domains their records span.

- Greedy k-member: groups grow by the record with which they lose the least information. I(c) is the sum, over the
  attributes, of the share of its domain that the records of a group c span, and the group's information loss is
  IL(c) = |c| · I(c). The domain of an attribute is what all records span. Source: Byun, Kamra, Bertino & Li 2007.
- Mondrian: sets of records are cut in two at the median of their widest attribute, again and again. Sources: LeFevre,
  DeWitt & Ramakrishnan 2006; the comparison in Byun, Kamra, Bertino & Li 2007.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from microagg.errors import ParameterError
from microagg.explain.run import MOST_TERMS, Run, difference, equal, least, operand, total, value
from microagg.explain.step import Focus, Quantity, Step

# --- greedy k-member --------------------------------------------------------------------------------------------------

K_MEMBER_CODE = (
    "r ← a random record",
    "while at least k records are unassigned:",
    "    the unassigned record farthest from r begins a group c",
    "    while c has fewer than k records:",
    "        c takes in the unassigned record x with the least IL(c ∪ {x})",
    "    r ← the record taken in last, or the one that began c, as furthest_from says",
    "each record left, in random order, joins the group c with the least IL(c ∪ {x}) − IL(c)",
)
_RANDOM, _BEGIN, _GROW, _REST = 0, 2, 4, 6


def explain_k_member(run: Run, furthest_from: str, class_penalty: float, random_state: int) -> Iterator[Step]:
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
    return _steps(run, furthest_from == "seed", np.random.default_rng(random_state))


def _distance(run: Run, a: int, b: int) -> float:
    """Return I of two records."""
    return total(run.spans([a, b]))


def _loss(run: Run, members: Sequence[int]) -> float:
    """Return IL of a group."""
    return len(members) * total(run.spans(members))


def _sum_text(run: Run, members: Sequence[int]) -> str:
    """Return I of a group with the numbers put in: "2 / 9 + 3 / 12"."""
    shares = run.spans(members)
    if len(shares) > MOST_TERMS:
        return value(total(shares))
    pairs = zip(shares, run.domains, strict=True)
    return " + ".join(f"{value(part * domain)} / {value(domain)}" if domain > 0 else "0" for part, domain in pairs)


def _equal(run: Run, members: Sequence[int], times: int = 1) -> str:
    """Right side of an equation: sign and value of I of a group, multiplied by ``times``."""
    shares = run.spans(members)
    parts = [share * domain for share, domain in zip(shares, run.domains, strict=True)] + run.domains
    result = times * total(shares)
    return f"{equal(result, *(parts if len(shares) <= MOST_TERMS else [total(shares)]))} {value(result)}"


def _formula(run: Run, members: Sequence[int]) -> str:
    """Return the formula of IL of a group with its numbers: "3 · (2 / 9 + 3 / 12) = 1.417"."""
    terms = _sum_text(run, members)
    terms = f"({terms})" if 1 < len(run.domains) <= MOST_TERMS else terms
    return f"{len(members)} · {terms} {_equal(run, members, len(members))}"


def _steps(run: Run, from_seed: bool, random: np.random.Generator) -> Iterator[Step]:
    r = int(random.integers(len(run.X)))
    text = f"{run.name(r)} is drawn at random; the first group begins far from it."
    yield run.step("start", "A random record", text, _RANDOM, Focus(seed=r))
    while len(run.unassigned) >= run.k:
        seed = max(run.unassigned, key=lambda record: _distance(run, record, r))
        yield _begin(run, seed, r)
        while len(run.groups[-1]) < run.k:
            yield _take_in(run)
        r = seed if from_seed else run.groups[-1][-1]
    for record in random.permutation(run.unassigned).tolist():
        yield _join(run, record)


def _begin(run: Run, seed: int, r: int) -> Step:
    """Let the record farthest from r begin a group, and return that step."""
    distance = _distance(run, seed, r)
    group = run.form([seed])
    text = f"{run.name(seed)}, the unassigned record farthest from {run.name(r)}, begins a group."
    focus = Focus(seed=seed, group=group, point=run.row(r), lines=((r, seed),) if r != seed else ())
    far = Quantity(f"distance to {run.name(r)}", distance, f"{_sum_text(run, [seed, r])} {_equal(run, [seed, r])}")
    return run.step("form", "A group begins", text, _BEGIN, focus, [far])


def _take_in(run: Run) -> Step:
    """Let the group formed last take in the record with which it loses least, and return that step."""
    group, candidates = len(run.groups) - 1, list(run.unassigned)
    before, larger = run.braced(run.groups[group]), [[*run.groups[group], record] for record in candidates]
    losses = [_loss(run, members) for members in larger]
    order = least(losses)
    quantities = [
        Quantity(f"IL{run.braced(larger[i])}", losses[i], _formula(run, larger[i]), i == order[0]) for i in order
    ]
    x, least_loss = candidates[order[0]], quantities[0].value
    loses = f"{quantities[0].name} {equal(least_loss)} {value(least_loss)}"
    text = f"{before} takes in {run.name(x)}: {loses} is the least."
    runners_up = [candidates[i] for i in order[1:]]
    return run.join(x, group, "The group grows", text, _GROW, quantities, runners_up)


def _join(run: Run, record: int) -> Step:
    """Let a record left over join the group whose information loss grows least, and return that step."""
    names = [run.braced(members) for members in run.groups]
    pairs = [(_loss(run, [*members, record]), _loss(run, members)) for members in run.groups]
    growths = [together - alone for together, alone in pairs]
    group, *runners_up = least(growths)
    formulas = [difference(together, alone) for together, alone in pairs]
    quantities = [
        Quantity(f"growth of IL{names[each]}", growths[each], formulas[each], each == group)
        for each in (group, *runners_up)
    ]
    text = f"{run.name(record)} joins {names[group]}, whose information loss grows least, by {value(growths[group])}."
    return run.join(record, group, "A record left over", text, _REST, quantities)


# --- Mondrian ---------------------------------------------------------------------------------------------------------

MONDRIAN_CODE = (
    "all records are one set",
    "for each set S, the left part of a cut before the right one:",
    "    for each attribute in which the records of S differ, the widest in S first:",
    "        v ← the lower median of its values in S",
    "        strict: values up to v go left, or only those below v if the smaller part is larger then",
    "        relaxed: the first half of the records by value goes left, of equal values by index",
    "        if both parts have at least k records: S is cut;  on with the next set",
    "    if no attribute allows a cut: S is a group",
)
_ALL, _WIDEST, _MEDIAN, _CUT, _GROUP = 0, 2, 3, 6, 7


class _Parts(NamedTuple):
    """A set of records in two parts, by the median of an attribute."""

    attribute: int
    median: float
    left: list[int]  # by index
    right: list[int]  # by index


def explain_mondrian(run: Run, cut: str) -> Iterator[Step]:
    """Yield the steps of Mondrian. The groups of a step are the sets so far."""
    domain = run.form(list(run.unassigned))
    text = f"All records are one set, to be cut as long as both parts have {run.k} records or more."
    yield run.step("start", "One set", text, _ALL, Focus(group=domain))
    open_sets = [domain]
    while open_sets:
        group, number = open_sets.pop(), len(run.groups)
        yield from _treat(run, group, cut)
        if len(run.groups) > number:
            # The left part has taken the place of the set. It is the next, so it goes on top.
            open_sets += [number, group]


def _treat(run: Run, group: int, cut: str) -> Iterator[Step]:
    """Yield the steps that try the attributes of a set, the widest first, until one allows a cut."""
    members = run.groups[group]
    if len(members) < 2 * run.k:
        yield _keep(run, group, f"it has fewer than the 2 · {run.k} = {2 * run.k} records that two parts need")
        return
    widths = run.spans(members)
    by_width = sorted(range(len(widths)), key=lambda attribute: -widths[attribute])
    rank = "widest"
    for attribute in by_width:
        if widths[attribute] == 0:
            break
        yield _weigh(run, group, widths, attribute, rank)
        parts = _parts(run, members, attribute, cut)
        if min(len(parts.left), len(parts.right)) >= run.k:
            yield _cut(run, group, parts, cut)
            return
        yield _refuse(run, group, parts)
        rank = "next widest"
    reason = f"no cut leaves {run.k} records on both sides" if max(widths) > 0 else "all its records are equal"
    yield _keep(run, group, reason)


def _parts(run: Run, members: Sequence[int], attribute: int, cut: str) -> _Parts:
    """Return the parts into which an attribute would cut a set."""
    column: list[float] = run.X[:, attribute].tolist()
    by_value = sorted(members, key=lambda record: (column[record], record))
    median = column[by_value[(len(members) - 1) // 2]]
    if cut == "relaxed":
        left = set(by_value[: (len(members) + 1) // 2])
    else:
        up_to = {record for record in members if column[record] <= median}
        below = {record for record in members if column[record] < median}
        # The records at the median stand with those below it, unless that makes the parts less equal.
        left = max(up_to, below, key=lambda side: min(len(side), len(members) - len(side)))
    return _Parts(
        attribute,
        median,
        [record for record in members if record in left],
        [record for record in members if record not in left],
    )


def _weigh(run: Run, group: int, widths: Sequence[float], attribute: int, rank: str) -> Step:
    """Return the step that compares the widths of a set's attributes and chooses one."""
    members = run.groups[group]
    share = "all" if widths[attribute] == 1 else value(widths[attribute])
    if len(widths) == 1:
        text = f"In {run.braced(members)} the only attribute spans {share} of its range."
    else:
        name = run.attributes[attribute]
        text = f"{name} is the {rank} attribute of {run.braced(members)}: it spans {share} of its range."
    quantities = [
        Quantity(f"width of {run.attributes[j]}", width, _width_formula(run, members, j, width), j == attribute)
        for j, width in enumerate(widths)
    ]
    return run.step("weigh", f"The {rank} attribute", text, _WIDEST, Focus(group=group), quantities)


def _width_formula(run: Run, members: Sequence[int], attribute: int, width: float) -> str:
    column = run.X[:, attribute]
    low, high = column[list(members)].min(), column[list(members)].max()
    minimum, maximum = column.min(), column.max()
    if minimum == maximum:
        return "all records have the same value"
    sign = equal(low, high, minimum, maximum, width)
    return f"({value(high)} − {operand(low)}) / ({value(maximum)} − {operand(minimum)}) {sign} {value(width)}"


def _refuse(run: Run, group: int, parts: _Parts) -> Step:
    """Return the step that finds one of the parts too small."""
    name, left, right = run.attributes[parts.attribute], len(parts.left), len(parts.right)
    text = f"The median of {name} would leave {left} and {right} records, and both parts need {run.k}."
    focus = Focus(group=group, cuts=_cut_value(run, parts))
    return run.step("look", "No cut here", text, _MEDIAN, focus, _sizes(run, parts))


def _cut(run: Run, group: int, parts: _Parts, cut: str) -> Step:
    """Replace a set by its left part, append the right part as a new set, and return the step."""
    name = run.attributes[parts.attribute]
    if cut == "relaxed":
        rule = f"the first half by {name}"
    else:
        holds_median = any(run.X[record, parts.attribute] == parts.median for record in parts.left)
        rule = f"{name} {'up to' if holds_median else 'below'} {value(parts.median)}"
    run.groups[group] = parts.left
    run.groups.append(parts.right)
    text = f"{run.braced(parts.left)} go left ({rule}), {run.braced(parts.right)} go right."
    focus = Focus(group=group, cuts=_cut_value(run, parts))
    return run.step("cut", "A cut at the median", text, _CUT, focus, _sizes(run, parts))


def _keep(run: Run, group: int, reason: str) -> Step:
    """Return the step that makes a set a group."""
    members = run.groups[group]
    return run.step("form", "A group", f"{run.braced(members)} is a group: {reason}.", _GROUP, Focus(group=group))


def _cut_value(run: Run, parts: _Parts) -> tuple[tuple[int, float]]:
    """Return the value of a cut: half-way between the parts, or the value that both have."""
    column = run.X[:, parts.attribute]
    return ((parts.attribute, float(column[parts.left].max() + column[parts.right].min()) / 2),)


def _sizes(run: Run, parts: _Parts) -> list[Quantity]:
    """Return the median and the sizes of both parts."""
    number = len(parts.left) + len(parts.right)
    rank = f"value {(number + 1) // 2} of {number} in order: {value(parts.median)}"
    return [
        Quantity(f"median of {run.attributes[parts.attribute]}", parts.median, rank),
        Quantity("records on the left", len(parts.left)),
        Quantity("records on the right", len(parts.right)),
    ]
