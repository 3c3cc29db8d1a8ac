"""The stops of the guided tour: texts, question, answer and view; their figures are computed when a stop is drawn."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from microagg import datasets, explain, metrics
from microagg.algorithms.registry import algorithm
from microagg.columns.scaling import standardize
from microagg.explain.optimum import optimum
from microagg.metrics.risk import record_linkage
from microagg.partition import Partition
from microagg.studies import experiment, literature, reproduction
from microagg.studies.experiment import Method, Problem
from microagg.validation import FloatArray
from pages.shared import compiling
from pages.shared.text import listing, number, percent

LAST = "last"  # of a stop that opens at the last step


@dataclass(frozen=True)
class Stop:
    """One stop of the tour, with names of its figures in braces in its texts."""

    title: str
    says: str  # two or three sentences, to be read aloud
    question: str  # for the class
    answer: str
    source: str  # who found it
    figures: Callable[[], Mapping[str, str]]  # returns the figures of the texts by name
    choices: Mapping[str, Any]  # changes of pages.shared.state.Choices, parameters as ``v-mdav.gamma``
    at: str = ""  # words of the step at which it opens; LAST; empty: the first
    page: str = "steps"  # a name in pages.shared.shell.PAGES
    further: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # changes of views, by the labels of buttons


# Records on a line. The first are those of Thaeter & Reischuk (2018).
TOY = (1, 2, 3, 5, 6, 19, 20, 21, 98, 99, 100)
NEAR = (1, 2, 3, 4, 19, 20, 21, 98, 99, 100)
WITH_SEVEN = (1, 2, 3, 5, 6, 7, 19, 20, 21, 98, 99, 100)
TWO_FIVES = (1, 2, 3, 4, 5, 20, 21, 22, 23, 24)

#: Records on a plane for which no method has the optimum.
PLANE = (
    *((7, 19), (2, 20), (7, 16), (4, 15), (2, 16), (20, 13), (18, 16), (18, 12), (19, 16)),
    *((14, 13), (14, 15), (14, 11), (13, 15), (13, 14)),
)

_LOW, _HIGH = 0.2, 5.0  # of γ: the rule of V-MDAV is right with one and wrong with the other
SCALED = "tarragona"  # the data set of one stop, if it is on this machine

# The table that prints P-S for it; the data set of the stop on risk.
_PAPER, _TABLE, _RISK = "kabir-2010", "Table I: Tarragona", "wine"


def line(values: Iterable[float]) -> str:
    return ", ".join(f"{value:g}" for value in values)


def points(values: Iterable[Sequence[float]]) -> str:
    return "; ".join(" ".join(f"{part:g}" for part in each) for each in values)


class _Grouped:
    """A partition of a few records, and its loss."""

    def __init__(self, X: FloatArray, partition: Partition) -> None:
        self.X, self.partition = X, partition
        self.sse = metrics.sse(X, partition.labels)
        self.loss = percent(metrics.information_loss(X, partition.labels))

    def group_of(self, value: float) -> FloatArray:
        """Return the values of the group of ``value``, from left to right."""
        values, labels = self.X[:, 0], self.partition.labels
        return np.sort(values[labels == labels[np.flatnonzero(values == value)[0]]])

    @property
    def groups(self) -> str:
        firsts = dict.fromkeys(self.group_of(value)[0] for value in np.sort(self.X[:, 0]))
        return listing([_braced(self.group_of(first)) for first in firsts])


def _records(values: Any) -> FloatArray:
    X = np.array(values, dtype=np.float64)
    return X[:, np.newaxis] if X.ndim == 1 else X


def _braced(values: Iterable[float]) -> str:
    return "{" + line(values) + "}"


def _run(values: Any, key: str, k: int = 3, **params: Any) -> _Grouped:
    compiling.ahead().prepare(compiling.tasks_for([key]))
    X = _records(values)
    return _Grouped(X, experiment.run_one(Problem.of(X), Method(key, params), k).partition)


def _best(values: Any, k: int = 3) -> _Grouped:
    X = _records(values)
    best = optimum(X, k)
    assert best is not None
    return _Grouped(X, best)


def _times(more: float, less: float) -> str:
    return f"{more / less:.3g}"


def _anonymity() -> dict[str, str]:
    grouped = _run(TOY, "mdav-star")
    members = grouped.group_of(100)
    return {"group": _braced(members), "mean": number(float(members.mean())), "fit": str(len(members)), "k": "3"}


def _averaging() -> dict[str, str]:
    two, three, six = (_run(TOY, "mdav-star", k) for k in (2, 3, 6))
    return {
        "sse_two": number(two.sse),
        "loss_two": two.loss,
        "loss_three": three.loss,
        "loss_six": six.loss,
        "sst": number(metrics.sst(six.X)),
        "mean": number(float(six.X.mean())),
        "n": str(len(TOY)),
    }


def _sizes() -> dict[str, str]:
    fixed, variable = _run(NEAR, "mdav"), _run(NEAR, "v-mdav", gamma=_LOW)
    return {
        "fixed": _braced(fixed.group_of(4)),
        "sse_fixed": number(fixed.sse),
        "variable": _braced(variable.group_of(4)),
        "sse_variable": number(variable.sse),
        "times": _times(fixed.sse, variable.sse),
    }


def _rule() -> dict[str, str]:
    low, high = _run(TOY, "v-mdav", gamma=_LOW), _run(TOY, "v-mdav", gamma=_HIGH)
    right, wrong = _run(WITH_SEVEN, "v-mdav", gamma=_LOW), _run(WITH_SEVEN, "v-mdav", gamma=_HIGH)
    group = low.group_of(3)
    d_in, d_out = min((5 - group) ** 2), min((5 - np.array([v for v in TOY if v != 5 and v not in group])) ** 2)
    grid = next(param.grid for param in algorithm("v-mdav").params if param.name == "gamma")
    return {
        "group": _braced(group),
        "d_in": number(d_in),
        "d_out": number(d_out),
        "limit": number(d_in / d_out),
        "ends": _braced(low.group_of(5)),
        "sse_low": number(low.sse),
        "sse_high": number(high.sse),
        "seven_low": _braced(right.group_of(7)),
        "seven_sse_low": number(right.sse),
        "seven_high": _braced(wrong.group_of(7)),
        "seven_sse_high": number(wrong.sse),
        "low": f"{_LOW:g}",
        "high": f"{_HIGH:g}",
        "tried": f"{min(grid):g} to {max(grid):g}",
    }


def _costs() -> dict[str, str]:
    steps = list(explain.steps("mdav-star", _records(TOY), k=3))
    first, second = (place for place, step in enumerate(steps) if step.kind == "join")
    weighed, again = steps[first].quantities, steps[second].quantities
    return {
        "new": weighed[0].formula,
        "join": weighed[1].formula,
        "first": steps[first].text,
        "second": steps[second].text,
        "new_again": explain.value(again[0].value),
        "sse": number(_run(TOY, "mdav-star").sse),
        "sse_v": number(_run(TOY, "v-mdav", gamma=_LOW).sse),
    }


def _scaling() -> dict[str, str]:
    title = datasets.describe(SCALED).title
    printed = [f for f in literature.figures() if (f.paper, f.table, f.k) == (_PAPER, _TABLE, 3)]
    [p_s] = (figure for figure in printed if figure.method == "P-S")
    best = min((figure for figure in printed if figure is not p_s), key=lambda figure: figure.value)
    texts = {"own": percent(p_s.value, 4), "best": percent(best.value, 4), "method": best.method, "data": title}
    texts |= {"times": _times(best.value, p_s.value), "others": str(len(printed) - 1), "table": _TABLE}
    if not datasets.is_available(SCALED):
        missing = (
            f"{title} is not on this machine: the page Data offers to download it, and then the figures stand here."
        )
        return texts | {"check": missing}
    compiling.ahead().prepare(compiling.tasks_for(("mdav", "p-s")))
    read = reproduction.readings(SCALED, 3)
    floor = math.floor(100 * read.floor) / 100  # rounded up it would not be proven
    return texts | {
        "check": f"This is proven: no partition of records scaled to variance 1 has a loss below {percent(floor)}, as each "
        f"record has at least 2 others in its group, none nearer than its 2 nearest. So no method has a loss of {texts['own']} on "
        f"scaled records. On raw ones P-S gives {percent(read.raw, 4)}: there, attributes in large numbers decide alone. "
        f"On scaled records it gives {percent(read.scaled, 4)}, and MDAV {percent(read.mdav, 4)}."
    }


def _ways(n: int, k: int) -> str:
    """Return the number of partitions of n records into groups of at least k."""
    ways = [1]
    for m in range(1, n + 1):
        # The last record is in a group with size - 1 others; the records left are parted in any way.
        ways.append(sum(math.comb(m - 1, size - 1) * ways[m - size] for size in range(k, m + 1)))
    return f"{ways[n]:,}"


def _optimum() -> dict[str, str]:
    best, star, v_mdav = _best(TWO_FIVES), _run(TWO_FIVES, "mdav-star"), _run(TWO_FIVES, "v-mdav", gamma=_LOW)
    toy, toy_best = _run(TOY, "mdav-star"), _best(TOY)
    plane, plane_best = _run(PLANE, "mdav-star"), _best(PLANE)
    return {
        "n": str(len(TWO_FIVES)),
        "best": best.groups,
        "sse_best": number(best.sse),
        "star": star.groups,
        "sse_star": number(star.sse),
        "times": _times(star.sse, best.sse),
        "sse_v": number(v_mdav.sse),
        "toy": number(toy.sse),
        "toy_best": number(toy_best.sse),
        "plane": number(plane.sse),
        "plane_best": number(plane_best.sse),
        "ways": _ways(len(TWO_FIVES), 3),
        "n_plane": str(len(PLANE)),
        "ways_plane": _ways(len(PLANE), 3),
    }


def _risk() -> dict[str, str]:
    X = standardize(datasets.load(_RISK).X)
    by_k = {k: _run(X, "mdav-star", k) for k in (3, 10)}
    shares = {
        k: record_linkage(X, each.partition.centroids(X)[each.partition.labels]).share for k, each in by_k.items()
    }
    return {
        "loss_three": by_k[3].loss,
        "found_three": percent(100 * shares[3]),
        "loss_ten": by_k[10].loss,
        "found_ten": percent(100 * shares[10]),
        "data": datasets.describe(_RISK).title,
    }


_STAR_ALONE = {"watched": "mdav-star", "beside": "-"}

STOPS: tuple[Stop, ...] = (
    Stop(
        title="Why groups of k",
        says="These are the ages of eleven persons, without names. But anyone who knows that a neighbor is 100 years old can "
        "find her row, and read everything else in it. So similar persons are put into groups of at least k = {k}, "
        "and each is released with the mean age of the group.",
        question="Who is 100 in the release, and how sure can one be?",
        answer="{group} are all released as {mean}, so {fit} persons fit. Nobody is found with a probability above 1/{k}: "
        "the release is k-anonymous.",
        source="Samarati 2001; Sweeney 2002",
        figures=_anonymity,
        choices=_STAR_ALONE,
        at=LAST,
    ),
    Stop(
        title="Why averaging loses",
        says="A mean hides how its records differ. The SSE adds up the squared distance of each record to the mean of its "
        "group. Divided by the SST, which is the SSE of one group of all records, it is the information loss. Here "
        "k = 2: SSE {sse_two}, a loss of {loss_two}.",
        question="There are {n} records. What is the information loss with k = 6?",
        answer="Two groups of 6 need 12 records, so all {n} form one group, released as {mean}. Its SSE is the SST, {sst}: the "
        "loss is {loss_six}. With k = 3 it is {loss_three}. Microaggregation looks for groups with low loss.",
        source="Domingo-Ferrer & Mateo-Sanz 2002",
        figures=_averaging,
        choices={**_STAR_ALONE, "watch_k": 2},
        at=LAST,
    ),
    Stop(
        title="Groups of one size, or of several",
        says="MDAV makes groups of exactly k; only at the end may one get more. V-MDAV may add another record to a "
        "group that is close to it. Play both, and watch record 4.",
        question="Where does 4 go, and what does it cost?",
        answer="MDAV leaves it over for {fixed}: SSE {sse_fixed}. V-MDAV makes {variable}: SSE {sse_variable}, {times} times "
        "lower. One record in the wrong place may cost more than all others together.",
        source="Solanas & Martínez-Ballesté 2006; Domingo-Ferrer & Torra 2005 for MDAV",
        figures=_sizes,
        choices={"watched": "mdav", "beside": "v-mdav", "line": line(NEAR)},
    ),
    Stop(
        title="Where the rule of V-MDAV fails",
        says="V-MDAV adds a record to a group if its squared distance to the group, d_in, is less than γ times its squared "
        "distance to the nearest record outside, d_out. For 5 and the group {group} these are {d_in} and {d_out}, as 6 is "
        "next to it. So 5 is not added, and ends up in {ends}.",
        question="With which γ is 5 added? Is it still right if there is a record 7?",
        answer="γ must be above {limit}, such as {high}: then 6 is added, too, and the SSE falls from {sse_low} to {sse_high}. "
        "The papers try {tried}. But with a 7, γ = {low} makes {seven_low}, SSE {seven_sse_low}, and γ = {high} makes "
        "{seven_high}, SSE {seven_sse_high}. No γ is right for both.",
        source="Thaeter & Reischuk 2018, whose example it is",
        figures=_rule,
        choices={"watched": "v-mdav", "beside": "-", "v-mdav.gamma": _LOW},
        at="d_in = 4",
        further={"With a record 7": {"line": line(WITH_SEVEN)}, f"With γ = {_HIGH:g}": {"v-mdav.gamma": _HIGH}},
    ),
    Stop(
        title="MDAV*: what does each choice cost?",
        says="MDAV* compares costs, not distances, and needs no γ. A new group costs {new} a record. Or 5 joins its "
        "neighbors, and the next group begins with 6: {join}.",
        question="What does MDAV* do with 5, and then with 6?",
        answer="{first} {second} So MDAV* takes into account what happens to the other records. The SSE is "
        "{sse}; with V-MDAV it was {sse_v}.",
        source="Thaeter & Reischuk 2018",
        figures=_costs,
        choices=_STAR_ALONE,
        at="A new group {5, 6, 19} costs",
        further={"Answer before it decides": {"activity": "ask"}},
    ),
    Stop(
        title="Why scaling matters",
        says="A table printed in 2010: on {data} with k = 3, the authors' method P-S has a loss of {own}. The best of {others} "
        "others, {method}, has {best}: {times} times as much.",
        question="What would you check before you believe it?",
        answer="Whether it is possible, and whether all were measured on the same scale. {check}",
        source="Kabir, Wang & Zhang 2010, {table}",
        figures=_scaling,
        choices={"stored": "printed", "paper": _PAPER, "table": _TABLE},
        page="evidence",
    ),
    Stop(
        title="How far from the optimum?",
        says="On a line dynamic programming finds the optimum. With two "
        "attributes or more the problem is NP-hard, so methods are heuristics. On the eleven records MDAV* has an SSE of "
        "{toy}, and the optimum is {toy_best}. The picture shows {n} other records.",
        question="Which groups of at least 3 would you make, and which will MDAV* make?",
        answer="{best}: SSE {sse_best}, the lowest of all {ways} ways to form such groups. MDAV* makes {star}: "
        "SSE {sse_star}, {times} times as much; V-MDAV has {sse_v}. In the plane {n_plane} records have {ways_plane} ways: "
        "MDAV* has {plane}, and the optimum is {plane_best}. For many records only a lower "
        "bound can be proven, as at stop 6.",
        source="Hansen & Mukherjee 2003; Oganian & Domingo-Ferrer 2001",
        figures=_optimum,
        choices={"line": line(TWO_FIVES)},
        further={
            "Group them yourself": {"activity": "exercise"},
            "When does a group dissolve?": {"watched": "local-search", "beside": "-", "activity": "ask"},
            "In the plane": {"records": "plane", "points": points(PLANE)},
        },
    ),
    Stop(
        title="What is still at risk",
        says="An attacker may know true values, and look for the nearest released record. On {data}, with k = 3, MDAV* has a "
        "loss of {loss_three}, and {found_three} of the records are linked this way. The map shows risk against loss, a "
        "line for each method.",
        question="What changes with k = 10? And what does no k protect?",
        answer="{found_ten} are linked, for a loss of {loss_ten}. But if all persons of a group have the same diagnosis, "
        "it is known without finding anyone: look at the confidential attributes before you release.",
        source="Domingo-Ferrer & Torra 2001; Machanavajjhala et al. 2007",
        figures=_risk,
        choices={"data": _RISK, "scale": "zscore", "k": 3, "measure": "risk", "risk": "record_linkage"},
        page="choose_k",
    ),
)
