"""The choices of a recipe in words, without the values of the original file that a recipe holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from microagg.algorithms.registry import algorithm
from microagg.columns.numerals import COMMA, POINT
from microagg.release import recipe as recipes
from microagg.release.choices import OPTIONS
from microagg.release.report.report import Report
from microagg.validation import counted, listing, quoted

_SCALES = {
    "zscore": "each attribute scaled to variance 1",
    "minmax": "each attribute scaled to the range from 0 to 1",
    "none": "as the attributes are, unscaled",
}
_CATEGORIES = {"ancestor": "the lowest common category", "set": "the set of categories"}
_GAPS = {
    "drop": "the record is left out",
    "category": "a category of its own",
    "impute": "filled with the median or the most frequent value",
}
_NOTATIONS = {POINT: "a decimal point", COMMA: "a decimal comma", None: "digits as text"}
_WEIGHTS = {
    "mean": "each record is released with the mean weight of its group",
    "keep": "each record is released with its own weight",
    "drop": "left out of the release",
}


def choices(recipe: Mapping[str, Any], report: Report) -> list[tuple[str, str]]:
    """Return what was chosen and how, each as a subject and words on it; what is the default is left out.

    Categories, orders and codes for missing values are counted, not named, as a release need not hold all of them; and
    of what makes the order random it is not said by which seed, as that would undo it.
    """
    known = recipes.choices(recipe)
    said = [*_method(known, recipe["params"], report), *_columns(known, report), *_values(known, report)]
    further = [own for own in OPTIONS if not own.in_report and known[own.name] != own.default]
    said += [(own.name.replace("_", " ").capitalize(), f"{known[own.name]}") for own in further]
    return [(subject, f"{words[:1].upper()}{words[1:]}.") for subject, words in said]


def _method(known: Mapping[str, Any], params: Mapping[str, Any], report: Report) -> Iterator[tuple[str, str]]:
    key = known["method"]
    info = None if key is None else algorithm(key).info
    if info is None:
        yield "Method", "the groups were given, and checked"
    else:
        given = "; the groups were found beforehand, beginning with it, and checked" if report.given else ""
        yield "Method", f"{info.title}: {info.summary.rstrip('.')} ({info.reference.rstrip('.')}){given}"
        usual = {param.name: param.default for param in algorithm(key).params}
        own = [f"{name} = {value}" for name, value in params.items() if value != usual.get(name)]
        if own:
            yield "Parameters of the method", listing(own)
    if known["polish"]:
        yield "Afterwards", "the groups were improved by local search"
    yield "Smallest group asked for", f"{known['k']:,} records (k)"
    if report.loss is not None:
        yield "Distances", _SCALES[known["scale"]]


def _columns(known: Mapping[str, Any], report: Report) -> Iterator[tuple[str, str]]:
    if known["by"]:
        yield "Groups stay within", f"the values of {quoted(known['by'])}"
    if names := [name for name, how in known["dates"].items() if how == "year"]:
        yield "Dates by the year", quoted(names)
    for notation, words in _NOTATIONS.items():
        numbers = known["numbers"] if isinstance(known["numbers"], Mapping) else {}
        if names := [name for name, how in numbers.items() if how == notation]:
            yield f"Numbers written with {words}", quoted(names)
    for option in OPTIONS:
        if option.counted and (of_columns := known[option.name]):
            title, noun = option.counted
            yield title, listing([f"{quoted([n])} ({counted(_size(own), noun)})" for n, own in of_columns.items()])
    missing = known["missing"]
    for how, words in _GAPS.items():
        if missing == how:
            yield "Missing quasi-identifiers", words
        elif isinstance(missing, Mapping) and (names := [name for name, own in missing.items() if own == how]):
            yield f"Missing values of {quoted(names)}", words
    for filled in report.filled:
        with_what = "as a category of their own" if filled.how == "category" else f"as the {filled.how} value"
        yield f"Filled in {quoted([filled.column])}", f"{counted(filled.n, 'gap')}, {with_what}"


def _size(value: Any) -> int:
    """Return how many categories or codes there are: of a taxonomy those that have no others below."""
    if isinstance(value, Mapping):
        return sum(1 if below is None else _size(below) for below in value.values())
    return len(value) if isinstance(value, Sequence) and not isinstance(value, str) else 1


def stand_ins(known: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return what stands for the values of a group, in words, and of which quasi-identifiers it does."""
    found: dict[str, list[Any]] = {}
    for name in known["quasi_identifiers"]:
        words = f"the {known['statistic']} of the group"
        if known["statistic"] == "generalize":
            words = "what the group has in common"
        elif name in known["taxonomies"]:
            words = "the most frequent category of the group"
        elif name in known["ordinal"]:
            words = "the median category of the group"
        found.setdefault(words, []).append(name)
    return found


def _values(known: Mapping[str, Any], report: Report) -> Iterator[tuple[str, str]]:
    words = " or ".join(stand_ins(known))
    if known["statistic"] == "generalize":
        words += f", as text: the range, or {_CATEGORIES[known['categories']]}"
    yield "Values are replaced by", words
    if known["rounding"] == "file" and report.loss is not None:
        yield "Rounding", "to the decimals that the column has in the file"
    if report.release_weights is not None:
        yield f"Weights {quoted([known['weights']])}", _WEIGHTS[report.release_weights]
    if report.shuffled:
        yield "Order of the records", "random; the number that it was drawn by is kept with the original"
    if known["random_state"] is not None:
        yield "Random numbers of the method", f"drawn from the seed {known['random_state']}"
