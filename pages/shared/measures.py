"""The measures of partitions: their words and units."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from microagg.metrics.risk import MEASURES
from microagg.optimum.formatting import percent


@dataclass(frozen=True)
class Measure:
    label: str  # in a picker
    axis: str  # the title of its axis, with the unit
    text: Callable[[float], str]  # a value with its unit
    meaning: str  # in Markdown
    factor: float = 1  # from the results to the unit of the axis
    steep: bool = False  # whether its axis is logarithmic


_SECONDS = Measure(
    "Time",
    "time (seconds)",
    "{:.3g} s".format,
    "**Time** of one run, while others may run beside it.",
    steep=True,
)

#: The measures where all quasi-identifiers are numbers.
NUMBERS = {
    "information_loss": Measure(
        "Loss",
        "information loss IL (%)",
        "{:.4g} %".format,
        "**Information loss (IL)** = 100 · SSE / SST: the share of the data's variation that lies within groups.",
    ),
    "seconds": _SECONDS,
}

_GAP = Measure(
    "Gap",
    "gap to the lower bound (%)",
    percent,
    "**Gap** = 100 · (loss / lower bound − 1): how far a partition can be from the optimum at most. 0 % is proven optimal.",
)

#: The measures where some quasi-identifiers are categories.
CATEGORIES = {
    "information_loss": Measure(
        "Loss",
        "information loss Total-IL (%)",
        "{:.4g} %".format,
        "**Information loss (Total-IL)**: the mean over records and attributes of the width of the released range, or the "
        "height of the common ancestor, as a share of the largest. 0 % keeps every value, 100 % removes all detail.",
    ),
    "discernibility": Measure(
        "Discernibility",
        "discernibility DM = Σ (group size)²",
        "{:,.0f}".format,
        "**Discernibility (DM)**: the sum of the squared group sizes. It is lowest when all groups have k records.",
        steep=True,
    ),
    "classification": Measure(
        "Classification",
        "classification metric CM (% of records)",
        "{:.4g} %".format,
        "**Classification metric (CM)**: the share of records whose class label is not the most frequent one of their "
        "group. The lower it is, the better the release serves to predict the class label.",
        factor=100,
    ),
    "seconds": _SECONDS,
}

#: The caption of the lower bound in a chart of the loss.
FLOOR = (
    "**Lower bound** (gray): no partition has a lower loss. The lowest possible loss lies in the blue band above it."
)
MAP = "risk"  # the measure that stands for the map of a risk and a loss

_WORST = " Of several confidential attributes the worst counts."


def _risk(name: str, label: str, axis: str, further: str = "") -> Measure:
    """Return the screen's words for a risk, a share in the results, with the package's explanation."""
    risk = MEASURES[name]
    title, meaning = (text[0].lower() + text[1:] for text in (risk.title, risk.meaning))
    meaning = f"**{label}** ({title}): {meaning}{further}"
    return Measure(label, axis, "{:.4g} %".format, meaning, factor=100, steep=True)


#: The risks of a risk map.
RISKS = {
    "max_reidentification": _risk(
        "max_reidentification", "Smallest group", "re-identification risk: 1 / smallest group (%)"
    ),
    "record_linkage": _risk("record_linkage", "Record linkage", "records linked to their originals (% of records)"),
    "homogeneous": _risk(
        "homogeneous", "Attribute disclosure", "records in groups with one confidential value (%)", _WORST
    ),
    "t_closeness": _risk(
        "t_closeness", "t-closeness", "t-closeness: the farthest of a group from all records (%)", _WORST
    ),
    "distinct_l": _risk(
        "distinct_l",
        "l-diversity",
        "1 / l, the fewest confidential values of a group (%)",
        f" Drawn is one over it, so that less is better: 50 % are two values.{_WORST}",
    ),
}


def risks(*, numeric: bool, confidential: bool) -> dict[str, Measure]:
    """Return the risks for numbers or categories, with or without ``confidential`` attributes."""
    names = {"max_reidentification", *(("record_linkage",) if numeric else ())}
    names |= {"homogeneous", "t_closeness", "distinct_l"} if confidential else set()
    return {name: measure for name, measure in RISKS.items() if name in names}


_LOSSES = ("information_loss", "discernibility", "classification")  # of a risk map


def losses(*, numeric: bool, classes: bool = True) -> dict[str, Measure]:
    """Return the measures of loss for numbers or categories, with or without ``classes``."""
    return {name: measure for name, measure in measures(numeric=numeric, classes=classes).items() if name in _LOSSES}


def measures(*, numeric: bool, classes: bool = True, bounded: bool = False) -> dict[str, Measure]:
    """Return the measures for numbers or categories, with or without ``classes``, and the gap if losses are ``bounded``."""
    loss, *others = (NUMBERS if numeric else CATEGORIES).items()
    named = dict([loss, *([("gap", _GAP)] if bounded else []), *others])
    return {name: measure for name, measure in named.items() if classes or name != "classification"}
