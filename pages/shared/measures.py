"""The measures of partitions: their words and units."""

from __future__ import annotations

from dataclasses import dataclass

from microagg.metrics.risk import MEASURES


@dataclass(frozen=True)
class Measure:
    label: str  # in a picker
    axis: str  # the title of its axis, with the unit
    digits: str  # format of a value with its unit, for str.format
    meaning: str  # in Markdown
    factor: float = 1  # from the results to the unit of the axis
    steep: bool = False  # whether its axis is logarithmic
    lowest: str = "lowest"  # word for the lowest


_SECONDS = Measure(
    "Time",
    "time (seconds)",
    "{:.3g} s",
    "**Time** of the method itself on this machine, while others may run beside it.",
    steep=True,
    lowest="fastest",
)

#: The measures where all quasi-identifiers are numbers.
NUMBERS = {
    "information_loss": Measure(
        "Loss",
        "information loss IL = 100 · SSE / SST (%)",
        "{:.4g} %",
        "**Information loss IL** = 100 · SSE / SST: the share of the data's spread that disappears inside groups.",
    ),
    "excess": Measure(
        "Above the best",
        "IL above the best of these (%)",
        "{:+.3g} %",
        "By how many percent a method loses more than the best of these methods at the same k. What a search has found "
        "lies below 0.",
    ),
    "seconds": _SECONDS,
}

#: The measures where some quasi-identifiers are categories.
CATEGORIES = {
    "information_loss": Measure(
        "Total-IL",
        "Total-IL (% of all there is to lose)",
        "{:.4g} %",
        "**Total-IL**: for every record and attribute, the width of the released range, or the height of the common "
        "ancestor in the taxonomy, as a share of all there is. 0 % keeps every value, 100 % leaves nothing.",
    ),
    "discernibility": Measure(
        "Discernibility",
        "discernibility DM = Σ (group size)²",
        "{:,.0f}",
        "**Discernibility DM**: every record is charged with the size of its group, the records that it cannot be told "
        "from. It is the sum of the squared group sizes, and least when all groups have k records.",
        steep=True,
    ),
    "classification": Measure(
        "Classification",
        "classification metric CM (% of records)",
        "{:.4g} %",
        "**Classification metric CM**: the share of records that are not of the class most frequent in their group, and "
        "so would be mistaken for it. The lower, the better the release serves to predict the class.",
        factor=100,
    ),
    "seconds": _SECONDS,
}

#: The caption of a floor in a chart of the loss.
FLOOR = "The gray floor is proven: whatever the method, less cannot be lost. The least possible loss lies in the band above it."
MAP = "risk"  # the measure that stands for the map of a risk and a loss

_WORST = " Of several confidential attributes it is the worst."


def _risk(name: str, label: str, axis: str, further: str = "") -> Measure:
    """Return the screen's words for a risk, a share in the results, with the package's explanation."""
    risk = MEASURES[name]
    meaning = f"**{label}** ({risk.title[0].lower()}{risk.title[1:]}): {risk.meaning}{further}"
    return Measure(label, axis, "{:.4g} %", meaning, factor=100, steep=True)


#: The risks of a risk map.
RISKS = {
    "max_reidentification": _risk(
        "max_reidentification", "Worst record", "risk of the worst record: 1 / smallest group (%)"
    ),
    "record_linkage": _risk("record_linkage", "Found again", "records found again by linkage (% of records)"),
    "homogeneous": _risk("homogeneous", "One value", "records in groups with one confidential value (%)", _WORST),
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


def measures(*, numeric: bool, classes: bool = True) -> dict[str, Measure]:
    """Return the measures for numbers or categories, with or without ``classes``."""
    all_of_kind = NUMBERS if numeric else CATEGORIES
    return {name: measure for name, measure in all_of_kind.items() if classes or name != "classification"}
